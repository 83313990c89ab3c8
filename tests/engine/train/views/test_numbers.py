"""Numbers of a run: what has no gradient is told apart from a gradient that is NaN."""

import math

import torch

from engine import setup
from engine.train import views
from engine.train.run import Run


def test_a_frozen_layer_has_no_gradient_and_a_broken_one_is_nan():
    frozen = {"data": {"name": "moons", "n": 60}, "model": "mlp", "mistakes": ["freeze_first"]}
    run = Run(setup.parse(frozen))
    run.advance(1)
    parameters = list(run.program.model.parameters())
    parameters[2].grad = torch.full_like(parameters[2], math.nan)
    shown = views.show(run, "gradients", {}).arrays
    held, norms = shown["held"].array().tolist(), shown["norms"].array().tolist()
    assert held[:3] == [0.0, 0.0, 1.0]
    assert math.isnan(norms[2])
    assert held[3] == 1.0
    assert norms[3] == parameters[3].grad.double().norm().item()
