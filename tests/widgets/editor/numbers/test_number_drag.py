import pytest
from PySide6.QtCore import QEvent, QPoint, QPointF, Qt
from PySide6.QtGui import QMouseEvent
from PySide6.QtWidgets import QApplication

from gradscribe.widgets.base.theme import Theme
from gradscribe.widgets.editor import line_layout
from gradscribe.widgets.editor.code_edit import CodeEdit
from gradscribe.widgets.editor.numbers.number_drag import INT_PIXELS, PIXELS

LEFT = Qt.MouseButton.LeftButton
NONE = Qt.KeyboardModifier.NoModifier
SHIFT = Qt.KeyboardModifier.ShiftModifier
ALT = Qt.KeyboardModifier.AltModifier
CONTROL = Qt.KeyboardModifier.ControlModifier


@pytest.fixture
def edit(qtbot):
    edit = CodeEdit(Theme.load("light"))
    qtbot.addWidget(edit)
    edit.resize(500, 300)
    edit.show()
    return edit


class Mouse:
    """A mouse over the viewport of an editor; positions are lines from 1 and columns."""

    def __init__(self, edit):
        self.edit = edit
        self.at = QPointF()

    def spot(self, line, column):
        block = self.edit.document().findBlockByNumber(line - 1)
        left, right = line_layout.span_x(self.edit, block, column, column + 1)
        row = next(row for row in self.edit.rows() if row.line == line)
        return QPointF((left + right) / 2, row.middle)

    def send(self, kind, button, buttons, modifiers=NONE):
        view = self.edit.viewport()
        there = QPointF(view.mapToGlobal(self.at))
        QApplication.sendEvent(view, QMouseEvent(kind, self.at, there, button, buttons, modifiers))

    def press(self, line, column, modifiers=NONE):
        self.at = self.spot(line, column)
        self.send(QEvent.Type.MouseButtonPress, LEFT, LEFT, modifiers)

    def move(self, dx, dy=0.0, modifiers=NONE):
        self.at += QPointF(dx, dy)
        self.send(QEvent.Type.MouseMove, Qt.MouseButton.NoButton, LEFT, modifiers)

    def release(self, modifiers=NONE):
        self.send(QEvent.Type.MouseButtonRelease, LEFT, Qt.MouseButton.NoButton, modifiers)

    def drag(self, line, column, *moves, modifiers=NONE):
        self.press(line, column)
        for dx in moves:
            self.move(dx, modifiers=modifiers)
        self.release()

    def hover(self, line, column):
        self.at = self.spot(line, column)
        none = Qt.MouseButton.NoButton
        self.send(QEvent.Type.MouseMove, none, none)


@pytest.fixture
def mouse(edit):
    return Mouse(edit)


def test_dragging_right_raises_a_number_in_its_own_steps(edit, mouse):
    edit.set_source("x = 2.5")
    mouse.drag(1, 5, 5 * PIXELS, 5 * PIXELS)
    assert edit.source() == "x = 3.5"


def test_dragging_left_lowers_it_through_zero(edit, mouse):
    edit.set_source("x = param(0.5)")
    mouse.drag(1, 11, -10 * PIXELS)
    assert edit.source() == "x = param(-0.5)"


def test_a_minus_is_dragged_along(edit, mouse):
    edit.set_source("w1 = param(-3.0)")
    mouse.drag(1, 11, 40 * PIXELS)
    assert edit.source() == "w1 = param(1.0)"


def test_integers_stay_integers(edit, mouse):
    edit.set_source("L = o**2")
    mouse.drag(1, 7, INT_PIXELS * 1.5, INT_PIXELS * 1.5)
    assert edit.source() == "L = o**5"


def test_shift_is_ten_times_as_fast(edit, mouse):
    edit.set_source("x = 2.5")
    mouse.drag(1, 5, 3 * PIXELS, modifiers=SHIFT)
    assert edit.source() == "x = 5.5"


def test_alt_is_ten_times_as_fine(edit, mouse):
    edit.set_source("x = 2.5")
    mouse.drag(1, 5, 3 * PIXELS, modifiers=ALT)
    assert edit.source() == "x = 2.53"


def test_alt_drags_an_integer_slowly(edit, mouse):
    edit.set_source("n = 10")
    mouse.drag(1, 5, 25 * INT_PIXELS, modifiers=ALT)
    assert edit.source() == "n = 12"


