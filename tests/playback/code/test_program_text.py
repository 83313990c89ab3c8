"""Edits that leave everything else of a program as it is."""

import ast

import pytest

from gradscribe.playback.code.program_text import ProgramText

SOURCE = "def f(x):\n    a, b = x  # é\n    return a\n\n\nü = f((1, 2))\nz: int = 3"


def test_statements_are_found_by_name_and_line():
    text = ProgramText(SOURCE)
    assert [node.lineno for node in text.assignments("z")] == [7]
    assert text.assignment(2, "a") is None
    assert text.binding(2, "a").lineno == 2
    assert text.binding(2, "x") is None, "it is read there and not bound"
    assert text.binding(3, "a") is None


def test_a_text_in_bytes_is_cut_at_the_right_letters():
    text = ProgramText('é = "ü" + str(\n    "ö"\n)')
    made = text.assignments("é")[0].value
    assert text.text_of(made) == '"ü" + str(\n    "ö"\n)'
    assert text.text_of(made.left) == '"ü"'


def test_a_line_goes_in_and_out_again():
    text = ProgramText(SOURCE)
    longer = text.with_line_after(text.binding(2, "a"), "print(a)")
    assert longer.split("\n")[2] == "    print(a)"
    there = ProgramText(longer)
    printed = there.block_after(there.binding(2, "a"))[0]
    assert there.without(printed) == SOURCE


def test_an_expression_of_several_lines_is_replaced():
    text = ProgramText("x = f(\n    1,\n    [2,\n     3],  # here\n)\n")
    call = text.assignments("x")[0].value
    assert text.replaced(call.args[1], "4") == "x = f(\n    1,\n    4,  # here\n)\n"


@pytest.mark.parametrize("source", ["x = (", "x = 1\r\n", "x = 1\f", "x = '\ud800'", "(" * 5000])
def test_what_is_no_plain_program_has_no_statements(source):
    text = ProgramText(source)
    assert text.assignments("x") == [] or source == "x = '\ud800'"
    assert text.binding(1, "x") is None or source == "x = '\ud800'"


def test_an_edit_that_would_break_the_program_is_none():
    text = ProgramText("x = 1")
    assert text.replaced(text.assignments("x")[0].value, "(") == ""
    assert text.replaced(text.assignments("x")[0].value, "1") == "", "it changes nothing"
    assert isinstance(ast.parse(text.replaced(text.assignments("x")[0].value, "2")), ast.Module)
