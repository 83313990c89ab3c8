"""Edits of a program's text keep everything else as it was typed."""

import ast

import pytest

from gradscribe.engine.doctor.program_tree import ProgramTree
from gradscribe.engine.protocol.tape import Place

TEXT = """\
import torch  # torch
with torch.no_grad():
    x = 1
    y = 2

for i in range(3):
    a = f("é", i)  # note
    b = a
c = 3; d = 4
"""


def test_places_are_replaced_from_the_end_on():
    program = ProgramTree(TEXT)
    edits = (Place(3, 4, 3, 5), "first"), (Place(4, 4, 4, 5), "second")
    fixed = program.replaced(*edits)
    assert "    first = 1\n    second = 2\n" in fixed


def test_columns_count_characters():
    program = ProgramTree(TEXT)
    call = program.calls("f")[0]
    assert program.source(call) == 'f("é", i)'
    assert "    a = g()  # note\n" in program.replaced((call, "g()"))


def test_a_line_is_put_before_and_after_with_the_same_indentation():
    program = ProgramTree(TEXT)
    assert "    z()\n    b = a\n" in program.inserted(8, "z()")
    assert "    b = a\n    z()\n    w()\n" in program.inserted(8, "z()\nw()", after=True)


def test_nothing_is_put_between_statements_that_share_a_line():
    program = ProgramTree(TEXT)
    assert program.inserted(9, "z()", after=True) == ""
    assert program.inserted(9, "z()") == TEXT.replace("c = 3; d", "z()\nc = 3; d")
    assert ProgramTree("for i in x: f(i); g(i)").inserted(1, "z()") == ""


def test_a_body_keeps_a_statement_when_its_only_one_goes():
    program = ProgramTree("for i in x:\n    f(i)\n")
    assert program.without(2) == "for i in x:\n    pass\n"


def test_a_with_statement_goes_and_its_body_moves_out():
    program = ProgramTree(TEXT)
    block = next(n for n in program.nodes if isinstance(n, ast.With))
    assert "# torch\nx = 1\ny = 2\n\nfor" in program.dedented(block)


def test_lines_are_wrapped_in_a_header():
    assert "with a:\n        b = a" in ProgramTree(TEXT).wrapped(8, 8, "with a:")


@pytest.mark.parametrize(("line", "first"), [(7, 6), (8, 6), (6, None), (3, None)])
def test_the_loop_around_a_line(line, first):
    loop = ProgramTree(TEXT).loop(line)
    assert (loop.lineno if loop else None) == first


def test_a_program_that_does_not_parse_is_empty():
    program = ProgramTree("x = (")
    assert (program.nodes[1:], program.statement(1), program.inserted(1, "y")) == ([], None, "")
