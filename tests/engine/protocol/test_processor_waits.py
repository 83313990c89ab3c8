"""A limit of a program's own time: waits for a processor are left out."""

import subprocess
import sys
import time

import pytest

from gradscribe.engine.protocol import processor_waits
from gradscribe.engine.protocol.processor_waits import SpentTime
from gradscribe.engine.run.watchdog import Interrupted, InterruptGuard

BURN = "import time\nend = time.time() + 60\nwhile time.time() < end: pass"


class Clock:
    """Time as a test sets it."""

    def __init__(self, monkeypatch):
        self.wall = self.computed = 0.0
        self.waits = {}
        monkeypatch.setattr(processor_waits.time, "monotonic", lambda: self.wall)
        monkeypatch.setattr(processor_waits.time, "process_time", lambda: self.computed)

    def spent(self, limit):
        return SpentTime(limit, waits=lambda _process: dict(self.waits))


def test_a_wait_for_a_processor_is_given_back(monkeypatch):
    clock = Clock(monkeypatch)
    clock.waits = {"1": 5.0}
    spent = clock.spent(2.0)
    assert spent.left() == 2.0
    clock.wall, clock.waits = 2.0, {"1": 6.5}
    assert spent.left() == pytest.approx(1.5)
    clock.wall = 3.5
    assert spent.left() == 0.0


def test_threads_that_wait_at_the_same_time_count_once(monkeypatch):
    clock = Clock(monkeypatch)
    clock.waits = {"1": 0.0}
    spent = clock.spent(1.0)
    clock.wall, clock.waits = 1.0, {"1": 0.5, "2": 0.5}
    assert spent.left() == pytest.approx(0.5)


def test_a_program_that_only_sleeps_uses_its_limit(monkeypatch):
    clock = Clock(monkeypatch)
    clock.waits = {"1": 0.0}
    spent = clock.spent(1.0)
    clock.wall = 1.0
    assert spent.left() == 0.0


def test_where_waits_are_not_counted_computing_is(monkeypatch):
    clock = Clock(monkeypatch)
    spent = clock.spent(1.0)
    clock.wall, clock.computed = 1.0, 0.25
    assert spent.left() == pytest.approx(0.75)
    clock.wall = 1.75
    assert spent.left() == 0.0


@pytest.fixture
def burners():
    """Run more processes at the usual priority than there are processors."""
    running = [subprocess.Popen([sys.executable, "-c", BURN]) for _ in range(6)]
    yield
    for process in running:
        process.kill()
        process.wait()


def _compute(seconds):
    end = time.process_time() + seconds
    while time.process_time() < end:
        pass


@pytest.mark.skipif(not processor_waits.processor_waits(), reason="the system counts no waits")
def test_work_within_the_limit_ends_on_a_busy_machine(burners):
    begun, guard = time.monotonic(), InterruptGuard(0.6)
    with guard:
        exec("compute(0.4)", {"compute": _compute})
    assert guard.why == ""
    assert time.monotonic() - begun > 0.4


def test_an_endless_loop_ends_on_a_busy_machine(burners):
    guard = InterruptGuard(0.2)
    with pytest.raises(Interrupted), guard:
        exec(compile("while True: pass", "<program>", "exec"), {})
    assert guard.why == "timeout"


def test_a_program_that_only_waits_ends_on_a_busy_machine(burners):
    guard = InterruptGuard(0.2)
    with pytest.raises(Interrupted), guard:
        exec(compile("import time\ntime.sleep(100)", "<program>", "exec"), {})
    assert guard.why == "timeout"
