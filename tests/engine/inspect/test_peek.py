"""All numbers of a tensor of the latest run, on request."""

import pytest
import torch

from gradscribe.engine.inspect.peek import peek
from gradscribe.engine.protocol.messages import Peek, Run
from gradscribe.engine.run import run

SOURCE = "x = torch.arange(3000.0, requires_grad=True)\ny = x * 2\ns = y[:2] + 0"


@pytest.fixture
def tape():
    return run.execute(Run(9, SOURCE))


def snapshot_of(tape, name):
    return next(v.snapshot for v in tape.values if v.name == name)


def test_a_big_tensor_comes_whole(tape):
    answer = peek(Peek(9, snapshot_of(tape, "y")))
    assert answer.full.array().tolist() == (torch.arange(3000.0) * 2).tolist()


def test_a_small_tensor_comes_as_it_was(tape):
    index = snapshot_of(tape, "s")
    assert peek(Peek(9, index)).full.data == tape.snapshots[index].data


def test_past_the_limit_a_summary_comes(tape):
    full = peek(Peek(9, snapshot_of(tape, "y"), limit=100)).full
    assert full.data is None
    assert full.max == 5998


@pytest.mark.parametrize(("run_id", "snapshot"), [(8, 0), (9, 10**6), (9, -1)])
def test_what_is_gone_is_none(tape, run_id, snapshot):
    assert peek(Peek(run_id, snapshot)).full is None
