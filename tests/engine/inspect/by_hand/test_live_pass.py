"""A pass is reached with its graph alive, and repeated with one wrong rule."""

import pytest
import torch

from gradscribe.engine.inspect.by_hand.live_pass import reached_pass
from gradscribe.engine.inspect.sharing import NotComparable
from gradscribe.engine.run import run

SOURCE = "w = param([1.0, 2.0])\ny = w ** 2\nz = y.sum()\nz.backward()\n"
SOURCE += "z2 = (w * 5).sum()\nz2.backward()\n"


def value(tape, name):
    return next(v for v in tape.values if v.name == name)


def node(tape, op):
    return next(found.node for found in tape.ops if found.op == op)


def test_the_pass_gives_autograds_gradient():
    tape = run.record(SOURCE)
    with reached_pass(run.last_run, 0) as live:
        found = live.gradient(live.edge(value(tape, "w")))
        assert torch.equal(found, torch.tensor([2.0, 4.0]))
        assert torch.equal(live.gradient(live.edge(value(tape, "y"))), torch.ones(2))
    with reached_pass(run.last_run, 1) as live:
        assert torch.equal(live.gradient(live.edge(value(tape, "w"))), torch.tensor([5.0, 5.0]))


def test_a_wrong_rule_changes_the_gradient_once():
    tape = run.record(SOURCE)
    with reached_pass(run.last_run, 0) as live:
        edge = live.edge(value(tape, "w"))
        rule = {node(tape, "pow"): lambda sent, arrived: (arrived[0] * 7,)}
        assert torch.equal(live.gradient(edge, rule), torch.tensor([7.0, 7.0]))
        assert torch.equal(live.gradient(edge), torch.tensor([2.0, 4.0]))


def test_ones_may_arrive_at_a_node():
    tape = run.record("w = param(3.0)\ny = w ** 2\nz = y * 10\nz.backward()\n")
    with reached_pass(run.last_run, 0) as live:
        found = live.gradient(live.edge(value(tape, "w")), ones_at=node(tape, "pow"))
        assert found == 6


def test_seeds_are_those_of_the_program():
    tape = run.record("w = param([1.0, 2.0])\ny = w * 2\ny.backward(torch.tensor([1.0, 10.0]))\n")
    with reached_pass(run.last_run, 0) as live:
        found = live.gradient(live.edge(value(tape, "w")))
        assert torch.equal(found, torch.tensor([2.0, 20.0]))


def test_a_pass_that_is_not_there_is_refused():
    run.record(SOURCE)
    with pytest.raises(NotComparable), reached_pass(run.last_run, 9):
        pass


def test_a_program_that_takes_another_path_is_refused(tmp_path):
    flag = tmp_path / "seen"
    source = (
        f"import os\nw = param(1.0)\nif not os.path.exists({str(flag)!r}):\n"
        f"    open({str(flag)!r}, 'w').close()\n    (w * 2).backward()\n"
    )
    run.record(source)
    with pytest.raises(NotComparable, match="another path"), reached_pass(run.last_run, 0):
        pass
