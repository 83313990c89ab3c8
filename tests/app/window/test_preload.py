"""Parts of the window that are created while nobody waits for them."""

import sys

import pytest

from gradscribe.app.document import examples
from gradscribe.app.lessons import catalogue
from gradscribe.app.training.setup import presets
from gradscribe.app.window import preload
from gradscribe.app.window.preload import Preloader
from gradscribe.playback.explain import rule


@pytest.fixture
def at_once(monkeypatch):
    monkeypatch.setattr(preload, "CALM_MS", 0)
    monkeypatch.setattr(preload, "REST_MS", 0)


def test_cards_and_lessons_are_there_when_they_are_asked_for(qtbot, at_once):
    catalogue.builtin.cache_clear()
    done = []
    made = Preloader(lambda: done.append(catalogue.builtin.cache_info().currsize))
    made.start()
    assert not done, "not while the first program is run"
    qtbot.waitUntil(lambda: bool(done))
    assert done == [len(catalogue.load())]
    assert all(name in sys.modules for name in preload.CARDS)


def test_examples_and_set_ups_are_read_before_a_list_of_them_opens(qtbot, at_once, monkeypatch):
    for load in (examples.load, presets.load):
        load.cache_clear()
    done = []
    made = Preloader(lambda: done.append(1))
    made.start()
    qtbot.waitUntil(lambda: bool(done))
    # Nothing on the disk is asked for any more.
    for module in (examples, presets):
        monkeypatch.setattr(module, "resources", None)
    assert len(examples.load()) > 5
    assert len(presets.load()) > 5


def test_one_file_of_rules_or_one_card_is_imported_at_a_time(monkeypatch):
    asked = []
    monkeypatch.setattr(preload, "import_module", asked.append)
    counts = [len(asked) for _ in preload._steps()]
    assert max(b - a for a, b in zip([0, *counts], counts, strict=False)) == 1
    assert asked == [*rule.rule_modules(), *preload.CARDS]
    assert all(
        hasattr(sys.modules[name], "RULES") for name in rule.rule_modules() if rule.rule_table()
    )


def test_a_window_that_closes_before_is_not_prepared(qtbot, monkeypatch):
    monkeypatch.setattr(preload, "CALM_MS", 1)
    done = []
    made = Preloader(lambda: done.append(1))
    made.start()
    made.stop()
    qtbot.wait(20)
    assert not done
