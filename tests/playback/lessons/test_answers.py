"""Answers that learners type, checked against the tape."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradscribe.engine.run.run import record
from gradscribe.playback.lessons.answers import (
    answer_text,
    check_answer,
    correct_answer,
)
from gradscribe.playback.lessons.lesson import Question
from gradscribe.playback.lessons.typed import parse_number, parse_shape
from gradscribe.playback.tape.index import index_of

INDEX = index_of(
    record(
        "x = param([1.0, 2.0, 3.0])\ny = (x / 3).sum()\nz = torch.ones(3, 4)\ny.backward()\n"
        "v = tensor([[1.5]])\n"
    )
)


def ask(answer, kind="number", **more):
    return Question("?", kind, answer, **more)


@pytest.mark.parametrize(
    ("answer", "said", "verdict"),
    [
        ("value(y)", "2", "right"),
        ("value(y)", "2.0", "right"),
        ("value(y)", "2.01", "right"),
        ("value(y)", "2.2", "wrong"),
        ("value(y)", "3", "wrong"),
        ("value(y)", "two", "unread"),
        ("value(y) * 0.75", "1,5", "right"),
        ("value(y) * 0.75", "1,6", "wrong"),
        ("value(y) * 1e6", "2.000.000", "right"),
        ("value(y) * 1e6", "2,000,000", "right"),
        ("value(y) / 4", "50 %", "right"),
        ("grad(x)", "0,333; 0,333; 0,333", "right"),
        ("grad(x)", "0,333 0,333 0,333", "right"),
        ("grad(x)", "[0,333, 0,333, 0,333]", "right"),
        ("grad(x)", "0.333 0.333 0.333", "right"),
        ("[1, 5]", "1,5", "right"),
        ("value(y)", "", "unread"),
        ("grad(x)", "[1/3, 1/3, 1/3]", "right"),
        ("grad(x)", "0.333, 0.333, 0.333", "right"),
        ("grad(x)", "tensor([0.3333, 0.3333, 0.3333])", "right"),
        ("grad(x)", "[0.3, 0.3, 0.3]", "wrong"),
        ("grad(x)", "0.3333", "wrong"),
        ("value(v)", "1.5", "right"),
        ("value(v)", "[[1.5]]", "right"),
        ("value(v)", "2.5", "wrong"),
        ("value(v)", "[1.5, 1.5]", "wrong"),
        ("grad(z)", "None", "right"),
        ("grad(z)", "0", "wrong"),
        ("value(q)", "1", "unknown"),
        ("-value(y)", "−2", "right"),
        ("value(y) * 1000", "2e3", "right"),
        ("value(y) * 50", "99", "wrong"),
    ],
)
def test_a_number_is_judged(answer, said, verdict):
    assert check_answer(ask(answer), said, INDEX) == verdict


@pytest.mark.parametrize("said", ["(3, 4)", "3x4", "3 × 4", "[3,4]", "3, 4", "torch.Size([3, 4])"])
def test_a_shape_may_be_written_in_many_ways(said):
    assert check_answer(ask("shape(z)", "shape"), said, INDEX) == "right"


def test_a_wrong_shape_is_wrong_and_words_are_no_shape():
    question = ask("shape(z)", "shape")
    assert check_answer(question, "(4, 3)", INDEX) == "wrong"
    assert check_answer(question, "three by four", INDEX) == "unread"
    assert parse_shape("()") == parse_shape("scalar") == []
    assert parse_shape("(3,)") == [3]


def test_a_word_is_compared_without_fuss():
    question = ask("dtype(z)", "word")
    assert check_answer(question, "torch.float32", INDEX) == "wrong"
    assert check_answer(question, " Float32 ", INDEX) == "right"


def test_of_choices_the_one_that_holds_is_right():
    rows = (("two", "value(y) == 2"), ("three", "value(y) == 3"))
    question = Question("?", "choice", choices=rows)
    assert check_answer(question, "0", INDEX) == "right"
    assert check_answer(question, "1", INDEX) == "wrong"
    assert correct_answer(question, INDEX) == "two"


def test_choices_of_which_two_hold_have_no_answer():
    question = Question("?", "choice", choices=(("a", "1 == 1"), ("b", "2 == 2")))
    assert check_answer(question, "0", INDEX) == "unknown"
    assert correct_answer(question, INDEX) == ""


@pytest.mark.parametrize(
    ("found", "shown"),
    [
        (64.0, "64"),
        (None, "None"),
        ([1.0, 0.5], "[1, 0.5]"),
        ("float32", "float32"),
        (True, "True"),
    ],
)
def test_an_answer_is_written_as_the_interface_writes_numbers(found, shown):
    assert answer_text(found) == shown


def test_a_shape_is_written_as_torch_writes_it():
    assert answer_text([3, 4], is_shape=True) == "(3, 4)"
    assert answer_text([3], is_shape=True) == "(3,)"


@given(st.text(max_size=40))
def test_nothing_typed_breaks_the_reader(said):
    parse_number(said)
    parse_shape(said)
    check_answer(ask("value(y)"), said, INDEX)
