"""The steps of a run that are measured; the run is the same for it."""

import math
from itertools import pairwise

import pytest

from gradscribe.engine.protocol import setup
from gradscribe.engine.protocol.training import replies, requests
from gradscribe.engine.train.runs import measure
from gradscribe.engine.train.serve.host import TrainingHost


def marks(last):
    """Return the steps up to ``last`` that are measured however quick a run is."""
    found, step = [], 0
    while (step := measure.next_measured_step(step)) <= last:
        found.append(step)
    return found


def test_the_first_steps_are_measured_and_then_steps_a_tenth_apart():
    found = marks(1_000_000)
    assert found[:22] == [*range(1, 21), 22, 25]
    assert all(before < after <= 1.1 * before + 1 for before, after in pairwise(found))
    assert len(found) < 150


def trained(steps, mode):
    """Return losses and gradient norms by step of a run that plays as quickly as it can."""
    given = {"data": "sine", "model": "mlp", "batch": 16, "seed": 4, "mode": mode}
    told = []
    host = TrainingHost(told.append)
    host.take(requests.Train(1, setup.parse(given)))
    host.take(requests.Play(1, until=(requests.StopCondition("step", float(steps)),)))
    while host.work() is not None:
        pass
    losses, norms = {}, {}
    for one in told:
        if isinstance(one, replies.SeriesChunk):
            for step, row in zip(one.steps.array().tolist(), one.values.array(), strict=True):
                losses[step] = row[0]
                if len(row) > 3 and not math.isnan(row[3]):
                    norms[step] = row[3]
    return losses, norms


@pytest.mark.parametrize("mode", ["reference", "captured"])
def test_a_quick_run_has_gradients_over_its_whole_length_and_the_same_losses(mode, monkeypatch):
    losses, norms = trained(300, mode)
    assert set(marks(300)) <= set(norms)
    monkeypatch.setattr(measure, "next_measured_step", lambda _step: 1 << 40)
    plain, few = trained(300, mode)
    assert len(few) < len(norms) / 4
    assert losses == pytest.approx(plain, rel=0, abs=0, nan_ok=True)
