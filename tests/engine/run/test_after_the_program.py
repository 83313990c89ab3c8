"""Work after a program has ended: limits of its own, and nothing that was not asked for."""

import itertools
import threading
import time

import pytest

from gradscribe.engine.doctor import examine
from gradscribe.engine.doctor.finding_kind import FindingKind, FoundCase
from gradscribe.engine.protocol.messages import Run
from gradscribe.engine.protocol.tape import Place
from gradscribe.engine.record.loops.recorder import LoopRecorder
from gradscribe.engine.run import run, watchdog

STEP = "w = param(1.0)\n(w * w).backward()\n"


def endless(evidence):
    for number in itertools.count():
        if number < 0:
            yield FoundCase(Place(1, 0, 1, 1), "never")


@pytest.fixture
def kinds(monkeypatch):
    """Examine with three kinds, the second of which never ends."""
    found = [
        FindingKind(name, name, "w.", lambda evidence: [FoundCase(Place(1, 0, 1, 1), "m")])
        for name in ("first", "last")
    ]
    made = (found[0], FindingKind("endless", "E", "w.", endless), found[1])
    for module in (examine, run):
        monkeypatch.setattr(module, "finding_kinds", lambda: made)


def test_the_recorders_own_end_is_not_in_the_programs_time(monkeypatch):
    finish = LoopRecorder.finish

    def slow(self):
        end = time.process_time() + 2.5
        while time.process_time() < end:
            pass
        finish(self)

    monkeypatch.setattr(LoopRecorder, "finish", slow)
    tape = run.execute(Run(0, STEP, timeout=0.5))
    assert (tape.status, tape.error) == ("ok", None)
    assert [event.kind for event in tape.events].count("accumulate") == 1


def test_a_program_that_does_not_end_is_still_stopped_at_its_limit():
    tape = run.execute(Run(0, STEP + "while True: pass", timeout=0.3))
    assert (tape.status, tape.error.place.line) == ("timeout", 3)


def test_a_limit_that_interrupted_nothing_is_forgotten():
    guard = watchdog.InterruptGuard(0.05)
    with guard, watchdog.block_interrupts():
        end = time.monotonic() + 0.5
        while guard.why == "" and time.monotonic() < end:
            pass
        assert guard.why == "timeout"
        guard.finish()
    assert guard.why == ""


def test_an_endless_search_for_mistakes_ends_and_says_so(kinds, monkeypatch):
    monkeypatch.setattr(run, "EXAMINE_S", 0.2)
    tape = run.execute(Run(0, STEP, timeout=20))
    assert tape.status == "ok"
    assert [finding.id for finding in tape.findings] == ["first"]
    assert tape.truncated == (
        "The search for mistakes took longer than 0.2 s; 2 kinds of them were not looked for."
    )


def test_stop_ends_the_search_for_mistakes_and_keeps_the_tape(kinds):
    stopper = threading.Timer(0.5, watchdog.stop)
    stopper.start()
    watchdog.arm()
    tape = run.execute(Run(0, STEP, timeout=20))
    stopper.join()
    watchdog.arm()
    assert (tape.status, len(tape.ops)) == ("ok", 1)
    assert "was stopped; 2 kinds" in tape.truncated


def test_what_nobody_asked_for_is_not_looked_for(kinds):
    tape = run.execute(Run(0, STEP, timeout=20, examine=False))
    assert (tape.findings, tape.truncated, tape.function_checks) == ((), "", ())
