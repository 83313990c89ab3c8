"""A line on data that no line divides or fits is said to be one; where it does well, it is not."""

import numpy as np
import pytest

from tests.engine.train.advice.asked import at_start, made, table, words

LINEAR = """class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(2, 8), {}, nn.Linear(8, 1))

    def forward(self, x):
        return self.net(x)
"""


@pytest.mark.parametrize("data", ["xor", "circle", "circles", "spiral", "spirals"])
def test_data_that_no_line_divides_are_named(data):
    (one,) = at_start("linear", data=data, model="linear")
    assert one.words.startswith("A straight line gets ")
    assert (one.place, one.button, one.change) == ("model", "Use an MLP", {"model": "mlp"})


@pytest.mark.parametrize("data", ["moons", "gauss", "gaussians", "digits"])
def test_data_that_a_line_divides_well_are_left_alone(data):
    assert at_start("linear", data=data, model="linear") == []


@pytest.mark.parametrize("data", ["polynomial", "multi_gauss"])
def test_curves_that_no_line_fits_are_named(data):
    assert "explains" in words(at_start("linear", data=data, model="linear"))


@pytest.mark.parametrize("data", ["line", "sine", "plane", "houses", "house_size", "outliers"])
def test_curves_that_a_line_fits_are_left_alone(data):
    assert at_start("linear", data=data, model="linear") == []


def test_features_may_do_what_a_line_cannot():
    setup = {"data": "xor", "model": "linear"}
    assert at_start("linear", **setup, features=["x1*x2"]) == []
    assert at_start("linear", **setup, features=["x1", "x2", "x1*x2"]) == []


@pytest.mark.parametrize(
    ("model", "is_line"),
    [
        ({"name": "mlp", "layers": []}, True),
        ({"name": "mlp", "layers": [], "output": "tanh"}, True),
        ({"name": "mlp", "activation": "linear"}, True),
        ({"name": "mlp", "activation": ["linear", "linear"], "dropout": 0.5}, True),
        ({"name": "mlp", "activation": ["linear", "relu"]}, False),
        ({"name": "mlp", "activation": "relu"}, False),
        ({"name": "own", "source": LINEAR.format("nn.Dropout(0.2)")}, True),
        ({"name": "own", "source": LINEAR.format("nn.LeakyReLU()")}, False),
        ({"name": "own", "source": LINEAR.format("nn.Softplus()")}, False),
    ],
    ids=str,
)
def test_layers_without_an_activation_are_a_line(model, is_line):
    found = at_start("linear", data="xor", model=model)
    assert bool(found) == is_line
    assert all(bool(one.change) == (model["name"] == "mlp") for one in found)


def test_the_four_rows_of_xor_are_no_lines_work(tmp_path):
    bits = {"a": [0, 0, 1, 1], "b": [0, 1, 0, 1]}
    for target, is_divided in (([0, 1, 1, 0], False), ([0, 1, 1, 1], True), ([0, 0, 0, 1], True)):
        data = {**table(tmp_path, {**bits, "y": target}), "classes": True}
        found = at_start("linear", data=data, model="linear")
        assert bool(found) != is_divided
        assert all("No straight line divides these 4 rows" in one.words for one in found)


def test_noise_is_not_to_be_bent_to(tmp_path):
    rng = np.random.default_rng(0)
    columns = {"a": rng.normal(size=200), "b": rng.normal(size=200)}
    kinds = {**table(tmp_path, {**columns, "y": rng.integers(0, 2, 200)}), "classes": True}
    assert at_start("linear", data=kinds, model="linear") == []
    numbers = table(tmp_path, {**columns, "y": rng.normal(size=200)}, "numbers.csv")
    assert at_start("linear", data=numbers, model="linear") == []


def test_an_outlier_does_not_hide_a_line(tmp_path):
    rng = np.random.default_rng(0)
    a = rng.normal(size=100)
    kind = (a > 0).astype(int)
    a[:3], kind[:3] = 1000, 1
    data = {**table(tmp_path, {"a": a, "b": rng.normal(size=100), "y": kind}), "classes": True}
    assert at_start("linear", data=data, model="linear") == []


def test_the_offered_model_does_better():
    right = {}
    for model in ("linear", "mlp"):
        run = made(data="xor", model=model, optimizer={"name": "adam", "lr": 0.03})
        run.advance(300)
        right[model] = run.history.smoothed()
    assert right["mlp"] < 0.3 * right["linear"]
