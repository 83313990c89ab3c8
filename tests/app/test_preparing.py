"""What is made ready while nobody waits for it."""

import sys

import pytest

from app import examples, lessons, preparing
from app.preparing import Preparing
from app.training import starts
from playback.explain import rule


@pytest.fixture
def at_once(monkeypatch):
    monkeypatch.setattr(preparing, "CALM_MS", 0)
    monkeypatch.setattr(preparing, "REST_MS", 0)


def test_cards_and_lessons_are_there_when_they_are_asked_for(qtbot, at_once):
    lessons.ours.cache_clear()
    done = []
    made = Preparing(lambda: done.append(lessons.ours.cache_info().currsize))
    made.start()
    assert not done, "not while the first program is run"
    qtbot.waitUntil(lambda: bool(done))
    assert done == [len(lessons.load())]
    assert all(name in sys.modules for name in preparing.CARDS)


def test_examples_and_set_ups_are_read_before_a_list_of_them_opens(qtbot, at_once, monkeypatch):
    for load in (examples.load, starts.load):
        load.cache_clear()
    done = []
    made = Preparing(lambda: done.append(1))
    made.start()
    qtbot.waitUntil(lambda: bool(done))
    # Nothing on the disk is asked for any more.
    for module in (examples, starts):
        monkeypatch.setattr(module, "resources", None)
    assert len(examples.load()) > 5
    assert len(starts.load()) > 5


def test_one_file_of_rules_or_one_card_is_imported_at_a_time(monkeypatch):
    asked = []
    monkeypatch.setattr(preparing, "import_module", asked.append)
    counts = [len(asked) for _ in preparing._steps()]
    assert max(b - a for a, b in zip([0, *counts], counts, strict=False)) == 1
    assert asked == [*rule.files(), *preparing.CARDS]
    assert all(hasattr(sys.modules[name], "RULES") for name in rule.files() if rule.table())


def test_a_window_that_closes_before_is_not_prepared(qtbot, monkeypatch):
    monkeypatch.setattr(preparing, "CALM_MS", 1)
    done = []
    made = Preparing(lambda: done.append(1))
    made.start()
    made.stop()
    qtbot.wait(20)
    assert not done
