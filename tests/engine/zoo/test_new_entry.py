"""A model is one file: a new one is offered, suggested, trained and exported as the others are."""

import contextlib
import io
import sys

import pytest

from gradscribe.app.training.setup import model_fit
from gradscribe.engine.protocol import setup
from gradscribe.engine.protocol import training as messages
from gradscribe.engine.protocol.setup import Part, Setup, SetupError
from gradscribe.engine.train.runs.export import script
from gradscribe.engine.train.runs.run import TrainingRun
from gradscribe.engine.train.source import catalogue
from gradscribe.engine.zoo import models
from gradscribe.engine.zoo.entry import Model

SOURCE = """
import torch
from torch import nn

from gradscribe.engine.protocol.training.catalogue import Option
from gradscribe.engine.zoo.entry import Model


class Bumps(nn.Module):
    def __init__(self, inputs, outputs, bumps):
        super().__init__()
        self.centres = nn.Parameter(torch.randn(bumps, inputs))
        self.head = nn.Linear(bumps, outputs)

    def forward(self, x):
        return self.head(torch.exp(-(x[:, None] - self.centres).square().sum(-1)))


ENTRY = Model(
    lambda options, shapes: f"Bumps({shapes.inputs}, {shapes.outputs}, {options['bumps']})",
    "Bumps",
    "Radial basis functions",
    ("2",),
    options=(Option("bumps", "int", 5, "Bumps", low=1, high=50),),
    uses=lambda _: (Bumps,),
    group="Layers",
)
"""


@pytest.fixture
def bumps(tmp_path, monkeypatch):
    """The catalogue with a model more, whose file is in a folder of its own."""
    (tmp_path / "bumps.py").write_text(SOURCE, encoding="utf-8")
    monkeypatch.setattr(models, "__path__", [*models.__path__, str(tmp_path)])
    catalogue.zoo_entries.cache_clear()
    yield
    catalogue.zoo_entries.cache_clear()
    sys.modules.pop(f"{models.__name__}.bumps", None)
    vars(models).pop("bumps", None)


def trained(given, steps):
    run = TrainingRun(setup.parse(given))
    assert run.advance(steps) == steps, run.problem
    return run


def test_a_new_model_is_in_the_catalogue_and_its_options_are_known(bumps):
    (entry,) = (e for e in catalogue.entries() if (e.kind, e.name) == ("model", "bumps"))
    assert (entry.title, entry.takes, entry.group) == ("Bumps", ("2",), "Layers")
    with pytest.raises(SetupError, match=r'the model, as in "model": \{"name": "bumps", "bumps"'):
        catalogue.find("data", Part("moons", {"bumps": 7}), catalogue.Data)
    with pytest.raises(SetupError, match="did you mean 'bumps'"):
        catalogue.find("model", Part("bump"), Model)
    listed = messages.Catalogue(0, catalogue.entries(), {})
    before, after = (Setup(data=Part(data), model=Part("bumps")) for data in ("circle", "moons"))
    assert model_fit.with_matching_model(before, after, listed) == after
    digits = Setup(data=Part("digits"), model=Part("bumps"))
    assert model_fit.with_matching_model(before, digits, listed).model == Part("mlp")


@pytest.mark.parametrize("mode", ["reference", "captured"])
def test_a_new_model_is_trained_as_its_script_trains_it(bumps, mode):
    given = {"data": {"name": "moons", "n": 40}, "model": "bumps", "batch": 8, "mode": mode}
    run = trained(given, 9)
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(compile(script(run, 9), "script.py", "exec"), {"__name__": "__main__"})
    losses = [float(line.split()[1]) for line in out.getvalue().splitlines()]
    assert losses == list(run.history.recent)
    assert "class Bumps" in script(run, 9)


def test_a_new_model_refuses_data_that_it_does_not_take(bumps):
    with pytest.raises(SetupError, match="bumps takes numbers, but the data is pictures"):
        trained({"data": "digits", "model": "bumps"}, 1)
