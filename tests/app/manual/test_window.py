"""The manual's window, by mouse and keys."""

import pytest
from PySide6.QtCore import Qt, QUrl
from PySide6.QtTest import QTest

from gradscribe.app.manual import pages
from gradscribe.app.manual.window import PLACE, ManualWindow
from gradscribe.widgets.base.theme import Theme


@pytest.fixture
def manual(qtbot):
    window = ManualWindow()
    qtbot.addWidget(window)
    window.set_theme(Theme.load("light"))
    window.show_page("first-minute")
    window.show()
    qtbot.waitExposed(window)
    return window


def row(window, name):
    return next(item for item in window._items() if item.data(0, PLACE) == (name, ""))


def click(window, item):
    box = window.contents.visualItemRect(item)
    QTest.mouseClick(window.contents.viewport(), Qt.MouseButton.LeftButton, pos=box.center())


def test_the_contents_list_every_page_and_a_click_shows_it(manual):
    listed = [item.data(0, PLACE) for item in manual._items()]
    assert [place[0] for place in listed if place] == [page.name for page in pages.load()]
    click(manual, row(manual, "findings"))
    assert manual.browser.page.name == "findings"
    assert manual.windowTitle() == "What the findings mean · Manual"


def test_words_are_searched_as_they_are_typed_and_return_opens_the_first(manual):
    QTest.keyClicks(manual.query, "spotlight")
    assert manual.contents.topLevelItem(0).text(0).startswith("Give a lecture")
    QTest.keyClick(manual.query, Qt.Key.Key_Return)
    assert manual.browser.page.name == "give-a-lecture"
    assert manual.browser.verticalScrollBar().value() >= 0


def test_arrows_in_the_search_line_lead_through_what_was_found(manual):
    QTest.keyClicks(manual.query, "gradient")
    first = manual.contents.currentItem()
    QTest.keyClick(manual.query, Qt.Key.Key_Down)
    second = manual.contents.currentItem()
    assert second is manual.contents.itemBelow(first)
    QTest.keyClick(manual.query, Qt.Key.Key_Return)
    assert manual.browser.page.name == second.data(0, PLACE)[0]


def test_words_that_are_nowhere_say_so_and_lose_no_page(manual):
    QTest.keyClicks(manual.query, "qqq")
    assert manual.contents.topLevelItemCount() == 1
    QTest.keyClick(manual.query, Qt.Key.Key_Return)
    assert manual.browser.page.name == "first-minute"
    manual.query.clear()
    assert manual.contents.topLevelItemCount() > 1


def test_back_and_forward_lead_through_the_pages(manual):
    assert not manual.back.isEnabled()
    manual.show_page("findings")
    manual.show_page("python")
    manual.back.click()
    assert manual.browser.page.name == "findings"
    manual.back.click()
    assert manual.browser.page.name == "first-minute"
    manual.forward.click()
    assert manual.browser.page.name == "findings"
    manual.show_page("options")
    assert not manual.forward.isEnabled()


def test_a_link_leads_to_its_heading(manual, qtbot):
    manual.browser.anchorClicked.emit(QUrl("train-a-model.md#charts"))
    assert manual.browser.page.name == "train-a-model"
    qtbot.waitUntil(lambda: manual.browser.verticalScrollBar().value() > 0)


@pytest.mark.parametrize("link", ["http://example.com/x.md", "file:///etc/passwd", "../x.py"])
def test_a_link_to_elsewhere_does_nothing(manual, link):
    manual.browser.anchorClicked.emit(QUrl(link))
    assert manual.browser.page.name == "first-minute"


@pytest.mark.parametrize("name", ["../window.png", "pictures/../../x.png", "/etc/passwd", "a"])
def test_no_other_file_is_loaded_as_a_picture(manual, name):
    assert manual.browser.loadResource(2, QUrl(name)) is None


def test_pictures_are_as_wide_as_the_text_and_dark_in_a_dark_window(manual):
    name = QUrl("pictures/window.png")
    light = manual.browser.loadResource(2, name)
    ratio = light.devicePixelRatio()
    assert light.width() / ratio <= manual.browser.viewport().width()
    manual.set_theme(Theme.load("dark"))
    dark = manual.browser.loadResource(2, name)
    assert dark.pixelColor(3, 3).lightness() < 90 < light.pixelColor(3, 3).lightness()


@pytest.mark.parametrize("name", [page.name for page in pages.load()])
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_every_page_is_drawn(manual, name, theme):
    manual.set_theme(Theme.load(theme))
    manual.show_page(name)
    assert pages.find(name).title in manual.browser.document().toPlainText()
    assert manual.browser.document().size().height() > 100
