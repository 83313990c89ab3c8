"""Whatever an engine says, in whatever order, and whatever one does meanwhile: the room stands."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QAbstractButton, QComboBox, QLineEdit, QSlider, QTableView, QWidget

from gradscribe.engine.protocol import training as messages
from gradscribe.engine.protocol.setup import Part, Setup
from gradscribe.engine.protocol.tape import Problem
from tests.app.training.fakes import SGD, array, boundary, data, dress, problem, series

NAN = float("nan")


def paint(room):
    for tab in (room.says, room.below, room.numbers):
        assert not tab.currentWidget().grab().isNull()


@pytest.mark.parametrize("number", [NAN, float("inf"), -float("inf"), 0.0, 1e38, -1e-38])
def test_any_number_can_be_shown_everywhere(room, train_link, number):
    side = np.full((1, 12, 12), number)
    box = array([-1, -1, 1, 1], "<f4")
    views = {
        "boundary": {"grid": array(side, "<f4"), "box": box},
        "units": {"grid": array(np.repeat(side, 3, 0), "<f4"), "box": box},
        "gradients": {
            "norms": array([number] * 2, "<f8"),
            "held": array([1] * 2, "<f8"),
            "ratios": array([number] * 2, "<f8"),
        },
        "weights": {"flat": array([number] * 9, "<f4"), "grads": array([number] * 9, "<f4")},
        "optimizer": {"exp_avg": array([number] * 9, "<f4")},
        "histograms": {
            "counts": array(np.zeros((2, 4)), "<f4"),
            "edges": array([[number, number]] * 2, "<f4"),
        },
        "surface": {
            "grid": array(side[0], "<f4"),
            "a": array(np.linspace(-1, 1, 12), "<f4"),
            "b": array(np.linspace(-1, 1, 12), "<f4"),
            "path": array([[number, number]] * 3, "<f4"),
        },
    }
    steps = np.arange(1, 40)
    values = np.full((39, 5), number)
    train_link.received.emit(messages.SeriesChunk(1, array(steps, "<i8"), array(values, "<f8")))
    train_link.state(1, 39, "running", rate=max(0.0, min(1e6, np.nan_to_num(number))))
    for kind, arrays in views.items():
        train_link.received.emit(messages.ViewReply(1, kind, 3, arrays))
    for page in range(6):
        room.numbers.setCurrentIndex(page)
        room.says.setCurrentIndex(page % 3)
        room.below.setCurrentIndex(page % 3)
        paint(room)


@given(st.lists(st.integers(0, 11), max_size=25))
@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_messages_and_presses_in_any_order(room, begun, train_link, order):
    deeds = (
        lambda: train_link.begin(begun.store.look.run_id),
        lambda: train_link.grow(begun.store.look.run_id, 1, 40),
        lambda: train_link.grow(begun.store.look.run_id, 10, 20, after=9),
        lambda: train_link.state(begun.store.look.run_id, 25, "running"),
        lambda: train_link.received.emit(boundary(begun.store.look.run_id)),
        lambda: train_link.received.emit(problem(begun.store.look.run_id, "no", "model")),
        lambda: begun.controller.toggle(),
        lambda: begun.controller.rewind(3),
        lambda: begun.controller.fork(),
        lambda: begun.controller.change(SGD if begun.setup != SGD else Setup(data=Part("sine"))),
        lambda: begun.controller.undo(),
        lambda: begun.controller.reset(data=True),
    )
    for deed in order:
        deeds[deed]()
    assert begun.run is not None
    assert begun.run in begun.runs


def test_messages_before_a_run_has_begun_are_survived(session, train_link):
    session.controller.open()
    for message in (
        series(1, 0, 10),
        boundary(1),
        data(1),
        messages.EventDone(1, 0, 0, "forward", ()),
        messages.SetupChanged(1, 0, ("lr",)),
        messages.TrainState(1, "gone", 0),
    ):
        train_link.received.emit(message)
    assert not session.run.alive


def test_a_run_that_is_gone_is_begun_again_by_play(begun, train_link):
    train_link.state(1, 5, "gone")
    begun.controller.play()
    assert isinstance(train_link.sent[-1], messages.Train)


def test_empty_messages_are_survived(room, train_link):
    nothing = messages.SeriesChunk(1, array(np.zeros(0), "<i8"), array(np.zeros((0, 5)), "<f8"))
    train_link.received.emit(nothing)
    empty = np.zeros((0, 2))
    no_rows = messages.DataSample(1, array(empty, "<f4"), array(np.zeros(0), "<i8"), array([], "?"))
    train_link.received.emit(no_rows)
    train_link.received.emit(
        messages.ViewReply(1, "units", 0, {"grid": array(np.zeros((0, 4, 4)), "<f4")})
    )
    paint(room)


def test_a_very_long_name_and_message_do_not_widen_the_room(room, train_link):
    wide = room.minimumSizeHint().width()
    word = "x" * 400
    train_link.state(1, 3, "failed", problem=Problem("Error", word, hint=word))
    train_link.received.emit(problem(1, word, "optimizer.lr"))
    dress(room, room.bar._theme)
    assert room.minimumSizeHint().width() <= wide + 40


def test_nobody_needs_a_mouse(room):
    """Everything that can be pressed or typed into takes the keyboard and has a name."""
    kinds = (QAbstractButton, QComboBox, QLineEdit, QSlider, QTableView)
    for kind in kinds:
        for one in room.findChildren(kind):
            inside = type(one.parent()).__name__
            if not one.isVisible() or inside in ("QTabBar", "QComboBoxPrivateContainer"):
                continue
            # Arrow keys lead from one button of the switch to the other.
            if inside.startswith(("QTable", "QHeader", "_Table", "WorkspaceSwitch")):
                continue
            name = one.accessibleName() or getattr(one, "text", lambda: "")()
            assert name, f"{type(one).__name__} in {inside}"
            assert one.focusPolicy() & Qt.FocusPolicy.TabFocus, f"{name} in {inside}"


def test_tab_goes_round_the_whole_room(room, qtbot):
    start: QWidget = room.bar.play
    seen, here = set(), start.nextInFocusChain()
    while here is not start and len(seen) < 5_000:
        seen.add(here)
        here = here.nextInFocusChain()
    for part in (room.axis, room.lines.next, room.form.parts["data"].choice, room.bar.step):
        assert part in seen
