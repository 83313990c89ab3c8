"""The form as a whole: features that follow the data."""

import pytest

from gradscribe.engine.protocol.setup import Setup
from gradscribe.widgets.training.setup.option_row import OptionRow
from gradscribe.widgets.training.setup.sections import FoldingSection
from gradscribe.widgets.training.setup.setup_form import SetupForm


@pytest.fixture
def split(shown):
    """A form with its features open; ``told`` has those of each setup that it tells."""
    form = shown(SetupForm(), 280, 900)
    form.split.head.setChecked(True)
    form.told = []
    form.edited.connect(lambda setup: form.told.append(setup.features))
    return form


def feature_buttons(form):
    return form.split.by_name["features"].editor.buttons


def test_features_of_every_input_are_offered(split):
    split.offer_features(("size", "bedrooms", "age"))
    assert " ".join(feature_buttons(split)) == (
        "x1 x2 x3 x1^2 x2^2 x3^2 x1*x2 x1*x3 x2*x3 sin(x1) sin(x2) sin(x3)"
    )
    said = split.split.by_name["features"].words.said()
    assert said == "x1 size · x2 bedrooms · x3 age"
    split.offer_features(("x",))
    assert " ".join(feature_buttons(split)) == "x1 x1^2 sin(x1)"
    assert not split.split.by_name["features"].words.said()


@pytest.mark.parametrize(("count", "offered"), [(6, 33), (7, 21), (32, 96), (33, 0), (0, 0)])
def test_many_inputs_are_offered_fewer_features(split, count, offered):
    split.offer_features(tuple(f"c{i}" for i in range(count)))
    assert len(feature_buttons(split)) == offered
    assert split.split.by_name["features"].isHidden() == (not offered)


def test_a_feature_is_added_to_the_inputs_that_the_model_is_given(split):
    split.offer_features(("a", "b", "c"))
    buttons = feature_buttons(split)
    assert [name for name, one in buttons.items() if one.isChecked()] == ["x1", "x2", "x3"]
    buttons["x3^2"].click()
    buttons["x1"].click()
    buttons["x1"].click()
    buttons["x3^2"].click()
    assert split.told == [
        ("x1", "x2", "x3", "x3^2"),
        ("x2", "x3", "x3^2"),
        ("x1", "x2", "x3", "x3^2"),
        (),
    ]


def test_without_any_feature_the_inputs_are_back(split):
    split.offer_features(("x",))
    feature_buttons(split)["x1"].click()
    assert split.told == [()]
    assert feature_buttons(split)["x1"].isChecked()


def test_a_feature_that_a_file_brought_stays(split):
    split.offer_features(("a", "b"))
    split.set_setup(Setup(features=("x1", "cos(x2)")))
    buttons = feature_buttons(split)
    assert buttons["cos(x2)"].isChecked()
    buttons["x2"].click()
    assert split.told == [("x1", "x2", "cos(x2)")]


def headings(form):
    layout = form.layout()
    found = [layout.itemAt(at).widget() for at in range(layout.count())]
    return [one.head.text() for one in found if isinstance(one, FoldingSection)]


def test_a_form_made_step_by_step_is_the_one_that_is_made_at_once(qtbot):
    whole, made = SetupForm(), SetupForm(at_once=False)
    qtbot.addWidget(whole)
    qtbot.addWidget(made)
    kinds = (FoldingSection, OptionRow)
    counts = [sum(len(made.findChildren(kind)) for kind in kinds) for _ in made.making]
    assert max(b - a for a, b in zip([0, *counts], counts, strict=False)) <= 3
    assert headings(made) == headings(whole)
    assert list(made.parts) == list(whole.parts)
    assert list(made.batches.by_name) == list(whole.batches.by_name)
    told = []
    made.edited.connect(told.append)
    made.batches.by_name["batch"].edited.emit("batch", 7)
    assert told == [Setup(batch=7)]
