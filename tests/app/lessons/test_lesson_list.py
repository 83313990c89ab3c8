"""The list of lessons, by mouse and by keys."""

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QWidget
from shiboken6 import isValid

from gradscribe.app.files.settings import Settings
from gradscribe.app.lessons import catalogue
from gradscribe.app.lessons.lesson_list import LessonList, next_lesson
from gradscribe.app.lessons.progress import LessonProgress
from gradscribe.widgets.base.theme import Theme

EVERY = catalogue.summaries()
SPOKEN = Qt.ItemDataRole.AccessibleTextRole
LEFT = Qt.MouseButton.LeftButton


@pytest.fixture
def progress(qapp):
    return LessonProgress(Settings())


@pytest.fixture
def shown(qtbot, progress):
    over = QWidget()
    qtbot.addWidget(over)
    over.resize(1000, 700)
    over.setStyleSheet(Theme.load("light").stylesheet())
    with qtbot.waitExposed(over):
        over.show()
    progress.finish(EVERY[0].name)
    progress.reach(EVERY[1].name, 2)
    made = LessonList(over, EVERY, progress)
    made.over = over
    return made


def spoken(shown):
    return [item.data(SPOKEN) for item in shown.rows.lessons()]


def current(shown):
    return spoken(shown).index(shown.rows.currentItem().data(SPOKEN))


def click(qtbot, shown, place):
    item = shown.rows.lessons()[place]
    shown.rows.scrollToItem(item)
    at = shown.rows.visualItemRect(item).center()
    qtbot.mouseClick(shown.rows.viewport(), LEFT, pos=at)


def test_every_lesson_has_a_row_that_tells_how_far_one_is(shown):
    shown.open_at(EVERY[0].name)
    titles = [one.title for one in EVERY]
    assert [words.partition(". ")[2].partition(", ")[0] for words in spoken(shown)[2:]] == [
        title.partition(", ")[0] for title in titles[2:]
    ]
    assert spoken(shown)[0] == f"1. {titles[0]}, ✓ done"
    assert spoken(shown)[1].startswith(f"2. {titles[1]}, step 3 of")
    about = shown.rows.lessons()[0].data(Qt.ItemDataRole.AccessibleDescriptionRole)
    assert about == EVERY[0].about


def test_parts_stand_above_their_lessons_and_cannot_be_chosen(shown, qtbot):
    shown.open_at(EVERY[0].name)
    parts = list(dict.fromkeys(one.part for one in EVERY))
    items = [shown.rows.item(at) for at in range(shown.rows.count())]
    heads = [item for item in items if not item.flags() & Qt.ItemFlag.ItemIsSelectable]
    assert [item.data(SPOKEN) for item in heads] == parts
    with qtbot.assertNotEmitted(shown.chosen, wait=20):
        at = shown.rows.visualItemRect(heads[0]).center()
        qtbot.mouseClick(shown.rows.viewport(), LEFT, pos=at)


def test_the_lesson_to_go_on_with_is_ready(shown, progress, qtbot):
    assert next_lesson(EVERY, progress) == EVERY[1].name
    shown.open_at(EVERY[1].name)
    assert shown.over.focusWidget() is shown.rows
    assert current(shown) == 1
    qtbot.keyClick(shown.rows, Qt.Key.Key_Up)
    assert current(shown) == 0
    qtbot.keyClick(shown.rows, Qt.Key.Key_Up)
    with qtbot.waitSignal(shown.chosen) as told:
        qtbot.keyClick(shown.rows, Qt.Key.Key_Return)
    assert told.args[0] == catalogue.load()[0]
    qtbot.waitUntil(lambda: not isValid(shown))


def test_the_lesson_to_go_on_with_is_in_sight(shown, qtbot):
    shown.open_at(EVERY[-1].name)
    seen = shown.rows.viewport().rect()
    qtbot.waitUntil(lambda: seen.contains(shown.rows.visualItemRect(shown.rows.currentItem())))


def test_the_arrows_pass_over_the_name_of_a_part(shown, qtbot):
    first = next(i for i, one in enumerate(EVERY) if one.part != EVERY[0].part)
    shown.open_at(EVERY[first].name)
    qtbot.keyClick(shown.rows, Qt.Key.Key_Up)
    assert current(shown) == first - 1
    qtbot.keyClick(shown.rows, Qt.Key.Key_Down)
    assert current(shown) == first


def test_space_chooses_and_escape_closes(shown, qtbot):
    shown.open_at(EVERY[2].name)
    with qtbot.waitSignal(shown.chosen) as told:
        qtbot.keyClick(shown.rows, Qt.Key.Key_Space)
    assert told.args[0].name == EVERY[2].name


def test_escape_in_the_list_closes_the_card(shown, qtbot):
    shown.open_at(EVERY[2].name)
    with qtbot.waitSignal(shown.destroyed), qtbot.assertNotEmitted(shown.chosen):
        qtbot.keyClick(shown.rows, Qt.Key.Key_Escape)


def test_a_lesson_chosen_twice_is_opened_once(shown, qtbot):
    shown.open_at(EVERY[1].name)
    told = []
    shown.chosen.connect(told.append)
    click(qtbot, shown, 1)
    click(qtbot, shown, 2)
    qtbot.waitUntil(lambda: not isValid(shown))
    assert [lesson.name for lesson in told] == [EVERY[1].name]


def ink(picture):
    """Return for each line of a grey picture whether something is written there."""
    image = picture.toImage().convertToFormat(picture.toImage().Format.Format_Grayscale8)
    rows = np.frombuffer(image.constBits(), np.uint8).reshape(image.height(), -1)
    return (rows[:, : image.width()] < 200).any(axis=1)


def test_the_lines_of_a_row_do_not_touch(shown, qtbot):
    shown.open_at(EVERY[0].name)
    qtbot.waitUntil(shown.rows.updatesEnabled)
    box = shown.rows.visualItemRect(shown.rows.lessons()[4])
    inside = box.adjusted(52, 2, -120, -9)
    inside.moveTopLeft(shown.rows.viewport().mapTo(shown.card, inside.topLeft()))
    written = ink(shown.card.grab(inside)).astype(int)
    assert (np.diff(written) == 1).sum() == 2, "two lines of words with room between them"
    assert not written[[0, -1]].any()


def test_after_the_last_lesson_the_first_open_one_is_next(progress):
    progress.finish(EVERY[-1].name)
    assert next_lesson(EVERY, progress, EVERY[-1].name) == EVERY[0].name
    for one in EVERY:
        progress.finish(one.name)
    assert next_lesson(EVERY, progress) == ""


def test_of_lessons_that_are_only_listed_no_step_is_read(shown, qtbot):
    catalogue.load.cache_clear()
    catalogue.builtin.cache_clear()
    shown.open_at(EVERY[0].name)
    assert catalogue.builtin.cache_info().currsize == 0
    with qtbot.waitSignal(shown.chosen) as told:
        click(qtbot, shown, -1)
    assert told.args[0].name == EVERY[-1].name
    assert catalogue.builtin.cache_info().currsize == 1
