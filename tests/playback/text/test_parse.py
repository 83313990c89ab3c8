"""Unfinished text is parsed without a warning on the terminal, wherever it is read."""

import ast
import warnings

import pytest

from gradscribe.app.training.setup import user_module
from gradscribe.playback.lab import call
from gradscribe.playback.text import parse
from gradscribe.widgets.editor import restore_lines

ODD = "x = 1if y else 2"
"""Python warns of the number that runs into a word."""


def test_python_does_warn_of_it():
    with pytest.warns(SyntaxWarning):
        ast.parse(ODD)


@pytest.mark.parametrize(
    "read",
    [
        parse.parse_program,
        parse.check_syntax,
        user_module.has_module,
        user_module.syntax_error_line,
        lambda text: call.parse_last_line(text, {}),
        restore_lines._parsed.__wrapped__,
        lambda text: parse.parse_expression(text.removeprefix("x = ")),
    ],
    ids=["tree", "check", "has_module", "broken_line", "call", "unflatten", "expression"],
)
def test_nothing_is_told_of_it(read):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        read(ODD)


def test_what_is_no_python_is_still_refused():
    for read in (parse.parse_program, parse.check_syntax, parse.parse_expression):
        with pytest.raises(SyntaxError):
            read("x = = 1")