def test_speeds_can_be_changed_during_a_drag(edit, mouse):
    edit.set_source("x = 2.5")
    mouse.press(1, 5)
    mouse.move(10 * PIXELS)
    mouse.move(2 * PIXELS, modifiers=SHIFT)
    mouse.move(3 * PIXELS, modifiers=ALT)
    mouse.release()
    assert edit.source() == "x = 5.53"


def test_back_where_it_began_the_number_is_as_it_was_written(edit, mouse):
    edit.set_source("x = -0.00")
    mouse.drag(1, 6, 20, -40, 20)
    assert edit.source() == "x = -0.00"


def test_every_change_is_told_twice_as_an_edit_and_as_a_number(edit, mouse):
    edit.set_source("x = 2.5")
    told = []
    edit.edited.connect(lambda text: told.append(("edited", text)))
    edit.number_changed.connect(lambda text: told.append(("number", text)))
    mouse.press(1, 5)
    mouse.move(2 * PIXELS)
    mouse.move(0.2)
    mouse.move(PIXELS)
    mouse.release()
    assert told == [
        *(("edited", "x = 2.7"), ("number", "x = 2.7")),
        *(("edited", "x = 2.8"), ("number", "x = 2.8")),
    ]


def test_typing_changes_no_number(qtbot, edit):
    told = []
    edit.number_changed.connect(told.append)
    qtbot.keyClicks(edit, "x = 12")
    assert told == []


def test_a_whole_drag_is_one_step_to_undo(qtbot, edit, mouse):
    edit.set_source("x = 2.5\n")
    edit.go_to_line(1, 99)
    qtbot.keyClicks(edit, "0")
    mouse.drag(1, 5, *[4 * PIXELS] * 20)
    assert edit.source() == "x = 3.30\n"
    edit.undo()
    assert edit.source() == "x = 2.50\n"
    edit.redo()
    assert edit.source() == "x = 3.30\n"
    edit.undo()
    edit.undo()
    assert edit.source() == "x = 2.5\n"


def test_two_drags_are_two_steps(edit, mouse):
    edit.set_source("x = 1")
    mouse.drag(1, 4, 2 * INT_PIXELS)
    mouse.drag(1, 4, 2 * INT_PIXELS)
    edit.undo()
    assert edit.source() == "x = 3"


def test_typing_after_a_drag_is_a_step_of_its_own(qtbot, edit, mouse):
    edit.set_source("x = 1")
    mouse.drag(1, 4, 2 * INT_PIXELS)
    qtbot.keyClicks(edit, "7")
    edit.undo()
    assert edit.source() == "x = 3"


def test_a_press_that_hardly_moves_is_a_click_that_sets_the_caret(edit, mouse):
    edit.set_source("abc = 12345")
    told = []
    edit.edited.connect(told.append)
    mouse.press(1, 8)
    mouse.move(2)
    mouse.release()
    assert told == []
    assert not edit.textCursor().hasSelection()
    assert edit.textCursor().position() in (8, 9)


def test_a_drag_that_sets_out_up_or_down_selects_text(edit, mouse):
    edit.set_source("x = 12345\ny = 2")
    mouse.press(1, 6)
    mouse.move(1, 25)
    mouse.move(1, 1)
    mouse.release()
    assert edit.source() == "x = 12345\ny = 2"
    assert edit.textCursor().hasSelection()


def test_escape_during_a_drag_puts_the_old_number_back(qtbot, edit, mouse):
    edit.set_source("x = 2.5")
    told = []
    edit.number_changed.connect(told.append)
    mouse.press(1, 5)
    mouse.move(20)
    qtbot.keyClick(edit, Qt.Key.Key_Escape)
    mouse.move(20)
    mouse.release()
    assert edit.source() == "x = 2.5"
    assert told[-1] == "x = 2.5"


def test_text_beside_numbers_is_selected_as_ever(edit, mouse):
    edit.set_source("abcdef = 1")
    mouse.drag(1, 0, 25)
    assert edit.source() == "abcdef = 1"
    assert edit.textCursor().hasSelection()


@pytest.mark.parametrize(
    ("source", "column"),
    [("s = '12'", 5), ("# 12", 2), ("x12 = a", 2), ('f"{12}"', 3), ("x = 0x12", 6), ("x = 12j", 4)],
)
def test_other_digits_cannot_be_dragged(edit, mouse, source, column):
    edit.set_source(source)
    mouse.drag(1, column, 40)
    assert edit.source() == source


def test_numbers_in_a_string_over_lines_cannot_be_dragged(edit, mouse):
    edit.set_source('"""\n12\n"""\n12')
    mouse.drag(2, 0, 40)
    assert edit.source() == '"""\n12\n"""\n12'
    mouse.drag(4, 0, 2 * INT_PIXELS)
    assert edit.source() == '"""\n12\n"""\n14'


