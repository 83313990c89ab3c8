"""Rows and columns give each part its stretch or its alignment."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QPushButton, QWidget

from gradscribe.widgets.base.boxes import hbox, vbox
from gradscribe.widgets.base.labels import Label


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
