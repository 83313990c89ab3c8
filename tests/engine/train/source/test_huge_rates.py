"""A learning rate that is too big on purpose is too big for whatever optimizer it is given to."""

import math

import pytest

from gradscribe.engine.protocol.setup import Part, Setup, parse
from gradscribe.engine.train.runs.run import TrainingRun
from gradscribe.engine.train.source import catalogue, codegen
from gradscribe.engine.train.source.huge_rates import huge_rate, huge_rate_schedule

FITTED = {"sparse_adam", "muon"}
"""Setups that the default model does not suit."""
CAPPED = "adafactor"
"""It makes no step longer than the root mean square of the weights by the root of its number."""


def highest(given):
    run = TrainingRun(parse(given))
    run.advance(40)
    losses = [loss for loss in run.history.recent if math.isfinite(loss)]
    return losses[0], math.inf if run.problem else max(losses)


@pytest.mark.parametrize("name", sorted(catalogue.zoo_entries("optimizer").keys() - FITTED))
def test_with_every_optimizer_at_its_usual_rate_the_loss_goes_far_up(name):
    given = {"data": {"name": "circle", "n": 100}, "optimizer": name}
    if name == "lbfgs":
        # Where there is more than one valley it leaves them by itself.
        given |= {"data": "line", "model": "linear"}
    first, right = highest(given)
    same, wrong = highest({**given, "mistakes": ["huge_lr"]})
    assert same == first
    assert right < 1.1 * first
    assert wrong > 3 * first or name == CAPPED


@pytest.mark.parametrize("data", ["sine", "line", "moons", "houses", "spirals"])
@pytest.mark.parametrize("name", ["sgd", "adam", "rmsprop"])
def test_with_every_kind_of_data_too(name, data):
    given = {"data": data, "optimizer": {"name": name, "lr": 1e-6}, "mistakes": ["huge_lr"]}
    first, wrong = highest(given)
    assert wrong > 3 * first


def test_it_is_a_hundred_times_the_rate_or_what_is_too_big_anyway():
    assert huge_rate(3.0, "sgd") == 300.0
    assert huge_rate(0.001, "adam") == huge_rate(0.0, "rprop") == 100.0
    assert huge_rate(1.0, "adadelta") == 100_000.0
    assert math.isfinite(huge_rate(1e307, "sgd"))


def test_a_schedule_that_sets_the_rate_itself_sets_one_too_big():
    found = huge_rate_schedule({"base_lr": 0.01, "max_lr": 0.1, "gamma": 0.5}, "sgd")
    assert found == {"base_lr": pytest.approx(10.0), "max_lr": 100.0, "gamma": 0.5}
    setup = Setup(schedule=Part("one_cycle"), mistakes=("huge_lr",))
    assert "OneCycleLR(optimizer, max_lr=100.0" in codegen.optimizer(setup)
    assert "max_lr=0.1," in codegen.optimizer(Setup(schedule=Part("one_cycle")))
    cosine = Setup(schedule=Part("cosine"), mistakes=("huge_lr",))
    assert "lr=100.0" in codegen.optimizer(cosine)
    assert codegen.optimizer(cosine).replace("100.0", "0.001") == codegen.optimizer(
        Setup(schedule=Part("cosine"))
    )
