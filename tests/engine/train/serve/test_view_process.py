"""Of what the painter's process is told of a run, it makes the views that are due."""

import time

import pytest
import torch

from gradscribe.engine.protocol import setup
from gradscribe.engine.protocol.training import requests
from gradscribe.engine.train.arrays import pack_flat
from gradscribe.engine.train.runs.run import TrainingRun
from gradscribe.engine.train.serve import view_process
from gradscribe.engine.train.serve.view_process import RunSnapshot, ShowRun, ViewProcess
from tests.engine.train.modules import CAREFUL


@pytest.fixture
def moment(monkeypatch):
    """Return the view ``fit`` of a careful module after a step, its weight set; once it is due."""
    monkeypatch.setattr(view_process, "SHARE", 1e9)
    run = TrainingRun(setup.parse({"data": "line", "model": {"name": "own", "source": CAREFUL}}))
    made, wishes = ViewProcess(), (("0:fit", requests.ViewRequest("fit", 0)),)
    list(made.take(ShowRun(1, run.setup)))

    def shown(step, weight):
        torch.nn.init.constant_(run.program.model.line.weight, weight)
        while not made._pace.is_due("0:fit", now := time.perf_counter()):
            assert made._pace._due["0:fit"] < now + 60, "it is never made again"
        parameters = pack_flat(list(run.program.model.parameters()))
        told = RunSnapshot(step, wishes, 0.1, [], parameters, (), [], (), [], {})
        return [view.step for view in made.take(told)]

    return shown


def test_a_view_that_could_not_be_made_of_some_weights_is_made_again_of_others(moment):
    assert [moment(1, 1.0), moment(2, 1000.0), moment(3, 1.0)] == [[1], [], [3]]
