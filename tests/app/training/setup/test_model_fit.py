"""Data of another kind bring a model that takes them."""

import pytest

from gradscribe.app.training.setup import model_fit
from gradscribe.engine.protocol import training as messages
from gradscribe.engine.protocol.setup import Part, Setup
from gradscribe.engine.protocol.training import CatalogueEntry
from gradscribe.engine.train.source import catalogue
from gradscribe.engine.train.source.program import TrainingProgram

ALL = messages.Catalogue(0, catalogue.entries(), {})
MODELS = [entry.name for entry in ALL.entries if entry.kind == "model" and entry.name != "own"]
DATA = [entry.name for entry in ALL.entries if entry.kind == "data" and entry.name != "csv"]


def picked(model, data):
    before = Setup(data=Part("csv"), model=Part(model))
    return model_fit.with_matching_model(
        before, Setup(data=Part(data), model=Part(model)), ALL
    ).model


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("data", DATA)
def test_whatever_the_model_was_any_data_can_be_trained_on(model, data):
    assert TrainingProgram(Setup(data=Part(data), model=picked(model, data), steps=1)).model


@pytest.mark.parametrize(
    ("model", "data", "found"),
    [
        ("polynomial", "moons", "polynomial"),
        ("two_parameters", "line", "two_parameters"),
        ("two_parameters", "moons", "mlp"),
        ("cnn", "moons", "mlp"),
        ("mlp", "digits", "mlp"),
        ("transformer", "sort_tokens", "transformer"),
        ("recurrent", "sine", "mlp"),
        ("own", "copy_tokens", "own"),
    ],
)
def test_a_model_that_may_do_stays(model, data, found):
    assert picked(model, data).name == found


def test_tokens_bring_a_model_that_reads_them():
    assert picked("mlp", "copy_tokens").name in ("recurrent", "transformer")


def test_the_same_data_keep_a_model_that_does_not_fit():
    wrong = Setup(data=Part("moons"), model=Part("cnn"))
    assert model_fit.with_matching_model(Setup(data=Part("moons")), wrong, ALL) == wrong


def test_what_is_not_known_is_left_alone():
    listed = messages.Catalogue(0, (CatalogueEntry("data", "new", "New", inputs="sound"),), {})
    after = Setup(data=Part("new"))
    assert model_fit.with_matching_model(Setup(), after, listed) == after


def test_picking_data_tells_which_model_takes_them(room, begun, qtbot):
    tokens = CatalogueEntry("data", "words", "Words", inputs="tokens")
    reader = CatalogueEntry("model", "reader", "Reader", takes=("tokens",))
    mlp = CatalogueEntry("model", "mlp", "Layers", takes=("n",))
    begun.store.catalogue = messages.Catalogue(0, (tokens, reader, mlp), {})
    with qtbot.waitSignal(begun.said) as told:
        room.form.edited.emit(Setup(data=Part("words"), model=Part("mlp")))
    assert begun.setup.model == Part("reader")
    assert "Reader" in told.args[0]
