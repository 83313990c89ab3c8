"""Full collections of garbage have turns of their own, and never come in between."""

import gc
import threading

import pytest

from app import collecting
from app.collecting import Collecting


class Loop:
    """Garbage as soon as nobody holds it, but for a collection."""

    def __init__(self):
        self.me = self


@pytest.fixture
def full():
    """Every full collection: whether the thread it was made in is this one."""
    seen, mine, before = [], threading.get_ident(), gc.get_threshold()

    def note(phase, info):
        if phase == "start" and info["generation"] == 2:
            seen.append(threading.get_ident() == mine)

    gc.callbacks.append(note)
    yield seen
    gc.callbacks.remove(note)
    gc.set_threshold(*before)


@pytest.fixture
def make(qapp, full):
    made = []

    def make(is_busy=lambda: False):
        gc.collect()
        full.clear()
        made.append(Collecting(is_busy))
        made[-1].start()
        return made[-1]

    yield make
    for one in made:
        one.deleteLater()


def litter(rounds=14):
    """Make as much garbage that needs collecting as Python begins a full collection for."""
    young, middle, _ = gc.get_threshold()
    kept = [[Loop() for _ in range(young + 1)] for _ in range((middle + 2) * rounds)]
    return len(kept)


def test_python_begins_none_by_itself(make, full):
    make()
    thread = threading.Thread(target=litter)
    thread.start()
    thread.join()
    litter()
    assert full == []
    assert gc.get_count()[2] >= collecting.DUE


def test_one_that_is_due_is_made_on_the_interface_thread(make, full, qtbot, monkeypatch):
    monkeypatch.setattr(collecting, "PERIOD_MS", 1)
    make()
    thread = threading.Thread(target=litter)
    thread.start()
    thread.join()
    qtbot.waitUntil(lambda: full == [True])


def test_none_is_made_without_garbage_or_while_it_is_busy(make, full):
    busy = [True]
    one = make(lambda: busy[0])
    one.collect_if_due()
    litter()
    one.collect_if_due()
    assert full == []
    busy[0] = False
    one.collect_if_due()
    assert full == [True]


def test_they_take_a_small_part_of_the_time(make, full, monkeypatch):
    clock = iter([100.0, 100.5, 149.0, 151.0, 151.1])
    one = make()
    monkeypatch.setattr(collecting.time, "monotonic", lambda: next(clock, 151.1))
    for due in (1, 1, 2):
        litter()
        one.collect_if_due()
        assert len(full) == due
