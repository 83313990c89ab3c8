"""Recovered work is offered together, and what is left stays on offer."""

import pytest
from PySide6.QtWidgets import QWidget

from gradscribe.app.document.state import Doc
from gradscribe.app.files.unsaved.recovery_offers import (
    KEY,
    RecoveryOffer,
    RecoveryOffers,
    offered_name,
)
from gradscribe.app.ui.notifications import NotificationBar


@pytest.fixture
def bar(qtbot):
    ground = QWidget()
    qtbot.addWidget(ground)
    yield NotificationBar(ground)
    ground.close()


@pytest.fixture
def offers(bar):
    return RecoveryOffers(bar)


def offer(name, done, is_open=False):
    labels = ("Keep", "Discard") if is_open else ("Open", "Discard")
    choices = tuple((label, lambda label=label: done.append((label, name))) for label in labels)
    return RecoveryOffer(name, name, f"Recovered {name}", choices, is_open)


def labels(bar):
    return [button.text() for button in bar.buttons]


def test_any_number_of_offers_is_one_line(bar, offers):
    done = []
    for name in "abcde":
        offers.add(offer(name, done))
    assert len(bar.waiting) == 1
    assert bar.notice.text == "Work that was not saved: a, b, c and 2 more"
    assert labels(bar) == ["Open a", "Open b", "Open c"]
    bar.buttons[1].click()
    assert done == [("Open", "b")]
    assert bar.notice.text == "Work that was not saved: a, c, d and 1 more"
    assert all(name in bar.notice.more for name in "acde")


def test_the_last_has_all_its_choices(bar, offers):
    done = []
    for name in "ab":
        offers.add(offer(name, done))
    bar.buttons[0].click()
    assert bar.notice.text == "Recovered b"
    assert labels(bar) == ["Open", "Discard"]
    bar.buttons[1].click()
    assert done == [("Open", "a"), ("Discard", "b")]
    assert bar.notice is None


def test_what_the_window_shows_comes_first(bar, offers):
    done = []
    offers.add(offer("b", done))
    offers.add(offer("a", done, is_open=True), now=True)
    assert bar.notice.text == "Recovered a. Also unsaved: b"
    assert labels(bar) == ["Keep", "Discard", "Open b"]
    bar.buttons[0].click()
    assert bar.notice.text == "Recovered b"


def test_another_offer_of_the_same_work_replaces_it(bar, offers):
    done = []
    offers.add(offer("a", done))
    offers.add(offer("a", done))
    assert bar.notice.text == "Recovered a"
    offers.remove("a")
    assert KEY not in [notice.key for notice in bar.waiting]


def test_programs_without_a_title_are_told_apart_by_their_first_line():
    assert offered_name(Doc("\nw = param(1.5)\ny = w")) == "Untitled: w = param(1.5)"
    assert offered_name(Doc("a = 1" + 40 * "0")) == "Untitled: a = 1000000000000000000…"
    assert offered_name(Doc("")) == "Untitled"
    assert offered_name(Doc("x = 1", path="/folder/mine.py", title="mine.py")) == "mine.py"
