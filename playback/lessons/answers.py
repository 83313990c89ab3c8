"""Check of a learner's answers against the tape."""

from typing import Literal

import numpy as np

from gradscribe.playback.lessons.lesson import Question
from gradscribe.playback.lessons.query import BadExpression, evaluate, is_equal, is_true
from gradscribe.playback.lessons.tape_functions import Answer, NotOnTape
from gradscribe.playback.lessons.typed import LONGEST, is_none, parse_shape, plain, read_numbers
from gradscribe.playback.tape.index import Index
from gradscribe.playback.text import formatting

Verdict = Literal["right", "wrong", "unread", "unknown"]
"""*unread*: the input is no number, shape or choice. *unknown*: this tape has no answer."""


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
    return compare(question, given.strip(), truth)


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


def compare(question: Question, given: str, true: Answer) -> Verdict:
    """Return the verdict on a typed text where ``true`` is the answer."""
    if not given or len(given) > LONGEST:
        return "unread"
    if question.kind == "word":
        return "right" if _letters(given) == _letters(answer_text(true)) else "wrong"
    if question.kind == "shape":
        dims = parse_shape(plain(given))
        if dims is None:
            return "unread"
        return "right" if isinstance(true, list) and is_equal(true, list(dims)) else "wrong"
    if is_none(given):
        return "right" if true is None else "wrong"
    numbers = read_numbers(given)
    if not numbers:
        return "unread"
    return "right" if any(matches(question, number, true) for number in numbers) else "wrong"


def matches(question: Question, number: Answer, true: Answer) -> bool:
    """Return whether a number or list equals ``true`` within the question's tolerance.

    Whole numbers are compared exactly, for nobody rounds them.
    """
    if isinstance(true, np.ndarray) and true.size == 1 and not isinstance(number, list):
        true = true.item()  # the brackets around a single number are not typed
    if isinstance(number, np.ndarray) and number.size == 1 and not isinstance(true, np.ndarray):
        number = number.item()
    tolerance = 0.0 if _whole(true) and _whole(number) else question.tolerance
    return is_equal(number, true, max(tolerance, 1e-6))


def _whole(found: Answer) -> bool:
    try:
        array = np.asarray(found, "f8")
    except (OverflowError, TypeError, ValueError):
        return False
    return bool(np.all(array == np.round(array)))


def _letters(word: str) -> str:
    return "".join(c for c in word.lower() if c.isalnum() or c in "._")
