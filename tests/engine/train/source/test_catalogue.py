"""Options are checked against what the entry has, and said no to in words."""

import inspect
import re
from functools import partial

import pytest
import torch
from msgspec import structs

from gradscribe.engine.protocol import setup
from gradscribe.engine.protocol.setup import Part, Setup, SetupError
from gradscribe.engine.protocol.training import option_values
from gradscribe.engine.protocol.training.catalogue import hint_for_option
from gradscribe.engine.train.source import catalogue
from gradscribe.engine.zoo.entry import Data, Loss, Model, Optimizer, Schedule

KINDS = list(catalogue.PACKAGES)
WITH_MOMENTUM = "sgd, muon, rmsprop" if hasattr(torch.optim, "Muon") else "sgd, rmsprop"
ALL = [(kind, name) for kind in KINDS for name in catalogue.zoo_entries(kind)]


@pytest.mark.parametrize(("kind", "name"), ALL, ids=str)
def test_every_entry_accepts_its_own_defaults(kind, name):
    piece = catalogue.zoo_entries(kind)[name]
    assert piece.title
    assert piece.help
    defaults = {o.name: o.default for o in piece.options}
    assert catalogue.find(kind, Part(name, defaults), type(piece))[1] == defaults
    for option in piece.options:
        if option.low is not None and option.high is not None:
            assert option.low <= option.high


@pytest.mark.parametrize("name", list(catalogue.zoo_entries("optimizer")))
def test_an_optimizers_options_are_its_arguments(name):
    piece = catalogue.zoo_entries("optimizer")[name]
    arguments = inspect.signature(piece.make).parameters
    for option in piece.options:
        default = arguments[option.name].default
        if default is not None:
            assert option.default == (list(default) if isinstance(default, tuple) else default)
    made = piece.make([torch.zeros(2, 2, requires_grad=True)])
    assert {o.name for o in piece.options} <= made.defaults.keys() | {"line_search_fn"}


def test_torchs_optimizers_are_all_there():
    there = {piece.make for piece in catalogue.zoo_entries("optimizer").values()}
    every = {
        made
        for made in vars(torch.optim).values()
        if inspect.isclass(made) and issubclass(made, torch.optim.Optimizer)
    }
    assert every - there == {torch.optim.Optimizer}


BAD = [
    ("data", Part("sine", {"n": 3.5}), Data, "data.n", "whole number"),
    ("data", Part("sine", {"n": True}), Data, "data.n", "whole number"),
    ("data", Part("sine", {"n": 10**9}), Data, "data.n", "at most 100000"),
    ("data", Part("sine", {"noise": float("nan")}), Data, "data.noise", "finite"),
    ("data", Part("sine", {"noise": "much"}), Data, "data.noise", "a number"),
    ("data", Part("points", {"points": [[1, 2, 0], [1, 2]]}), Data, "data.points", "rows"),
    ("data", Part("points", {"points": []}), Data, "data.points", "one point"),
    ("data", Part("points", {"points": [[1, 2]]}), Data, "data.points", "rows of x1, x2, class"),
    ("data", Part("points", {"points": [[1, 2, 0, 1]]}), Data, "data.points", "rows of 4 numbers"),
    ("data", Part("points_line", {"points": [[1, 2, 0]]}), Data, "data.points", "rows of x, y"),
    ("model", Part("mlp", {"layers": [3, "x"]}), Model, "model.layers", "whole numbers"),
    ("model", Part("mlp", {"norm": "group"}), Model, "model.norm", "none, batch, layer"),
    ("model", Part("mlp", {"activation": ["tanh", "no"]}), Model, "model.activation", "relu"),
    ("model", Part("mlp", {"norm": ["batch"]}), Model, "model.norm", "layer"),
    ("optimizer", Part("sgd", {"nesterov": 1}), Optimizer, "optimizer.nesterov", "true or false"),
    ("optimizer", Part("adam", {"betas": [0.9]}), Optimizer, "optimizer.betas", "2 numbers"),
    ("optimizer", Part("sdg", {}), Optimizer, "optimizer", "did you mean 'sgd'"),
]


@pytest.mark.parametrize(("kind", "part", "made", "place", "words"), BAD, ids=str)
def test_what_does_not_fit_is_refused_at_its_place(kind, part, made, place, words):
    with pytest.raises(SetupError) as caught:
        catalogue.find(kind, part, made)
    assert caught.value.place == place
    assert words in str(caught.value)
    assert len(str(caught.value)) < 600


