"""Everything that takes the keyboard: it has a name, Tab or F6 reaches it, and it shows it."""

from functools import partial

import pytest
from PySide6.QtCore import QDeadlineTimer, QPoint, QRect, Qt
from PySide6.QtGui import QAccessible
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QAbstractButton,
    QApplication,
    QLabel,
    QPlainTextEdit,
    QPushButton,
    QWidget,
)

from gradscribe.widgets.base.focus.ring import OWN_FOCUS, FocusRing
from tests.app.accessibility.surfaces import COMMANDS, focusable, label, opened
from tests.app.training.conftest import window  # noqa: F401

MOST_STEPS, PAINT_MS = 200, 1500
"""Most widgets on a page; most time that one of them is painted after it has been laid out."""


@pytest.fixture
def shown(window, link, sum_times, qtbot, monkeypatch):  # noqa: F811
    """A window with a recorded program, in front; no caret blinks."""
    QApplication.setCursorFlashTime(0)
    link.answer(sum_times)
    window.resize(1440, 900)
    window.show()
    window.activateWindow()
    qtbot.waitUntil(window.isActiveWindow)
    return window


def name_of(widget):
    interface = QAccessible.queryAccessibleInterface(widget)
    return interface.text(QAccessible.Text.Name).strip() if interface is not None else ""


def nameless(root):
    return [label(widget) for widget in focusable(root) if not name_of(widget)]


def picture(widget):
    """Return what is seen of a widget and just around it."""
    top = widget.window()
    place = QRect(widget.mapTo(top, QPoint()), widget.size()).adjusted(-3, -3, 3, 3)
    QApplication.processEvents()
    return top.grab(place).toImage()


def shows_focus(widget):
    """Return whether a widget looks another way with the keyboard than without."""
    widget.clearFocus()
    without = picture(widget)
    widget.setFocus(Qt.FocusReason.TabFocusReason)
    return picture(widget) != without


def soon(holds):
    """Return whether something becomes true."""
    patience = QDeadlineTimer(PAINT_MS)
    while not holds():
        if patience.hasExpired():
            return False
        QApplication.processEvents()
    return True


def walk(first, root):
    """Press Tab until what gets the focus repeats; return it, and what of ``root`` hides that."""
    first.setFocus(Qt.FocusReason.TabFocusReason)
    reached, dark = [], []
    for _ in range(MOST_STEPS):
        here = first.window().focusWidget()
        if here in reached or here is None:
            return reached, dark
        reached.append(here)
        if (here is root or root.isAncestorOf(here)) and not soon(partial(shows_focus, here)):
            dark.append(label(here))
        if isinstance(here, QPlainTextEdit) and not here.isReadOnly():
            QTest.keyClick(here, Qt.Key.Key_Escape)
        QTest.keyClick(here, Qt.Key.Key_Tab)
        QApplication.processEvents()
    raise AssertionError("Tab never comes back")


def turns_with(widget):
    """Return the buttons of which Tab reaches the checked one, and arrow keys the others."""
    group = widget.group() if isinstance(widget, QAbstractButton) else None
    return group.buttons() if group is not None and group.exclusive() else [widget]


def unreached(there, reached):
    return [
        widget
        for widget in there
        if widget.isVisible() and not any(one in reached for one in turns_with(widget))
    ]


def check(root):
    assert nameless(root) == []
    there = focusable(root)
    if not there:
        return
    reached, dark = walk(there[0], root)
    if unreached(there, reached):
        # Pictures of a gallery that arrive meanwhile move its rows, and with them the order.
        reached, dark = walk(there[0], root)
    lost = [label(widget) for widget in unreached(there, reached)]
    assert not lost, "Tab does not reach\n" + "\n".join(lost)
    assert not dark, "the focus is not seen\n" + "\n".join(dark)


def test_the_program_page(shown):
    check(shown)


@pytest.mark.parametrize("number", range(4))
def test_the_pages_below_the_program_and_next_to_it(shown, number):
    for tabs in (shown.below, shown.tables):
        if number < tabs.count():
            tabs.setCurrentIndex(number)
            check(tabs)


def test_the_inspector_of_a_card(shown):
    shown.session.select(shown.graph.stage().card_keys[0])
    QApplication.processEvents()
    check(shown.inspector)


@pytest.mark.parametrize("command", COMMANDS)
def test_cards_and_windows(shown, command):
    with opened(shown, command) as root:
        check(root)


def test_the_training_page(shown, qtbot):
    shown.workspaces.show_workspace("training")
    shown.train_link.greet()
    qtbot.waitUntil(lambda: shown.workspaces.is_whole, timeout=30_000)
    form = shown.workspaces.widgets.form
    qtbot.waitUntil(lambda: form.parts["schedule"].choice.count() > 0)
    shown.train_link.begin(1, shown.workspaces.session.setup)
    # The page is styled bit by bit.
    bar = shown.workspaces.widgets.bar
    qtbot.waitUntil(lambda: all(shows_focus(widget) for widget in focusable(bar)[:4]))
    check(shown)


def test_a_widget_without_name_or_focus_is_found(qtbot):
    host = QWidget()
    qtbot.addWidget(host)
    host.resize(300, 200)
    # The theme of a window that an earlier test has made does so, too.
    host.setStyleSheet("QPushButton:focus { border: 2px solid red; }")
    good, bad = QPushButton("Good", host), QLabel(host)
    good.setGeometry(10, 10, 100, 40)
    bad.setGeometry(10, 60, 100, 40)
    bad.setFocusPolicy(Qt.FocusPolicy.TabFocus)
    host.show()
    host.activateWindow()
    qtbot.waitUntil(host.isActiveWindow)
    assert nameless(host) == [label(bad)]
    assert shows_focus(good)
    bad.setProperty(OWN_FOCUS, True)
    assert not shows_focus(bad)
    bad.setProperty(OWN_FOCUS, False)
    ring = FocusRing(host)
    assert shows_focus(bad)
    ring.deleteLater()
