"""Before and after a line, against plain torch."""

import pytest
import torch

from gradscribe.engine.protocol.tape import Tape
from gradscribe.engine.run.run import record
from gradscribe.playback.code import line_states
from gradscribe.playback.code.places import position_of
from gradscribe.playback.tape.index import index_of

FIVE = """\
torch.manual_seed(0)
x = torch.ones(2, 1)
model = nn.Linear(1, 1)
opt = optim.SGD(model.parameters(), lr=0.1)
for step in range(2):
    opt.zero_grad()
    out = model(x)
    loss = out.pow(2).mean()
    loss.backward()
    opt.step()
"""


@pytest.fixture(scope="module")
def index():
    return index_of(record(FIVE))


@pytest.fixture(scope="module")
def truth():
    """Weight and gradient of plain torch after the first step, and after the second."""
    torch.manual_seed(0)
    torch.manual_seed(0)
    x = torch.ones(2, 1)
    model = torch.nn.Linear(1, 1)
    opt = torch.optim.SGD(model.parameters(), lr=0.1)
    seen = []
    for _ in range(2):
        opt.zero_grad()
        before = model.weight.item()
        model(x).pow(2).mean().backward()
        opt.step()
        seen.append((before, model.weight.grad.item(), model.weight.item()))
    return seen


def rows(index, words):
    return {row.name: row for row in line_states.tensor_states(index, position_of(index, words))}


def shown(number):
    return f"{number:.4f}".replace("-", "−")


def test_backward_fills_gradients_and_moves_no_weight(index, truth):
    weight = rows(index, "after backward")["model.weight"]
    assert (weight.grad_before, weight.grad_after) == ("—", shown(truth[0][1]))
    assert not weight.value_changes
    assert weight.grad_changes


def test_step_moves_the_weight_and_leaves_the_gradient(index, truth):
    weight = rows(index, "after step")["model.weight"]
    assert (weight.before, weight.after) == (shown(truth[0][0]), shown(truth[0][2]))
    assert weight.value_changes
    assert not weight.grad_changes


def test_zero_grad_clears(index, truth):
    weight = rows(index, "after zero_grad 2")["model.weight"]
    assert (weight.grad_before, weight.grad_after) == (shown(truth[0][1]), "—")
    assert weight.grad_changes


def test_a_new_tensor_has_no_before(index):
    out = rows(index, "after line 7")["out"]
    assert out.before == ""
    assert out.value_changes


def test_what_changes_stands_first(index):
    found = line_states.tensor_states(index, position_of(index, "after step"))
    moved = [row.value_changes or row.grad_changes for row in found]
    assert moved == sorted(moved, reverse=True)
    assert any(moved)


def test_big_tensors_show_that_they_changed():
    index = index_of(record("a = torch.ones(20)\na.mul_(2)\n"))
    (row,) = line_states.tensor_states(index, len(index.tape.events))
    assert row.value_changes
    assert row.before != row.after
    assert "20" in row.before


def test_lines_are_walked_forward_and_back(index):
    at, lines = 0, []
    while at < len(index.tape.events):
        at = line_states.end_of_next_line(index, at)
        lines.append(line_states.line_run_at(index, at).line)
    assert lines[-10:] == [6, 7, 8, 9, 10] * 2
    back = []
    while at:
        back.append(line_states.line_run_at(index, at).line)
        at = line_states.start_of_line(index, at)
    assert back == lines[::-1]


def test_an_empty_tape_has_no_lines():
    assert line_states.line_run_at(Tape(), 5) is None
    assert line_states.tensor_states(Tape(), 0) == ()
    assert line_states.end_of_next_line(Tape(), 0) == 0
    assert line_states.start_of_line(Tape(), 0) == 0


ADAM = FIVE.replace("optim.SGD", "optim.Adam").replace(
    "nn.Linear(1, 1)", "nn.Sequential(nn.Linear(1, 2), nn.BatchNorm1d(2), nn.Linear(2, 1))"
)


def test_a_step_tells_what_the_optimizer_keeps_before_and_after():
    index = index_of(record(ADAM))
    rows = [
        {
            row.name: row
            for row in line_states.tensor_states(index, position_of(index, f"after step {n}"))
        }
        for n in (1, 2)
    ]
    name = "exp_avg of model.2.bias"
    assert rows[0][name].before == ""
    assert rows[0][name].after == rows[1][name].before != rows[1][name].after
    assert rows[1]["step of model.2.bias"].after == "2.0000"
    # Adam's first mean is a tenth of the first gradient: beta1 is 0.9.
    first = float(rows[0]["model.2.bias"].grad_after.replace("−", "-"))
    assert float(rows[0][name].after.replace("−", "-")) == pytest.approx(0.1 * first, abs=1e-4)


def test_batchnorm_moves_its_running_mean_in_the_line_of_the_model():
    index = index_of(record(ADAM))
    rows = line_states.tensor_states(index, position_of(index, "after out 2"))
    changed = {row.name for row in rows if row.value_changes}
    assert {"model.1.running_mean", "model.1.running_var", "out"} <= changed
    assert not any(name.endswith(("weight", "bias")) for name in changed)
