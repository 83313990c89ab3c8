"""The parameter that takes an argument, compared with Python's own binding of arguments."""

import inspect

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradscribe.playback.completion.caret import call_around
from gradscribe.playback.completion.signature import (
    Signature,
    best_signature,
    current_parameter,
    new_keywords,
    parameter_name,
    parse,
)


def test_a_signature_is_taken_apart():
    text = "(input: Tensor, size: tuple[int, ...] = (1, 2), *, mode: str = 'a,)b') -> Tensor"
    assert parse(text) == Signature(
        ("input: Tensor", "size: tuple[int, ...] = (1, 2)", "*", "mode: str = 'a,)b'"), "Tensor"
    )
    assert parse("()") == Signature(())
    assert parse("") == Signature(())
    assert parse("no brackets") == Signature(())
    assert parse("(unclosed, (") == Signature(())


def plain(a, b=2, *rest, key=3, **more): ...
def positions(a, b, /, c): ...
def keywords(a, *, b, c=3): ...


@pytest.mark.parametrize("function", [plain, positions, keywords])
@pytest.mark.parametrize(
    "arguments", [["0"], ["0", "0"], ["0", "0", "0"], ["0", "c=0"], ["key=0"], ["0", "z=0"]]
)
def test_the_bold_parameter_is_the_one_that_python_binds(function, arguments):
    found = inspect.signature(function)
    signature = parse(str(found))
    call = call_around(f"f({', '.join(arguments)}")
    at = current_parameter(signature, call)
    mark = object()
    positional = [None for one in arguments if "=" not in one]
    named = {one.partition("=")[0]: None for one in arguments if "=" in one}
    if named:
        named[list(named)[-1]] = mark
    else:
        positional[-1] = mark
    try:
        bound = found.bind_partial(*positional, **named).arguments
    except TypeError:
        # A keyword for a parameter that takes positions only is a mistake that has no bold.
        assert at is None or parameter_name(signature.parameters[at]) in named
        return
    taken = next(
        name
        for name, value in bound.items()
        if value is mark
        or (isinstance(value, tuple) and mark in value)
        or (isinstance(value, dict) and mark in value.values())
    )
    assert at is not None
    assert parameter_name(signature.parameters[at]) == taken


def test_of_several_signatures_the_first_that_fits_is_best():
    several = [parse("(input)"), parse("(input, dim, keepdim=False)"), parse("(input, other)")]
    assert best_signature(several, call_around("max(")) == 0
    assert best_signature(several, call_around("max(x, ")) == 1
    assert best_signature(several, call_around("max(x, keepdim=")) == 1
    assert best_signature(several, call_around("max(x, other=")) == 2
    assert best_signature([], call_around("max(x, ")) == 0


def test_keywords_that_are_not_used_yet():
    found = new_keywords([parse("(a, b: int = 2, /, c=3, *rest, d: str)")], call_around("f(c=1, "))
    assert found == {"d": "str"}


@given(st.text(alphabet="ab(),=*/'\" []->:", max_size=40))
def test_any_text_is_taken_apart(text):
    signature = parse(text)
    call = call_around("f(a, b=")
    at = current_parameter(signature, call)
    assert at is None or 0 <= at < len(signature.parameters)
