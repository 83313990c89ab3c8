"""Long work beside the interface: it comes back here, or is not wanted any more."""

import threading

import pytest

from gradscribe.app.runtime.worker import BackgroundWorker


@pytest.fixture
def beside(qapp):
    made = BackgroundWorker()
    yield made
    made.close()


def test_what_is_made_comes_back_in_this_thread_in_its_order(beside, qtbot):
    seen = []

    def make(number):
        return number, threading.get_ident()

    def take(result):
        seen.append((*result(), threading.get_ident()))

    for number in range(3):
        beside.ask(lambda number=number: make(number), take)
    assert beside.is_busy
    qtbot.waitUntil(lambda: len(seen) == 3)
    here = threading.get_ident()
    assert [number for number, _, _ in seen] == [0, 1, 2]
    assert all(there != here == back for _, there, back in seen)
    assert not beside.is_busy


def test_what_goes_wrong_there_is_raised_here(beside, qtbot):
    seen = []

    def take(result):
        with pytest.raises(ZeroDivisionError):
            result()
        seen.append(1)

    beside.ask(lambda: 1 // 0, take)
    qtbot.waitUntil(lambda: bool(seen))


def test_what_is_not_wanted_any_more_comes_back_nowhere(beside, qtbot):
    go, seen = threading.Event(), []
    beside.ask(lambda: go.wait(10), seen.append)
    beside.ask(lambda: seen.append("begun"), seen.append)
    beside.forget()
    go.set()
    beside.ask(lambda: None, lambda _: seen.append("later"))
    qtbot.waitUntil(lambda: bool(seen))
    assert seen == ["later"]


def test_what_was_asked_for_can_be_waited_for(beside):
    seen = []

    def ask_again(result):
        seen.append(result())
        beside.ask(lambda: "last", lambda made: seen.append(made()))

    beside.ask(lambda: "first", lambda made: seen.append(made()))
    beside.ask(lambda: "second", ask_again)
    beside.finish()
    assert seen == ["first", "second", "last"]
    assert not beside.is_busy
