"""Collections of garbage have turns of their own, in the interface's thread."""

import gc
import threading

import pytest
from PySide6.QtCore import QObject, Qt

from gradscribe.app.runtime import gc_scheduler
from gradscribe.app.runtime.gc_scheduler import FULL, MIDDLE, YOUNG, GcScheduler


class Loop:
    """Garbage as soon as nobody holds it, but for a collection."""

    def __init__(self):
        self.me = self


@pytest.fixture
def begun():
    """Every collection: its generation, and whether the thread it was made in is this one."""
    seen, mine, before = [], threading.get_ident(), gc.get_threshold()

    def note(phase, info):
        if phase == "start":
            seen.append((info["generation"], threading.get_ident() == mine))

    gc.callbacks.append(note)
    yield seen
    gc.callbacks.remove(note)
    gc.set_threshold(*before)


@pytest.fixture
def make(qapp, begun):
    made = []

    def make(is_busy=lambda: False):
        made.append(GcScheduler(is_busy))
        made[-1].start()
        gc.collect()
        begun.clear()
        return made[-1]

    yield make
    for one in made:
        one.deleteLater()


def litter(count):
    """Return so many objects that a collection has to go through."""
    return [Loop() for _ in range(count)]


def beside(work, *arguments):
    """Do something in a thread of its own, to its end."""
    thread = threading.Thread(target=work, args=arguments)
    thread.start()
    thread.join()


def test_python_begins_none_by_itself(make, begun):
    make()
    beside(litter, FULL)
    kept = litter(FULL)
    assert begun == []
    assert len(kept) == FULL


@pytest.mark.parametrize(("count", "generation"), [(YOUNG + 1, 0), (MIDDLE + 1, 1), (FULL + 1, 2)])
def test_one_that_is_due_is_made_on_the_interface_thread(
    make, begun, qtbot, monkeypatch, count, generation
):
    monkeypatch.setattr(gc_scheduler, "PERIOD_MS", 1)
    kept = []
    make()
    beside(lambda: kept.extend(litter(count)))
    qtbot.waitUntil(lambda: begun != [])
    assert begun[0] == (generation, True)


def test_qt_s_objects_are_never_freed_by_a_thread_that_works(make, qtbot, monkeypatch):
    monkeypatch.setattr(gc_scheduler, "PERIOD_MS", 1)
    mine, freed = threading.get_ident(), []
    make()

    def drop():
        owner = Loop()
        owner.held = QObject()
        owner.held.destroyed.connect(
            lambda: freed.append(threading.get_ident() == mine), Qt.ConnectionType.DirectConnection
        )

    drop()
    beside(litter, FULL)
    assert freed == []
    kept = litter(FULL)
    qtbot.waitUntil(lambda: freed == [True])
    assert len(kept) == FULL


def test_none_is_made_without_garbage_or_while_it_is_busy(make, begun):
    busy = [True]
    one = make(lambda: busy[0])
    one.collect_if_due()
    kept = litter(FULL)
    one.collect_if_due()
    assert begun == []
    busy[0] = False
    one.collect_if_due()
    assert begun == [(2, True)]
    assert len(kept) == FULL


def test_many_young_ones_make_an_older_one_due(make, begun):
    one, kept = make(), []
    for _ in range(FULL // YOUNG):
        kept.append(litter(YOUNG + 1))
        one.collect_if_due()
    generations = [generation for generation, _ in begun]
    assert generations.count(2) == 1
    assert 9 <= generations.count(1) <= 11


def test_full_ones_take_a_small_part_of_the_time(make, begun, monkeypatch):
    clock, kept = iter([100.0, 100.5, 149.0, 151.0, 151.1]), []
    one = make()
    monkeypatch.setattr(gc_scheduler.time, "monotonic", lambda: next(clock, 151.1))
    for due in (1, 1, 2):
        kept.append(litter(FULL))
        one.collect_if_due()
        assert [generation for generation, _ in begun].count(2) == due
