"""The true function next to the fit, the step on the surface, activations by their names."""

import math

import numpy as np
import pytest
import torch

from gradscribe.engine.protocol import setup
from gradscribe.engine.train import views
from gradscribe.engine.train.runs.run import TrainingRun
from gradscribe.engine.train.serve import replies

TRUE = {
    "line": ({"slope": -3.0, "intercept": 0.5}, lambda x: -3 * x + 0.5),
    "outliers": ({"share": 0.4}, lambda x: 2 * x + 1),
    "polynomial": ({"coefficients": [1.0, 0.0, 2.0]}, lambda x: 1 + 2 * x**2),
    "sine": ({"waves": 2.0}, lambda x: np.sin(2 * x)),
    "step": ({}, lambda x: np.where(x < 0, -1.0, 1.0)),
    "formula": ({"formula": "cos(x) - x^2", "low": -1.0, "high": 2.0}, lambda x: np.cos(x) - x**2),
}


@pytest.mark.parametrize("name", TRUE)
def test_the_true_function_is_that_of_which_the_data_are_noisy_values(name):
    """Row 51."""
    options, function = TRUE[name]
    data = {"name": name, "n": 30, "noise": 0.4, **options}
    run = TrainingRun(setup.parse({"data": data, "model": "linear"}))
    before = torch.get_rng_state()
    view = views.compute(run, "fit", {})
    assert torch.equal(torch.get_rng_state(), before)
    x, y = (view.arrays[key].array().astype(np.float64) for key in ("true_x", "true_y"))
    assert (np.diff(x) >= 0).all()
    np.testing.assert_allclose(y, function(x), atol=2e-6)
    assert x[0] <= run.program.x.min().item() + 0.3 * np.ptp(x)


def test_points_drawn_by_hand_have_no_true_function():
    run = TrainingRun(setup.parse({"data": "points_line", "model": "linear"}))
    assert "true_x" not in views.compute(run, "fit", {}).arrays


def test_the_arrow_on_the_surface_is_the_step_that_gradient_descent_makes():
    """Row 181: opposite to the gradient; the next place of the path is at its tip."""
    given = {
        "data": {"name": "line", "n": 100},
        "model": "linear",
        "optimizer": {"name": "sgd", "lr": 0.05},
    }
    run = TrainingRun(setup.parse(given))
    run.advance(3)
    options = {"directions": "parameters", "x": 0, "y": 1}
    facts = views.compute(run, "surface", options).facts
    weights = [p.detach().clone().requires_grad_() for p in run.program.model.parameters()]
    x, y = run.program.tensor("x_train"), run.program.tensor("y_train")
    loss = (x @ weights[0].T + weights[1] - y).square().mean()
    slopes = torch.autograd.grad(loss, weights)
    expected = [-0.05 * slope.item() for slope in slopes]
    assert [facts["step_a"], facts["step_b"]] == pytest.approx(expected, rel=1e-4)
    before = [p.item() for p in run.program.model.parameters()]
    run.advance(1)
    moved = [p.item() - old for p, old in zip(run.program.model.parameters(), before, strict=True)]
    assert [facts["step_a"], facts["step_b"]] == pytest.approx(moved, rel=1e-4)


def test_a_flat_place_has_a_step_of_no_length():
    run = TrainingRun(setup.parse({"data": "line", "model": "linear"}))
    run.program.optimizer.param_groups[0]["lr"] = 0.0
    facts = views.compute(run, "surface", {"directions": "random"}).facts
    assert math.hypot(facts["step_a"], facts["step_b"]) == 0


@pytest.mark.parametrize("data", ["moons", "houses"])
def test_activations_are_named_by_the_modules_that_make_them(data):
    """Row 126: in order of depth, also for data whose units cannot be drawn."""
    given = {"data": data, "model": {"name": "mlp", "layers": [5, 3], "activation": "relu"}}
    run = TrainingRun(setup.parse(given))
    begun = replies.run_started(1, run, None)
    assert [layer.title for layer in begun.layers] == ["1: ReLU", "3: ReLU", "4: Linear"]
    assert begun.units == (begun.layers if run.program.x.shape[1] == 2 else ())
    counts = views.compute(run, "histograms", {"of": "activation"}).arrays["counts"].array()
    assert len(counts) == len(begun.layers)
    outputs = []
    for module in run.program.model:
        module.register_forward_hook(lambda m, _given, out: outputs.append((type(m).__name__, out)))
    run.program.model(run.program.model_inputs(run.program.x[:2000]))
    first = next(out for kind, out in outputs if kind == "ReLU")
    edges = views.compute(run, "histograms", {"of": "activation"}).arrays["edges"].array()
    assert edges[0].tolist() == pytest.approx([first.min().item(), first.max().item()])
