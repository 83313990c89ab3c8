"""Each statement of a training step reaches as far on its tape as it did."""

import pytest

from gradscribe.engine.protocol.setup import Part, Setup
from gradscribe.engine.train.runs import record_step
from gradscribe.engine.train.runs.run import TrainingRun
from gradscribe.playback.tape.statements import position_after

SETUP = Setup(data=Part("moons", {"n": 40}), model=Part("mlp", {"layers": [3]}), batch=8)
LINES = ("optimizer.zero_grad()", "output = model(inputs)", "loss = criterion(output, targets)",
         "loss.backward()", "optimizer.step()")  # fmt: skip


@pytest.fixture(scope="module")
def tape():
    run = TrainingRun(SETUP)
    run.advance(2)
    return record_step.record_step(run)[0]


def kinds(tape, done):
    return [event.kind for event in tape.events[: position_after(tape, list(LINES), done)]]


def test_each_line_reaches_as_far_as_it_did(tape):
    assert kinds(tape, 0).count("zero_grad") == 0
    assert kinds(tape, 1)[-1] == "zero_grad"
    forward = kinds(tape, 2)
    assert forward.count("op") == 3
    assert forward[-1] == "leave"
    loss = kinds(tape, 3)
    assert loss.count("op") == 4
    assert "backward" not in loss
    backward = kinds(tape, 4)
    assert backward[-1] == "end"
    assert backward.count("accumulate") == 4
    assert kinds(tape, 5)[-1] == "step"
    assert len(kinds(tape, 5)) == len(tape.events)


def test_statements_of_several_lines_count_as_one(tape):
    texts = ["optimizer.zero_grad()", "\n".join(LINES[1:3]), *LINES[3:]]
    assert position_after(tape, texts, 2) == position_after(tape, list(LINES), 3)
