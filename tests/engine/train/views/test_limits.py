"""Of a big model less is looked at, and what is looked at is still its own numbers."""

import numpy as np
import pytest
import torch

from gradscribe.engine.protocol import setup
from gradscribe.engine.train import views
from gradscribe.engine.train.runs.run import TrainingRun
from gradscribe.engine.train.views import gradients, limits, maps, optimizer, surface, weights

NET = {"name": "mlp", "layers": [8, 8]}


@pytest.fixture
def run():
    made = TrainingRun(
        setup.parse({"data": {"name": "moons", "n": 300}, "batch": 16, "model": NET})
    )
    made.advance(5)
    return made


@pytest.fixture
def dear(monkeypatch, run):
    """Let the model be so big that a view may ask it about a hundred examples."""
    monkeypatch.setattr(limits, "FEWEST", 9)
    monkeypatch.setattr(limits, "WORK", 100 * limits.parameter_count(run))
    return run


def test_a_model_of_the_usual_size_is_looked_at_as_closely_as_is_asked(run):
    assert (limits.max_rows(run, 2000), limits.max_side(run, 100)) == (2000, 100)
    assert limits.parameter_count(run) == sum(p.numel() for p in run.program.model.parameters())


def test_the_more_parameters_the_fewer_examples_but_some(monkeypatch, run):
    found = []
    for work in (10**9, 10**5, 5000, 1):
        monkeypatch.setattr(limits, "WORK", work)
        found.append((limits.max_rows(run, 2000), limits.max_side(run, 100)))
    size = limits.parameter_count(run)
    assert found[1] == (10**5 // size, int((10**5 // size) ** 0.5))
    assert found[0] == (2000, 100)
    assert found[2] == found[3] == (64, 8)


def test_a_boundary_of_fewer_points_is_the_model_at_these(dear):
    made = views.compute(dear, "boundary", {"side": 100})
    grid = made.arrays["grid"].array()
    assert grid.shape == (1, 10, 10)
    x0, y0, x1, y1 = made.arrays["box"].array()
    assert (x0, y0, x1, y1) == pytest.approx(maps.box(dear.program.x))
    corner = torch.tensor([[x1, y1]])
    said = dear.program.model(dear.program.model_inputs(corner))[0, 0].item()
    assert grid[0, 0, -1] == pytest.approx(said, rel=1e-5)


def test_scores_count_what_they_have_looked_at(dear):
    facts = views.compute(dear, "scores", {}).facts
    assert (facts["train_count"], facts["val_count"]) == (100, 60)
    rows = dear.program.tensor("train_rows")[:100]
    output = dear.program.model(dear.program.tensor("inputs")[rows])
    right = ((output[:, 0] > 0).long() == dear.program.y[rows]).sum()
    assert facts["train_right"] == right
    confusion = views.compute(dear, "confusion", {}).arrays
    assert [confusion[part].array().sum() for part in ("train", "val")] == [100, 60]


def test_units_and_activations_of_fewer_points(dear):
    assert views.compute(dear, "units", {"side": 24}).arrays["grid"].shape == (17, 10, 10)
    counts = views.compute(dear, "histograms", {"of": "activation"}).arrays["counts"].array()
    assert counts.sum(axis=1).tolist() == [800, 800, 100]


@pytest.mark.parametrize("kind", ["weights", "optimizer"])
def test_more_numbers_than_a_window_can_take_are_not_sent(kind, run, monkeypatch):
    assert views.compute(run, kind, {}) is not None
    for module in (optimizer, weights):
        monkeypatch.setattr(module, "MAX_VIEW_PARAMETERS", limits.parameter_count(run) - 1)
    assert views.compute(run, kind, {}) is None


def test_who_takes_them_once_has_them_all(run, monkeypatch):
    whole = views.compute(run, "weights", {}).arrays["flat"].array()
    monkeypatch.setattr(weights, "MAX_VIEW_PARAMETERS", 1)
    size = limits.parameter_count(run)
    assert views.compute(run, "weights", {"most": size - 1}) is None
    made = views.compute(run, "weights", {"most": size}).arrays["flat"].array()
    assert np.array_equal(made, whole)
    assert len(made) == size


def test_no_surface_of_very_many_and_of_some_in_small_pieces(run, monkeypatch):
    whole = views.compute(run, "surface", {"side": 7}).arrays["grid"].array()
    monkeypatch.setattr(surface, "CHUNK_NUMBERS", 3 * limits.parameter_count(run))
    pieces = views.compute(run, "surface", {"side": 7}).arrays["grid"].array()
    assert pieces == pytest.approx(whole, rel=1e-5)
    monkeypatch.setattr(surface, "MAX_SURFACE_PARAMETERS", limits.parameter_count(run) - 1)
    assert views.compute(run, "surface", {"side": 7}) is None


@pytest.mark.parametrize("shape", [(1 << 20,), (1024, 1024), (1000, 1049), (7,)], ids=str)
@pytest.mark.parametrize("size", [1.0, 1e-30, 1e30])
def test_a_norm_is_that_of_float64(shape, size):
    tensor = size * torch.randn(shape, generator=torch.Generator().manual_seed(0))
    exact = float(np.linalg.norm(tensor.double().numpy().reshape(-1)))
    assert gradients._norm(tensor) == pytest.approx(exact, rel=1e-7)


def test_a_norm_of_what_is_not_finite_is_not():
    many = torch.ones(1 << 20)
    many[5] = torch.inf
    assert gradients._norm(many) == float("inf")
    many[5] = torch.nan
    assert np.isnan(gradients._norm(many))
