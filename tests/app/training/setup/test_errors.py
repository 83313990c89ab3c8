"""An error of a setup is seen at every place where the user may look."""

import numpy as np
import pytest
from msgspec.structs import replace
from shiboken6 import isValid

from gradscribe.engine.protocol import training as messages
from gradscribe.engine.protocol.setup import Part
from gradscribe.widgets.plots.training_view import ShownRun
from tests.app.training.fakes import array, problem


@pytest.fixture
def low(room, qtbot):
    """A room in which the set-up does not have room, turned down to its end."""
    for section in room.form.sections():
        section.head.setChecked(True)
    bar = room.sheet.verticalScrollBar()
    qtbot.waitUntil(lambda: bar.maximum() > 400)
    bar.setValue(bar.maximum())
    return room


def test_a_complaint_out_of_sight_is_told_above_with_the_way_to_it(low, train_link, qtbot):
    train_link.received.emit(problem(1, "at most 32 layers", "model.layers"))
    qtbot.waitUntil(low.strip.isVisible)
    assert low.message.said() == "at most 32 layers"
    assert not low.again.isVisible()
    low.there.click()
    note = low.form.parts["model"].by_name["layers"].note
    qtbot.waitUntil(lambda: not low.strip.isVisible())
    assert note.visibleRegion().boundingRect().height() == note.height()


def test_who_turns_away_from_a_complaint_has_it_above(low, train_link, qtbot):
    train_link.received.emit(problem(1, "at most 32 layers", "model.layers"))
    qtbot.waitUntil(low.strip.isVisible)
    low.there.click()
    qtbot.waitUntil(lambda: not low.strip.isVisible())
    bar = low.sheet.verticalScrollBar()
    bar.setValue(bar.maximum())
    qtbot.waitUntil(low.strip.isVisible)


def test_a_complaint_above_goes_with_its_reason(low, train_link, qtbot):
    train_link.received.emit(problem(1, "at most 32 layers", "model.layers"))
    qtbot.waitUntil(low.strip.isVisible)
    train_link.received.emit(messages.SetupChanged(1, 0, applied=("model",)))
    assert not low.strip.isVisible()
    assert not low.there.isVisible()


def test_a_complaint_in_sight_is_told_once(room, train_link, qtbot):
    train_link.received.emit(problem(1, "at most 32 layers", "model.layers"))
    note = room.form.parts["model"].by_name["layers"].note
    room.sheet.ensureWidgetVisible(note)
    qtbot.waitUntil(lambda: not room.strip.isVisible())
    qtbot.wait(0)
    assert note.isVisible()
    assert not room.strip.isVisible()


def test_a_complaint_outlives_the_setting_that_it_was_told_at(low, train_link, qtbot):
    train_link.received.emit(problem(1, "at most 32 layers", "model.layers"))
    qtbot.waitUntil(low.strip.isVisible)
    note = low.form.parts["model"].by_name["layers"].note
    for _ in low.form.parts["model"].follow(Part("linear")):
        pass
    qtbot.waitUntil(lambda: not isValid(note))
    low.sheet.verticalScrollBar().setValue(0)
    qtbot.waitUntil(lambda: not low.there.isVisible())
    assert low.message.said() == "at most 32 layers"


def test_a_place_that_the_form_does_not_know_offers_no_way_to_it(room, train_link):
    train_link.received.emit(problem(1, "no memory left"))
    assert room.message.said() == "no memory left"
    assert not room.there.isVisible()


def shown(run):
    return ShownRun(run.begun, run.data, run.views)


def gradients(run_id):
    arrays = {"norms": array([1.0, 2.0], "<f4"), "held": array([1, 1], "<i1")}
    return messages.ViewReply(run_id, "gradients", 3, arrays, {})


def test_of_a_run_that_cannot_begin_nothing_of_the_one_before_is_seen(room, begun, train_link):
    room.show_view(shown(begun.run), gradients(1))
    assert room.gradients.accessibleDescription() == "0.weight 1.0000, 0.bias 2.0000"
    begun.controller.change(replace(begun.setup, model=Part("linear")))
    begun.controller.begin()
    assert begun.run.begun is None
    train_link.received.emit(problem(begun.run.run_id, "two inputs, not one", "model"))
    assert not room.gradients.accessibleDescription()
    assert not room.weights.choice.count()
    assert room.units._placeholder == "Nothing yet"
    assert not len(room.boundary._points)


def test_a_run_that_goes_on_as_it_was_keeps_its_pictures(room, begun, train_link):
    room.show_view(shown(begun.run), gradients(1))
    train_link.received.emit(problem(1, "at most 32 layers", "model.layers"))
    assert room.gradients.accessibleDescription() == "0.weight 1.0000, 0.bias 2.0000"


def test_the_next_run_that_begins_is_seen(room, begun, train_link):
    begun.controller.begin()
    train_link.received.emit(problem(begun.run.run_id, "two inputs, not one", "model"))
    begun.controller.begin()
    train_link.begin(begun.run.run_id)
    assert room.weights.choice.count() == 2
    assert len(room.boundary._points)
    assert np.isfinite(room.boundary._points.x).all()
