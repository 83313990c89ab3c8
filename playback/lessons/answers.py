"""Check of a learner's answers against the tape."""

import ast
import re
from typing import Literal

import numpy as np

from gradscribe.playback.lessons.lesson import Question
from gradscribe.playback.lessons.query import BadExpression, evaluate, is_equal, is_true
from gradscribe.playback.lessons.tape_functions import Answer, NotOnTape
from gradscribe.playback.tape.index import Index
from gradscribe.playback.text import formatting, parse

Verdict = Literal["right", "wrong", "unread", "unknown"]
"""*unread*: the input is no number, shape or choice. *unknown*: this tape has no answer."""

LONGEST = 200
NONE_ANSWERS = ("none", "nothing", "no gradient", "—", "-")


def check_answer(question: Question, given: str, index: Index) -> Verdict:
    """Return the verdict on the input ``said``; for a choice ``said`` is the choice's number."""
    if question.kind == "choice":
        right = right_choice(question, index)
        if right is None:
            return "unknown"
        return "right" if given == str(right) else "wrong"
    try:
        truth = evaluate(question.answer, index)
    except (NotOnTape, BadExpression):
        return "unknown"
    return _compare(question, given.strip(), truth)


def correct_answer(question: Question, index: Index) -> str:
    """Return the correct answer as text; empty where the tape has none."""
    if question.kind == "choice":
        right = right_choice(question, index)
        return question.choices[right][0] if right is not None else ""
    try:
        return answer_text(evaluate(question.answer, index), question.kind == "shape")
    except (NotOnTape, BadExpression):
        return ""


def right_choice(question: Question, index: Index) -> int | None:
    """Return the number of the choice that holds on the tape; None unless exactly one holds."""
    try:
        right = [at for at, (_, goal) in enumerate(question.choices) if is_true(goal, index)]
    except BadExpression:
        return None
    return right[0] if len(right) == 1 else None


def answer_text(found: Answer, is_shape: bool = False) -> str:
    """Return an answer as text in the format of the interface."""
    if is_shape and isinstance(found, list):
        return "(" + ", ".join(map(str, found)) + ("," if len(found) == 1 else "") + ")"
    if found is None:
        return "None"
    if isinstance(found, str):
        return found.strip()
    if isinstance(found, np.ndarray):
        return answer_text(found.tolist())
    if isinstance(found, list):
        return "[" + ", ".join(map(answer_text, found)) + "]"
    return (
        formatting.trim_zeros(found)
        if isinstance(found, bool | int | float | complex)
        else str(found)
    )


def _compare(question: Question, given: str, true: Answer) -> Verdict:
    if not given or len(given) > LONGEST:
        return "unread"
    if question.kind == "word":
        same = _plain(given) == _plain(answer_text(true))
        return "right" if same else "wrong"
    if question.kind == "shape":
        dims = parse_shape(given)
        if dims is None:
            return "unread"
        return "right" if isinstance(true, list) and is_equal(true, list(dims)) else "wrong"
    if given.lower() in NONE_ANSWERS:
        return "right" if true is None else "wrong"
    number = parse_number(given)
    if number is None:
        return "unread"
    if isinstance(true, np.ndarray) and true.size == 1 and not isinstance(number, list):
        true = true.item()  # the brackets around a single number are not typed
    tolerance = 0.0 if _whole(true) and _whole(number) else question.tolerance
    return "right" if is_equal(number, true, max(tolerance, 1e-6)) else "wrong"


def _whole(found: Answer) -> bool:
    try:
        array = np.asarray(found, "f8")
    except (OverflowError, TypeError, ValueError):
        return False
    return bool(np.all(array == np.round(array)))


def _plain(word: str) -> str:
    return "".join(c for c in word.lower() if c.isalnum() or c in "._")


def parse_number(given: str) -> Answer:
    """Parse a typed number or list of numbers; None where it is neither.

    Fractions (``1/3``), powers of ten (``2e-3``) and a true minus sign are accepted.
    """
    if len(given) > LONGEST:
        return None
    plain = given.replace(formatting.MINUS, "-").replace("×", "*").strip()
    bare = re.fullmatch(r"tensor\((.*?)(?:, *(?:dtype|requires_grad|grad_fn)=.*)?\)", plain)
    plain = bare[1] if bare else plain
    if re.fullmatch(r"[^\[\](),]+(?:[, ]\s*[^\[\](), ]+)+", plain) and "," in plain:
        plain = f"[{plain}]"
    try:
        return _literal(parse.parse_expression(plain).body)
    except (SyntaxError, ValueError, ArithmeticError, RecursionError, MemoryError):
        return None


def _literal(node: ast.AST) -> Answer:
    match node:
        case ast.Constant(value=bool() | int() | float() as value):
            return value
        case ast.Name(id="inf" | "nan" as name):
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
    plain = given.lower().removeprefix("torch.size").strip()
    if plain in ("()", "[]", "([])", "scalar"):
        return []
    if not re.fullmatch(r"[\[(]{0,2}\s*\d{1,9}(\s*[,x×* ]\s*\d{1,9})*\s*,?\s*[\])]{0,2}", plain):
        return None
    return [int(length) for length in re.findall(r"\d+", plain)]
