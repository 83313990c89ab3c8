"""A rate far too small and a penalty far too strong are named once they are seen to be."""

import json
from importlib import resources

import pytest

from gradscribe.engine.protocol import setup as setups
from gradscribe.engine.protocol.training.advice import with_change
from gradscribe.engine.train import advice
from gradscribe.engine.train.runs.run import TrainingRun
from tests.engine.train.advice.asked import after, made, words

SLOW = {"data": "sine", "model": {"name": "mlp", "layers": [128]}}
PRESETS = sorted(
    (file for file in (resources.files("gradscribe.assets") / "setups").iterdir()
     if file.name.endswith(".json")), key=lambda file: file.name,
)  # fmt: skip


@pytest.mark.parametrize(
    ("optimizer", "setup"),
    [
        ({"name": "sgd", "lr": 4e-7}, SLOW),
        ({"name": "sgd", "lr": 1e-6, "momentum": 0.9}, {"data": "moons"}),
        ({"name": "adam", "lr": 1e-8}, {"data": "moons", "batch": 16}),
        ({"name": "adamw", "lr": 1e-7}, {"data": "line", "model": "linear"}),
        ({"name": "rmsprop", "lr": 1e-8}, {"data": "spirals"}),
    ],
    ids=str,
)
def test_a_rate_that_moves_nothing_is_named_with_one_that_does(optimizer, setup):
    (one,) = after("rate", 300, **setup, optimizer=optimizer)
    assert one.words.startswith("In 300 steps the loss fell by ")
    assert f"lr {optimizer['lr']:g} is far too small" in one.words
    better = with_change(setups.parse({**setup, "optimizer": optimizer}), one.change)
    slow, fast = made(**setup, optimizer=optimizer), TrainingRun(better)
    for run in (slow, fast):
        run.advance(300)
    assert fast.history.smoothed() < 0.8 * slow.history.smoothed()


@pytest.mark.parametrize(
    "setup",
    [
        {**SLOW, "optimizer": {"name": "sgd", "lr": 1e-3}},
        {"data": "moons", "optimizer": {"name": "adam", "lr": 1e-4}},
        {"data": "line", "model": "linear", "optimizer": {"name": "adam", "lr": 1e-3}},
        {"data": "moons", "model": {"name": "mlp", "init": "zeros"}, "optimizer": "sgd"},
        pytest.param({"data": "sine", "optimizer": {"name": "lbfgs"}}, marks=pytest.mark.slow),
    ],
    ids=str,
)
def test_a_rate_that_only_takes_its_time_is_left_alone(setup):
    assert after("rate", 300, **setup) == []


def test_a_run_that_has_arrived_is_left_alone():
    run = made(data="line", model="linear", optimizer={"name": "sgd", "lr": 0.1})
    run.advance(500)
    run.change_setup(with_change(run.setup, {"optimizer.lr": 1e-8}))
    run.advance(200)
    assert advice.on_progress(run) == ()


def test_nothing_is_said_after_a_few_steps():
    assert after("rate", 40, **SLOW, optimizer={"name": "sgd", "lr": 4e-7}) == []


@pytest.mark.parametrize(
    ("setup", "key"),
    [
        ({"l2": 1.0}, "l2"),
        ({"l1": 0.1}, "l1"),
        ({"optimizer": {"name": "sgd", "lr": 0.1, "weight_decay": 1.0}},
         "optimizer.weight_decay"),
    ],
    ids=str,
)  # fmt: skip
def test_a_penalty_that_wins_is_named(setup, key):
    (one,) = after("penalty", 400, **{"data": "moons", "optimizer": FAST, **setup})
    assert "the outputs are the same for all rows" in one.words
    assert list(one.change) == [key]
    assert one.place == key


FAST = {"name": "adam", "lr": 0.03}


@pytest.mark.parametrize("setup", [{"l2": 0.001}, {"l2": 0.01}, {"l1": 0.001}, {}], ids=str)
def test_a_penalty_that_leaves_something_is_left_alone(setup):
    assert after("penalty", 400, data="moons", optimizer=FAST, **setup) == []


def test_a_model_that_begins_at_nothing_is_not_shrunk():
    model = {"name": "mlp", "init": "zeros"}
    assert after("penalty", 100, data="moons", model=model, optimizer="sgd", l2=0.1) == []


@pytest.mark.parametrize("preset", PRESETS, ids=lambda file: file.name)
def test_the_set_ups_of_the_program_are_left_alone(preset):
    setup = setups.parse(json.loads(preset.read_text())["setup"])
    run = TrainingRun(setup)
    assert advice.on_setup(run) == ()
    run.advance(60 if setup.data.name in ("digits", "copy_tokens") else 200)
    assert advice.on_progress(run) == ()


def test_words_are_short():
    found = words(after("rate", 60, **SLOW, optimizer={"name": "sgd", "lr": 4e-7}))
    assert len(found) < 200
