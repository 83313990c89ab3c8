"""Shared parts of the tests of the hints' tables."""

import re

from gradscribe.engine import hints
from gradscribe.engine.hints.advice import HintContext
from gradscribe.engine.record.code_positions import compile_text
from gradscribe.engine.run import errors

FILE = "<program>"


def told(source, **names):
    """Run a program that fails and return the hint it gets."""
    try:
        exec(compile_text(source, FILE), names)
    except BaseException as error:  # noqa: BLE001 - any exception is the subject here
        return errors.to_problem(error, source, FILE).hint
    raise AssertionError("the program ran")


def matches_its_example(row):
    assert re.search(row.pattern, row.example), row.pattern


def gets_its_example_before_any_other(row):
    first = next(
        other
        for other in hints.ROWS
        if issubclass(row.kind, other.kind) and re.search(other.pattern, row.example)
    )
    assert first is row


def says_one_plain_line(row):
    match = re.search(row.pattern, row.example)
    text = hints.answer(row, match, HintContext(row.kind(), "", {}))
    assert text
    assert "\n" not in text
    assert "{" not in text
    unfilled = "None" in text and isinstance(row.answer, str) and "None" not in row.answer
    assert not unfilled
    assert len(text) <= 130
    assert text.endswith((".", "?", ")"))


ROW_CHECKS = (matches_its_example, gets_its_example_before_any_other, says_one_plain_line)
