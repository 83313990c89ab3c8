"""The list of lessons, by mouse and by keys."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QWidget

from app import lessons
from app.lesson_list import LessonList, upcoming
from app.progress import Progress
from app.settings import Settings

EVERY = lessons.load()


@pytest.fixture
def progress(qapp):
    return Progress(Settings())


@pytest.fixture
def shown(qtbot, progress):
    over = QWidget()
    qtbot.addWidget(over)
    over.resize(1000, 700)
    with qtbot.waitExposed(over):
        over.show()
    progress.finish(EVERY[0].name)
    progress.reach(EVERY[1].name, 2)
    made = LessonList(over, EVERY, progress)
    made.over = over
    return made


def test_every_lesson_has_a_row_that_tells_how_far_one_is(shown):
    assert [row.lesson for row in shown.rows] == list(EVERY)
    assert "done" in shown.rows[0].accessibleName()
    assert "step 3 of" in shown.rows[1].accessibleName()
    assert shown.rows[0].accessibleDescription() == EVERY[0].about


def test_the_lesson_to_go_on_with_is_ready(shown, progress, qtbot):
    assert upcoming(EVERY, progress) == EVERY[1].name
    shown.open_at(EVERY[1].name)
    qtbot.waitUntil(lambda: shown.over.focusWidget() is shown.rows[1])
    qtbot.keyClick(shown.rows[1], Qt.Key.Key_Up)
    assert shown.over.focusWidget() is shown.rows[0]
    qtbot.keyClick(shown.rows[0], Qt.Key.Key_Up)
    with qtbot.waitSignal(shown.chosen) as told:
        qtbot.keyClick(shown.rows[0], Qt.Key.Key_Return)
    assert told.args[0] == EVERY[0]
    assert not shown.isVisible()


def test_the_lines_of_a_row_do_not_touch(shown, qtbot):
    shown.open_at(EVERY[0].name)
    row = shown.rows[0]
    qtbot.waitUntil(lambda: row.height() >= row.layout().sizeHint().height())
    labels = [label for label in row.findChildren(QLabel) if label.text() in _WORDS]
    title, about = sorted(labels, key=lambda label: label.y())
    assert title.height() >= title.sizeHint().height()
    assert title.geometry().bottom() < about.geometry().top()


_WORDS = (EVERY[0].title, EVERY[0].about)


def test_after_the_last_lesson_the_first_open_one_is_next(progress):
    progress.finish(EVERY[-1].name)
    assert upcoming(EVERY, progress, EVERY[-1].name) == EVERY[0].name
    for one in EVERY:
        progress.finish(one.name)
    assert upcoming(EVERY, progress) == ""
