"""The training page shows its session, and its controls change it."""

import numpy as np
from msgspec.structs import replace

from gradscribe.engine.protocol import training as messages
from gradscribe.engine.protocol.setup import Part
from gradscribe.engine.protocol.tape import Problem
from tests.app.training import fakes
from tests.app.training.fakes import LINES, array, series


def test_of_two_numbers_the_surface_is_over_both(room):
    def numbers(*shapes):
        return tuple(messages.Parameter(str(i), shape, i) for i, shape in enumerate(shapes))

    room.surface.offer_directions(numbers((3,)))
    assert room.surface.directions.currentData() == "random"
    room.surface.offer_directions(numbers((), ()))
    assert room.surface.directions.currentData() == "parameters"
    room.surface.directions.setCurrentIndex(room.surface.directions.findData("pca"))
    room.surface.offer_directions(numbers((), ()))
    assert room.surface.directions.currentData() == "pca", "what one has chosen stays"
    room.surface.offer_directions(numbers((3,)))
    assert room.surface.directions.currentData() == "random"


def test_the_last_line_stays_lit_until_the_run_moves_on(room, begun, train_link):
    lines = begun.run.begun.lines
    for index, (event, _text) in enumerate(lines):
        done = index == len(lines) - 1
        train_link.received.emit(messages.EventDone(1, 0, index, event, ("it moved",), done=done))
        train_link.state(1, 1 if done else 0, event=0 if done else index + 1)
    names = [code.accessibleName() for _mark, code, _what in room.lines._rows]
    assert names[-1] == "optimizer.step(), happening now. it moved"
    assert all("done" in name for name in names[:-1])
    train_link.received.emit(messages.EventDone(1, 1, 0, "zero_grad", ()))
    train_link.state(1, 1, event=1)
    names = [code.accessibleName() for _mark, code, _what in room.lines._rows]
    assert "happening now" in names[0]
    assert "not yet" in names[-1]
    train_link.state(1, 7)
    assert all("not yet" in code.accessibleName() for _m, code, _w in room.lines._rows)


def test_a_run_keeps_the_name_that_one_gives_it(room, begun, train_link):
    usual = begun.run.name
    room.table.renamed.emit(1, "  my   baseline ")
    assert begun.run.name == "my baseline"
    assert "my baseline" in room.bar.title.said()
    begun.controller.change(replace(begun.setup, optimizer=Part("sgd", {"lr": 0.5})))
    train_link.received.emit(messages.SetupChanged(1, 0, applied=("optimizer",)))
    assert begun.run.name == "my baseline"
    room.table.renamed.emit(1, "")
    assert begun.run.name != "my baseline"
    assert "SGD 0.5" in begun.run.name != usual


def test_what_went_wrong_is_not_said_any_more_before_it_did(room, train_link):
    bad = Problem("NaN", "The loss of step 9 is NaN.", "Lower the learning rate.")
    train_link.state(1, 8, problem=bad)
    assert room.strip.isVisible()
    assert "step 9 is NaN" in room.message.said()
    train_link.state(1, 3)
    assert not room.strip.isVisible()
    assert not room.message.said()


def test_the_lines_of_a_step_follow_a_change(room, train_link):
    clip = ("clip", "nn.utils.clip_grad_norm_(model.parameters(), 1.0)")
    train_link.received.emit(
        messages.SetupChanged(1, 5, applied=("clip_norm",), lines=(*LINES[:4], clip))
    )
    train_link.state(1, 5)
    names = [code.accessibleName() for _mark, code, _what in room.lines._rows]
    assert [name.startswith(clip[1]) for name in names] == [False] * 4 + [True]


def test_features_are_those_of_the_data_that_is_shown(room, begun, train_link):
    room.form.split.head.setChecked(True)
    x, y = array(np.zeros((4, 3)), "<f4"), array(np.zeros((4, 1)), "<f4")
    names = ("size", "bedrooms", "age")
    shown = messages.DataSample(begun.run.run_id, x, y, array(np.ones(4), "?"), names)
    train_link.received.emit(shown)
    assert "sin(x3)" in room.form.split.by_name["features"].editor.buttons


def test_a_run_that_began_anew_has_made_no_steps_in_the_table(room, begun, train_link):
    room.below.setCurrentWidget(room.table)
    train_link.received.emit(series(1, 1, 500))
    train_link.state(1, 499)
    steps = room.table.table.item
    assert steps(0, 1).text() == "499"
    train_link.received.emit(fakes.begun(1, begun.setup))
    # Only then the engine tells where the run stands.
    train_link.state(1, 0)
    assert steps(0, 1).text() == "0"
