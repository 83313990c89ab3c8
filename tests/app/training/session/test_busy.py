"""An engine that is silent for a while: what it is about is said, and it is given its time."""

import pytest
from msgspec.structs import replace

from gradscribe.app.training.session.busy import BusyIndicator
from gradscribe.app.training.session.state import (
    REPLY_TIMEOUT_MS,
    progress_text,
    reply_timeout_ms,
)
from gradscribe.engine.protocol import training as messages

BIG = (messages.Parameter("0.weight", (4096, 4096), 0, "Linear"),)


@pytest.fixture
def waiting(begun, train_link):
    made = BusyIndicator(begun, train_link, begun)
    made.heard = []
    made.told.connect(lambda *words: made.heard.append(words))
    made.silence = made._timer.timeout.emit
    begun.controller.play()
    return made


def test_what_is_being_made_is_said(waiting, begun, train_link):
    train_link.asked.emit(messages.ChangeSetup(1, begun.setup))
    assert waiting._timer.isActive()
    train_link.asked.emit(messages.Pause(1))
    waiting.silence()
    assert waiting.heard == [(begun.run.name, "building the model…")]


def test_before_the_catalogue_no_name_of_the_engine_is_shown(waiting, begun, train_link):
    begun.store.catalogue = None
    train_link.asked.emit(messages.ChangeSetup(1, begun.setup))
    waiting.silence()
    assert waiting.heard == [("PyTorch is starting…", "building the model…")]


def test_what_was_told_before_it_was_asked_is_no_answer(waiting, begun, train_link):
    train_link.asked.emit(messages.ChangeSetup(1, begun.setup))
    train_link.state(1, 57, "running", rate=3000.0)
    train_link.grow(1, 0, 10)
    assert waiting._timer.isActive()
    waiting.silence()
    assert waiting.heard == [(begun.run.name, "building the model…")]
    train_link.received.emit(messages.SetupChanged(1, 0, (), ("model",)))
    train_link.begin(1, begun.setup)
    waiting.silence()
    assert waiting.heard[1:] == [(begun.run.name, "step 0 · computing the next…")]


def test_a_long_step_is_said_while_it_trains_and_while_it_is_to_pause(waiting, begun, train_link):
    train_link.state(1, 1204, "running", rate=0.07)
    assert waiting._timer.isActive()
    waiting.silence()
    begun.controller.pause()
    train_link.asked.emit(messages.Pause(1))
    waiting.silence()
    assert [words for _, words in waiting.heard] == [
        "step 1,204 · computing the next…",
        "step 1,204 · pausing…",
    ]


def test_nothing_is_waited_for_once_it_stands_still(waiting, begun, train_link):
    begun.controller.pause()
    train_link.asked.emit(messages.Pause(1))
    train_link.state(1, 3)
    assert not waiting._timer.isActive()
    train_link.asked.emit(messages.SaveRun(1))
    assert not waiting._timer.isActive()


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        (messages.Export(1, "script"), []),
        (messages.WatchViews(1, ()), []),
        (messages.Advance(1, 1), ["step 3 · computing the next…"]),
        (messages.StepEvent(1), ["step 3 · computing the next…"]),
        (messages.Rewind(1, 0), ["step 3 · rewinding…"]),
    ],
    ids=str,
)
def test_a_run_that_stands_still_is_not_said_to_pause(waiting, begun, train_link, asked, words):
    begun.controller.pause()
    train_link.state(1, 3)
    train_link.asked.emit(asked)
    waiting.silence()
    assert [said for _, said in waiting.heard] == words


def test_nothing_is_waited_for_of_an_engine_that_is_gone(waiting, begun, train_link):
    train_link.asked.emit(messages.Pause(1))
    train_link.died.emit("it was killed")
    assert not waiting._timer.isActive()
    waiting.silence()
    assert waiting.heard == []


def test_the_room_says_it_in_its_bar(qtbot, window):
    window.workspaces.show_workspace("training")
    qtbot.waitUntil(lambda: window.workspaces.is_whole, timeout=30_000)
    window.workspaces.waiting.told.emit("moons", "building the model…")
    assert window.workspaces.widgets.bar._words == ("moons", "building the model…")


def test_steps_slower_than_one_a_second_are_told_in_seconds(begun, train_link):
    train_link.state(1, 1204, "running", rate=3000.4)
    assert progress_text(begun.run, plays=True) == "step 1,204 · 3,000 steps/s"
    train_link.state(1, 5, "running", rate=0.08)
    assert progress_text(begun.run, plays=True) == "step 5 · 12.5 s a step"
    assert progress_text(begun.run, plays=False) == "step 5 · pausing…"
    train_link.state(1, 6)
    assert progress_text(begun.run, plays=False) == "step 6"


def test_a_big_model_is_given_more_time(begun, train_link):
    run = begun.run
    assert reply_timeout_ms(run) == pytest.approx(REPLY_TIMEOUT_MS, abs=1)
    train_link.state(1, 5, "running", rate=0.1)
    assert reply_timeout_ms(run) == 30_000
    train_link.state(1, 6)
    run.begun = replace(run.begun, parameters=BIG)
    assert run.begun.parameter_count == 4096 * 4096
    assert reply_timeout_ms(run) > REPLY_TIMEOUT_MS + 8000
    begun.controller.pause()
    assert begun.controller._patience.remainingTime() > REPLY_TIMEOUT_MS + 4000


def test_what_is_left_out_is_said_in_its_place(room, begun, train_link):
    said = room.weights.heading.text()[1]
    assert "double click" in said
    begun.run.begun = replace(begun.run.begun, parameters=BIG)
    begun.store.begun.emit(begun.run)
    words = "16,777,216 parameters are too many to show"
    for shown in (room.surface.caption.said(), room.optimizer.caption.said(),
                  room.weights.heading.text()[1]):  # fmt: skip
        assert shown == words
    train_link.begin(1, begun.setup)
    assert room.weights.heading.text()[1] == said
    assert words not in (room.surface.caption.said(), room.optimizer.caption.said())
