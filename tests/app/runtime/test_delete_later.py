"""What is let go of ends when its thread does."""

import threading

import pytest
from PySide6.QtCore import QObject, QRunnable, QThreadPool
from shiboken6 import isValid

from gradscribe.app.runtime.delete_later import delete_when_idle


class Job(QRunnable):
    """Waits until it is allowed to go on."""

    def __init__(self):
        super().__init__()
        self.begun, self.go_on = threading.Event(), threading.Event()

    def run(self):
        self.begun.set()
        assert self.go_on.wait(30)


@pytest.fixture
def worker(qapp):
    owner = QObject()
    owner.pool = QThreadPool(owner)
    owner.pool.setMaxThreadCount(1)
    return owner


def test_it_outlives_who_had_it_and_goes_with_its_thread(worker, qtbot):
    parent, job = QObject(), Job()
    worker.setParent(parent)
    worker.pool.start(job)
    assert job.begun.wait(30)
    delete_when_idle(worker, worker.pool)
    parent.deleteLater()
    qtbot.waitUntil(lambda: not isValid(parent))
    assert isValid(worker)
    job.go_on.set()
    qtbot.waitUntil(lambda: not isValid(worker))


def test_one_that_rests_stays_whose_it_is(worker, qapp):
    parent = QObject()
    worker.setParent(parent)
    delete_when_idle(worker, worker.pool)
    assert worker.parent() is parent
    assert worker.pool.activeThreadCount() == 0


def test_a_program_that_ends_waits_for_it(worker, qapp, qtbot):
    job = Job()
    worker.pool.start(job)
    assert job.begun.wait(30)
    delete_when_idle(worker, worker.pool)
    threading.Timer(0, job.go_on.set).start()
    qapp.aboutToQuit.emit()
    assert worker.pool.activeThreadCount() == 0
    qtbot.waitUntil(lambda: not isValid(worker))
