import math

import pytest

from gradscribe.playback.explain import naming
from gradscribe.playback.explain.page import explain
from gradscribe.playback.tape.index import Index


def names_of(tape, op=0):
    return naming.template_names(Index(tape), tape.ops[op])


def test_operands_are_called_by_their_variables(fan):
    found = names_of(fan)
    assert (found["a"], found["b"], found["y"]) == ("x", "y", "z")


def test_what_has_no_name_is_called_by_its_expression(recorded):
    tape = recorded("a = param(1.0)\ny = (a * 2) + (a * 3)")
    found = names_of(tape, 2)
    assert (found["a"], found["b"], found["y"]) == ("a*2", "a*3", "y")
    assert found.atom("a") == "(a*2)"
    assert found.unnamed == {"a", "b"}
    assert not found.has_all_names("{a} + 1")
    assert found.has_all_names("{y} + 1")


def test_two_tensors_that_read_alike_are_told_apart(recorded):
    found = names_of(recorded("y = torch.ones(2) + torch.ones(2)"))
    assert found["a"] != found["b"]


@pytest.mark.parametrize(
    ("line", "formula"),
    [
        ("(x * 2) + (w / x)", "x*2 + w/x"),
        ("(x + 2) * w", "(x + 2) × w"),
        ("x - (w - 1)", "x − (w - 1)"),
        ("(x - w) - 1", "x - w − 1"),
        ("(x + 1) ** 2", "(x + 1)²"),
        ("(x * w).tanh()", "tanh(x*w) = tanh (x*w)"),
        ("F.leaky_relu(x + 1)", "leaky_relu(x + 1) = x + 1 if x + 1 > 0, else 0.01·(x + 1)"),
        ("-(x * w)", "−(x*w)"),
    ],
)
def test_an_expression_stands_in_parentheses_where_it_must(recorded, line, formula):
    tape = recorded(f"x = param(2.0)\nw = param(3.0)\n{line}")
    assert explain(tape, op=len(tape.ops) - 1, position=0).formula == formula


def test_literals_are_written_as_short_as_they_are(neuron):
    assert names_of(neuron)["a"] == "x₁"
    assert names_of(neuron, 5)["b"] == "0.5"


def test_a_parameter_is_called_without_its_path(mlp):
    assert names_of(mlp)["b"] == "weight"


def test_the_count_is_how_many_make_one(recorded):
    tape = recorded("x = torch.ones(4, 3)\ny = x.mean(0)\nz = x.mean()")
    assert [names_of(tape, 0)["n"], names_of(tape, 1)["n"]] == ["4", "12"]


def test_numbers_are_only_those_of_scalars(neuron, mlp):
    assert naming.scalar_numbers(Index(neuron), neuron.ops[0]).inputs == (2.0, -3.0)
    assert naming.scalar_numbers(Index(mlp), mlp.ops[0]) is None
    assert math.isnan(naming.partial_numbers(Index(mlp), mlp.ops[0]).inputs[0])


@pytest.mark.parametrize(
    ("call", "known"),
    [
        ("x.norm()", True), ("x.norm(2)", True), ("x.norm(p=1)", False), ("x.norm(1)", False),
        ("torch.linalg.norm(x)", True),
    ],
)  # fmt: skip
def test_only_the_euclidean_norm_has_a_rule(recorded, call, known):
    tape = recorded(f"x = torch.ones(3, requires_grad=True)\ny = {call}")
    assert (naming.rule_of(Index(tape), tape.ops[-1]) is not None) is known


@pytest.mark.parametrize(
    ("left", "right", "formula"),
    [("(3,)", "(3,)", "dot"), ("(2, 3)", "(3,)", "mv"), ("(2, 3)", "(3, 2)", "matmul")],
)
def test_a_product_goes_by_the_dimensions_of_its_sides(recorded, left, right, formula):
    tape = recorded(f"y = torch.ones{left} @ torch.ones{right}")
    assert formula in naming.rule_of(Index(tape), tape.ops[0]).names


def test_a_slope_of_several_terms_gets_brackets():
    assert naming.parenthesize_slope("1−o²") == "(1−o²)"
    assert naming.parenthesize_slope("2d") == "2d"
    assert naming.parenthesize_slope("−1") == "−1"


@pytest.mark.parametrize(
    ("template", "filled"),
    [
        ("−{a}÷{b}²", "2.5÷r²"), ("{b}−{a}", "r+2.5"), ("({b}−(−{a}))", "(r−(2.5))"),
        ("{a}·{b}", "−2.5·r"), ("−{b}", "−r"),
    ],
)  # fmt: skip
def test_a_negative_number_after_a_minus_has_one_sign_or_none(template, filled):
    assert naming.TemplateNames(a="−2.5", b="r").fill(template) == filled
