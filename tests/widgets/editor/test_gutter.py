import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QWheelEvent
from PySide6.QtWidgets import QApplication

from gradscribe.widgets.base.theme import Theme
from gradscribe.widgets.editor.code_edit import CodeEdit
from gradscribe.widgets.editor.gutter import LEFT, Gutter

NUMBER = LEFT + 3
"""An x in the numbers, right of the margin with the breakpoints."""


@pytest.fixture
def edit(qtbot):
    edit = CodeEdit(Theme.load("light"))
    qtbot.addWidget(edit)
    edit.resize(300, 200)
    edit.show()
    edit.set_source("\n".join("abc" for _ in range(200)))
    edit.grab()
    return edit


@pytest.fixture
def gutter(edit):
    return edit.findChild(Gutter)


def test_a_click_on_a_number_picks_its_line(qtbot, edit, gutter):
    row = edit.rows()[2]
    with qtbot.waitSignal(edit.line_picked) as picked:
        qtbot.mouseClick(gutter, Qt.MouseButton.LeftButton, pos=QPoint(NUMBER, int(row.middle)))
    assert picked.args == [3]


def test_after_scrolling_the_number_that_is_shown_is_picked(qtbot, edit, gutter):
    edit.verticalScrollBar().setValue(50)
    edit.grab()
    row = edit.rows()[0]
    with qtbot.waitSignal(edit.line_picked) as picked:
        qtbot.mouseClick(gutter, Qt.MouseButton.LeftButton, pos=QPoint(NUMBER, int(row.middle)))
    assert picked.args == [51]


def test_a_click_under_the_last_line_picks_none(qtbot, edit, gutter):
    edit.set_source("abc")
    edit.grab()
    told = []
    edit.line_picked.connect(told.append)
    qtbot.mouseClick(gutter, Qt.MouseButton.LeftButton, pos=QPoint(NUMBER, gutter.height() - 3))
    assert told == []


def test_the_gutter_stands_left_of_the_code_and_grows_with_the_numbers(edit, gutter):
    assert gutter.geometry().right() + 1 == edit.viewport().geometry().left()
    narrow = gutter.width()
    edit.set_source("\n" * 20_000)
    assert gutter.width() > narrow
    assert gutter.geometry().right() + 1 == edit.viewport().geometry().left()


def test_the_wheel_over_the_numbers_scrolls_the_code(edit, gutter):
    at = QPointF(5, 50)
    wheel = QWheelEvent(
        *(at, gutter.mapToGlobal(at), QPoint(), QPoint(0, -240)),
        *(Qt.MouseButton.NoButton, Qt.KeyboardModifier.NoModifier),
        *(Qt.ScrollPhase.NoScrollPhase, False),
    )
    QApplication.sendEvent(gutter, wheel)
    assert edit.verticalScrollBar().value() > 0


def test_the_playing_line_has_a_bar_at_the_left(edit, gutter):
    theme = Theme.load("light")
    edit.set_playing_line(2, "backward")
    image = edit.grab().toImage()
    row = edit.rows()[1]
    y = int(row.middle) + edit.viewport().y()
    assert image.pixelColor(gutter.x() + 1, y) == theme.backward
    assert image.pixelColor(gutter.x() + 5, y) == theme.backward_soft
    assert image.pixelColor(edit.viewport().geometry().center().x(), y) == theme.backward_soft
