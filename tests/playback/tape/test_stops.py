"""Stops: where playing halts, against the order in which Python and autograd run the program."""

import pytest

from gradscribe.playback.tape import stops
from gradscribe.playback.tape.index import index_of

LOOP = """\
import torch
w = torch.tensor(1.0, requires_grad=True)
for i in range(3):
    loss = (w - 3) ** 2
    loss.backward()
    with torch.no_grad():
        w -= 0.1 * w.grad
    w.grad = None
"""
MODULE = """\
import torch
from torch import nn
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = nn.Linear(2, 2)
    def forward(self, x):
        h = self.inner(x)
        return torch.relu(h)
net = Net()
y = net(torch.ones(1, 2)).sum()
y.backward()
"""
NANS = """\
import torch
x = torch.tensor([-1.0, 4.0], requires_grad=True)
y = x * 2
z = y.sqrt()
z.sum().backward()
"""


def kinds(tape, positions):
    return [tape.events[at - 1].kind for at in positions]


def test_65_a_line_of_a_loop_stops_in_every_round_forward_and_backward(recorded):
    tape = recorded(LOOP)
    assert tape.status == "ok"
    found = stops.stops_of(tape, {4})
    assert kinds(tape, found) == ["op", "node"] * 3
    assert all(tape.events[at - 1].line == 4 for at in found)
    assert kinds(tape, stops.stops_of(tape, {5})) == ["backward"] * 3
    assert stops.stops_of(tape, {4, 5}) == sorted(found + stops.stops_of(tape, {5}))


def test_65_a_line_that_calls_a_module_runs_once_though_its_lines_run_inside(recorded):
    tape = recorded(MODULE)
    assert kinds(tape, stops.stops_of(tape, {11})) == ["leaf", "node"]
    assert kinds(tape, stops.stops_of(tape, {8})) == ["enter", "node"]
    assert kinds(tape, stops.stops_of(tape, {9})) == ["op", "node"]


def test_65_a_loop_on_one_line_stops_in_every_round(recorded):
    tape = recorded("import torch\nx = torch.ones(2)\nfor i in range(4): x = x * 2\n")
    assert len(stops.stops_of(tape, {3})) == 4


def test_lines_without_anything_recorded_have_no_stop(recorded):
    tape = recorded(LOOP)
    assert stops.stops_of(tape, {1, 3, 99, 0, -1}) == []
    assert stops.lines_with_stops(tape) == {2, 4, 5, 7, 8}


def test_65_every_backward_node_is_a_stop(recorded):
    tape = recorded(LOOP)
    nodes = stops.nodes(tape)
    # PowBackward0 and SubBackward0, in three rounds.
    assert len(nodes) == 6
    assert set(kinds(tape, nodes)) == {"node"}


def test_65_the_changes_of_a_tensor_are_its_creation_and_its_updates(recorded):
    tape = recorded(LOOP)
    index = index_of(tape)
    w = next(v.id for v in tape.values if v.name == "w")
    found = stops.changes(tape, w)
    assert [tape.events[at - 1].line for at in found] == [2, 7, 7, 7]
    seen = [index.snapshot(index.snapshot_at(w, at)).item() for at in found]
    assert seen == pytest.approx([1.0, 1.4, 1.72, 1.976])


def test_an_update_that_changes_nothing_is_no_change(recorded):
    tape = recorded(LOOP.replace("0.1", "0.0"))
    w = next(v.id for v in tape.values if v.name == "w")
    assert [tape.events[at - 1].line for at in stops.changes(tape, w)] == [2]


def test_a_name_that_is_given_to_other_tensors_changes_with_each(recorded):
    tape = recorded(LOOP)
    loss = next(v.id for v in tape.values if v.name == "loss")
    assert [tape.events[at - 1].line for at in stops.changes(tape, loss)] == [4, 4, 4]


def test_65_a_leaf_stops_where_a_gradient_accumulates(recorded):
    tape = recorded(LOOP)
    w = next(v.id for v in tape.values if v.name == "w")
    assert kinds(tape, stops.gradients(tape, w)) == ["accumulate"] * 3
    loss = next(v.id for v in tape.values if v.name == "loss")
    assert kinds(tape, stops.gradients(tape, loss)) == ["node"]


def test_65_a_nan_is_found_in_values_and_in_gradients(recorded):
    tape = recorded(NANS)
    found = stops.nans(tape)
    lines = [(tape.events[at - 1].kind, tape.events[at - 1].line) for at in found]
    # sqrt(-2) is NaN, its sum, and what sqrt sends back: 1 / (2 NaN).
    assert lines[:2] == [("op", 4), ("op", 5)]
    assert ("node", 4) in lines
    assert ("node", 5) not in lines
    assert stops.nans(recorded(LOOP)) == []


def test_next_and_last_are_strictly_after_and_before():
    assert stops.next_of([2, 5, 9], 5) == 9
    assert stops.last_of([2, 5, 9], 5) == 2
    assert stops.next_of([2, 5, 9], 9) is None
    assert stops.last_of([2, 5, 9], 2) is None
    assert [stops.is_among([2, 5], at) for at in (1, 2, 5, 6)] == [False, True, True, False]
