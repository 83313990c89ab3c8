"""The tour: each stop points to a real control, and goes on when the user did it."""

import pytest
from PySide6.QtCore import QPoint, QRect, QSize, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QPushButton, QWidget

from gradscribe.app.commands import file
from gradscribe.app.tour.callout import Callout
from gradscribe.app.tour.stops import STOPS
from gradscribe.widgets.base.theme import Theme


@pytest.fixture
def tour(settled, qtbot):
    settled.resize(1280, 800)
    settled.show()
    qtbot.waitExposed(settled)
    qtbot.waitUntil(lambda: bool(settled.graph.stage().wires))
    settled.tour.start()
    return settled.tour


def title(tour):
    return tour.callout.title.said()


def at(tour, number, qtbot):
    """Wait until the stop of that number, from 1, is shown."""
    qtbot.waitUntil(lambda: tour.is_on and title(tour) == STOPS[number - 1].title)


def go_to(tour, number):
    while title(tour) != STOPS[number - 1].title:
        tour.advance()


def test_each_stop_stands_next_to_its_control_and_covers_nothing_of_it(tour, settled):
    for number, stop in enumerate(STOPS, 1):
        area = stop.anchor(tour._parts)
        assert not area.isEmpty(), stop.action
        assert settled.ground.rect().contains(tour.callout.geometry())
        assert not tour.callout.geometry().intersects(area), stop.action
        assert tour.callout.progress.said() == f"{number} of {len(STOPS)}"
        tour.advance()
    assert not tour.is_on


def test_the_whole_tour_by_doing_what_it_asks_for(tour, settled, qtbot, link):
    at(tour, 1, qtbot)
    settled.editor.number_changed.emit(settled.editor.source())
    at(tour, 2, qtbot)
    QTest.mouseClick(settled.transport.buttons.play_button, Qt.MouseButton.LeftButton)
    at(tour, 3, qtbot)
    settled.clock.pause()
    settled.session.move(5)
    QTest.mouseClick(settled.transport.buttons.back_button, Qt.MouseButton.LeftButton)
    at(tour, 4, qtbot)
    settled.session.select(next(iter(settled.graph.stage().wires)))
    at(tour, 5, qtbot)
    QTest.mouseClick(settled.top.lessons, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: not tour.is_on)


def test_a_number_is_dragged_with_the_keyboard(tour, settled, qtbot):
    editor = settled.editor
    place = editor.source().index("-2.0")
    cursor = editor.textCursor()
    cursor.setPosition(place + 1)
    editor.setTextCursor(cursor)
    QTest.keyClick(editor, Qt.Key.Key_Up, Qt.KeyboardModifier.ControlModifier)
    at(tour, 2, qtbot)


def test_the_number_is_in_view_and_has_the_caret_where_another_line_plays(settled, qtbot):
    settled.resize(1000, 640)
    settled.show()
    settled.session.move(len(settled.session.result.tape.events))
    editor = settled.editor
    editor.verticalScrollBar().setValue(editor.verticalScrollBar().maximum())
    settled.tour.start()
    cursor = editor.textCursor()
    assert editor.source()[cursor.position() :].startswith("-2.0")
    assert editor.viewport().rect().contains(editor.cursorRect(cursor))


def test_in_a_narrow_window_the_last_stop_points_to_the_menu_with_the_lessons(tour, settled, qtbot):
    settled.resize(1000, 640)
    qtbot.waitUntil(settled.top.lessons.isHidden)
    go_to(tour, 5)
    bar = settled.menuBar()
    title = next(one for one in bar.actions() if one.text() == "&Learn")
    area = bar.actionGeometry(title)
    corner = settled.ground.mapFromGlobal(bar.mapToGlobal(area.topLeft()))
    assert STOPS[4].anchor(tour._parts) == QRect(corner, area.size())
    settled.menus.perform_by("learn.lessons")
    qtbot.waitUntil(lambda: not tour.is_on)


