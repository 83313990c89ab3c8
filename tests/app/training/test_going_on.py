"""Whatever of ours fails, in whichever room: a card tells, and the next thing works again."""

import pytest
from PySide6.QtCore import QTimer

from gradscribe.app.commands import learn
from gradscribe.app.document.presenter import Presenter
from gradscribe.app.lessons import catalogue
from gradscribe.app.runtime.faults import FaultHandler
from gradscribe.app.training.session.session import TrainSession
from gradscribe.app.ui.fault_card import show_crash
from gradscribe.app.ui.palette import CommandPalette
from gradscribe.app.ui.popup import PopupCard
from gradscribe.app.ui.shape_lab import LabCard
from gradscribe.widgets.inspector.inspector import Inspector
from gradscribe.widgets.lab.page import ShapeLab
from gradscribe.widgets.lessons.pane import LessonPane


class Ours(Exception):
    """An exception that no code expects."""


BROKEN = (
    *(
        (Presenter, "_show_view"),
        (Inspector, "show_page"),
        (ShapeLab, "ask"),
        (CommandPalette, "open"),
    ),
    *((LessonPane, "show_page"), (TrainSession, "on_message")),
)
"""Methods from every room and card."""


@pytest.fixture
def faults(qapp):
    made = FaultHandler()
    made.install()
    yield made
    made.close()


def walk(window, link, tape, qtbot):
    """Go through all rooms, each step in a turn of the event loop of its own."""
    lesson = catalogue.load()[0]
    steps = (
        window.session.run_now,
        lambda: link.answer(tape),
        window.clock.to_end,
        lambda: window.clock.seek(2),
        lambda: window.session.select(window.presenter.picture.cards[0].key),
        lambda: window.context.show_lab(""),
        lambda: window.ground.findChildren(LabCard)[-1].making.finish(),
        window.context.show_palette,
        window.context.show_lessons,
        lambda: [one.leave() for one in window.findChildren(PopupCard)],
        lambda: learn.open_lesson(window.context, lesson),
        window.context.lessons.next,
        window.context.lessons.leave,
        lambda: window.workspaces.show_workspace("training"),
        lambda: window.train_link.greet(),
        lambda: window.train_link.begin(1, window.workspaces.session.setup),
        lambda: window.workspaces.show_workspace("program"),
        window.session.run_now,
        lambda: link.answer(tape),
        window.clock.to_end,
    )
    done = []
    for step in steps:
        # One by one: what fails must not take the next with it.
        QTimer.singleShot(0, window, lambda step=step: (done.append(step), step()))
        qtbot.waitUntil(lambda step=step: done[-1:] == [step])


@pytest.mark.qt_no_exception_capture
@pytest.mark.parametrize(("owner", "name"), BROKEN, ids=lambda one: getattr(one, "__name__", one))
def test_a_failure_is_told_and_the_rooms_go_on(
    window, link, sum_times, faults, qtbot, monkeypatch, owner, name
):
    window.show()
    card, told = show_crash(window.session, window.columns, window.ground, faults), []
    faults.caught.connect(told.append)
    calls = []

    def fail(*_args, **_words):
        calls.append(name)
        raise Ours(name)

    with monkeypatch.context() as patch:
        patch.setattr(owner, name, fail)
        walk(window, link, sum_times, qtbot)
    assert calls
    assert card.isVisible()
    assert "Ours" in card.report()
    text = window.editor.source()
    told.clear()
    walk(window, link, sum_times, qtbot)
    assert not told
    assert window.editor.source() == text
    assert window.session.result.tape == sum_times
    assert window.presenter.picture.cards
    assert window.transport.position() == window.clock.length
    assert window.workspaces.session.run is not None
