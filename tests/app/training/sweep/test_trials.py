"""Trials of a sweep: which setups they are, in which order, and that equal ones are one."""

import itertools

import pytest

from gradscribe.app.training.sweep.axes import SweepError, parse_axis
from gradscribe.app.training.sweep.trials import Sweep, with_values
from gradscribe.engine.protocol import setup as setups
from gradscribe.engine.protocol.setup import SetupError

BASE = setups.parse(
    {"data": "moons", "model": "mlp", "optimizer": {"name": "adam", "lr": 0.03, "eps": 1e-6}}
)


def sweep(*texts, **options):
    return Sweep(BASE, tuple(parse_axis(text) for text in texts), **options)


def test_every_combination_is_a_trial_the_last_option_varied_first():
    found = sweep("optimizer.lr=0.1,0.2", "seed=0..2").trials()
    expected = itertools.product((0.1, 0.2), range(3))
    assert [(t.setup.optimizer.options["lr"], t.setup.seed) for t in found] == [*expected]
    assert [t.number for t in found] == [*range(1, 7)]
    assert found[3].title == "optimizer.lr 0.2, seed 0"
    assert all(t.setup.optimizer.options["eps"] == 1e-6 for t in found)


def test_a_trial_is_its_setup_as_a_file_and_keeps_its_key():
    for trial in sweep("optimizer=adam,sgd", "seed=0..2").trials():
        assert setups.parse_text(trial.text) == trial.setup
    first = sweep("seed=0..1").trials()
    more = sweep("seed=0..3").trials()
    assert [t.key for t in more[:2]] == [t.key for t in first]
    assert len({t.key for t in more}) == 4


def test_equal_setups_are_one_trial():
    assert [t.setup.seed for t in sweep("seed=0,1,0").trials()] == [0, 1]
    assert len(sweep('optimizer=adam,{"name":"adam","lr":0.03,"eps":1e-6}').trials()) == 1


def test_a_part_that_stays_keeps_its_options_and_another_has_its_own():
    kept, other = (t.setup.optimizer for t in sweep("optimizer=adam,sgd").trials())
    assert kept == BASE.optimizer
    assert (other.name, other.options) == ("sgd", {})
    both = with_values(BASE, {"optimizer.lr": 0.5, "optimizer": "sgd"})
    assert (both.optimizer.name, both.optimizer.options) == ("sgd", {"lr": 0.5})


def test_draws_are_of_all_random_options_together_and_more_of_them_keep_the_first():
    options = ("optimizer.lr=random:log:1e-4:1", "batch=random:1..64", "seed=0..1")
    few, many = sweep(*options, draws=3).trials(), sweep(*options, draws=7).trials()
    assert (len(few), len(many)) == (6, 14)
    assert [t.text for t in many[:6]] == [t.text for t in few]
    pairs = {(t.values["optimizer.lr"], t.values["batch"]) for t in many}
    assert len(pairs) == 7
    assert sweep(*options, draws=3, draw_seed=1).trials()[0].text != few[0].text


def test_too_many_trials_are_refused_before_they_are_made():
    with pytest.raises(SweepError, match=r"^these are 1,000,000,000,000 \(10,000 seed x 10,000 "):
        sweep("seed=1..10000", "batch=1..10000", "steps=1..10000").trials()
    with pytest.raises(SweepError, match=r"these are 20,000 \(1,000 seed x 20 draws\)"):
        sweep("seed=1..1000", "batch=random:1..64").trials()
    with pytest.raises(SweepError, match="one option at least"):
        Sweep(BASE, ()).trials()


def test_an_option_of_a_part_that_a_setup_does_not_have_is_refused():
    with pytest.raises(SetupError, match="names no schedule"):
        with_values(BASE, {"schedule.gamma": 0.1})


def test_the_setup_that_is_varied_stays_as_it_is():
    before = setups.to_dict(BASE)
    sweep("optimizer.lr=1,2", "model.layers=[1],[2]").trials()
    assert setups.to_dict(BASE) == before
