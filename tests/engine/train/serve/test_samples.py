"""Thumbnails of the data sets: points of each as a run trains on them."""

import numpy as np
import pytest
import torch

from gradscribe.engine.protocol.setup import Part, Setup
from gradscribe.engine.protocol.training import replies, requests
from gradscribe.engine.train.runs.run import TrainingRun
from gradscribe.engine.train.serve.host import TrainingHost
from gradscribe.engine.train.serve.samples import MOST, data_samples
from gradscribe.engine.train.source import catalogue
from gradscribe.engine.zoo.entry import Data

PLANE = [n for n, piece in catalogue.zoo_entries("data").items() if piece.inputs in ("1", "2")]


def test_every_data_set_on_a_plane_or_a_curve_has_one():
    assert set(data_samples()) == set(PLANE)
    assert {"circle", "xor", "gauss", "spiral", "plane", "multi_gauss", "sine"} <= set(PLANE)
    assert not {"csv", "digits", "copy_tokens", "houses"} & set(data_samples())


@pytest.mark.parametrize("name", PLANE)
def test_it_is_what_one_trains_on(name):
    sample = data_samples()[name].array()
    assert sample.shape[1] == 3
    assert 0 < len(sample) <= MOST
    assert np.isfinite(sample).all()
    _, options = catalogue.find("data", Part(name), Data)
    if "n" in options:
        options["n"] = min(options["n"], MOST)
    run = TrainingRun(Setup(data=Part(name, options), model=Part("linear"), train=1.0, data_seed=0))
    x, y = run.program.x.numpy(), run.program.y.reshape(len(run.program.y), -1)[:, 0].numpy()
    np.testing.assert_array_equal(sample[:, : x.shape[1]], x)
    np.testing.assert_array_equal(sample[:, x.shape[1]], y.astype("f4"))


def test_they_are_told_with_the_catalogue_and_leave_torch_s_own_generator_alone():
    data_samples.cache_clear()
    before, said = torch.get_rng_state(), []
    TrainingHost(said.append).take(requests.ListCatalogue(3))
    (listed,) = (one for one in said if isinstance(one, replies.Catalogue))
    assert set(listed.samples) == set(PLANE)
    assert torch.equal(torch.get_rng_state(), before)
