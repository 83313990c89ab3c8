"""The word and the call at the caret, in whole and in half-typed text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradscribe.playback.completion.caret import Caret, call_around, caret_in


@pytest.mark.parametrize(
    ("text", "prefix", "owner", "is_member"),
    [
        ("", "", "", False),
        ("lo", "lo", "", False),
        ("x = lo", "lo", "", False),
        ("torch.", "", "torch", True),
        ("y = torch.nn.Li", "Li", "torch.nn", True),
        ("net[0].we", "we", "net.0", True),
        ("net[i].we", "we", "net.0", True),
        ("f(x).su", "su", "", True),
        ("(a + b).", "", "", True),
        ('"".jo', "jo", "", True),
        ("x[1:3].", "", "x.1", True),
        ("größe.", "", "größe", True),
        ("print(x.sh", "sh", "x", True),
        ("-x.ab", "ab", "x", True),
    ],
)
def test_a_word_and_its_owner(text, prefix, owner, is_member):
    assert caret_in(text) == Caret(prefix, owner, is_member)


@pytest.mark.parametrize(
    "text", ["3.", "1e", "0x", "x = 12", "4_000.", "...", "x = 2", "#", "x  ##", 'x = """', '""']
)
def test_nothing_is_typed_in_numbers_strings_and_comments(text):
    assert caret_in(text) is None


def test_a_number_in_a_name_is_no_number():
    assert caret_in("x1.") == Caret("", "x1", is_member=True)
    assert caret_in("layer2") == Caret("layer2")


@pytest.mark.parametrize(
    "text", ["def fo", "class Ne", "import torch as t", "for i", "lambda x", "with f() as h"]
)
def test_a_name_that_is_being_defined(text):
    found = caret_in(text)
    assert found is not None
    assert found.is_new


@pytest.mark.parametrize("text", ["for i in ra", "x = forward", "definition", "classes.de"])
def test_other_words_are_not_being_defined(text):
    found = caret_in(text)
    assert found is not None
    assert not found.is_new


def test_imports():
    assert caret_in("from torch.nn import Li") == Caret("Li", "torch.nn", is_imported=True)
    assert caret_in("from torch import nn, op") == Caret("op", "torch", is_imported=True)
    assert caret_in("import to") == Caret("to", is_package=True)
    assert caret_in("import torch.n") == Caret("n", "torch", is_member=True, is_package=True)
    assert caret_in("from torch.n") == Caret("n", "torch", is_member=True, is_package=True)


@pytest.mark.parametrize(
    ("text", "path", "argument", "keyword"),
    [
        ("f(", "f", 0, ""),
        ("f(a, ", "f", 1, ""),
        ("torch.cat((a, b), ", "torch.cat", 1, ""),
        ("torch.cat((a, ", "torch.cat", 0, ""),
        ("f(g(x), h(", "h", 0, ""),
        ("f(g(x), [1, 2, ", "f", 1, ""),
        ("f(x, dim=", "f", 1, "dim"),
        ("f(x, dim=1, keepdim=T", "f", 2, "keepdim"),
        ("f(x == 3", "f", 0, ""),
        ("f(\n    a,\n    b,\n    ", "f", 2, ""),
        ("net[0](", "net.0", 0, ""),
        ("make()(", "", 0, ""),
        ("f({1: 2, 3", "f", 0, ""),
        ('f("""""", ', "f", 1, ""),
    ],
)
def test_the_innermost_call(text, path, argument, keyword):
    call = call_around(text)
    assert call is not None
    assert (call.path, call.argument, call.keyword) == (path, argument, keyword)
    assert text[len(text) - call.opens] == "("


@pytest.mark.parametrize(
    "text",
    [
        "",
        "f(x)",
        "f(x).y",
        "(a, b",
        "def f(x, ",
        "class A(B",
        "if (x",
        "return (a, ",
        "[1, 2",
        "f(x\ndef g",
        "f(x\nfor i in y",
        "x = (1, ",
        "not (",
    ],
)
def test_no_call(text):
    assert call_around(text) is None


def test_the_keywords_before_the_caret_are_known():
    call = call_around("f(x, a=1, b=g(c=2), d=")
    assert call is not None
    assert call.keyword == "d"
    assert call.used == {"a", "b"}


@given(st.text(alphabet='ab1.,()[]{}="# \n_:*', max_size=60))
def test_any_text_has_an_answer(text):
    call = call_around(text)
    assert call is None or text[len(text) - call.opens] == "("
    caret = caret_in(text.rpartition("\n")[2])
    assert caret is None or text.endswith(caret.prefix)
