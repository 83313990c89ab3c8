"""Tab through rows from the top, each from the left, whatever was made first."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel, QPushButton, QSpinBox, QWidget

from gradscribe.widgets.base.focus.reading_order import ReadingOrder, focusable


@pytest.fixture
def page(qtbot):
    """Two columns with buttons, of which the last was made first, below a bar."""
    root = ReadingOrder()
    qtbot.addWidget(root)
    root.resize(300, 300)
    boxes = {"right": (150, 40, 150, 260), "left": (0, 40, 150, 260), "bar": (0, 0, 300, 40)}
    parts = {name: QWidget(root) for name in boxes}
    for name, box in boxes.items():
        parts[name].setGeometry(*box)
    for name, part, x, y in (
        ("d", "right", 5, 120), ("c", "right", 5, 20), ("e", "left", 70, 100),
        ("b", "left", 5, 96), ("a", "left", 5, 5), ("z", "bar", 5, 5),
    ):  # fmt: skip
        button = QPushButton(name, parts[part])
        button.setGeometry(x, y, 60, 24)
    QLabel("no focus", parts["bar"])
    root.show()
    root.activateWindow()
    qtbot.waitUntil(root.isActiveWindow)
    return root


def pressed(root, key, presses):
    """Return the texts of the buttons that have the focus after each press."""
    seen = []
    for _ in range(presses):
        QTest.keyClick(root.focusWidget() or root, key)
        seen.append(root.focusWidget().text())
    return "".join(seen)


def test_tab_reads_the_bar_then_column_by_column(page):
    next(focusable(page)).setFocus()
    assert pressed(page, Qt.Key.Key_Tab, 6) == "abecdz"
    assert pressed(page, Qt.Key.Key_Backtab, 6) == "dcebaz"


def test_what_is_hidden_or_disabled_is_passed(page):
    buttons = {button.text(): button for button in page.findChildren(QPushButton)}
    buttons["b"].setEnabled(False)
    buttons["c"].parentWidget().hide()
    buttons["z"].setFocus()
    assert pressed(page, Qt.Key.Key_Tab, 3) == "aez"


def test_a_compound_control_is_a_single_stop(page):
    number = QSpinBox(page.children()[2])
    number.setGeometry(100, 5, 60, 24)
    number.show()
    assert [w for w in focusable(page) if w is number or w.parent() is number] == [number]


def test_without_anything_to_focus_nothing_happens(qtbot):
    empty = ReadingOrder()
    qtbot.addWidget(empty)
    QLabel("no focus", empty)
    empty.show()
    assert not empty.focusNextPrevChild(True)
