"""The card: it tells, offers a report, and is in nobody's way."""

import pytest
from msgspec.structs import replace
from PySide6.QtCore import QPoint, QRect
from PySide6.QtGui import QGuiApplication

from gradscribe.app.runtime.faults import Fault, FaultHandler
from gradscribe.app.ui.fault_card import FaultCard, show_crash
from gradscribe.engine.protocol.tape import Problem
from tests.app.fakes import broken

FAULT = Fault(
    "KeyError", "'a secret'", ("app/window/window.py:1 in a", "widgets/tables/ledger.py:2 in b")
)


@pytest.fixture
def faults(qapp):
    made = FaultHandler()
    yield made
    made.close()


@pytest.fixture
def card(settled, faults):
    settled.resize(1200, 800)
    settled.show()
    settled.editor.setFocus()
    return show_crash(settled.session, settled.columns, settled.ground, faults)


def in_columns(card, settled):
    """Return whether the card lies within the panes of the program, whatever its parent."""
    columns = settled.columns
    room = QRect(columns.mapToGlobal(QPoint()), columns.size())
    return room.contains(QRect(card.mapToGlobal(QPoint()), card.size()))


def test_a_fault_is_told_in_the_training_room_too(card, faults, settled, qtbot):
    settled.workspaces.show_workspace("training")
    qtbot.waitUntil(lambda: not settled.columns.isVisible())
    faults.note(FAULT)
    assert card.isVisible()
    assert settled.ground.rect().contains(card.geometry())
    found = settled.ground.childAt(card.geometry().center())
    assert found is card or card.isAncestorOf(found)
    settled.workspaces.show_workspace("program")
    qtbot.waitUntil(settled.columns.isVisible)
    assert card.isVisible()
    assert in_columns(card, settled)


def test_there_is_no_card_while_nothing_is_wrong(card):
    assert card.isHidden()


def test_a_fault_is_told_and_the_keyboard_stays_where_it_is(card, faults, settled):
    focus = settled.focusWidget()
    faults.note(FAULT)
    assert card.isVisible()
    assert "KeyError at widgets/tables/ledger.py:2" in card.about.text()
    assert settled.focusWidget() is focus
    assert in_columns(card, settled)
    settled.resize(1000, 700)
    assert in_columns(card, settled)


def test_the_same_fault_is_not_told_again(card, faults):
    faults.note(FAULT)
    card.close_button.click()
    for _ in range(100):
        faults.note(FAULT)
    assert card.isHidden()
    faults.note(replace(FAULT, frames=("app/other.py:3 in c",)))
    assert card.isVisible()


def test_several_faults_share_the_card(card, faults):
    for line in range(30):
        faults.note(Fault("Error", "m", (f"app/a.py:{line} in f",)))
    assert "19 more" in card.about.text()
    assert card.report().count("a fault of the window") == 20


def test_a_report_has_program_and_message_only_if_they_are_ticked(card, faults, settled):
    faults.note(FAULT)
    faults.note(FAULT)
    card.copy_button.click()
    text = QGuiApplication.clipboard().text()
    assert "KeyError" in text
    assert "widgets/tables/ledger.py:2 in b" in text
    assert "It happened 2 times" in text
    assert "secret" not in text
    assert settled.editor.source() not in text
    assert card.copy_button.text() == "Copied"
    card.private.setChecked(True)
    card.copy()
    text = QGuiApplication.clipboard().text()
    assert "'a secret'" in text
    assert settled.editor.source() in text


def test_a_tick_does_not_outlive_the_card(card, faults):
    faults.note(FAULT)
    card.private.setChecked(True)
    card.close_button.click()
    faults.note(Fault("Error", "m"))
    assert not card.private.isChecked()


def test_a_fault_of_the_engine_is_told_once(card, settled, link):
    problem = Problem("RecordingError", "failed: secret", trace=("engine/record/log.py:9 in add",))
    for _ in range(3):
        settled.session.run_now()
        link.answer(replace(broken(), error=problem))
    assert "engine/record/log.py:9" in card.about.text()
    assert "more" not in card.about.text()
    assert "a fault of the engine" in card.report()
    assert "secret" not in card.report()


def test_a_fault_of_the_program_is_no_fault_of_ours(card, settled, link):
    settled.session.run_now()
    link.answer(broken())
    assert card.isHidden()


def test_a_card_has_room_in_a_tiny_window(qtbot):
    from PySide6.QtWidgets import QWidget

    ground = QWidget()
    qtbot.addWidget(ground)
    ground.resize(30, 30)
    card = FaultCard(ground, lambda *_: "")
    card.show_fault(FAULT)
    assert card.width() >= 1
