"""The list of lessons, by mouse and by keys."""

import pytest
from PySide6.QtCore import QEvent, QObject, Qt, QTimer
from PySide6.QtWidgets import QLabel, QWidget
from shiboken6 import isValid

from app import lessons
from app.lesson_list import LessonList, Row, upcoming
from app.progress import Progress
from app.settings import Settings

EVERY = lessons.listed()


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
    made.filled = lambda: qtbot.waitUntil(lambda: len(made.rows) == len(EVERY))
    return made


def test_every_lesson_has_a_row_that_tells_how_far_one_is(shown):
    shown.open_at(EVERY[0].name)
    shown.filled()
    assert [row.lesson for row in shown.rows] == list(EVERY)
    assert "done" in shown.rows[0].accessibleName()
    assert "step 3 of" in shown.rows[1].accessibleName()
    assert shown.rows[0].accessibleDescription() == EVERY[0].about


def test_rows_are_made_in_several_turns_and_painted_once_all_are_there(shown, qtbot, monkeypatch):
    class Paints(QObject):
        def eventFilter(self, watched, happened):
            if happened.type() == QEvent.Type.Paint and isinstance(watched, Row):
                painted.append((watched, len(shown.rows)))
            return False

    painted, turns = [], []
    paints = Paints(shown)
    row = shown._row

    def watched(*given):
        made = row(*given)
        made.installEventFilter(paints)
        QTimer.singleShot(0, lambda: turns.append(len(shown.rows)))
        return made

    monkeypatch.setattr(shown, "_row", watched)
    shown._filling._turn_ms = 0
    shown.open_at(EVERY[0].name)
    qtbot.waitUntil(lambda: any(one is shown.rows[0] for one, _ in painted))
    assert {there for _, there in painted} == {len(EVERY)}
    assert len(set(turns)) > 3


def test_the_lesson_to_go_on_with_is_ready(shown, progress, qtbot):
    assert upcoming(EVERY, progress) == EVERY[1].name
    shown.open_at(EVERY[1].name)
    shown.filled()
    qtbot.waitUntil(lambda: shown.over.focusWidget() is shown.rows[1])
    qtbot.keyClick(shown.rows[1], Qt.Key.Key_Up)
    assert shown.over.focusWidget() is shown.rows[0]
    qtbot.keyClick(shown.rows[0], Qt.Key.Key_Up)
    with qtbot.waitSignal(shown.chosen) as told:
        qtbot.keyClick(shown.rows[0], Qt.Key.Key_Return)
    assert told.args[0] == lessons.load()[0]
    qtbot.waitUntil(lambda: not isValid(shown))


def test_a_lesson_chosen_twice_is_opened_once(shown, qtbot):
    shown.open_at(EVERY[1].name)
    shown.filled()
    told = []
    shown.chosen.connect(told.append)
    shown.rows[1].click()
    shown.rows[2].click()
    qtbot.waitUntil(lambda: not isValid(shown))
    assert [lesson.name for lesson in told] == [EVERY[1].name]


def test_the_lines_of_a_row_do_not_touch(shown, qtbot):
    shown.open_at(EVERY[0].name)
    shown.filled()
    row = shown.rows[0]
    labels = [label for label in row.findChildren(QLabel) if label.text() in _WORDS]
    # Before they have their places all of them are as large as Qt makes a new widget.
    qtbot.waitUntil(lambda: len({label.y() for label in labels}) == len(labels))
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


def test_the_rows_are_made_in_turns_of_the_event_loop(shown, monkeypatch):
    monkeypatch.setattr(shown._filling, "_turn_ms", 0)
    shown.open_at(EVERY[-1].name)
    assert not shown.rows, "none in the turn that opens the list"
    counts = []
    shown._filling._turn.timeout.connect(lambda: counts.append(len(shown.rows)))
    shown.filled()
    assert max(b - a for a, b in zip([0, *counts], counts, strict=False)) == 1


def test_of_lessons_that_are_only_listed_no_step_is_read(shown, qtbot):
    lessons.load.cache_clear()
    lessons.ours.cache_clear()
    shown.open_at(EVERY[0].name)
    shown.filled()
    assert lessons.ours.cache_info().currsize == 0
    with qtbot.waitSignal(shown.chosen) as told:
        shown.rows[-1].click()
    assert told.args[0].name == EVERY[-1].name
    assert lessons.ours.cache_info().currsize == 1


def test_a_list_that_is_left_before_it_is_whole_makes_no_more_rows(shown, monkeypatch, qtbot):
    monkeypatch.setattr(shown._filling, "_turn_ms", 0)
    shown.open_at(EVERY[-1].name)
    with qtbot.waitSignal(shown.destroyed):
        shown.leave()
