"""Measured costs: bytes by arithmetic, derivatives by plain torch, reasons where there are none."""

import pytest

from gradscribe.engine.inspect.costs import measure, measure_costs
from gradscribe.engine.protocol.messages import MeasureCosts, Run
from gradscribe.engine.run import run

CHAIN = """
w = torch.randn(200, 200, requires_grad=True)
x = torch.randn(200, 200)
y = x
for n in range(5):
    y = torch.tanh(y @ w)
loss = y.mean()
loss.backward()
"""
CUSTOM = """
class Double(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, g):
        return g * 2


w = param([1.0, 2.0])
Double.apply(w).sum().backward()
"""
SQUARE = 200 * 200 * 4
"""Bytes of a matrix of the chain."""


def measured(source, kind):
    run.execute(Run(1, source))
    return measure_costs(MeasureCosts(1, kind))


@pytest.mark.checklist(104)
def test_the_memory_of_a_chain_is_that_of_the_results_that_tanh_saves():
    answer = measured(CHAIN, "no_grad")
    graph, bare = answer.rows
    assert (graph.name, bare.name) == ("graph", "no_grad")
    # tanh saves its results; the product before the last is alive until it is taken.
    assert graph.bytes == 6 * SQUARE
    assert bare.bytes == 2 * SQUARE
    # Five saved results and the mean; without a graph the mean alone.
    assert graph.held == 5 * SQUARE + 4
    assert bare.held == 4
    assert (answer.calls, answer.leaves, answer.entries) == (11, 1, 40_000)
    for row in answer.rows:
        assert 0 < row.low <= row.seconds <= row.high
        assert row.runs >= measure.LEAST_RUNS


@pytest.mark.checklist(182)
def test_both_modes_give_the_same_derivative_and_forward_mode_needs_a_run_for_each_number():
    answer = measured(
        "w = param([1.0, 2.0, 3.0])\nloss = (w ** 3).sum()\nloss.backward()\n", "modes"
    )
    rows = {row.name: row for row in answer.rows}
    assert answer.agrees
    assert answer.entries == 3
    assert not rows["jvps"].estimated
    assert rows["jvps"].runs >= measure.LEAST_RUNS
    # Three runs take longer than a single one, however busy the machine is.
    assert rows["jvps"].seconds > rows["jvp"].low


@pytest.mark.checklist(182)
def test_too_many_directions_are_computed_from_one():
    answer = measured(CHAIN, "modes")
    rows = {row.name: row for row in answer.rows}
    assert rows["jvps"].estimated
    assert rows["jvps"].seconds == pytest.approx(40_000 * rows["jvp"].seconds)
    assert answer.agrees


def test_forward_mode_follows_what_backward_follows():
    source = (
        "w = param([1.0, 2.0])\ny = w * 2\ny[0] = 5.0\nwith torch.no_grad():\n    m = y.max()\n"
        "loss = ((y - m) * w.detach()).sum() + w.data.sum()\nloss.backward()\n"
    )
    assert measured(source, "modes").agrees


@pytest.mark.parametrize("kind", ["no_grad", "modes"])
@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("print(1)", "There is no backward pass"),
        ("w = param([1.0, 2.0])\n(w * 2).backward(torch.ones(2))", "single number"),
        (CUSTOM, "custom Function"),
    ],
)
def test_a_program_that_cannot_be_measured_has_a_reason(source, reason, kind):
    answer = measured(source, kind)
    assert reason in answer.problem
    assert not answer.rows


def test_an_op_without_forward_mode_is_said():
    answer = measured(
        "rnn = nn.LSTM(3, 4, batch_first=True)\nout, _ = rnn(torch.randn(2, 5, 3))\n"
        "out.sum().backward()\n",
        "modes",
    )
    assert [row.name for row in answer.rows] == ["no_grad", "reverse"]
    assert "Forward mode is not available" in answer.note


def test_dropout_differs_between_runs_and_is_measured_all_the_same():
    answer = measured(
        "net = nn.Sequential(nn.Linear(4, 8), nn.Dropout(0.5))\n"
        "net(torch.ones(3, 4)).sum().backward()\n",
        "no_grad",
    )
    assert answer.is_random
    assert len(answer.rows) == 2


def test_a_newer_run_is_not_measured_for_an_older():
    run.execute(Run(2, CHAIN))
    assert "ran again" in measure_costs(MeasureCosts(1, "no_grad")).problem


def test_the_program_is_as_it_was_afterwards():
    source = "w = param([1.0, 2.0])\nloss = (w * w).sum()\nloss.backward()\n"
    run.execute(Run(1, source))
    before = run.last_run
    measure_costs(MeasureCosts(1, "modes"))
    assert run.last_run is before
    assert before.names["w"].grad.tolist() == [2.0, 4.0]


def test_a_transposed_leaf_is_measured():
    answer = measured(
        "w = torch.ones(3, 4).T.requires_grad_()\n(w * w).sum().backward()\n", "modes"
    )
    assert answer.agrees
    assert answer.rows[-1].runs >= measure.LEAST_RUNS
