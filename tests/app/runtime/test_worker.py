"""Long work in a worker thread: its result is delivered here, unless it is cancelled."""

import threading

import pytest
from PySide6.QtCore import QObject
from shiboken6 import isValid

from gradscribe.app.runtime.worker import BackgroundWorker, TaskCancelled


@pytest.fixture
def worker(qapp):
    made = BackgroundWorker()
    yield made
    if isValid(made):
        made.close()


class Gate:
    """Let a task wait until it is allowed to go on."""

    def __init__(self):
        self.begun, self.go_on = threading.Event(), threading.Event()

    def wait(self):
        self.begun.set()
        assert self.go_on.wait(30)


@pytest.fixture
def gate(worker):
    """Let the worker's thread wait."""
    made = Gate()
    worker.submit(made.wait, lambda result: result())
    assert made.begun.wait(30)
    yield made
    made.go_on.set()


def test_results_are_delivered_in_this_thread_and_in_order(worker, qtbot):
    seen = []

    def make(number):
        return number, threading.get_ident()

    def take(result):
        seen.append((*result(), threading.get_ident()))

    for number in range(3):
        worker.submit(lambda number=number: make(number), take)
    assert worker.is_busy
    qtbot.waitUntil(lambda: len(seen) == 3)
    here = threading.get_ident()
    assert [number for number, _, _ in seen] == [0, 1, 2]
    assert all(there != here == back for _, there, back in seen)
    assert not worker.is_busy


@pytest.mark.parametrize("error", [ZeroDivisionError, MemoryError, SystemExit])
def test_an_exception_is_raised_in_this_thread(worker, qtbot, error):
    seen = []

    def fail():
        raise error

    def take(result):
        with pytest.raises(error):
            result()
        seen.append(1)

    worker.submit(fail, take)
    qtbot.waitUntil(lambda: bool(seen))


def test_a_cancelled_task_is_not_begun_or_its_result_is_dropped(worker, gate, qtbot):
    seen = []
    worker.submit(lambda: seen.append("begun"), seen.append)
    worker.cancel()
    assert not worker.is_busy
    assert worker.is_running
    gate.go_on.set()
    worker.submit(lambda: None, lambda _: seen.append("later"))
    qtbot.waitUntil(lambda: bool(seen))
    assert seen == ["later"]


def test_tasks_can_be_waited_for(worker):
    seen = []

    def submit_again(result):
        seen.append(result())
        worker.submit(lambda: "last", lambda made: seen.append(made()))

    worker.submit(lambda: "first", lambda made: seen.append(made()))
    worker.submit(lambda: "second", submit_again)
    worker.wait()
    assert seen == ["first", "second", "last"]
    assert not worker.is_busy


def test_a_request_replaces_all_before_it(worker, gate, qtbot):
    seen = []
    for number in range(3):
        worker.request(lambda _task, number=number: number, lambda made: seen.append(made()))
    gate.go_on.set()
    qtbot.waitUntil(lambda: not worker.is_busy)
    assert seen == [2]


def test_a_request_reports_progress_in_this_thread(worker, qtbot):
    seen = []

    def make(task):
        for number in range(10_001):
            task.report(number / 10_000)
        return "made"

    def progress(share):
        seen.append((share, threading.get_ident()))

    worker.request(make, lambda made: seen.append(made()), progress)
    qtbot.waitUntil(lambda: seen[-1:] == ["made"])
    shares = [share for share, _ in seen[:-1]]
    assert [int(200 * share) for share in shares] == list(range(201))
    assert {thread for _, thread in seen[:-1]} == {threading.get_ident()}


def test_a_request_notices_that_it_is_cancelled(worker, qtbot):
    gate, seen = Gate(), []

    def make(task):
        seen.append(task.is_cancelled())
        gate.wait()
        seen.append(task.is_cancelled())
        with pytest.raises(TaskCancelled):
            task.report(0.5)
        seen.append("over")

    worker.request(make, seen.append, seen.append)
    assert gate.begun.wait(30)
    worker.cancel()
    gate.go_on.set()
    qtbot.waitUntil(lambda: not worker.is_running)
    qtbot.wait(10)
    assert seen == [False, True, "over"]


def test_closing_later_outlives_the_parent_and_ends_with_the_thread(worker, gate, qtbot):
    parent = QObject()
    worker.setParent(parent)
    for _ in range(2):
        worker.close_later()
    parent.deleteLater()
    qtbot.waitUntil(lambda: not isValid(parent))
    assert isValid(worker)
    gate.go_on.set()
    qtbot.waitUntil(lambda: not isValid(worker))


def test_an_idle_worker_that_closes_later_keeps_its_parent(worker):
    parent = QObject()
    worker.setParent(parent)
    worker.close_later()
    assert worker.parent() is parent
    assert not worker.is_running


def test_a_program_that_ends_waits_for_a_worker_that_closes_later(worker, gate, qapp, qtbot):
    worker.close_later()
    threading.Timer(0, gate.go_on.set).start()
    qapp.aboutToQuit.emit()
    assert not worker.is_running
    qtbot.waitUntil(lambda: not isValid(worker))
