"""The tab with the parameters of a run."""

import math

import numpy as np

from gradscribe.engine.protocol import training as messages
from gradscribe.playback.tape.parameters import SOME
from tests.app.training.fakes import array


def norms(room, **columns):
    count = len(room.presenter._session.run.begun.parameters)
    usual = {"norms": 0.5, "held": 1.0, "sizes": 2.0, "ratios": 0.01} | columns
    arrays = {name: array(np.full(count, number), "<f8") for name, number in usual.items()}
    return messages.ViewReply(1, "gradients", 3, arrays)


def test_norms_are_asked_for_and_shown(room, train_link):
    room.numbers.setCurrentWidget(room.histograms)
    train_link.grow(1, 0, 40)
    room.below.setCurrentWidget(room.parameters)
    assert "gradients" in {wish.kind for wish in train_link.last(messages.WatchViews).wishes}
    train_link.received.emit(norms(room))
    begun = room.presenter._session.run.begun
    rows = room.parameters.model.rows
    assert [(row.name, row.shape) for row in rows] == [(p.name, p.shape) for p in begun.parameters]
    assert (rows[0].value, rows[0].gradient, rows[0].update) == (2.0, 0.5, 0.01)
    course = room.presenter._session.run.curve(f"grad:{rows[0].name}").numbers()
    np.testing.assert_allclose(rows[0].course, course)


def test_the_view_is_asked_for_once(room, train_link):
    room.below.setCurrentWidget(room.parameters)
    kinds = [wish.kind for wish in train_link.last(messages.WatchViews).wishes]
    assert kinds.count("gradients") == 1


def test_a_missing_gradient_and_numbers_that_are_not_finite(room, train_link):
    room.below.setCurrentWidget(room.parameters)
    train_link.received.emit(norms(room, norms=math.nan, held=0.0, ratios=math.nan))
    row = room.parameters.model.rows[0]
    assert (row.gradient, row.update, row.not_finite) == (None, None, 0)
    train_link.received.emit(norms(room, norms=math.nan))
    assert room.parameters.model.rows[0].not_finite == SOME


def test_a_click_opens_the_gradient_over_the_steps(room, train_link):
    room.below.setCurrentWidget(room.parameters)
    train_link.received.emit(norms(room))
    name = room.parameters.model.rows[0].name
    room.parameters.picked.emit(name)
    assert room.numbers.currentWidget() is room.over_time
    assert (room.spread.kind.currentText(), room.spread.layer.currentText()) == ("Gradients", name)
