"""Fixes of what Python cannot read: brackets, quotes, colons, indentation, other languages."""

import re
from collections.abc import Iterator

from gradscribe.engine.hints.fixes.context import ErrorFixRow, FailedProgram, code_end, indentation

_CLOSE = {"(": ")", "[": "]", "{": "}"}
_TAIL = re.compile(r"[)\]},:]*\Z")
_EQUALS = re.compile(r"(?<![=!<>:+\-*/%&|^@])=(?!=)")
_CHARACTERS = str.maketrans(
    {
        **dict.fromkeys("“”„‟″", '"'),
        **dict.fromkeys("‘’‚‛′", "'"),
        **dict.fromkeys("–—−‐‑", "-"),
        **dict.fromkeys("\u00a0\u2000\u2003\u2009\u202f\u3000", " "),
        **dict.fromkeys("\u200b\u200c\u200d\u2060\ufeff\u00ad\0", None),
        "×": "*",
        "·": "*",
        "÷": "/",
        "≤": "<=",
        "≥": ">=",
        "≠": "!=",
        "，": ",",
        "：": ":",
        "（": "(",
        "）": ")",
        "；": ";",
    }
)
_OTHER_LANGUAGES = (
    (re.compile(r"\belse\s+if\b|\belseif\b"), "elif"),
    (re.compile(r"\s*&&\s*"), " and "),
    (re.compile(r"\s*\|\|\s*"), " or "),
    (re.compile(r"!(?=[\w(])"), "not "),
    (re.compile(r"(\w+)\+\+;?"), r"\1 += 1"),
    (re.compile(r"(\w+)--;?"), r"\1 -= 1"),
    (re.compile(r"^(\s*)function\s+(\w+\(.*\))\s*:?\s*\Z"), r"\1def \2:"),
)
_CONDITION = re.compile(r"\s*(if|elif|while|assert|return)\b")
_DASHED = re.compile(r"\s*[A-Za-z_]\w*(-[A-Za-z_]\w*)+(?=\s*=)")
_Match = re.Match[str]


def _colon(fault: FailedProgram, _said: _Match, _hint: _Match) -> Iterator[str]:
    line = fault.line
    end = code_end(line)
    yield fault.with_line(fault.place.line, line[:end] + ":" + line[end:])
    yield fault.replaced(fault.span[0], fault.span[0], ":")


def _close(fault: FailedProgram, _said: _Match, _hint: _Match) -> Iterator[str]:
    """Close all brackets that stay open from the failing line on, at the end of a line."""
    stack = ""
    for number in range(fault.place.line, min(fault.place.line + 12, len(fault.lines) + 1)):
        line = fault.lines[number - 1]
        end = code_end(line)
        stack = _still_open(stack, line[:end])
        closing = "".join(_CLOSE[letter] for letter in reversed(stack))
        if line[:end].endswith(":"):
            yield fault.with_line(number, f"{line[: end - 1]}{closing}:{line[end:]}")
        if end:
            yield fault.with_line(number, line[:end] + closing + line[end:])


def _still_open(stack: str, code: str) -> str:
    quote = ""
    for letter in code:
        if quote:
            quote = "" if letter == quote else quote
        elif letter in "\"'":
            quote = letter
        elif letter in _CLOSE:
            stack += letter
        elif stack and letter == _CLOSE[stack[-1]]:
            stack = stack[:-1]
    return stack


def _remove(fault: FailedProgram, _said: _Match, _hint: _Match) -> Iterator[str]:
    start = fault.span[0]
    yield fault.replaced(start, start + 1, "")


def _other_bracket(fault: FailedProgram, said: _Match, _hint: _Match) -> Iterator[str]:
    start, close = fault.span[0], _CLOSE[said[2]]
    yield fault.replaced(start, start + 1, close)
    yield fault.replaced(start, start, close)


def _quote(fault: FailedProgram, _said: _Match, _hint: _Match) -> Iterator[str]:
    line, quote = fault.line, fault.source[fault.span[0] : fault.span[0] + 1]
    if quote not in "\"'":
        found = re.compile("[\"']").search(line, fault.place.column)
        quote = found.group() if found else ""
    tail = _TAIL.search(line.rstrip())
    if not quote or tail is None:
        return
    key = re.compile(rf"(?<=[{{,\s]){quote}\w+(?=\s*:)").search(line, fault.place.column - 1)
    if key is not None:
        yield fault.with_line(fault.place.line, line[: key.end()] + quote + line[key.end() :])
    for at in range(tail.start(), len(line.rstrip()) + 1):
        yield fault.with_line(fault.place.line, line[:at] + quote + line[at:])


def _compare(fault: FailedProgram, _said: _Match, _hint: _Match) -> Iterator[str]:
    line = fault.line
    dashed = _DASHED.match(line)
    if dashed is not None:
        name = dashed.group()
        yield fault.with_line(fault.place.line, name.replace("-", "_") + line[len(name) :])
    equals = _EQUALS.search(line, fault.place.column)
    if equals is not None and _CONDITION.match(line):
        at = equals.start()
        yield fault.with_line(fault.place.line, f"{line[:at]}=={line[at + 1 :]}")


