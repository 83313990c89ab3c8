"""The start page over the real window: what it offers, opens and removes."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from gradscribe.app.lessons import catalogue
from gradscribe.app.training.setup import presets
from gradscribe.app.ui.start.page import StartPage
from gradscribe.app.window.start_items import open_start_page


@pytest.fixture
def page(settled, qtbot, tmp_path):
    settled.resize(1280, 800)
    settled.show()
    qtbot.waitExposed(settled)
    mine = tmp_path / "mine.py"
    mine.write_text("a = 1\n")
    gone = tmp_path / "gone.py"
    for path in (gone, mine):
        settled.settings.add_recent(str(path))
    return shown(open_start_page(settled.context))


def shown(page):
    page.filling.finish()
    return page


def tile(page, title):
    return next(tile for tile in page.tiles if tile.item.title == title)


def search(page, text):
    page.search.setText(text)
    return [tile.item.title for tile in shown(page).tiles]


def test_it_offers_files_examples_lessons_and_set_ups(page):
    titles = [tile.item.title for tile in page.tiles]
    assert titles[:2] == ["mine.py", "gone.py"]
    assert presets.load()[0].title in titles
    assert catalogue.summaries()[0].title in titles
    assert page.search.hasFocus() or page.focusProxy() is page.search


def test_a_file_that_is_gone_says_so_and_is_removed_for_good(page, settled, tmp_path):
    gone = tile(page, "gone.py")
    assert "Not there any more" in gone.item.about
    gone.click()
    assert page.isVisible()
    gone.setFocus()
    QTest.keyClick(gone, Qt.Key.Key_Delete)
    assert shown(page).tiles[0].item.title == "mine.py"
    assert "gone.py" not in [tile.item.title for tile in page.tiles]
    settled.settings.flush()
    from gradscribe.app.files.settings import Settings

    assert Settings(tmp_path / "s.ini").stored_recent() == (str(tmp_path / "mine.py"),)


def test_a_tile_opens_what_it_shows(page, settled, tmp_path):
    tile(page, "mine.py").click()
    assert settled.session.doc.path == str(tmp_path / "mine.py")
    assert not page.isVisible()


def test_the_search_looks_at_all_and_return_opens_the_first(page, settled):
    assert search(page, "spiral") == ["Playground: spiral", "Three spirals"]
    assert search(page, "broadcasting")[0]
    assert search(page, "no such thing") == []
    assert not page.nothing.isHidden()
    assert search(page, "mine.py") == ["mine.py"]
    QTest.keyClick(page.search, Qt.Key.Key_Return)
    assert settled.session.doc.title == "mine.py"


def test_the_arrow_keys_lead_through_the_tiles_and_letters_to_the_search(page):
    QTest.keyClick(page.search, Qt.Key.Key_Down)
    first, second = page.tiles[:2]
    assert first.hasFocus()
    QTest.keyClick(first, Qt.Key.Key_Right)
    assert second.hasFocus()
    QTest.keyClick(second, Qt.Key.Key_Down)
    below = next(tile for tile in page.tiles if tile.hasFocus())
    assert page.tiles.index(below) > 1
    QTest.keyClick(below, Qt.Key.Key_Up)
    assert second.hasFocus() or first.hasFocus()
    QTest.keyClick(first, Qt.Key.Key_Up)
    assert page.search.hasFocus()
    page.tiles[0].setFocus()
    QTest.keyClicks(page.tiles[0], "q")
    assert page.search.text() == "q"


def test_esc_leaves_the_window_as_it_was(page, settled):
    before = settled.session.doc
    QTest.keyClick(page, Qt.Key.Key_Escape)
    assert not settled.findChildren(StartPage) or not page.isVisible()
    assert settled.session.doc == before


def test_progress_in_a_lesson_is_shown_and_lessons_begun_come_first(settled):
    lesson = catalogue.summaries()[5]
    settled.lesson_dock.learning.progress.reach(lesson.name, 2)
    page = shown(open_start_page(settled.context))
    lessons = [tile for tile in page.tiles if "min" in tile.item.about]
    assert lessons[0].item.title == lesson.title
    assert f"step 3 of {lesson.steps}" in lessons[0].item.about
    page.leave()


def test_no_word_is_cut_off_in_a_narrow_window_with_large_text(settled, qtbot):
    settled.show()
    settled.settings.put("text", 2.0)
    settled.look.finish()
    settled.resize(1000, 640)
    page = shown(open_start_page(settled.context))
    page.layout() and page.layout().activate()
    qtbot.waitUntil(lambda: page.tiles[0].height() > 40)
    for one in page.tiles[:4]:
        assert one.height() >= one.heightForWidth(one.width()) - 1
    page.leave()


def test_it_leaves_when_a_key_goes_to_a_page_below(page, settled):
    settled.workspaces.show_workspace("program")
    assert not page.isVisible()
