"""Inputs and targets far from 1 are offered to be standardized; usual ones are not."""

import math

import numpy as np
import pytest
import torch

from tests.engine.train.advice.asked import after, at_start, made, table, words

RNG = np.random.default_rng(1)
AREA = RNG.uniform(50, 250, 40).round(1)
ROOMS = RNG.integers(1, 7, 40)
PRICE = (3000 * AREA + RNG.normal(size=40) * 9000).round()
SGD = {"name": "sgd", "lr": 0.01}


def size(column):
    """Return the root of the mean square with two digits."""
    return f"{float(f'{np.sqrt(np.mean(np.square(column))):.2g}'):,.10g}"


def test_houses_without_standardizing_are_unscaled(tmp_path):
    data = table(tmp_path, {"area": AREA, "rooms": ROOMS, "price": PRICE})
    (one,) = at_start("scaling", data=data, train=1.0)
    assert f"Inputs are about {size(AREA)} in size (area)" in one.words
    assert f"Targets are about {size(PRICE)} in size" in one.words
    assert (one.place, one.change) == ("standardize", {"standardize": True})
    assert at_start("scaling", data=data, standardize=True) == []


def test_columns_of_different_size_are_named(tmp_path):
    share = RNG.uniform(0, 0.1, 40)
    data = table(tmp_path, {"share": share, "area": AREA, "y": AREA / 100})
    found = words(at_start("scaling", data=data, train=1.0))
    assert f"from about {size(share)} (share) to {size(AREA)} (area)" in found


@pytest.mark.parametrize("momentum", [0.0, 0.9])
def test_the_largest_rate_of_a_line_is_where_it_diverges(tmp_path, momentum):
    t = np.arange(2, 5.25, 0.25)
    data = table(tmp_path, {"t": t, "y": np.sin(t).round(4)})
    features = ["x1", "x1^2"]
    both = torch.tensor(np.stack([t, t**2, np.ones_like(t)], 1))
    curve = 2 * torch.linalg.eigvalsh(both.T @ both / len(t))[-1].item()
    limit = 2 * (1 + momentum) / curve
    for factor in (0.9, 1.1):
        optimizer = {"name": "sgd", "lr": limit * factor, "momentum": momentum}
        setup = {"data": data, "features": features, "model": "linear", "train": 1.0}
        run = made(**setup, optimizer=optimizer)
        run.advance(3000)
        grows = run.problem is not None or run.history.smoothed() > 1e3
        found = at_start("scaling", **setup, optimizer=optimizer)
        assert bool(found) == grows == (factor > 1)
        assert all("x1^2" in one.words for one in found)


def test_a_run_that_diverged_is_judged_more_strictly(tmp_path):
    data = table(tmp_path, {"x": AREA / 5, "y": AREA / 100})
    assert at_start("scaling", data=data) == []
    found = words(at_start("scaling", True, data=data, train=1.0))
    assert found.startswith(f"Inputs are about {size(AREA / 5)} in size")


def test_a_rate_too_large_for_scaled_inputs_is_not_theirs():
    setup = {"data": "line", "model": "linear", "optimizer": {"name": "sgd", "lr": 5.0}}
    run = made(**setup)
    run.advance(2000)
    assert not math.isfinite(run.history.recent[-1])
    assert at_start("scaling", **setup) == at_start("scaling", True, **setup) == []


OWN = """class Net(nn.Module):
    def __init__(self):
        super().__init__()
        {init}
        self.out = nn.Linear(2, 1)
    def forward(self, x):
        return self.out({given})
"""


@pytest.mark.parametrize(
    ("init", "given", "is_unscaled"),
    [
        ("pass", "x", True),
        ("pass", "x * 1.0", True),
        ("pass", "x / 200", False),
        ("self.norm = nn.BatchNorm1d(2)", "self.norm(x)", False),
        ("self.norm = nn.LayerNorm(2)", "self.norm(x)", False),
    ],
)
def test_a_module_that_scales_its_inputs_itself_is_left_alone(tmp_path, init, given, is_unscaled):
    data = table(tmp_path, {"area": AREA, "rooms": ROOMS, "y": AREA / 100})
    model = {"name": "own", "source": OWN.format(init=init, given=given)}
    assert bool(at_start("scaling", data=data, model=model)) == is_unscaled


@pytest.mark.parametrize(
    "data", ["moons", "sine", "line", "houses", "house_size", "xor", "plane", "spirals", "digits",
             "polynomial", "outliers", "copy_tokens", "formula"]
)  # fmt: skip
def test_the_data_sets_of_the_program_are_scaled(data):
    model = "transformer" if data == "copy_tokens" else "mlp"
    assert at_start("scaling", data=data, model=model) == []


def test_iris_is_left_alone(tmp_path):
    columns = {name: RNG.normal(mean, 0.6, 40) for name, mean in
               (("sepal", 5.8), ("width", 3.1), ("petal", 3.8), ("thin", 1.2))}  # fmt: skip
    data = {**table(tmp_path, {**columns, "kind": list("abcd") * 10}), "classes": True}
    assert at_start("scaling", data=data, optimizer=SGD) == []


def test_standardizing_helps_where_it_is_offered(tmp_path):
    data = table(tmp_path, {"area": AREA, "rooms": ROOMS, "price": PRICE})
    assert after("none", 5, data=data) == []
    plain, better = (made(data=data, standardize=on) for on in (False, True))
    for run in (plain, better):
        run.advance(300)
    target = plain.program.tensor("y_train")
    share = plain.history.smoothed() / (target - target.mean()).square().mean().item()
    assert share > 1 > 0.5 > better.history.smoothed()


def test_rare_categories_are_no_small_inputs(tmp_path):
    kinds = ["usual"] * 37 + ["rare"] * 3
    data = table(tmp_path, {"kind": kinds, "area": AREA / 5, "y": AREA / 100})
    assert at_start("scaling", data=data, train=1.0) == []
