"""The lesson's place in the window."""

from PySide6.QtWidgets import QApplication

from gradscribe.app.lessons import catalogue
from gradscribe.app.lessons.dock import LessonDock


def test_the_window_has_a_classroom_whose_pane_shows_only_in_a_lesson(settled):
    room = settled.lesson_dock
    assert isinstance(room, LessonDock)
    settled.show()
    assert not room.panel.isVisible()
    settled.context.lessons.open(catalogue.load()[0])
    assert room.panel.isVisible()
    settled.context.lessons.leave()
    assert not room.panel.isVisible()


def test_a_step_brings_its_table_to_the_front(settled):
    settled.context.lessons.table_wanted.emit("output")
    assert settled.below.currentWidget() is settled.console
    settled.context.lessons.table_wanted.emit("ledger")
    assert settled.tables.currentWidget() is settled.ledger
    settled.context.lessons.table_wanted.emit("values")
    assert settled.tables.currentWidget() is settled.values


def test_a_lesson_without_a_loop_leaves_the_height_of_the_step_strip_to_the_program(settled, qtbot):
    settled.resize(1000, 640)
    with qtbot.waitExposed(settled):
        settled.show()
    qtbot.wait(0)
    free = settled.transport.height()
    lessons = catalogue.load()
    loops = [one for one in lessons if any("\nfor " in step.program for step in one.steps)]
    plain = lessons[0]
    assert plain not in loops
    settled.context.lessons.open(plain)
    # The layout follows in the event loop.
    QApplication.processEvents()
    assert settled.lesson_dock.panel.isVisible()
    assert settled.transport.sizeHint().height() == free
    assert settled.transport.height() == free
    settled.context.lessons.open(loops[0])
    qtbot.waitUntil(lambda: settled.transport.height() > free)
