"""The graph of the step that is being made, where the run stands."""

import numpy as np
import pytest
import torch
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QApplication

from gradscribe.app.training.page.step_menu import StepMenu
from gradscribe.engine.protocol import training as messages
from gradscribe.engine.protocol.setup import Part, Setup
from gradscribe.engine.protocol.tape import Problem
from gradscribe.engine.protocol.training import StepTape, requests
from gradscribe.engine.train.runs import record_step
from gradscribe.engine.train.runs.run import TrainingRun
from gradscribe.engine.train.serve.host import TrainingHost
from gradscribe.playback.tape.index import index_of
from tests.app.training import fakes

SETUP = Setup(data=Part("moons", {"n": 40}), model=Part("mlp", {"layers": [3]}), batch=8)
LINES = ("optimizer.zero_grad()", "output = model(inputs)", "loss = criterion(output, targets)",
         "loss.backward()", "optimizer.step()")  # fmt: skip


@pytest.fixture(scope="module")
def tape():
    run = TrainingRun(SETUP)
    run.advance(2)
    return record_step.record_step(run)[0]


@pytest.fixture
def looked(room, begun, train_link):
    """The room with its graph in front, its first tape asked for."""
    train_link.state(1, 2)
    room.says.setCurrentWidget(room.graph)
    yield room
    room.presenter.live.close()


def emitted(link, tape, *steps):
    for step in steps:
        link.received.emit(StepTape(1, step, tape, "\n".join(LINES), live=True))


def requested(link):
    """Return the steps whose tapes were requested since the last call; None: the next."""
    found = [m.step for m in link.sent if isinstance(m, messages.RecordStep) and m.live]
    link.sent.clear()
    return found


def test_tapes_are_requested_while_the_graph_is_seen(looked, train_link, tape):
    assert requested(train_link) == [1, None]
    emitted(train_link, tape, 1, 2)
    cards = looked.graph.graph.stage().cards
    assert {"tanh", "targets"} <= {card.title for card in cards.values()}
    assert looked.graph.caption.said() == "step 2"
    looked.says.setCurrentWidget(looked.picture)
    train_link.state(1, 9)
    assert requested(train_link) == []
    looked.says.setCurrentWidget(looked.graph)
    assert requested(train_link) == [8, None]


def test_the_next_line_moves_the_graph_to_its_step(looked, begun, train_link, tape):
    emitted(train_link, tape, 1, 2)
    whole = looked.graph.graph.look()
    assert any(card.gradient for card in whole.cards.values())
    for index in range(2):
        train_link.received.emit(messages.EventDone(1, 2, index, "forward", ()))
    half = looked.graph.graph.look()
    assert not any(card.gradient for card in half.cards.values())
    assert looked.graph.caption.said() == "step 3 · output = model(x)"
    requested(train_link)
    train_link.state(1, 2, event=2)
    assert requested(train_link) == []
    for index in range(2, 5):
        done = messages.EventDone(1, 2, index, "forward", (), done=index == 4)
        train_link.received.emit(done)
    train_link.state(1, 3)
    assert looked.graph.caption.said() == "step 3"
    assert not looked.presenter.live.film.plays
    assert requested(train_link) == [None]


def test_the_first_step_is_shown_before_it_is_made(looked, train_link, tape):
    emitted(train_link, tape, 1, 2)
    train_link.state(1, 0)
    assert requested(train_link)[-1] is None
    emitted(train_link, tape, 0)
    assert looked.graph.caption.said().startswith("step 1, before it is made")


def test_a_step_that_takes_long_to_repeat_is_replaced_by_the_next(looked, train_link, tape):
    emitted(train_link, tape, 2, 2)
    assert looked.graph.caption.said().startswith("step 3, before it is made")
    requested(train_link)
    train_link.state(1, 3)
    assert looked.graph.caption.said() == "step 3"
    assert looked.presenter.live.film.plays
    assert requested(train_link) == [None]


def test_a_change_at_a_step_renews_the_tape_of_the_next(looked, train_link, tape):
    emitted(train_link, tape, 1, 2)
    requested(train_link)
    train_link.state(1, 2)
    assert requested(train_link) == [None]
    assert looked.graph.caption.said() == "step 2"


def test_a_run_that_failed_is_shown_with_the_step_that_failed(looked, train_link, tape):
    emitted(train_link, tape, 1, 2)
    requested(train_link)
    train_link.state(1, 7, problem=Problem("NaN", "The loss of step 8 is NaN", ""))
    assert requested(train_link) == [None]
    emitted(train_link, tape, 7)
    assert looked.graph.caption.said().startswith("step 8")


def test_a_run_that_plays_is_looked_at_now_and_then(looked, begun, train_link, tape):
    emitted(train_link, tape, 1, 2)
    train_link.sent.clear()
    train_link.state(1, 50, "running")
    train_link.state(1, 80, "running")
    assert train_link.last(messages.RecordStep) is None
    live = looked.presenter.live
    assert live._pace.isActive()
    live._pace.timeout.emit()
    train_link.state(1, 90, "running")
    assert len([m for m in train_link.sent if isinstance(m, messages.RecordStep)]) == 1


