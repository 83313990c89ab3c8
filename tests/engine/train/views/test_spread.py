"""The spread of each tensor: numpy's quantiles, and counts of what is not finite."""

import numpy as np
import torch

from gradscribe.engine.protocol import setup
from gradscribe.engine.protocol.training.replies import QUANTILES
from gradscribe.engine.train import views
from gradscribe.engine.train.runs.run import TrainingRun
from gradscribe.engine.train.views import spread as spread_view


def spread(run):
    found = views.compute(run, "spread", {})
    return found.arrays["quantiles"].array(), found.arrays["counts"].array()


def test_quantiles_are_numpys():
    run = TrainingRun(setup.parse({"data": {"name": "moons", "n": 60}, "model": "mlp"}))
    run.advance(3)
    quantiles, counts = spread(run)
    parameters = list(run.program.model.parameters())
    tensors = [*parameters, *(p.grad for p in parameters)]
    for row, tensor in enumerate(tensors):
        plain = tensor.detach().numpy().astype(np.float64)
        assert quantiles[row].tolist() == np.quantile(plain, QUANTILES).tolist()
        assert counts[row].tolist() == [plain.size, 0, 0]
    assert len(quantiles) > len(tensors), "activations"
    assert np.isfinite(quantiles).all()


def test_what_is_not_finite_is_counted_and_left_out():
    run = TrainingRun(setup.parse({"data": {"name": "moons", "n": 60}, "model": "mlp"}))
    run.advance(1)
    weight = next(run.program.model.parameters())
    with torch.no_grad():
        flat = weight.view(-1)
        flat[0], flat[1] = float("nan"), float("-inf")
    quantiles, counts = spread(run)
    rest = flat.detach().numpy()[2:].astype(np.float64)
    assert quantiles[0].tolist() == np.quantile(rest, QUANTILES).tolist()
    assert counts[0].tolist() == [flat.numel(), 1, 1]


def test_without_gradients_there_are_no_numbers():
    run = TrainingRun(setup.parse({"data": {"name": "moons", "n": 60}, "model": "mlp"}))
    quantiles, counts = spread(run)
    parameters = len(list(run.program.model.parameters()))
    for row, parameter in enumerate(run.program.model.parameters(), parameters):
        if parameter.grad is None:
            assert np.isnan(quantiles[row]).all()
            assert counts[row].tolist() == [0, 0, 0]


def test_a_large_model_is_sampled(monkeypatch):
    setup_ = {"data": {"name": "moons", "n": 60}, "model": {"name": "mlp", "layers": [64, 64]}}
    run = TrainingRun(setup.parse(setup_))
    run.advance(2)
    exact = spread(run)
    monkeypatch.setattr(spread_view, "MAX_VIEW_PARAMETERS", 100)
    monkeypatch.setattr(spread_view, "SPREAD_SAMPLE", 1000)
    quantiles, counts = spread(run)
    assert np.array_equal(quantiles, spread(run)[0], equal_nan=True), "the same numbers each time"
    parameters = list(run.program.model.parameters())
    for row, parameter in enumerate(parameters):
        plain = np.sort(parameter.detach().numpy().astype(np.float64).reshape(-1))
        assert counts[row].tolist() == [plain.size, 0, 0]
        if plain.size <= 1000:
            assert np.array_equal(quantiles[row], exact[0][row])
        else:
            shares = np.searchsorted(plain, quantiles[row]) / plain.size
            assert np.abs(shares - QUANTILES).max() < 0.06
    assert max(parameter.numel() for parameter in parameters) > 1000
    assert np.isfinite(quantiles[2 * len(parameters) :]).all(), "activations"


def test_bias_free_sparse_and_half_precision_tensors_have_a_spread():
    run = TrainingRun(setup.parse({"data": {"name": "moons", "n": 60}, "model": "mlp"}))
    run.advance(1)
    weight = next(run.program.model.parameters())
    dense = weight.grad.clone()
    weight.grad = dense.to_sparse()
    row = len(list(run.program.model.parameters()))
    assert spread(run)[0][row].tolist() == np.quantile(dense.double(), QUANTILES).tolist()
    weight.grad = torch.full_like(dense, float("nan"))
    quantiles, counts = spread(run)
    assert np.isnan(quantiles[row]).all()
    assert counts[row].tolist() == [dense.numel(), dense.numel(), 0]
