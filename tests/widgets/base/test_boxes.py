"""Rows and columns give each part its stretch or its alignment."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QLineEdit, QPushButton, QWidget

from gradscribe.widgets.base.boxes import hbox, push_button, spin_box, vbox
from gradscribe.widgets.base.labels import Label
from gradscribe.widgets.base.theme import Theme


@pytest.mark.parametrize(
    "how", [Qt.AlignmentFlag.AlignTop, Qt.AlignmentFlag.AlignTop | Qt.AlignmentFlag.AlignRight]
)
def test_an_aligned_part_of_a_row_leaves_the_width_to_the_part_that_stretches(shown, how):
    host = QWidget()
    words, button = Label("error", "NameError: name 'q' is not defined"), QPushButton("line 7")
    row = hbox(host, (words, 1), (button, how))
    shown(host, 230, 120)
    assert button.width() == button.sizeHint().width()
    assert words.width() >= 120
    assert row.itemAt(1).alignment() == how
    assert row.stretch(1) == 0


def test_an_aligned_part_of_a_column_has_its_own_width(shown):
    host, button = QWidget(), QPushButton("Check")
    vbox(host, (button, Qt.AlignmentFlag.AlignLeft))
    shown(host, 300, 80)
    assert button.width() == button.sizeHint().width()
    assert button.x() == 0


def test_a_number_is_a_stretch(shown):
    host, parts = QWidget(), [QWidget(), QWidget()]
    hbox(host, (parts[0], 1), (parts[1], 3), spacing=0)
    shown(host, 400, 80)
    assert [part.width() for part in parts] == [100, 300]


def test_numbers_in_a_spin_box_begin_where_the_text_of_a_field_does(shown):
    host, field, spin = QWidget(), QLineEdit("12"), spin_box()
    vbox(host, field, spin)
    before = QApplication.instance().styleSheet()
    QApplication.instance().setStyleSheet(Theme.load("light").stylesheet())
    try:
        shown(host, 200, 90)
        lefts = []
        for edit in (field, spin.lineEdit()):
            edit.setCursorPosition(0)
            lefts.append(edit.mapTo(host, edit.cursorRect().topLeft()).x())
    finally:
        QApplication.instance().setStyleSheet(before)
    assert abs(lefts[0] - lefts[1]) <= 2


def test_a_button_that_is_too_narrow_elides_its_text_instead_of_cutting_both_ends(shown):
    button = push_button("Check tanh(linear(tanh(x)))", None, lambda: None)
    button.setStyleSheet("QPushButton { padding: 4px 12px; border: 1px solid gray; }")
    shown(button, button.sizeHint().width(), 30)
    assert button.shown_text() == button.text()
    button.resize(120, 30)
    assert button.shown_text().startswith("Check tanh(")
    assert button.shown_text().endswith("…")
    image = button.grab().toImage()
    # Between border and text, as wide as the padding, nothing is painted: no cut letter.
    ground = image.pixelColor(6, 15)
    assert all(image.pixelColor(x, y) == ground for x in range(4, 11) for y in range(4, 26))
    assert any(image.pixelColor(x, y) != ground for x in range(12, 40) for y in range(4, 26))
