"""The list of lessons, by mouse and by keys."""

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QWidget
from shiboken6 import isValid

from gradscribe.app.files.settings import Settings
from gradscribe.app.lessons import catalogue
from gradscribe.app.lessons.lesson_list import LESSON, SHARE, LessonList, next_lesson
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
    assert about == f"{EVERY[0].about}, about {EVERY[0].minutes} min"


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


def titles(shown):
    return [item.data(LESSON).title for item in shown.rows.shown()]


def heads(shown):
    items = [shown.rows.item(at) for at in range(shown.rows.count())]
    return [row.data(SPOKEN) for row in items if row.data(LESSON) is None and not row.isHidden()]


def test_typed_letters_search_titles_topics_and_texts(shown, qtbot):
    shown.open_at(EVERY[0].name)
    qtbot.keyClicks(shown.rows, "b")
    assert shown.over.focusWidget() is shown.search
    qtbot.keyClicks(shown.search, "roadcasting")
    assert shown.search.text() == "broadcasting"
    texts = [entry.read_text(encoding="utf-8").casefold() for entry in catalogue.builtin_files()]
    having = [one.title for one, text in zip(EVERY, texts, strict=True) if "broadcasting" in text]
    assert titles(shown) == having
    assert len(having) < len(EVERY)
    # The best hit is selected, be it the first row or not.
    assert shown.rows.currentItem().data(LESSON).title == "Broadcasting"
    with qtbot.waitSignal(shown.chosen) as chosen:
        qtbot.keyClick(shown.search, Qt.Key.Key_Return)
    assert chosen.args[0].title == "Broadcasting"


def test_all_words_have_to_be_there_and_parts_without_a_lesson_go(shown, qtbot):
    shown.open_at(EVERY[0].name)
    qtbot.keyClicks(shown.search, "ZERO_GRAD five")
    assert titles(shown)
    assert set(heads(shown)) == {row.data(LESSON).part for row in shown.rows.shown()}
    assert len(heads(shown)) < len({one.part for one in EVERY})


def test_a_search_for_nothing_that_is_there_says_so_and_opens_nothing(shown, qtbot):
    shown.open_at(EVERY[0].name)
    qtbot.keyClicks(shown.search, "qqqq")
    assert titles(shown) == heads(shown) == []
    assert shown.nothing.isVisible()
    with qtbot.assertNotEmitted(shown.chosen, wait=20):
        qtbot.keyClick(shown.search, Qt.Key.Key_Return)
    shown.search.clear()
    assert titles(shown) == [one.title for one in EVERY]
    assert not shown.nothing.isVisible()


def test_return_in_an_empty_search_opens_nothing(shown, qtbot):
    shown.open_at(EVERY[0].name)
    shown.search.setFocus()
    with qtbot.assertNotEmitted(shown.chosen, wait=20):
        qtbot.keyClick(shown.search, Qt.Key.Key_Return)


def test_the_down_arrow_goes_from_the_search_to_the_list(shown, qtbot):
    shown.open_at(EVERY[0].name)
    qtbot.keyClicks(shown.search, "shape")
    qtbot.keyClick(shown.search, Qt.Key.Key_Down)
    assert shown.over.focusWidget() is shown.rows
    at = shown.rows.shown().index(shown.rows.currentItem())
    qtbot.keyClick(shown.rows, Qt.Key.Key_Down)
    assert shown.rows.shown().index(shown.rows.currentItem()) == at + 1
    qtbot.keyClick(shown.rows, Qt.Key.Key_Escape)
    qtbot.waitUntil(lambda: not isValid(shown))


def test_what_is_done_and_how_long_the_rest_takes_is_said(shown, progress):
    caption = shown.card.findChildren(QLabel)[1].text()
    assert caption.startswith(f"1 of {len(EVERY)} lessons done, about ")
    share = [row.data(SHARE) for row in shown.rows.lessons()]
    assert share[:3] == [1, 2 / EVERY[1].steps, 0]
    minutes = sum(one.minutes for one in EVERY)
    assert 60 < minutes < 600
    for one in EVERY:
        progress.finish(one.name)
    again = LessonList(shown.over, EVERY, progress)
    text = again.card.findChildren(QLabel)[1].text()
    assert text == f"{len(EVERY)} of {len(EVERY)} lessons done"


def test_a_lesson_read_again_stays_done(shown, progress):
    progress.reach(EVERY[0].name, 1)
    again = LessonList(shown.over, EVERY, progress)
    assert spoken(again)[0].endswith(f"✓ done, step 2 of {EVERY[0].steps}")


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