def test_a_tape_of_another_run_is_dropped_and_modules_fold(looked, train_link, tape):
    train_link.received.emit(StepTape(7, 2, tape, "", live=True))
    assert not looked.graph.graph.stage().cards
    emitted(train_link, tape, 1, 2)
    frames = {frame.key for frame in looked.graph.graph.stage().picture.frames}
    looked.graph.graph.toggled.emit(min(frames, key=len))
    folded = {frame.key for frame in looked.graph.graph.stage().picture.frames}
    assert len(folded) < len(frames)


def test_layers_are_switched(looked, train_link, tape):
    emitted(train_link, tape, 1, 2)
    looked.graph.layers["Shapes"].click()
    assert looked.graph.graph.canvas.drawing.layers.shapes
    looked.graph.layers["Values"].click()
    assert not looked.graph.graph.canvas.drawing.layers.values


@pytest.mark.qt_log_ignore("This plugin does not support")
def test_a_right_click_offers_what_belongs_to_the_card_and_opens_no_history(
    looked, train_link, tape
):
    emitted(train_link, tape, 1, 2)
    view, live = looked.graph.graph, looked.presenter.live
    menu = looked.graph.findChild(StepMenu)
    tab = looked.numbers.currentWidget()
    loss = next(card for card in view.stage().cards.values() if card.kind == "loss")
    entries = dict(menu.entries("card", loss.key))
    entries["Copy the value"]()
    number = float(QGuiApplication.clipboard().text())
    recorded = index_of(tape)
    snapshot = recorded.snapshot(recorded.values[loss.value].snapshot)
    assert np.float32(number) == snapshot.array()
    entries["Copy the gradient"]()
    assert float(QGuiApplication.clipboard().text()) == 1.0
    view.menu_requested.emit("graph", view.mapToGlobal(view.rect().center()))
    QApplication.activePopupWidget().close()
    assert looked.numbers.currentWidget() is tab
    entries["Collapse all modules"]()
    assert not live._picture.frames
    folded = next(card for card in view.stage().cards.values() if card.kind == "module")
    dict(menu.entries("module", folded.key))["Fold or open the module"]()
    assert {frame.key for frame in live._picture.frames} == {folded.key}
    dict(menu.entries("graph", ""))["Expand all modules"]()
    assert len(live._picture.frames) > 1
    train_link.sent.clear()
    dict(menu.entries("graph", ""))["Show this step on the tape"]()
    assert train_link.last(messages.RecordStep) == messages.RecordStep(1, 1)


def test_a_live_tape_of_an_earlier_step_that_takes_long_to_repeat_is_that_of_the_next():
    said = []
    host = TrainingHost(said.append)
    host.take(requests.Train(1, SETUP))
    host.take(requests.Advance(1, 3))
    while host.work() is not None:
        pass
    hosted = host._runs[1]
    before = [p.clone() for p in hosted.run.program.model.parameters()]
    for seconds in (0.001, 1.0):
        hosted._step_s = seconds
        host.take(requests.RecordStep(1, 2, live=True))
    assert [m.step for m in said if isinstance(m, StepTape)] == [2, 3]
    assert all(map(torch.equal, before, hosted.run.program.model.parameters()))


def test_the_time_of_a_step_is_measured_where_no_step_was_made_before():
    said = []
    host = TrainingHost(said.append)
    host.take(requests.Train(1, SETUP))
    for _ in range(10):
        host.take(requests.StepEvent(1))
    run = host._runs[1].run
    before = [p.clone() for p in run.program.model.parameters()]
    host.take(requests.RecordStep(1, 1, live=True))
    (found,) = [m for m in said if isinstance(m, StepTape)]
    assert (run.step, found.step) == (2, 1)
    assert all(map(torch.equal, before, run.program.model.parameters()))
    twin = TrainingRun(SETUP)
    twin.advance(5)
    run.advance(3)
    assert all(map(torch.equal, run.program.model.parameters(), twin.program.model.parameters()))


def test_a_live_tape_leaves_a_step_that_is_open_alone():
    said = []
    host = TrainingHost(said.append)
    host.take(requests.Train(1, SETUP))
    host.take(requests.StepEvent(1))
    host.take(requests.RecordStep(1, live=True))
    assert not [m for m in said if isinstance(m, StepTape)]
    for _ in range(4):
        host.take(requests.StepEvent(1))
    host.take(requests.RecordStep(1, live=True))
    (found,) = [m for m in said if isinstance(m, StepTape)]
    assert (found.step, found.live) == (1, True)


def test_a_slow_run_has_every_step_played(looked, train_link, tape, qtbot):
    live, seen = looked.presenter.live, []
    emitted(train_link, tape, 1, 2)
    for step in (3, 4, 5):
        train_link.sent.clear()
        train_link.state(1, step, "running", rate=2.0)
        assert train_link.last(messages.RecordStep) is not None
        film = live.film.play
        emitted(train_link, tape, step)
        assert live.film.plays
        assert live.position < len(tape.events)
        assert looked.graph.caption.said() == f"step {step + 1}"
        seen.append(film)
    qtbot.waitUntil(lambda: not live.film.plays)
    assert any(card.gradient for card in looked.graph.graph.look().cards.values())
    assert not looked.loss.played.isVisible()


