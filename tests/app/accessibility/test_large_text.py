"""Text of 200 % in the smallest window: nothing is cut off without a way to read it."""

import pytest
from PySide6.QtCore import QPoint, QRect, QSize, Qt
from PySide6.QtWidgets import (
    QAbstractButton,
    QLabel,
    QMenu,
    QPushButton,
    QTableView,
    QWidget,
)

from tests.app.accessibility.surfaces import COMMANDS, label, opened
from tests.app.accessibility.test_focus import shown, window  # noqa: F401

SLACK = 2
"""Pixels by which a text may reach over: its last letter's bearing."""


def can_scroll_to(widget):
    """Return whether a part of a widget that is out of sight can be scrolled to."""
    at = widget.parentWidget()
    while at is not None and not at.isWindow():
        if hasattr(at, "verticalScrollBar"):
            return True
        at = at.parentWidget()
    return False


def seen_size(widget):
    seen, at = QRect(QPoint(), widget.size()), widget
    while at is not None and not at.isWindow():
        parent = at.parentWidget()
        seen.translate(at.pos())
        seen &= parent.rect()
        at = parent
    return seen.size()


def cut_labels(root):
    """Return labels and buttons whose text has less space than it needs."""
    found = []
    for widget in root.findChildren(QWidget):
        if not widget.isVisible() or not isinstance(widget, QLabel | QAbstractButton):
            continue
        text = widget.text()
        if not text or (isinstance(widget, QLabel) and (widget.wordWrap() or widget.toolTip())):
            continue
        size = seen_size(widget) if not can_scroll_to(widget) else widget.size()
        needed = widget.fontMetrics().size(Qt.TextFlag.TextShowMnemonic, text)
        if isinstance(widget, QLabel) and "<" in text:
            continue
        if isinstance(widget, QAbstractButton):
            needed = QSize(min(widget.sizeHint().width(), widget.maximumWidth()), needed.height())
        if needed.width() > size.width() + SLACK or needed.height() > size.height() + SLACK:
            found.append(f"{text!r}: {label(widget)}")
    return found


def cut_heads(root):
    """Return the titles of table columns that are cut without a tip."""
    found = []
    for table in root.findChildren(QTableView):
        head = table.horizontalHeader()
        if not table.isVisible() or not head.isVisible():
            continue
        model = table.model()
        for column in range(model.columnCount()):
            title = model.headerData(column, Qt.Orientation.Horizontal) or ""
            tip = model.headerData(column, Qt.Orientation.Horizontal, Qt.ItemDataRole.ToolTipRole)
            width = head.sectionSize(column)
            if not tip and head.fontMetrics().horizontalAdvance(str(title)) > width:
                found.append(f"{title!r} in {label(table)}")
            if head.fontMetrics().height() > head.height() + SLACK:
                found.append(f"the height of {title!r} in {label(table)}")
    return found


def large_text_is_settled(window):  # noqa: F811
    """Return whether the parts have their new fonts, and the bar has chosen what fits."""
    return window.top.shown_layers.isVisible() and not cut_labels(window.top)


@pytest.fixture
def large(shown, qtbot):  # noqa: F811
    shown.settings.put("text", 2.0)
    shown.resize(1000, 640)
    qtbot.waitUntil(lambda: shown.look.scale() == 2.0)
    qtbot.waitUntil(lambda: large_text_is_settled(shown))
    return shown


def test_nothing_is_cut_off_on_the_program_page(large, qtbot):
    def whole():
        assert cut_labels(large) + cut_heads(large) == []

    # The parts get their new fonts and sizes bit by bit.
    qtbot.waitUntil(whole)


@pytest.mark.parametrize("command", COMMANDS)
def test_nothing_is_cut_off_in_cards_and_windows(large, qtbot, command):
    with opened(large, command) as root:

        def whole():
            assert cut_labels(root) + cut_heads(root) == []

        qtbot.waitUntil(whole)


def test_layers_without_space_for_a_button_each_are_in_a_menu(large, qtbot, monkeypatch):
    monkeypatch.setattr(QMenu, "popup", lambda menu, at: None)  # offscreen it warns
    top = large.top
    assert top.shown_layers.isVisible()
    assert not any(button.isVisible() for button in top.layers.values())
    before = large.session.view.shapes
    top.shown_layers.click()
    menu = top.findChildren(QMenu, options=Qt.FindChildOption.FindDirectChildrenOnly)[-1]
    shapes = menu.actions()[list(top.layers).index("shapes")]
    assert shapes.isChecked() is before
    shapes.trigger()
    menu.close()
    assert large.session.view.shapes is not before
    large.resize(1900, 640)
    qtbot.waitUntil(lambda: not top.shown_layers.isVisible())
    assert all(button.isVisible() for button in top.layers.values())


def test_a_text_that_is_cut_off_is_found(qtbot):
    host = QWidget()
    qtbot.addWidget(host)
    host.resize(400, 300)
    fits, cut, narrow = QLabel("fits", host), QLabel("is cut off", host), QPushButton("cut", host)
    for row, (widget, width) in enumerate(((fits, 200), (cut, 12), (narrow, 12))):
        widget.setGeometry(0, 40 * row, width, 40)
    host.show()
    assert [line.partition(":")[0] for line in cut_labels(host)] == ["'is cut off'", "'cut'"]
