"""The words of a lesson -> HTML that Qt's labels understand.

Paragraphs, lists of ``- `` or ``1. `` lines, **strong**, *stressed* and `code`; everything else is
plain text.
"""

import re
from html import escape

_BULLET = re.compile(r"- (?=\S)")
_NUMBER = re.compile(r"\d{1,2}\. (?=\S)")
_COUNTED = re.compile(r"1\. \S.*\n(?:.*\n)*?2\. \S")
"""A list counts from one; ``8. The two are added`` is a sentence behind a number."""
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
    block = block.strip()
    kind, item = ("ul", _BULLET) if _BULLET.match(block) else ("ol", _NUMBER)
    if kind == "ol" and not _COUNTED.match(block):
        return f"<p>{inline(block)}</p>"
    items: list[str] = []
    for line in block.split("\n"):
        if mark := item.match(line):
            items.append(line[mark.end() :])
        else:
            items[-1] += " " + line.strip()
    return f"<{kind}>" + "".join(f"<li>{inline(words)}</li>" for words in items) + f"</{kind}>"