def test_playing_forward_and_a_jump_to_the_start_are_no_step_back(tour, settled, qtbot):
    settled.session.move(0)
    go_to(tour, 3)
    settled.session.move(3)
    settled.session.move(6)
    settled.session.move(0)
    settled.session.move(2)
    qtbot.wait(1)
    at(tour, 3, qtbot)


def test_the_keyboard_alone_takes_the_tour(tour, qtbot):
    for number in range(1, len(STOPS) + 1):
        at(tour, number, qtbot)
        assert tour.callout.next.hasFocus()
        QTest.keyClick(tour.callout.next, Qt.Key.Key_Space)
    assert not tour.is_on


def test_esc_ends_it_wherever_the_keyboard_is(tour, settled, qtbot):
    settled.activateWindow()
    qtbot.waitUntil(settled.isActiveWindow)
    settled.editor.setFocus()
    QTest.keyClick(settled.editor, Qt.Key.Key_Escape)
    qtbot.waitUntil(lambda: not tour.is_on)
    settled.tour.start()
    QTest.keyClick(tour.callout.next, Qt.Key.Key_Escape)
    qtbot.waitUntil(lambda: not tour.is_on)
    assert all(one.isHidden() for one in settled.findChildren(Callout))


def test_it_is_not_modal_and_takes_no_key_from_the_program(tour, settled):
    settled.editor.setFocus()
    before = settled.editor.source()
    QTest.keyClicks(settled.editor, "x")
    assert settled.editor.source() != before
    assert settled.editor.hasFocus()


def test_another_program_ends_it(tour, settled, tmp_path):
    path = tmp_path / "mine.py"
    path.write_text("a = 1\n")
    file.open_path(settled.context, str(path))
    assert not tour.is_on


def test_a_hidden_control_leaves_the_callout_in_the_middle(tour, settled, qtbot):
    settled.settings.put("left", False)

    def is_in_the_middle():
        off = tour.callout.geometry().center() - settled.ground.rect().center()
        return off.manhattanLength() < 4

    qtbot.waitUntil(is_in_the_middle)


def test_it_follows_its_control_in_a_smaller_window_with_larger_text(tour, settled, qtbot):
    go_to(tour, 5)
    settled.settings.put("text", 1.5)
    settled.look.finish()
    settled.resize(1000, 640)

    def fits():
        area = STOPS[4].anchor(tour._parts)
        card = tour.callout.geometry()
        text = tour.callout.text
        is_whole = text.heightForWidth(text.width()) <= text.height() + 1
        is_free = not card.intersects(area)
        return settled.ground.rect().contains(card) and is_free and is_whole

    qtbot.waitUntil(fits)


def test_help_takes_it_again_and_brings_the_keyboard_back_to_it(settled, qtbot):
    settled.show()
    settled.menus.perform_by("help.tour")
    assert settled.tour.is_on
    settled.editor.setFocus()
    settled.menus.perform_by("help.tour")
    assert settled.focusWidget() is settled.tour.callout.next


@pytest.mark.parametrize(
    "area",
    [QRect(), QRect(0, 0, 800, 600), QRect(0, 0, 10, 10), QRect(790, 590, 10, 10)],
)
@pytest.mark.parametrize("side", ["below", "right", "above", "left"])
def test_a_callout_stays_inside_the_window(qtbot, area, side):
    over = QWidget()
    qtbot.addWidget(over)
    over.resize(800, 600)
    callout = Callout(over, Theme.load("light"))
    callout.show_stop("Title", "A text of a few words " * 5, 1, 5)
    callout.point_at(area, side)
    assert over.rect().contains(callout.geometry())
    assert all(callout.rect().contains(b.geometry()) for b in callout.findChildren(QPushButton))
    assert callout.size() != QSize()
    assert callout.pos() != QPoint(-1, -1)


def test_on_another_page_it_waits_for_the_one_it_points_to(tour, settled, qtbot):
    settled.workspaces.show_workspace("training")
    # The page is made when it is first shown, which takes a busy machine seconds.
    qtbot.waitUntil(lambda: tour.callout.isHidden(), timeout=60_000)
    settled.workspaces.show_workspace("program")
    qtbot.waitUntil(lambda: tour.callout.isVisible())
    at(tour, 1, qtbot)
