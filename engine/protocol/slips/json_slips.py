"""Slips of JSON written by hand: comments, commas, quotes, words of Python."""

import re

_TOKEN = re.compile(
    r'"(?:[^"\\\n]|\\.)*"|//|/\*|#|[-+]?\.?\d[\w.+-]*|-?[^\W\d]\w*|[{}\[\]:,]|\S', re.DOTALL
)
"""A JSON text, the beginning of a comment, a number, a word, a sign."""
_NUMBER = re.compile(r"-?(0|[1-9]\d*)(\.\d+)?([eE][-+]?\d+)?")
_ESCAPE = re.compile(r'(?<!\\)(?:\\\\)*(\\[^"\\/bfnrtu])')
_WORDS = {"True": "true", "False": "false", "None": "null", "yes": "true", "no": "false"}
_NUMBERS = ("NaN", "Infinity", "-Infinity", "inf", "nan")
_COMMENTS = ("//", "/*", "#")
_QUOTES = "'“”„‘’`«»"


def first_slip(text: str) -> tuple[int, str] | None:
    """Return the offset of the first slip in a text that is not JSON, and what to do about it.

    None if it is none of the usual ones. Signs inside JSON texts are never slips.
    """
    before, is_key, end = "", False, 0
    depth: list[str] = []
    for found in _TOKEN.finditer(text):
        token, end = found[0], found.end()
        if before and not depth:
            return found.start(), "the setup has ended before this"
        if why := _slip(token, before, is_key):
            return found.start(), why
        if len(token) > 1 and token[0] == '"' and (escape := _ESCAPE.search(token)):
            at = found.start() + escape.start(1)
            return at, "a backslash is written twice in JSON; a path may have / instead"
        if token in ("{", "["):
            depth.append(token)
        elif token in ("}", "]") and depth:
            depth.pop()
        is_key = bool(depth) and depth[-1] == "{" and token in ("{", ",")
        before = token
    if depth:
        return end, f"a {'}' if depth[-1] == '{' else ']'} is missing at the end"
    return None


def _slip(token: str, before: str, is_key: bool) -> str:
    """Return why a token cannot stand behind ``before``; empty if it may."""
    if token in _COMMENTS:
        return "JSON has no comments: remove this one"
    if token in ("}", "]") and before == ",":
        return f"the comma before {token} is one too many"
    if token in _QUOTES:
        return 'JSON has texts in straight double quotes: "data"'
    if token == '"':
        return "this text is not closed on its line"
    if token in ("=", "=>"):
        return 'a colon stands between key and value: "steps": 500'
    if token == ";":
        return "commas separate what JSON holds"
    if re.match(r"[-+]?\.?\d", token) and not _NUMBER.fullmatch(token):
        return "a number of JSON has digits before and after its point, and no + or _"
    is_word = bool(re.match(r"-?[^\W\d]", token))
    if is_key and is_word:
        return f'keys stand in double quotes: "{token[:40]}"'
    if token in _WORDS:
        return f"{token} is written {_WORDS[token]} in JSON"
    if token in _NUMBERS:
        return "NaN and Infinity are no numbers of JSON"
    if is_word and token not in ("true", "false", "null"):
        return f'texts stand in double quotes: "{token[:40]}"'
    starts = token in ("{", "[") or token[0] in '"-0123456789' or is_word
    ends = before in ("}", "]") or before[:1] in '"-0123456789' or before in _LITERALS
    return "a comma is missing before this" if starts and ends and before else ""


_LITERALS = ("true", "false", "null")
