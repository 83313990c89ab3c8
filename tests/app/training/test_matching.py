"""Data of another kind bring a model that takes them."""

import pytest

from app.training import matching
from engine import training as say
from engine.setup import Part, Setup
from engine.train import catalogue
from engine.train.program import Program
from engine.training import Entry

ALL = say.Catalogue(0, catalogue.entries(), {})
MODELS = [entry.name for entry in ALL.entries if entry.kind == "model" and entry.name != "own"]
DATA = [entry.name for entry in ALL.entries if entry.kind == "data" and entry.name != "csv"]


def picked(model, data):
    before = Setup(data=Part("csv"), model=Part(model))
    return matching.matched(before, Setup(data=Part(data), model=Part(model)), ALL).model


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("data", DATA)
def test_whatever_the_model_was_any_data_can_be_trained_on(model, data):
    assert Program(Setup(data=Part(data), model=picked(model, data), steps=1)).model


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
    assert matching.matched(Setup(data=Part("moons")), wrong, ALL) == wrong


def test_what_is_not_known_is_left_alone():
    listed = say.Catalogue(0, (Entry("data", "new", "New", inputs="sound"),), {})
    after = Setup(data=Part("new"))
    assert matching.matched(Setup(), after, listed) == after


def test_picking_data_tells_which_model_takes_them(room, begun, qtbot):
    tokens = Entry("data", "words", "Words", inputs="tokens")
    reader = Entry("model", "reader", "Reader", inputs="tokens")
    mlp = Entry("model", "mlp", "Layers", inputs="numbers")
    begun.catalogue = say.Catalogue(0, (tokens, reader, mlp), {})
    with qtbot.waitSignal(begun.said) as told:
        room.form.edited.emit(Setup(data=Part("words"), model=Part("mlp")))
    assert begun.setup.model == Part("reader")
    assert "reader" in told.args[0]
