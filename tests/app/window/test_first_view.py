"""A window started without a file: the tour once, then what the setting says, never over work."""

import pytest

from gradscribe.app.runtime.notice import Notice
from gradscribe.app.ui.start.page import StartPage
from gradscribe.app.window.first_view import show_first_view


def pages(window):
    return [page for page in window.findChildren(StartPage) if not page.isHidden()]


@pytest.fixture
def known(window):
    """A window of a user who had the tour."""
    window.settings.put("tour", True)
    return window


def test_the_first_start_offers_the_tour_once_the_program_ran(window, link, sum_times):
    window.open_first()
    show_first_view(window)
    assert not window.tour.is_on
    window.show()
    link.greet()
    link.answer(sum_times)
    assert window.tour.is_on
    assert window.settings.flag("tour")
    assert not pages(window)
    window.tour.end()


def test_later_the_start_page_is_shown(known, qtbot):
    known.open_first()
    show_first_view(known)
    known.show()
    qtbot.waitUntil(lambda: len(pages(known)) == 1)
    pages(known)[0].leave()


def test_an_empty_program_or_the_last_file_by_the_setting(known, tmp_path):
    known.open_first()
    known.settings.put("start", "empty")
    show_first_view(known)
    assert known.session.doc.source == ""
    path = tmp_path / "mine.py"
    path.write_text("a = 1\n")
    known.settings.add_recent(str(path))
    known.settings.put("start", "last")
    known.open_first()
    show_first_view(known)
    assert known.session.doc.path == str(path)


def test_without_a_last_file_the_example_stays(known):
    known.settings.put("start", "last")
    known.open_first()
    before = known.session.doc
    show_first_view(known)
    assert known.session.doc == before


def test_nothing_stands_before_work_that_was_recovered(known, qtbot):
    known.open_first()
    known.editor.setPlainText("a = 1  # mine\n")
    show_first_view(known)
    known.show()
    qtbot.waitUntil(known.isVisible)
    assert not pages(known)


def test_nothing_stands_before_a_notice(window):
    window.open_first()
    window.notices.post(Notice("recovery", "Another window left work"))
    show_first_view(window)
    assert not window.settings.flag("tour")


def test_an_empty_window_says_what_to_do(known, link, record):
    from gradscribe.app.commands import file

    link.greet()
    file.new(known.context)
    link.answer(record(""))
    assert "Examples" in known.hint.text()
