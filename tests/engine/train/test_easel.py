"""Of what the painter's process is told of a run, it makes the views that are due."""

import time

import pytest
import torch

from engine import setup
from engine.train import easel
from engine.train.easel import Easel, Moment, Subject
from engine.train.run import Run
from engine.train.views.arrays import joined
from engine.training import asks
from tests.engine.train.modules import CAREFUL


@pytest.fixture
def moment(monkeypatch):
    """Return the view ``fit`` of a careful module after a step, its weight set; once it is due."""
    monkeypatch.setattr(easel, "SHARE", 1e9)
    run = Run(setup.parse({"data": "line", "model": {"name": "own", "source": CAREFUL}}))
    made, wishes = Easel(), (("0:fit", asks.Wish("fit", 0)),)
    list(made.take(Subject(1, run.setup)))

    def shown(step, weight):
        torch.nn.init.constant_(run.program.model.line.weight, weight)
        while not made._pace.is_due("0:fit", now := time.perf_counter()):
            assert made._pace._due["0:fit"] < now + 60, "it is never made again"
        parameters = joined(list(run.program.model.parameters()))
        told = Moment(step, wishes, 0.1, [], parameters, (), [], (), [], {})
        return [view.step for view in made.take(told)]

    return shown


def test_a_view_that_could_not_be_made_of_some_weights_is_made_again_of_others(moment):
    assert [moment(1, 1.0), moment(2, 1000.0), moment(3, 1.0)] == [[1], [], [3]]
