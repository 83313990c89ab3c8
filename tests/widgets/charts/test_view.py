"""The area of a chart: the keys it claims, its focus frame, and what it leaves to others."""

import numpy as np
import pytest
from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QFocusEvent, QKeyEvent, QKeySequence, QShortcut
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QWidget

from gradscribe.widgets.charts.view import NAVIGATION_KEYS
from tests.widgets.plots.test_plot import _pixels as pixels

NONE = Qt.KeyboardModifier.NoModifier


def claims(view, key, modifiers=NONE):
    sent = QKeyEvent(QEvent.Type.ShortcutOverride, key, modifiers)
    sent.ignore()
    QApplication.sendEvent(view, sent)
    return sent.isAccepted()


def test_keys_of_the_chart_are_claimed_before_shortcuts_of_the_window(chart, hand):
    fired = []
    for key in (*NAVIGATION_KEYS, Qt.Key.Key_Space):
        shortcut = QShortcut(QKeySequence(key), chart.window())
        shortcut.activated.connect(lambda key=key: fired.append(key))
    chart.zoom(400, 600)
    chart.window().activateWindow()
    chart.view.setFocus()
    for key in NAVIGATION_KEYS:
        QTest.keyClick(chart.view, key)
    assert fired == []
    QTest.keyClick(chart.view, Qt.Key.Key_Space)
    assert fired == [Qt.Key.Key_Space]


def test_keys_with_commands_and_other_keys_are_left_to_the_window(chart):
    for key in (Qt.Key.Key_Space, Qt.Key.Key_A, Qt.Key.Key_End, Qt.Key.Key_Escape):
        assert not claims(chart.view, key)
    for modifier in (Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.AltModifier):
        assert not claims(chart.view, Qt.Key.Key_Left, modifier)


def test_escape_is_claimed_only_while_there_is_a_stretch_to_drop(chart):
    chart.brush(100, 200)
    assert claims(chart.view, Qt.Key.Key_Escape)
    QTest.keyClick(chart.view, Qt.Key.Key_Escape)
    assert chart.stretch is None
    assert not claims(chart.view, Qt.Key.Key_Escape)


def test_a_key_of_no_use_reaches_the_widgets_around(chart, monkeypatch):
    taken = []
    monkeypatch.setattr(
        type(chart), "keyPressEvent", lambda _self, sent: taken.append(sent.key()), raising=False
    )
    QTest.keyClick(chart.view, Qt.Key.Key_A)
    assert taken == [Qt.Key.Key_A]


@pytest.mark.parametrize(
    ("reason", "framed"),
    [
        (Qt.FocusReason.TabFocusReason, True),
        (Qt.FocusReason.BacktabFocusReason, True),
        (Qt.FocusReason.MouseFocusReason, False),
    ],
)
def test_a_frame_shows_the_focus_of_the_keyboard(chart, reason, framed):
    chart.window().activateWindow()
    chart.view.clearFocus()
    before = pixels(chart.view.grab().toImage())
    chart.view.setFocus(reason)
    after = pixels(chart.view.grab().toImage())
    edge = (before != after).any(axis=-1)
    assert edge[2:-2, 2].any() is np.bool_(framed)
    chart.view.clearFocus()
    assert (pixels(chart.view.grab().toImage()) == before).all()


def test_the_frame_is_back_once_a_menu_is_closed(chart):
    chart.window().activateWindow()
    chart.view.clearFocus()
    chart.view.setFocus(Qt.FocusReason.TabFocusReason)
    before = pixels(chart.view.grab().toImage())
    popup = Qt.FocusReason.PopupFocusReason
    for kind in (QEvent.Type.FocusOut, QEvent.Type.FocusIn):
        QApplication.sendEvent(chart.view, QFocusEvent(kind, popup))
    assert (pixels(chart.view.grab().toImage()) == before).all()


def test_the_keyboard_reaches_the_chart_by_tab(chart, shown):
    chart.window().activateWindow()
    first = QWidget(chart.window())
    first.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
    first.show()
    first.setFocus()
    for _ in range(5):
        QTest.keyClick(QApplication.focusWidget(), Qt.Key.Key_Tab)
        if QApplication.focusWidget() is chart.view:
            break
    assert QApplication.focusWidget() is chart.view
    assert chart.view.accessibleName()


def test_a_click_gives_the_chart_the_keyboard(chart, hand):
    chart.window().activateWindow()
    hand.click(0.5, 0.5)
    assert chart.view.hasFocus()
