"""Reading of what learners type: numbers, lists and shapes, as people of any country write them."""

import ast
import re
import unicodedata

import numpy as np

from gradscribe.playback.lessons.lesson import Kind
from gradscribe.playback.lessons.tape_functions import Answer
from gradscribe.playback.text import formatting, parse
from gradscribe.playback.translation import tr

LONGEST = 200
"""Most characters of an answer."""
NONE_ANSWERS = ("none", "nothing", "no gradient", "—", "-")
INPUT_HINTS: dict[Kind, str] = {
    "number": tr("Type a number, such as 1.5, or a list, such as [1, 2]"),
    "shape": tr("Type a shape, such as (3, 4)"),
    "word": tr("Type your answer"),
    "choice": tr("Choose one"),
}
_SIGNS = str.maketrans(
    {formatting.MINUS: "-", "–": "-", "×": "*", "·": "*", "⁄": "/", "٫": ".", "，": ",", "’": "'"}
)
"""Signs that keyboards and copied text have instead of Python's."""
_SPACES = re.compile(r"\s+")
_WHOLE = re.compile(r"[-+]?[1-9]\d{0,2}(?:([ ,.'_])\d{3})(?:\1\d{3})*")
"""A whole number in groups of three digits: ``2,000,000``, ``2.000.000``, ``2 000 000``."""
_GROUPED = (
    (re.compile(r"[-+]?[1-9]\d{0,2}(?:[, ']\d{3})+\.\d+"), ", '", "."),
    (re.compile(r"[-+]?[1-9]\d{0,2}(?:[. ']\d{3})+,\d+"), ". '", ","),
)
"""The same with decimals: pattern, the signs between groups, the sign before the decimals."""
_LETTERS = re.compile(r"[^\W\d_]+")


def plain(given: str) -> str:
    """Return the text with Python's digits and signs, without what only surrounds the answer."""
    shown = _SPACES.sub(" ", given.translate(_SIGNS)).strip().lstrip("=≈~ ")
    return "".join(
        str(unicodedata.decimal(c)) if c.isdecimal() and not c.isascii() else c for c in shown
    )


def read_numbers(given: str) -> list[Answer]:
    """Return every number or list that a text may stand for; empty where it is none.

    ``1,5`` is a list of two, and a number with a decimal comma; ``1.234`` may be a whole number in
    groups, ``50 %`` one half. The first reading is Python's own.
    """
    if len(given) > LONGEST:
        return []
    text = plain(given)
    found: list[Answer] = []
    for candidate in _candidates(text):
        number = parse_number(candidate)
        if number is not None and number not in found:
            found.append(number)
    if text.endswith("%"):
        for number in read_numbers(text[:-1]):
            found += [number, number / 100] if isinstance(number, int | float) else []
    return found


def _candidates(text: str) -> list[str]:
    found = [text]
    if _WHOLE.fullmatch(text):
        found.append(re.sub(r"[ ,.'_]", "", text))
    for pattern, groups, point in _GROUPED:
        if pattern.fullmatch(text):
            found.append("".join(c for c in text if c not in groups).replace(point, "."))
    # A comma between two digits as the decimal point, then ; or a comma with a blank between items.
    found.append(re.sub(r"(?<=\d),(?=\d)", ".", text).replace(";", ","))
    if ";" in text:
        found.append(text.replace(";", ","))
    if " " in text and not re.search(r"[;/*+]|, | - ", text):
        spaced = re.sub(r"(?<=[\d.\]]) (?=[-\d.\[])", ", ", text)
        found += [spaced, re.sub(r"(?<=\d),(?=\d)", ".", spaced)]
    return found


def parse_number(given: str) -> Answer:
    """Parse a typed number or list of numbers; None where it is neither.

    Fractions (``1/3``), powers of ten (``2e-3``) and a true minus sign are accepted.
    """
    if len(given) > LONGEST:
        return None
    text = given.replace(formatting.MINUS, "-").replace("×", "*").strip()
    bare = re.fullmatch(r"tensor\((.*?)(?:, *(?:dtype|requires_grad|grad_fn)=.*)?\)", text)
    text = bare[1] if bare else text
    if re.fullmatch(r"[^\[\](),]+(?:[, ]\s*[^\[\](), ]+)+", text) and "," in text:
        text = f"[{text}]"
    try:
        return _literal(parse.parse_expression(text).body)
    except (SyntaxError, ValueError, ArithmeticError, RecursionError, MemoryError):
        return None


