"""The lesson's place in the window."""

from app import lessons
from app.classroom import Classroom


def test_the_window_has_a_classroom_whose_pane_shows_only_in_a_lesson(settled):
    room = settled.classroom
    assert isinstance(room, Classroom)
    settled.show()
    assert not room.panel.isVisible()
    settled.learning.open(lessons.load()[0])
    assert room.panel.isVisible()
    settled.learning.leave()
    assert not room.panel.isVisible()


def test_a_step_brings_its_table_to_the_front(settled):
    settled.learning.table_wanted.emit("output")
    assert settled.below.currentWidget() is settled.console
    settled.learning.table_wanted.emit("ledger")
    assert settled.tables.currentWidget() is settled.ledger
    settled.learning.table_wanted.emit("values")
    assert settled.tables.currentWidget() is settled.values
