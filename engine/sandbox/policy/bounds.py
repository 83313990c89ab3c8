"""Limits on the size and nesting of a program, checked in the bare text before it is parsed.

The parser recurses at every bracket and every prefix operator; so text that could exceed its
recursion limit is refused first.
"""

import re

from gradscribe.engine.protocol.tape import Place
from gradscribe.engine.sandbox.policy.refusal import Refusal

BYTES = 400_000
LINES = 20_000
BRACKETS = 60
"""Most brackets open at a time."""
SIGNS = 60
"""Most prefix operators (or ``not``, ``lambda``) in a row."""
DEPTH = 150
"""Greatest depth of the tree."""
NODES = 200_000

_PIECE = re.compile(
    r"""
    (?P<text>  (?P<prefix>[A-Za-z]{0,2}) (?: '''(?:[^\\]|\\.)*?''' | \"\"\"(?:[^\\]|\\.)*?\"\"\"
               | '(?:[^'\\\n]|\\.)*' | "(?:[^"\\\n]|\\.)*" ) )
    | (?P<note> \#[^\n]* )
    | (?P<word> \w+ )
    | (?P<open> [(\[{] ) | (?P<close> [)\]}] )
    | (?P<sign> [-+~*:] )
    | (?P<blank> [ \t\f\\\n]+ )
    | (?P<other> . )
    """,
    re.VERBOSE | re.DOTALL,
)
_PREFIXES = frozenset(("not", "lambda", "await", "else", "yield"))


def check(source: str) -> None:
    """Refuse a program that is too long or too deep for the parser.

    Raises:
        Refusal: with the place of the excess.
    """
    if len(source.encode("utf-8", "replace")) > BYTES:
        raise Refusal("The program is too long", f"Keep it below {BYTES // 1000} kB.")
    if source.count("\n") >= LINES:
        raise Refusal("The program has too many lines", f"Keep it below {LINES:,} lines.")
    _measure(source, 0, BRACKETS)


def _measure(source: str, start: int, most: int) -> None:
    """Raise `Refusal` at more than ``most`` open brackets, or too many signs in a row."""
    depth = run = 0
    for piece in _PIECE.finditer(source):
        kind = piece.lastgroup
        if kind == "prefix":
            kind = "text"
        at = start + piece.start()
        if kind in ("blank", "note"):
            continue
        signs = kind == "sign" or (kind == "word" and piece[0] in _PREFIXES)
        run = run + 1 if signs else 0
        if run > SIGNS:
            place = _at(source, at) if start == 0 else Place()
            raise Refusal("Too many signs in a row", "Use brackets and fewer signs.", place)
        if kind == "open":
            depth += 1
            if depth > most:
                place = _at(source, at) if start == 0 else Place()
                raise Refusal(
                    "Brackets are nested too deep",
                    "Give the inner parts names of their own.",
                    place,
                )
        elif kind == "close":
            depth = max(0, depth - 1)
        elif kind == "text" and "f" in (piece["prefix"] or "").lower():
            # Expressions in an f-string are parsed too.
            inner = piece[0][len(piece["prefix"]) :].strip("'\"")
            _measure(inner, at, most - depth)


def _at(source: str, index: int) -> Place:
    line = source.count("\n", 0, index) + 1
    column = index - (source.rfind("\n", 0, index) + 1)
    return Place(line, column, line, column + 1)
