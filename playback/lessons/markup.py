"""Conversion of a lesson's text to the HTML subset of Qt's labels.

Paragraphs, lists of ``- `` or ``1. `` lines, **bold**, *italic* and `code`; everything else is
plain text.
"""

import re
from html import escape

_BULLET = re.compile(r"- (?=\S)")
_NUMBER = re.compile(r"\d{1,2}\. (?=\S)")
_COUNTED = re.compile(r"1\. \S.*\n(?:.*\n)*?2\. \S")
"""A numbered list starts at 1; ``8. The two are added`` is a sentence that begins with a number."""
_CODE = re.compile(r"`([^`\n]+)`")
_STRONG = re.compile(r"(?<!\w)\*\*(\S(?:[^*\n]*\S)?)\*\*(?!\w)")
_STRESSED = re.compile(r"(?<![*\w])\*(\S(?:[^*\n]*\S)?)\*(?![*\w])")


def html(source: str) -> str:
    """Return paragraphs and lists as HTML; the label's style sheet formats ``<code>``."""
    blocks = [block for block in re.split(r"\n\s*\n", source.strip()) if block.strip()]
    return "".join(map(_block, blocks))


def plain(source: str) -> str:
    """Return the text without markup, for screen readers and the terminal."""
    return _STRESSED.sub(r"\1", _STRONG.sub(r"\1", _CODE.sub(r"\1", source)))


def inline(source: str) -> str:
    """Return a text as HTML without a paragraph around it."""
    parts = _CODE.split(" ".join(source.split()))
    return "".join(
        f"<code>{escape(part)}</code>" if at % 2 else _stress(escape(part, quote=False))
        for at, part in enumerate(parts)
    )


def _stress(source: str) -> str:
    return _STRESSED.sub(r"<i>\1</i>", _STRONG.sub(r"<b>\1</b>", source))


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
    return f"<{kind}>" + "".join(f"<li>{inline(entry)}</li>" for entry in items) + f"</{kind}>"
