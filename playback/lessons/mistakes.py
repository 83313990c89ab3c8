"""Mistakes behind wrong answers, each computed from the tape, and a reply that leads on.

The mistakes of a lesson's file come first, then the classic ones of autograd: one share of a
gradient, a chain factor that is missing, the value for the gradient, a mean for a sum. A reply
never contains the answer.
"""

from collections.abc import Iterator

import numpy as np
from msgspec import Struct

from gradscribe.playback.lessons import classic_mistakes
from gradscribe.playback.lessons.answers import answer_text, compare, matches
from gradscribe.playback.lessons.lesson import Question
from gradscribe.playback.lessons.query import BadExpression, evaluate, is_equal
from gradscribe.playback.lessons.tape_functions import Answer, NotOnTape
from gradscribe.playback.lessons.typed import is_none, parse_shape, plain, read_numbers
from gradscribe.playback.tape.index import Index
from gradscribe.playback.translation import tr

LONGEST_QUOTED = 24
"""Most characters of an answer that a reply repeats."""
THAT = "That "
"""First word of a reply that a short answer replaces: ``48 is the share through z``."""
CLOSE = 0.1
"""Relative distance up to which a wrong number is called close."""


class Mistake(Struct, frozen=True, eq=False):
    """A wrong answer as it is on this tape, the kind of mistake behind it, and the reply.

    ``kind`` is *stated* for a mistake of the lesson's file.
    """

    kind: str
    wrong: Answer
    reply: str


def find_mistakes(question: Question, index: Index) -> list[Mistake]:
    """Return the mistakes of a question that lead to other answers than the right one.

    Of mistakes that lead to the same answer only the first is returned.
    """
    if question.kind == "choice":
        return []
    try:
        truth = evaluate(question.answer, index)
    except (NotOnTape, BadExpression):
        return []
    found: list[Mistake] = []
    for mistake in [*_stated(question, index), *_classic(question, index)]:
        others = [truth, *(earlier.wrong for earlier in found)]
        if not any(_same(question, mistake.wrong, other) for other in others):
            found.append(mistake)
    return found


def explain_mistake(question: Question, given: str, index: Index) -> str:
    """Return the reply to a wrong answer; empty where nothing is known about it."""
    given = given.strip()
    if question.kind == "choice":
        return ""
    for mistake in find_mistakes(question, index):
        if compare(question, given, mistake.wrong) == "right":
            return quoted(mistake.reply, given)
    try:
        truth = evaluate(question.answer, index)
    except (NotOnTape, BadExpression):
        return ""
    if question.kind == "shape" and isinstance(truth, list):
        return _shape_remark(parse_shape(plain(given)) or [], truth)
    return _number_remark(question, given, truth) if question.kind == "number" else ""


def quoted(reply: str, given: str) -> str:
    """Return a reply that begins with the answer where it is short."""
    if not reply.startswith(THAT) or len(given) > LONGEST_QUOTED or set(given) & set("`*<&"):
        return reply
    return f"{given} {reply[len(THAT) :]}"


def _stated(question: Question, index: Index) -> Iterator[Mistake]:
    for mistake in question.mistakes:
        try:
            yield Mistake("stated", evaluate(mistake.answer, index), mistake.reply)
        except (NotOnTape, BadExpression):
            # The learner has changed the program.
            continue


def _classic(question: Question, index: Index) -> Iterator[Mistake]:
    for kind, wrong, reply in classic_mistakes.of_answer(question.answer, index):
        if question.kind != "shape" or isinstance(wrong, list):
            yield Mistake(kind, wrong, reply)


def _same(question: Question, left: Answer, right: Answer) -> bool:
    if question.kind == "word":
        return answer_text(left) == answer_text(right)
    return matches(question, left, right)


# Replies to answers that no known mistake leads to


def _number_remark(question: Question, given: str, truth: Answer) -> str:
    if truth is None:
        return tr("Has anything reached it at all?")
    if is_none(given):
        return tr("Something has reached it. Follow the edges from there to the loss")
    true = np.asarray(truth)
    if true.dtype.kind not in "biuf":
        return ""
    first = _as_array(read_numbers(given)[0])
    if first is None:
        return tr("A list has as many numbers in each row")
    if np.isnan(first).any() and not np.isnan(true).any():
        return tr(
            "NaN comes from 0/0 or the root of a negative number. Is there such a place here?"
        )
    if np.isinf(first).any() and not np.isinf(true).any():
        return tr("Nothing here grows without end. Is anything divided by 0?")
    if first.shape != true.shape:
        return _layout_remark(question, first, true)
    if true.ndim and is_equal(np.sort(first, None), np.sort(true, None), question.tolerance):
        return tr("The right numbers, in another order")
    if true.ndim:
        right = np.isclose(first, true, rtol=max(question.tolerance, 1e-6), equal_nan=True)
        return tr("Some of these numbers are right, not all") if right.any() else ""
    close = 0 < abs(first - true) <= CLOSE * abs(true)
    return tr("Close, but not close enough. Work it out once more") if close else ""


def _layout_remark(question: Question, given: np.ndarray, true: np.ndarray) -> str:
    if not true.ndim:
        return tr("A single number is asked for")
    if not given.ndim:
        return tr("More than one number is asked for: what is its shape?")
    if given.size == true.size:
        same = is_equal(given.ravel(), true.ravel(), question.tolerance)
        return (
            tr("The right numbers. Now the brackets: what is its shape?")
            if same
            else tr("What is its shape? The brackets say how many rows there are")
        )
    few = "few" if given.size < true.size else "many"
    return tr("These are too {few} numbers: what is its shape?", few=few)


def _as_array(number: Answer) -> np.ndarray | None:
    try:
        return np.asarray(number, "f8")
    except (ValueError, TypeError, OverflowError):
        return None


def _shape_remark(given: list[int], truth: list[Answer]) -> str:
    if sorted(given) == sorted(truth):  # type: ignore[type-var]
        return tr("The right lengths, in another order")
    if [n for n in given if n != 1] == [n for n in truth if n != 1]:
        return tr("Right but for lengths of 1: which stay, and which go?")
    if len(given) != len(truth):
        few = "few" if len(given) < len(truth) else "many"
        return tr("These are too {few} lengths", few=few)
    if np.prod(given, dtype="f8") == np.prod(np.asarray(truth, "f8")):
        return tr("As many numbers, but laid out in another way")
    right = sum(one == other for one, other in zip(given, truth, strict=True))
    return tr("Some of the lengths are right, not all") if right else ""
