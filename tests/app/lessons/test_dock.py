"""The lesson's place in the window."""

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