def _literal(node: ast.AST) -> Answer:
    match node:
        case ast.Constant(value=bool() | int() | float() as value):
            return value
        case ast.Name(id="inf" | "nan" | "NaN" | "Inf" | "NAN" as name):
            return float(name)
        case ast.List(elts=elts) | ast.Tuple(elts=elts):
            return [_literal(part) for part in elts]
        case ast.UnaryOp(op=ast.USub() | ast.UAdd() as op, operand=operand):
            value = float(np.float64(_literal(operand)))  # type: ignore[arg-type]
            return -value if isinstance(op, ast.USub) else value
        case ast.BinOp(left=left, op=ast.Div() | ast.Mult() | ast.Add() | ast.Sub() as op, right=r):
            a, b = (float(np.float64(_literal(part))) for part in (left, r))  # type: ignore[arg-type]
            return {ast.Div: a / (b or np.nan), ast.Mult: a * b, ast.Add: a + b}.get(
                type(op), a - b
            )
    raise ValueError("not a number")


def parse_shape(given: str) -> list[int] | None:
    """Parse a shape: ``(3, 4)``, ``3 x 4``, ``[3,4]`` or ``3``; None for anything else."""
    text = given.lower().removeprefix("torch.size").strip()
    if text in ("()", "[]", "([])", "scalar"):
        return []
    if not re.fullmatch(r"[\[(]{0,2}\s*\d{1,9}(\s*[,;x×* ]\s*\d{1,9})*\s*,?\s*[\])]{0,2}", text):
        return None
    return [int(length) for length in re.findall(r"\d+", text)]


def is_none(given: str) -> bool:
    """Return whether a text says that there is nothing."""
    return given.strip().strip("\"'`").lower() in NONE_ANSWERS


def is_readable(kind: Kind, given: str) -> bool:
    """Return whether a text can be judged as an answer of a kind."""
    if len(given.strip()) > LONGEST:
        return False
    if kind == "shape":
        return parse_shape(plain(given)) is not None
    if kind == "word":
        return bool(given.strip())
    return is_none(given) or bool(read_numbers(given))


def unread_remark(kind: Kind, given: str) -> str:
    """Return a sentence on why a text cannot be judged, and what to type."""
    text = plain(given)
    if not text or kind in ("word", "choice"):
        return (
            tr("At most {longest} characters", longest=LONGEST)
            if len(text) > LONGEST
            else INPUT_HINTS[kind]
        )
    if len(text) > LONGEST:
        return tr(
            "That is longer than {longest} characters. {input_hints}",
            longest=LONGEST,
            input_hints=INPUT_HINTS[kind],
        )
    if not text.strip("? "):
        return tr("Make a guess, or ask for the answer with *Show me*")
    if sum(map(text.count, "([")) != sum(map(text.count, ")]")):
        return tr("The brackets do not close. Every bracket needs its partner")
    if kind == "shape":
        return _unread_shape(text)
    words = _LETTERS.findall(re.sub(r"\d[eE][-+]?\d", "", text))
    if words and re.search(r"\d", text):
        if re.search(r"[-+*/^=()]", text):
            return tr(
                "Put in this run's numbers for `{words}`, and type what comes out", words=words[0]
            )
        return tr("Type the number alone, without `{words}`", words=words[-1])
    if words:
        return tr("Write it in digits. {input_hints}", input_hints=INPUT_HINTS[kind])
    if "^" in text or "**" in text:
        return tr("Work out the power, and type what comes out")
    return INPUT_HINTS[kind]


def _unread_shape(text: str) -> str:
    if re.search(r"-\s*\d", text):
        return tr("No length is below 0: −1 only asks torch to work a length out. Type the length")
    if re.search(r"\d\.\d", text):
        return tr("Lengths are whole numbers. {input_hints}", input_hints=INPUT_HINTS["shape"])
    if _LETTERS.search(text):
        return tr("Write the lengths in digits. {input_hints}", input_hints=INPUT_HINTS["shape"])
    return INPUT_HINTS["shape"]
