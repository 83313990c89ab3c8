"""Widgets that continue on further lines."""

import pytest
from PySide6.QtWidgets import QPushButton, QWidget

from gradscribe.widgets.base.flow_layout import FlowLayout


@pytest.fixture
def row(qtbot):
    window = QWidget()
    qtbot.addWidget(window)
    window.resize(600, 400)
    host = QWidget(window)
    buttons = [QPushButton(text) for text in ("One", "Two", "Three", "Four")]
    for button in buttons:
        button.setFixedSize(100, 30)
    host.setLayout(FlowLayout(*buttons, spacing=10))
    window.show()
    return host, buttons, window


def lines(buttons):
    return [(button.x(), button.y()) for button in buttons if button.isVisible()]


def test_all_stand_in_a_line_where_they_fit(row):
    host, buttons, _window = row
    host.resize(430, 30)
    assert lines(buttons) == [(0, 0), (110, 0), (220, 0), (330, 0)]
    assert host.layout().heightForWidth(430) == 30


def test_a_narrow_row_continues_below(row):
    host, buttons, _window = row
    host.resize(210, 70)
    assert lines(buttons) == [(0, 0), (110, 0), (0, 40), (110, 40)]
    assert host.layout().heightForWidth(209) == 4 * 30 + 3 * 10


def test_what_is_lower_than_its_line_stands_in_the_middle_of_it(row):
    host, buttons, _window = row
    buttons[1].setFixedSize(100, 10)
    host.resize(210, 70)
    host.layout().activate()
    assert lines(buttons) == [(0, 0), (110, 10), (0, 40), (110, 40)]


def test_hidden_widgets_take_no_space(row):
    host, buttons, _window = row
    buttons[0].hide()
    host.resize(210, 70)
    host.layout().activate()
    assert lines(buttons) == [(0, 0), (110, 0), (0, 40)]


def test_an_item_can_be_taken_out(row):
    layout = row[0].layout()
    assert layout.takeAt(0).widget() is row[1][0]
    assert layout.count() == 3
    assert layout.itemAt(3) is None
    assert layout.takeAt(9) is None
