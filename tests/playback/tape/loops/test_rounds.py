"""Rounds of loops, counted against what the programs say they do."""

import pytest

from gradscribe.playback.tape.index import index_of
from gradscribe.playback.tape.loops.rounds import LoopText, loop_rounds

POWER = """\
A = torch.eye(3) * 2
v = torch.ones(3)
for k in range({rounds}):
    v = A @ v
    size = v.norm()
    v = v / size
    rate = v @ A @ v
"""
UNROLLED = """\
W = torch.ones(2, 2, requires_grad=True)
h = torch.zeros(2)
for t in range(6):
    h = torch.tanh(
        W @ h
        + t
    )
energy = (h ** 2).sum()
energy.backward()
"""
NESTED = """\
x = torch.ones(2)
total = torch.zeros(())
for a in range(3):
    y = x * a
    for b in range(4):
        total = total + (y + b).sum()
"""
HELPED = """\
def newton(x):
    f = x * x - 2
    return x - f / (2 * x)
x = torch.tensor(3.0)
for k in range(7):
    x = newton(x)
    y = x + 0
"""


@pytest.mark.parametrize("rounds", [3, 4, 30])
def test_every_round_of_a_loop_without_backward_is_found(recorded, rounds):
    tape = recorded(POWER.format(rounds=rounds))
    found = loop_rounds(index_of(tape))
    assert len(found) == rounds
    firsts = [tape.ops[tape.events[at].ref].op for at in found]
    assert firsts == ["matmul"] * rounds
    assert [tape.events[at].line for at in found] == [4] * rounds


def test_two_rounds_are_no_steps(recorded):
    assert loop_rounds(index_of(recorded(POWER.format(rounds=2)))) == ()


def test_a_statement_of_several_lines_is_one_round(recorded):
    assert len(loop_rounds(index_of(recorded(UNROLLED)))) == 6


def test_of_nested_loops_the_most_repeated_counts(recorded):
    assert len(loop_rounds(index_of(recorded(NESTED)))) == 12


def test_what_a_function_does_belongs_to_the_round_that_calls_it(recorded):
    tape = recorded(HELPED)
    found = loop_rounds(index_of(tape))
    assert len(found) == 7
    # The function's first op begins every round but the first.
    assert {tape.events[at].line for at in found[1:]} == {2}


def test_a_program_without_loops_has_no_rounds(neuron, mlp):
    assert loop_rounds(index_of(neuron)) == ()
    assert loop_rounds(index_of(mlp)) == ()


def test_the_loops_around_a_line_are_listed_from_the_outside():
    text = LoopText(((5, 8), (2, 9), (11, 12)))
    assert text.around(6) == (1, 0)
    assert text.around(9) == (1,)
    assert text.around(10) == ()


def test_a_loop_with_backward_passes_comes_before_a_longer_one_without(recorded):
    source = """\
w = {"a": torch.ones(2), "b": torch.zeros(2)}
def cost(w):
    return ((w["a"] - w["b"]) ** 2).sum()
for step in range(5):
    g = torch.func.grad(cost)(w)
    w = {name: w[name] - 0.1 * g[name] for name in w}
"""
    assert len(loop_rounds(index_of(recorded(source)))) == 5
