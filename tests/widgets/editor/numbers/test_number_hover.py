import pytest
from PySide6.QtCore import QEvent, QPointF, Qt
from PySide6.QtGui import QKeyEvent, QMouseEvent
from PySide6.QtWidgets import QApplication

from gradscribe.widgets.base.theme import Theme
from gradscribe.widgets.editor import line_layout
from gradscribe.widgets.editor.code_edit import CodeEdit
from gradscribe.widgets.editor.numbers.number_slider import NumberSlider

CONTROL = Qt.KeyboardModifier.ControlModifier
NONE = Qt.KeyboardModifier.NoModifier


@pytest.fixture
def edit(qtbot):
    edit = CodeEdit(Theme.load("light"))
    qtbot.addWidget(edit)
    edit.resize(500, 300)
    edit.show()
    edit.set_source("x = 2.5\ny = a + 7\nz = a\n")
    return edit


@pytest.fixture
def strip(edit):
    return edit.findChild(NumberSlider)


def hover(edit, line, column):
    block = edit.document().findBlockByNumber(line - 1)
    left, right = line_layout.span_x(edit, block, column, column + 1)
    row = next(row for row in edit.rows() if row.line == line)
    at, view = QPointF((left + right) / 2, row.middle), edit.viewport()
    no = Qt.MouseButton.NoButton
    there = QPointF(view.mapToGlobal(at))
    QApplication.sendEvent(view, QMouseEvent(QEvent.Type.MouseMove, at, there, no, no, NONE))


def test_resting_on_a_number_opens_its_slider_underneath(qtbot, edit, strip):
    hover(edit, 1, 5)
    assert not strip.isVisible()
    qtbot.waitUntil(strip.isVisible)
    first = edit.rows()[0]
    assert strip.y() >= first.top + first.height / 2


def test_the_slider_closes_when_the_mouse_goes_elsewhere(qtbot, edit, strip):
    hover(edit, 1, 5)
    qtbot.waitUntil(strip.isVisible)
    hover(edit, 3, 0)
    qtbot.waitUntil(lambda: not strip.isVisible())


def test_resting_beside_a_number_opens_nothing(qtbot, edit, strip):
    hover(edit, 1, 5)
    hover(edit, 1, 0)
    hover(edit, 2, 8)
    qtbot.waitUntil(strip.isVisible)
    assert "7" in strip.slider.accessibleName()


def test_sliding_writes_the_number_and_tells_of_it(qtbot, edit, strip):
    told = []
    edit.number_changed.connect(told.append)
    hover(edit, 1, 5)
    qtbot.waitUntil(strip.isVisible)
    strip.slider.setValue(-3)
    strip.slider.setValue(5)
    assert told == ["x = 2.2\ny = a + 7\nz = a\n", "x = 3.0\ny = a + 7\nz = a\n"]
    assert strip.isVisible()
    strip.dismiss()


def test_all_sliding_while_it_is_open_is_one_step_to_undo(edit, strip):
    edit.go_to_line(1, 5)
    assert edit.open_slider()
    for value in (1, 4, 9):
        strip.slider.setValue(value)
    strip.dismiss()
    edit.undo()
    assert edit.source().startswith("x = 2.5\n")


def test_control_and_period_open_the_slider_for_the_keyboard(qtbot, edit, strip):
    edit.activateWindow()
    edit.setFocus()
    edit.go_to_line(1, 5)
    qtbot.keyClick(edit, Qt.Key.Key_Period, CONTROL)
    assert strip.isVisible()
    qtbot.waitUntil(strip.slider.hasFocus)
    qtbot.keyClick(strip.slider, Qt.Key.Key_Right)
    qtbot.keyClick(strip.slider, Qt.Key.Key_Return)
    assert edit.source().startswith("x = 2.6\n")
    assert not strip.isVisible()
    assert edit.hasFocus()


def test_the_next_number_of_the_line_is_taken_where_the_caret_is_on_none(edit, strip):
    edit.go_to_line(2, 0)
    assert edit.open_slider()
    assert "7" in strip.slider.accessibleName()
    strip.dismiss()


def test_a_line_without_numbers_has_no_slider(edit, strip):
    edit.go_to_line(3, 0)
    assert not edit.open_slider()
    assert not strip.isVisible()


def test_escape_in_the_slider_takes_the_change_back(qtbot, edit, strip):
    edit.go_to_line(1, 5)
    edit.open_slider()
    strip.slider.setValue(9)
    qtbot.keyClick(strip.slider, Qt.Key.Key_Escape)
    assert edit.source().startswith("x = 2.5\n")


@pytest.mark.parametrize("text", ["b", "x = 77\n", ""])
def test_any_other_change_of_the_text_closes_the_slider(edit, strip, text):
    edit.go_to_line(1, 5)
    edit.open_slider()
    edit.set_source(text)
    assert not strip.isVisible()


def test_typing_and_scrolling_close_the_slider(qtbot, edit, strip):
    edit.set_source("x = 2.5\n" * 100)
    edit.go_to_line(1, 5)
    edit.open_slider()
    qtbot.keyClick(edit, Qt.Key.Key_A)
    assert not strip.isVisible()
    edit.go_to_line(2, 5)
    edit.open_slider()
    edit.verticalScrollBar().setValue(20)
    assert not strip.isVisible()


def test_a_read_only_program_has_no_sliders(edit, strip):
    edit.setReadOnly(True)
    edit.go_to_line(1, 5)
    assert not edit.open_slider()


def test_the_window_does_not_get_the_sliders_key(edit):
    press = QKeyEvent(QEvent.Type.ShortcutOverride, Qt.Key.Key_Period, CONTROL)
    press.ignore()
    QApplication.sendEvent(edit, press)
    assert press.isAccepted()