def _print(fault: FailedProgram, _said: _Match, _hint: _Match) -> Iterator[str]:
    line = fault.line
    match = re.compile(r"\b(print|exec)\s+").search(line, max(0, fault.place.column - 1))
    if match is not None:
        end = code_end(line)
        words = line[match.end() : end]
        text = f"{line[: match.start()]}{match[1]}({words}){line[end:]}"
        yield fault.with_line(fault.place.line, text)


def _characters(fault: FailedProgram, _said: _Match, _hint: _Match) -> Iterator[str]:
    yield fault.with_line(fault.place.line, fault.line.translate(_CHARACTERS))


def _comma(fault: FailedProgram, _said: _Match, _hint: _Match) -> Iterator[str]:
    start, end = fault.span
    for match in re.finditer(r"(?<=[\w)\]}'\"])\s+(?=[\w(\[{'\"])", fault.source[start:end]):
        at = start + match.start()
        yield fault.replaced(at, at, ",")


def _as_python(fault: FailedProgram, _said: _Match, _hint: _Match) -> Iterator[str]:
    line = fault.line
    everything = line
    for pattern, words in _OTHER_LANGUAGES:
        once = pattern.sub(words, line)
        everything = pattern.sub(words, everything)
        if once != line:
            yield fault.with_line(fault.place.line, once)
    if everything != line:
        yield fault.with_line(fault.place.line, everything)


def _body(fault: FailedProgram, _said: _Match, _hint: _Match) -> Iterator[str]:
    """Indent the one line that can be meant as the body, or add ``pass`` where there is none."""
    header = re.search(r"on line (\d+)", fault.message)
    number = int(header[1]) if header else fault.place.line - 1
    margin = indentation(fault.lines[number - 1])
    below = [n for n in range(number + 1, len(fault.lines) + 1) if fault.lines[n - 1].strip()]
    own = [n for n in below[:2] if indentation(fault.lines[n - 1]) == margin]
    last_end = code_end(fault.lines[number - 1])
    if not below or indentation(fault.lines[below[0] - 1]) < margin:
        head = fault.lines[number - 1]
        empty = " " * (margin + 4) + "pass"
        if last_end:
            yield fault.with_line(number, f"{head}\n{empty}")
    elif own and own[0] == below[0]:
        # With a second line right below, nothing says which lines belong to the block.
        first = below[0]
        is_alone = len(own) < 2 or own[1] > first + 1 or "return" in fault.lines[first - 1]
        if is_alone:
            yield fault.with_line(first, "    " + fault.lines[first - 1])


def _dedent(fault: FailedProgram, _said: _Match, _hint: _Match) -> Iterator[str]:
    number = fault.place.line
    above = [line for line in fault.lines[: number - 1] if line.strip()]
    yield from _shift(fault, [indentation(above[-1]) if above else 0])


def _align(fault: FailedProgram, _said: _Match, _hint: _Match) -> Iterator[str]:
    here = indentation(fault.line)
    levels = {indentation(x) for x in fault.lines[: fault.place.line - 1] if x.strip()}
    yield from _shift(fault, sorted(levels, key=lambda level: (abs(level - here), -level)))


def _shift(fault: FailedProgram, levels: list[int]) -> Iterator[str]:
    """Move the line, with the ones below it that start in its column, to each of the levels."""
    number, here = fault.place.line, indentation(fault.line)
    last = number
    while last < len(fault.lines) and (
        not fault.lines[last].strip() or indentation(fault.lines[last]) >= here
    ):
        last += 1
    for level in levels:
        lines = list(fault.lines)
        for n in range(number - 1, last):
            if lines[n].strip():
                lines[n] = " " * (indentation(lines[n]) - here + level) + lines[n].lstrip()
        yield "\n".join(lines)


def _tabs(fault: FailedProgram, _said: _Match, _hint: _Match) -> Iterator[str]:
    for size in (4, 8):
        yield "\n".join(
            line[: indentation(line)].expandtabs(size) + line.lstrip() for line in fault.lines
        )


ROWS = (
    ErrorFixRow(_tabs, kind=TabError),
    ErrorFixRow(_tabs, "unindent does not match|unexpected indent", kind=IndentationError),
    ErrorFixRow(_body, "expected an indented block", kind=IndentationError),
    ErrorFixRow(_dedent, "unexpected indent", kind=IndentationError),
    ErrorFixRow(_align, "unindent does not match", kind=IndentationError),
    ErrorFixRow(_as_python, "invalid syntax|expected ':'", kind=SyntaxError),
    ErrorFixRow(_colon, "expected ':'", kind=SyntaxError),
    ErrorFixRow(_close, "was never closed", kind=SyntaxError),
    ErrorFixRow(_remove, "unmatched '.'", kind=SyntaxError),
    ErrorFixRow(
        _other_bracket,
        r"closing parenthesis '(.)' does not match opening parenthesis '(.)'",
        kind=SyntaxError,
    ),
    ErrorFixRow(_quote, "unterminated (f-)?string", kind=SyntaxError),
    ErrorFixRow(_characters, "invalid (non-printable )?character|null bytes", kind=SyntaxError),
    ErrorFixRow(_compare, "Maybe you meant '=='", kind=SyntaxError),
    ErrorFixRow(_print, "Missing parentheses", kind=SyntaxError),
    ErrorFixRow(_close, "invalid syntax", kind=SyntaxError),
    ErrorFixRow(_comma, "forgot a comma", kind=SyntaxError),
)