def test_a_fast_run_has_a_sample_played_and_says_which(looked, train_link, tape, qtbot):
    train_link.grow(1, 0, 900)
    train_link.state(1, 50, "running", rate=3000.0)
    emitted(train_link, tape, 50)
    train_link.state(1, 850, "running", rate=3000.0)
    emitted(train_link, tape, 850)
    live = looked.presenter.live
    assert live.film.plays
    assert looked.graph.caption.said() == "step 851 · about 1 step in 800 is played"
    qtbot.waitUntil(looked.loss.played.isVisible)
    assert looked.loss.played.value() == 851
    train_link.sent.clear()
    train_link.state(1, 900, "running", rate=3000.0)
    assert train_link.last(messages.RecordStep) is None


def test_a_pause_shows_the_step_that_the_run_made_last(looked, train_link, tape):
    emitted(train_link, tape, 1, 2)
    train_link.state(1, 50, "running", rate=3000.0)
    emitted(train_link, tape, 50)
    requested(train_link)
    train_link.state(1, 61)
    live = looked.presenter.live
    assert not live.film.plays
    assert requested(train_link) == [60, None]
    emitted(train_link, tape, 60, 61)
    assert not live.film.plays
    assert looked.graph.caption.said() == "step 61"
    assert not looked.loss.played.isVisible()


def test_a_single_step_is_played_as_it_is_made_and_a_jump_is_not(looked, train_link, tape):
    live = looked.presenter.live
    emitted(train_link, tape, 1, 2)
    train_link.state(1, 3)
    assert live.film.plays
    assert looked.graph.caption.said() == "step 3"
    emitted(train_link, tape, 3)
    assert live.film.plays
    train_link.state(1, 1)
    emitted(train_link, tape, 0, 1)
    assert not live.film.plays
    assert looked.graph.caption.said() == "step 1"


def test_a_single_step_is_played_though_the_engine_says_that_it_goes_on(looked, train_link, tape):
    live = looked.presenter.live
    emitted(train_link, tape, 1, 2)
    train_link.state(1, 2, "running")
    train_link.state(1, 3)
    assert live.film.plays
    assert looked.graph.caption.said() == "step 3"


def test_steps_faster_than_their_tapes_end_with_the_last(looked, train_link, tape):
    emitted(train_link, tape, 1, 2)
    requested(train_link)
    for step in (3, 4, 5):
        train_link.state(1, step)
    assert requested(train_link) == [None]
    emitted(train_link, tape, 4)
    assert looked.graph.caption.said() == "step 5"
    assert requested(train_link) == [None]


def test_the_next_line_ends_the_film(looked, train_link, tape):
    live = looked.presenter.live
    emitted(train_link, tape, 1, 2)
    train_link.state(1, 3)
    assert live.film.plays
    emitted(train_link, tape, 3)
    train_link.received.emit(messages.EventDone(1, 3, 0, "zero_grad", ()))
    assert not live.film.plays
    assert "zero_grad" in looked.graph.caption.said()


def test_modules_fold_until_their_numbers_are_legible(looked, train_link, tape):
    emitted(train_link, tape, 1, 2)
    small = looked.graph.graph.stage().picture
    assert any(card.kind == "module" for card in small.cards)
    looked.graph.graph.resize(900, 1400)
    assert looked.graph.legible_calls(looked.graph.graph.stage()) is None


def gradients(link, step):
    """Send the norms of the gradients of a step."""
    sizes = {name: fakes.array([0.5, 0.25], "f4") for name in ("norms", "sizes", "ratios")}
    arrays = {**sizes, "held": fakes.array([True, True], "?")}
    link.received.emit(messages.ViewReply(1, "gradients", step, arrays))


def test_views_say_their_step_while_the_graph_shows_another(looked, train_link, tape):
    train_link.state(1, 7, "running", rate=400.0)
    emitted(train_link, tape, 2)
    gradients(train_link, 7)
    looked.below.setCurrentWidget(looked.parameters)
    assert looked.graph.caption.said().startswith("step 3")
    assert looked.gradients.step.said() == "step 7"
    assert looked.parameters.count.text().endswith("step 7")
    gradients(train_link, 1009)
    assert looked.gradients.step.said() == "step 1,009"
    assert looked.parameters.count.text().endswith("step 1,009")
    looked.says.setCurrentWidget(looked.picture)
    assert looked.gradients.step.said() == ""
    assert "step" not in looked.parameters.count.text()


def test_views_of_a_run_that_has_not_begun_say_no_step(looked, train_link):
    gradients(train_link, 7)
    assert looked.gradients.step.said() == "step 7"
    looked.clear_views()
    assert looked.gradients.step.said() == ""