@pytest.mark.parametrize(
    ("given", "words"), [(10_000_000, "10000000"), (1e-7, "1e-07"), (-3, "-3")]
)
def test_a_number_beyond_its_bounds_is_told_as_one_writes_it(given, words):
    name = "lr" if isinstance(given, float) else "n"
    option = catalogue.zoo_entries("data")["moons"].options[0]
    bounded = structs.replace(option, name=name, low=1, high=100_000)
    with pytest.raises(SetupError, match=f"is {words}, but must be at (least 1|most 100000)$"):
        option_values.in_range(bounded, given, name)


@pytest.mark.parametrize("kind", catalogue.PACKAGES)
def test_every_option_written_outside_its_part_is_shown_an_entry_that_has_it(kind):
    hint = partial(hint_for_option, catalogue.entries())
    for entry in catalogue.entries():
        for option in entry.options if entry.kind == kind else ():
            if option.name in {one.name for one in structs.fields(Setup)}:
                continue
            with pytest.raises(SetupError) as caught:
                setup.parse({option.name: option.default}, hint)
            found = re.search(
                r'the (\w+), as in "\1": \{"name": "(\w+)", "(\w+)"', str(caught.value)
            )
            assert found is not None, option.name
            place, name, key = found.groups()
            assert key == option.name
            assert key in [one.name for one in catalogue.zoo_entries(place)[name].options]


@pytest.mark.parametrize(
    ("kind", "part", "made", "words"),
    [
        ("optimizer", Part("adam", {"batch": 16}), Optimizer, "at the top level of the setup"),
        ("model", Part("mlp", {"noise": 0.1}), Model, 'the data, as in "data": {"name": "circle"'),
        ("data", Part("moons", {"lr": 0.1}), Data, "it belongs to the optimizer"),
    ],
)
def test_an_option_of_another_part_is_shown_its_place(kind, part, made, words):
    with pytest.raises(SetupError) as caught:
        catalogue.find(kind, part, made)
    assert words in str(caught.value)


@pytest.mark.parametrize(
    ("kind", "part", "made", "words"),
    [
        ("optimizer", Part("torch.optim.AdamW"), Optimizer, "did you mean 'adamw'"),
        ("optimizer", Part("rms"), Optimizer, "did you mean 'rmsprop'"),
        ("schedule", Part("StepLR"), Schedule, "did you mean 'step'"),
        ("schedule", Part("CosineAnnealingWarmRestarts"), Schedule, "mean 'warm_restarts'"),
        ("loss", Part("nn.BCEWithLogitsLoss()"), Loss, "did you mean 'bce'"),
        ("loss", Part("mae"), Loss, "did you mean 'l1'"),
        ("data", Part("make_moons"), Data, "did you mean 'moons'"),
        ("data", Part("iris"), Data, "no data called 'iris'; there are"),
        ("model", Part("logistic regression"), Model, "did you mean 'linear'"),
        ("model", Part("mlp", {"activation": "ReLU"}), Model, "did you mean 'relu'"),
        ("model", Part("mlp", {"activation": ["relu", "Tanh"]}), Model, "did you mean 'tanh'"),
        ("model", Part("mlp", {"hidden_sizes": [3]}), Model, "did you mean 'layers'"),
        ("model", Part("mlp", {"layers": 16}), Model, r"write \[16\]"),
        ("model", Part("mlp", {"degree": 3}), Model, "but polynomial has"),
        ("optimizer", Part("adam", {"learning_rate": 0.01}), Optimizer, "did you mean 'lr'"),
        ("optimizer", Part("adam", {"momentum": 0.9}), Optimizer, f"but {WITH_MOMENTUM} have"),
        ("optimizer", Part("adam", {"epochs": 9}), Optimizer, "it is 'steps' at the top level"),
        ("optimizer", Part("adam", {"lr": "0.01"}), Optimizer, "without quotes, 0.01 is"),
        ("data", Part("csv", {"inputs": "a"}), Data, r'write \["a"\]'),
        ("data", Part("csv", {"missing": "drop"}), Data, "did you mean 'leave rows out'"),
    ],
)
def test_a_name_from_elsewhere_is_given_its_nearest_right_one(kind, part, made, words):
    with pytest.raises(SetupError, match=words):
        catalogue.find(kind, part, made)


def test_a_kind_of_an_entry_is_led_to_that_entry():
    with pytest.raises(SetupError, match=r'"recurrent", "cell": "lstm"'):
        catalogue.find("model", Part("LSTM"), Model)
