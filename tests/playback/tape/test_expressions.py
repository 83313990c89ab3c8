"""Unnamed results: their expressions are those of the program, read by Python itself."""

import ast

import pytest

from gradscribe.playback.tape.expressions import LONGEST, value_expression
from gradscribe.playback.tape.index import Index

BEFORE = "x = param(2.0)\nw = param(3.0)\nb = param(1.0)\nM = torch.ones(3, 2)\nv = torch.ones(2)\n"


def expression(tape, op=-1):
    found = value_expression(Index(tape), tape.ops[op].outputs[0])
    return found.text if found is not None else None


@pytest.mark.parametrize(
    "line",
    [
        "x*w",
        "x + w",
        "x*w + b",
        "(x + w)*b",
        "x - (w - b)",
        "x - w - b",
        "x/(w*b)",
        "x/w/b",
        "(x + w)**2",
        "x**w**2",
        "(x**w)**2",
        "-(x*w)",
        "-x",
        "2*x",
        "1 - x",
        "3/x",
        "x*(-2)",
        "M @ v",
        "M.T",
        "M.T[0]",
        "M[1:, 0]",
        "(M*2)[0]",
        "x > w + 1",
        "tanh(x*w)",
        "maximum(x, w)",
    ],
)
def test_an_expression_reads_as_the_program_wrote_it(recorded, line):
    code = line if "(" not in line or line[0] in "(-x13M" else f"torch.{line}"
    tape = recorded(f"{BEFORE}{code}")
    found = expression(tape)
    assert found.replace(" ", "") in {
        text.replace(" ", "") for text in (line, ast.unparse(ast.parse(line)))
    } or ast.dump(ast.parse(found)) == ast.dump(ast.parse(line))


def test_grouping_is_that_of_the_program(recorded):
    for line in ("x - (w + b)", "(x - w) + b", "x * (w + b)", "(x * w) / b", "x / (w / b)"):
        found = expression(recorded(BEFORE + line))
        assert ast.dump(ast.parse(found)) == ast.dump(ast.parse(line)), line


def test_a_long_expression_leaves_out_what_is_inside(recorded):
    tape = recorded(f"{BEFORE}(((x*w + b)*x + w)*b + x)*w + b - x*x*x*x*w")
    found = expression(tape)
    assert len(found) <= LONGEST
    assert "…" in found


def test_a_name_is_never_made_up(recorded):
    tape = recorded("a = param(1.0)\ny = (a * 2) + (a * 3)\nout = y * 1\n(y + out) * (a - 7)")
    index = Index(tape)
    known = {"a", "y", "out"}
    for op in tape.ops:
        names = {n.id for n in ast.walk(ast.parse(expression_of(index, op)))
                 if isinstance(n, ast.Name)}  # fmt: skip
        assert names <= known


def expression_of(index, op):
    return value_expression(index, op.outputs[0]).text


def test_one_of_several_results_has_its_place(recorded):
    tape = recorded("v = torch.ones(4)\nv.split(2)")
    index = Index(tape)
    texts = [value_expression(index, value).text for value in tape.ops[0].outputs]
    assert texts == ["split(v, 2)[0]", "split(v, 2)[1]"]


def test_leaves_and_what_has_no_named_operand_have_none(recorded):
    tape = recorded(BEFORE + "torch.tanh(torch.relu(torch.sin(torch.cos(x.exp().exp().exp()))))")
    index = Index(tape)
    assert value_expression(index, tape.values[0].id) is None
    assert expression(tape) is None or "…" in expression(tape)
