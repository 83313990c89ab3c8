"""The words of a lesson -> HTML that Qt's labels understand.

Paragraphs, lists of ``- `` or ``1. `` lines, **strong**, *stressed* and `code`; everything else is
plain text.
"""

import re
from html import escape

_ITEM = re.compile(r"(?:- |\d{1,2}\. )(?=\S)")
_CODE = re.compile(r"`([^`\n]+)`")
_STRONG = re.compile(r"(?<!\w)\*\*(\S(?:[^*\n]*\S)?)\*\*(?!\w)")
_STRESSED = re.compile(r"(?<![*\w])\*(\S(?:[^*\n]*\S)?)\*(?![*\w])")


def html(words: str) -> str:
    """Return paragraphs and lists; the tag ``<code>`` is left to the label's style."""
    blocks = [block for block in re.split(r"\n\s*\n", words.strip()) if block.strip()]
    return "".join(map(_block, blocks))


def plain(words: str) -> str:
    """Return the words without their marks, for screen readers and the terminal."""
    return _STRESSED.sub(r"\1", _STRONG.sub(r"\1", _CODE.sub(r"\1", words)))


def inline(words: str) -> str:
    """Return one run of words, without a paragraph around it."""
    parts = _CODE.split(" ".join(words.split()))
    return "".join(
        f"<code>{escape(part)}</code>" if at % 2 else _stress(escape(part, quote=False))
        for at, part in enumerate(parts)
    )


def _stress(words: str) -> str:
    return _STRESSED.sub(r"<i>\1</i>", _STRONG.sub(r"<b>\1</b>", words))


def _block(block: str) -> str:
    lines = block.strip().split("\n")
    if not _ITEM.match(lines[0]):
        return f"<p>{inline(block)}</p>"
    items: list[str] = []
    for line in lines:
        if mark := _ITEM.match(line):
            items.append(line[mark.end() :])
        else:
            items[-1] += " " + line.strip()
    kind = "ul" if lines[0].startswith("-") else "ol"
    return f"<{kind}>" + "".join(f"<li>{inline(item)}</li>" for item in items) + f"</{kind}>"
