"""Results of filters on a picture, compared with plain torch."""

import numpy as np
import pytest
import torch
from torch.nn.functional import conv2d, linear, max_pool2d

from gradscribe.engine.protocol.setup import Part, Setup
from gradscribe.engine.train import views
from gradscribe.engine.train.runs.run import TrainingRun
from gradscribe.engine.train.serve import replies
from gradscribe.engine.train.views.histograms import KINDS


@pytest.fixture(scope="module")
def digits():
    return TrainingRun(Setup(Part("digits", {"n": 60}), Part("cnn", {"channels": 4})))


def test_a_filter_is_shown_as_what_it_makes_of_the_picture_chosen(digits):
    names = [(unit.name, unit.kind, unit.width) for unit in replies.layers_by_depth(digits)]
    assert names == [("features.0", "ReLU", 4), ("features.3", "ReLU", 8), ("head", "Linear", 10)]
    shown = views.compute(digits, "units", {"sample": 2})
    labels = shown.arrays["labels"].array().tolist()
    assert labels == sorted(set(digits.program.y.tolist()))
    row = digits.program.y.tolist().index(labels[2])
    x = digits.program.x[row : row + 1]
    np.testing.assert_allclose(shown.arrays["samples"].array()[2], x[0, 0].numpy())
    given = dict(digits.program.model.named_parameters())
    first = conv2d(x, given["features.0.weight"], given["features.0.bias"], padding=1).relu()
    pooled = max_pool2d(first, 2)
    second = conv2d(pooled, given["features.3.weight"], given["features.3.bias"], padding=1).relu()
    said = linear(max_pool2d(second, 2).flatten(1), given["head.weight"], given["head.bias"])
    wanted = [first[0], second[0], said[0][:, None, None]]
    for place, one in enumerate(wanted):
        made = shown.arrays[f"layer{place}"].array()
        np.testing.assert_allclose(made, one.detach().numpy(), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("asked", [-3, 10_000, float("nan"), "two"])
def test_a_picture_that_is_not_there_is_one_that_is(digits, asked):
    shown = views.compute(digits, "units", {"sample": asked})
    assert 0 <= shown.facts["chosen"] < len(shown.arrays["samples"].array())


def test_the_spread_of_activations_has_a_row_for_each_of_these_layers(digits):
    made = views.compute(digits, "histograms", {"of": "activation", "bins": 4})
    assert KINDS[int(made.facts["of"])] == "activation"
    counts = made.arrays["counts"]
    rows = len(digits.program.x)
    wanted = [rows * 4 * 64, rows * 8 * 16, rows * 10]
    assert counts.array().sum(axis=1).tolist() == pytest.approx(wanted)


def test_looking_changes_nothing_of_the_run(digits):
    before = [p.detach().clone() for p in digits.program.model.parameters()]
    views.compute(digits, "units", {})
    assert all(map(torch.equal, before, digits.program.model.parameters()))
