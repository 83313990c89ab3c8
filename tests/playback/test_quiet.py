"""What is half typed is read without a warning on the terminal, wherever it is read."""

import ast
import warnings

import pytest

from app.training import own_module
from playback import quiet
from playback.lab import call
from widgets import unflatten

ODD = "x = 1if y else 2"
"""Python warns of the number that runs into a word."""


def test_python_does_warn_of_it():
    with pytest.warns(SyntaxWarning):
        ast.parse(ODD)


@pytest.mark.parametrize(
    "read",
    [
        quiet.tree,
        quiet.check,
        own_module.has_module,
        own_module.broken_line,
        lambda text: call.read(text, {}),
        unflatten._parsed.__wrapped__,
        lambda text: quiet.expression(text.removeprefix("x = ")),
    ],
    ids=["tree", "check", "has_module", "broken_line", "call", "unflatten", "expression"],
)
def test_nothing_is_told_of_it(read):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        read(ODD)


def test_what_is_no_python_is_still_refused():
    for read in (quiet.tree, quiet.check, quiet.expression):
        with pytest.raises(SyntaxError):
            read("x = = 1")