@pytest.mark.parametrize(("line", "result"), [(1, "3\n1"), (2, "1\n3")])
def test_numbers_at_either_end_of_the_document_can_be_dragged(edit, mouse, line, result):
    edit.set_source("1\n1")
    mouse.drag(line, 0, 2 * INT_PIXELS)
    assert edit.source() == result


def test_numbers_behind_emoji_and_chinese_letters_are_the_right_ones(edit, mouse):
    edit.set_source("s = '😀日本😀' + f(2.5, 7)")
    mouse.drag(1, edit.source().index("2.5"), 10 * PIXELS)
    assert edit.source() == "s = '😀日本😀' + f(3.5, 7)"


def test_tiny_and_grouped_numbers_keep_their_form(edit, mouse):
    edit.set_source("a = 1e-300\nb = 1_000")
    mouse.drag(1, 5, 5 * PIXELS)
    mouse.drag(2, 5, 5 * INT_PIXELS)
    assert edit.source() == "a = 1.5e-300\nb = 1_005"


def test_the_base_of_a_power_stays_the_base(edit, mouse):
    edit.set_source("y = 2**2")
    mouse.press(1, 4)
    mouse.move(-5 * INT_PIXELS)
    assert edit.source() == "y = (-3)**2"
    mouse.move(6 * INT_PIXELS)
    mouse.release()
    assert edit.source() == "y = 3**2"


def test_the_same_text_set_during_a_drag_does_not_end_it(edit, mouse):
    edit.set_source("x = 2.5")
    edit.number_changed.connect(edit.set_source)
    mouse.drag(1, 5, 10, 10, 10)
    assert edit.source() == "x = 4.0"


def test_another_text_set_during_a_drag_ends_it_in_peace(edit, mouse):
    edit.set_source("x = 2.5")
    mouse.press(1, 5)
    mouse.move(10)
    edit.set_source("y")
    mouse.move(10)
    mouse.release()
    assert edit.source() == "y"


def test_a_read_only_program_is_not_dragged(edit, mouse):
    edit.set_source("x = 2.5")
    edit.setReadOnly(True)
    mouse.drag(1, 5, 20)
    assert edit.source() == "x = 2.5"


def test_a_number_shows_that_it_can_be_dragged(edit, mouse):
    edit.set_source("x = 2.5")
    mouse.hover(1, 5)
    assert edit.viewport().cursor().shape() == Qt.CursorShape.SizeHorCursor
    mouse.hover(1, 0)
    assert edit.viewport().cursor().shape() == Qt.CursorShape.IBeamCursor


@pytest.mark.parametrize(
    ("key", "modifiers", "result"),
    [
        (Qt.Key.Key_Up, CONTROL, "x = 2.6"),
        (Qt.Key.Key_Down, CONTROL, "x = 2.4"),
        (Qt.Key.Key_Up, CONTROL | SHIFT, "x = 3.5"),
    ],
)
def test_control_and_arrows_step_the_number_at_the_caret(qtbot, edit, key, modifiers, result):
    edit.set_source("x = 2.5")
    told = []
    edit.number_changed.connect(told.append)
    edit.go_to_line(1, 5)
    qtbot.keyClick(edit, key, modifiers)
    assert edit.source() == result
    assert told == [result]


def test_steps_by_key_can_be_repeated(qtbot, edit):
    edit.set_source("x = 0.2")
    edit.go_to_line(1, 4)
    for _ in range(4):
        qtbot.keyClick(edit, Qt.Key.Key_Down, CONTROL)
    assert edit.source() == "x = -0.2"
    edit.undo()
    assert edit.source() == "x = -0.1"


def test_away_from_numbers_the_arrow_keys_change_nothing(qtbot, edit):
    edit.set_source("abc = 1\nd")
    edit.go_to_line(1, 1)
    qtbot.keyClick(edit, Qt.Key.Key_Up, CONTROL)
    assert edit.source() == "abc = 1\nd"


def test_a_real_drag_by_the_test_mouse_works(qtbot, edit):
    edit.set_source("x = 2.5")
    spot = Mouse(edit).spot(1, 5).toPoint()
    qtbot.mousePress(edit.viewport(), LEFT, pos=spot)
    qtbot.mouseMove(edit.viewport(), spot + QPoint(10, 0))
    qtbot.mouseRelease(edit.viewport(), LEFT, pos=spot + QPoint(10, 0))
    assert edit.source() == "x = 3.0"
