"""Overlays: one at a time, closed by Esc or a click beside the card."""

import pytest
from PySide6.QtCore import QCoreApplication, QEvent, QObject, QPoint, Qt
from PySide6.QtWidgets import QApplication, QLineEdit, QPushButton, QTextBrowser, QWidget
from shiboken6 import isValid

from gradscribe.app.ui.popup import PopupCard, rich_text_card
from gradscribe.widgets.base.painting.deferred_paint import DeferredPaint


@pytest.fixture
def over(qtbot):
    made = QWidget()
    qtbot.addWidget(made)
    made.line = QLineEdit(made)
    made.resize(900, 700)
    with qtbot.waitExposed(made):
        made.show()
    made.activateWindow()
    made.line.setFocus()
    return made


def test_escape_closes_it_and_gives_the_focus_back(over, qtbot):
    shown = rich_text_card(over, "Keys", "<p>text</p>")
    shown.open()
    with qtbot.waitSignal(shown.destroyed):
        qtbot.keyClick(shown, Qt.Key.Key_Escape)
    assert over.focusWidget() is over.line


def test_a_click_beside_the_card_closes_it_and_one_on_it_does_not(over, qtbot):
    shown = rich_text_card(over, "Keys", "text")
    shown.open()
    qtbot.mouseClick(shown, Qt.MouseButton.LeftButton, pos=shown.card.geometry().center())
    assert shown.isVisible()
    with qtbot.waitSignal(shown.destroyed):
        qtbot.mouseClick(shown, Qt.MouseButton.LeftButton, pos=QPoint(3, 3))


def test_a_second_one_takes_the_place_of_the_first(over, qtbot):
    first = rich_text_card(over, "One", "text")
    first.open()
    with qtbot.waitSignal(first.destroyed):
        rich_text_card(over, "Two", "text").open()
    assert len(over.findChildren(PopupCard)) == 1


def test_it_follows_the_size_of_the_window(over, qtbot):
    shown = rich_text_card(over, "Keys", "text")
    shown.open()
    over.resize(500, 400)
    qtbot.waitUntil(lambda: shown.size() == over.size())
    assert shown.rect().contains(shown.card.geometry())


def test_a_page_longer_than_the_card_scrolls_and_takes_the_keys(over, qtbot):
    shown = rich_text_card(over, "Keys", "<br>".join(f"line {i}" for i in range(200)))
    shown.open()
    body = shown.findChild(QTextBrowser)
    bar = body.verticalScrollBar()
    assert bar.maximum() > 0
    assert over.focusWidget() is body
    qtbot.keyClick(body, Qt.Key.Key_PageDown)
    qtbot.waitUntil(lambda: bar.value() > 0)
    with qtbot.waitSignal(shown.destroyed):
        qtbot.keyClick(body, Qt.Key.Key_Escape)


def test_return_clicks_its_button_and_goes_no_further(over, qtbot):
    shown = PopupCard(over, 300, 200)
    button, clicked = QPushButton("Yes"), []
    shown.column.addWidget(button)
    button.clicked.connect(lambda: clicked.append(1))
    shown.open()
    button.setFocus()
    qtbot.waitUntil(lambda: QApplication.focusWidget() is button)
    qtbot.keyClick(button, Qt.Key.Key_Return)
    assert clicked == [1]
    button.setEnabled(False)
    qtbot.keyClick(shown, Qt.Key.Key_Return)
    assert clicked == [1]
    shown.leave()


class Paints(QObject):
    """Counts how often a widget is painted."""

    def __init__(self, watched):
        super().__init__()
        self.count = 0
        watched.installEventFilter(self)

    def eventFilter(self, _watched, happened):
        self.count += happened.type() == QEvent.Type.Paint
        return False


def test_it_is_painted_in_a_turn_of_its_own(over, qtbot):
    shown = rich_text_card(over, "Keys", "text")
    paints = Paints(shown)
    shown.open()
    QCoreApplication.sendPostedEvents()
    assert shown.isVisible()
    assert not paints.count, "the turn that made it paints nothing"
    qtbot.waitUntil(lambda: paints.count > 0)
    assert shown.updatesEnabled()


def test_it_is_seen_until_the_window_shows_the_change(over, qtbot):
    seen = []

    class Paints(QObject):
        def eventFilter(self, watched, happened):
            if happened.type() == QEvent.Type.Paint:
                seen.append(over.text)
            return False

    paints = Paints()
    over.text = "before"
    shown = rich_text_card(over, "Keys", "text")
    shown.open()
    qtbot.waitUntil(lambda: shown.updatesEnabled())
    shown.repaint()
    held = DeferredPaint(over.line)
    over.line.installEventFilter(paints)

    def change():
        over.text = "after"
        held.suspend()
        assert over.focusWidget() is over.line

    shown.leave_after(change)
    assert shown.isVisible()
    assert shown.is_leaving
    qtbot.waitUntil(lambda: bool(seen) and not isValid(shown))
    assert set(seen) == {"after"}


def test_one_that_is_left_for_another_is_gone_at_once(over, qtbot):
    first = rich_text_card(over, "One", "text")
    first.open()
    first.leave_after(lambda: rich_text_card(over, "Two", "text").open())
    qtbot.waitUntil(lambda: not isValid(first))
    assert [one.card.accessibleName() for one in over.findChildren(PopupCard)] == ["Two"]


def test_a_change_that_fails_leaves_no_card_behind(over, qtbot):
    shown = rich_text_card(over, "Keys", "text")
    shown.open()
    with pytest.raises(ZeroDivisionError):
        shown.leave_after(lambda: 1 / 0)
    qtbot.waitUntil(lambda: not isValid(shown))
