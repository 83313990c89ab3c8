"""A recorded step of a run is looked at by the doctor."""

import math

import pytest

from gradscribe.engine.protocol.setup import Part, Setup
from gradscribe.engine.train.runs import record_step
from gradscribe.engine.train.runs.run import TrainingRun


def findings(mistake: str = "", data: str = "circle"):
    run = TrainingRun(Setup(data=Part(data), mistakes=(mistake,) if mistake else ()))
    run.advance(3)
    tape, source, step = record_step.record_step(run)
    assert step == 3
    return tape.findings, source


@pytest.mark.parametrize(
    ("mistake", "data", "id_", "line"),
    [
        ("no_zero_grad", "circle", "missing-zero-grad", "loss.backward()"),
        ("column_target", "sine", "silent-broadcast", "squeeze"),
        ("softmax_first", "circle", "sigmoid-before-bce-with-logits", "softmax"),
    ],
)
def test_a_mistake_made_on_purpose_is_found_in_its_step(mistake, data, id_, line):
    found, source = findings(mistake, data)
    assert [one.id for one in found] == [id_]
    assert line in source.split("\n")[found[0].place.line - 1]
    # The text is written by the set-up: what is to be changed stands there.
    assert found[0].fix == ""
    assert "set-up" in found[0].why_no_fix


def test_of_one_step_it_tells_no_row_of_sizes():
    (one,), _ = findings("no_zero_grad")
    assert "passes" not in one.message
    assert "which made its size" in one.message


@pytest.mark.parametrize("data", ["circle", "sine", "line"])
def test_a_right_step_has_no_findings(data):
    assert findings(data=data)[0] == ()


def test_gradients_of_several_micro_batches_add_up_on_purpose():
    run = TrainingRun(Setup(accumulate=2, batch=16))
    run.advance(2)
    assert record_step.record_step(run)[0].findings == ()


@pytest.mark.parametrize("mistakes", [(), ("keep_graphs",)])
def test_measuring_a_step_leaves_the_run_as_it_is(mistakes, monkeypatch):
    run, twin = (TrainingRun(Setup(mistakes=mistakes)) for _ in range(2))
    for each in (run, twin):
        each.advance(3)
    kept = len(run.program.names["kept"])
    assert 0 < record_step.step_seconds(run) < 60
    record_step.record_step(run, 1)

    def fail(batches):
        raise ValueError("no step")

    with monkeypatch.context() as patched:
        patched.setattr(run.program, "step", fail)
        assert record_step.step_seconds(run) == math.inf
    assert run.problem is None
    assert len(run.program.names["kept"]) == kept
    for each in (run, twin):
        each.advance(3)
    assert list(run.history.recent) == list(twin.history.recent)
