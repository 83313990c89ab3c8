"""A program is stopped from outside, and nothing else is."""

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from gradscribe.engine.run import watchdog
from gradscribe.engine.run.watchdog import Interrupted, InterruptGuard

LOOP = compile("while True: pass", "<program>", "exec")


@pytest.fixture(autouse=True)
def armed():
    watchdog.arm()
    yield
    watchdog.arm()


def after(seconds, what):
    """Call ``what`` from another thread; returns the thread."""
    thread = threading.Timer(seconds, what)
    thread.start()
    return thread


def test_a_loop_ends_at_its_limit():
    guard = InterruptGuard(0.05)
    with pytest.raises(Interrupted) as caught, guard:
        exec(LOOP, {})
    assert guard.why == caught.value.why == "timeout"
    assert caught.value.seconds == 0.05


def test_a_program_that_ends_in_time_is_left_alone():
    guard = InterruptGuard(5)
    with guard:
        pass
    assert guard.why == ""


def test_no_limit_is_no_limit():
    with InterruptGuard(0) as guard:
        exec("for i in range(100000): pass", {})
    assert guard.why == ""


def test_a_stop_from_another_thread_ends_it():
    guard = InterruptGuard(20)
    thread = after(0.05, watchdog.stop)
    with pytest.raises(Interrupted), guard:
        exec(LOOP, {})
    thread.join()
    assert guard.why == "stop"


def test_a_stop_before_it_begins_ends_it_at_once():
    watchdog.stop()
    guard = InterruptGuard(20)
    with pytest.raises(Interrupted), guard:
        raise AssertionError("the program began")
    assert guard.why == "stop"


def test_arming_forgets_an_earlier_stop():
    watchdog.stop()
    watchdog.arm()
    with InterruptGuard(20) as guard:
        pass
    assert guard.why == ""


def test_a_stop_after_the_end_hits_nobody():
    with InterruptGuard(20):
        pass
    watchdog.stop()
    exec("for i in range(100000): pass", {})


def test_an_interrupt_that_is_swallowed_comes_again():
    loop = "  try:\n    x = 0\n    while True: x = 1\n  except BaseException: n += 1"
    source = f"n = 0\nwhile n < 2:\n{loop}"
    names = {}
    with InterruptGuard(0.05):
        exec(compile(source, "<program>", "exec"), names)
    assert names["n"] == 2


def test_the_engine_s_own_code_is_spared_for_a_while(monkeypatch):
    monkeypatch.setattr(watchdog, "PATIENCE_S", 0.3)
    ours = watchdog.__file__.replace("watchdog.py", "recorder.py")
    begun = time.monotonic()
    with pytest.raises(Interrupted), InterruptGuard(0.02):
        exec(compile("while True: pass", ours, "exec"), {})
    assert time.monotonic() - begun >= 0.3


def test_a_library_called_by_the_program_is_not_spared():
    begun = time.monotonic()
    with pytest.raises(Interrupted), InterruptGuard(0.02):
        exec(compile("import threading\nthreading.Event().wait(100)", "<program>", "exec"), {})
    assert time.monotonic() - begun < watchdog.PATIENCE_S


def test_the_end_of_a_program_is_told_however_it_ends(monkeypatch):
    told = []
    monkeypatch.setattr(watchdog, "on_end", lambda: told.append(1))
    with InterruptGuard(5):
        pass
    with pytest.raises(ZeroDivisionError), InterruptGuard(5):
        raise ZeroDivisionError
    assert len(told) == 2


def test_the_handler_of_before_is_put_back():
    before = signal.getsignal(signal.SIGINT)
    with InterruptGuard(5):
        assert signal.getsignal(signal.SIGINT) != before
    assert signal.getsignal(signal.SIGINT) == before


def test_only_the_main_thread_can_be_guarded():
    found = []

    def work():
        try:
            InterruptGuard(1).__enter__()
        except RuntimeError as error:
            found.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert len(found) == 1


DEAF = """
import cProfile, signal, sys
from gradscribe.engine.run.watchdog import InterruptGuard as Guard, Interrupted
with Guard(5):
    pass
try:
    with Guard(0.05):
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        while True:
            pass
except Interrupted:
    print("out")
profile = cProfile.Profile()
profile.enable()
for i in range(100):
    abs(i)
profile.disable()
print("done")
"""


@pytest.mark.skipif(os.name != "posix", reason="signals are POSIX")
def test_python_is_left_looking_for_no_interrupt_that_never_comes():
    root = Path(watchdog.__file__).resolve().parents[1]
    said = subprocess.run(
        [sys.executable, "-c", DEAF], cwd=root, capture_output=True, text=True, timeout=60
    )
    assert said.stdout.split() == ["out", "done"], said.stderr


LIBRARY = """
import threading
import helper_of_test
helper_of_test.meet.wait(60)
helper_of_test.meet.wait(60)
whole = True
"""


@pytest.mark.skipif(os.name != "posix", reason="elsewhere nothing cuts into a wait")
def test_a_library_is_imported_to_its_end_and_then_the_program_is_stopped(tmp_path, monkeypatch):
    (tmp_path / "site-packages").mkdir()
    (tmp_path / "site-packages" / "library_of_test.py").write_text(LIBRARY)
    monkeypatch.syspath_prepend(tmp_path / "site-packages")
    monkeypatch.setattr(watchdog, "PATIENCE_S", 0.0)
    monkeypatch.setattr(watchdog, "AGAIN_S", 0.01)
    meet = threading.Barrier(2)
    monkeypatch.setitem(sys.modules, "helper_of_test", SimpleNamespace(meet=meet))
    monkeypatch.delitem(sys.modules, "library_of_test", raising=False)
    guard, struck = InterruptGuard(0), threading.Semaphore(0)
    strike = watchdog._send_signal

    def count():
        strike()
        struck.release()

    monkeypatch.setattr(watchdog, "_send_signal", count)

    def stop():
        meet.wait(60)
        guard.interrupt("stop")
        for _ in range(3):
            struck.acquire(timeout=60)
        meet.wait(60)

    thread = threading.Thread(target=stop)
    thread.start()
    with pytest.raises(Interrupted), guard:
        exec("import library_of_test\nwhile True: pass", {})
    thread.join(60)
    assert sys.modules["library_of_test"].whole
    monkeypatch.delitem(sys.modules, "library_of_test")


def test_a_guard_without_patience_is_never_left_half_open(monkeypatch):
    """A stop that comes while the guard closes leaves no watchdog behind."""
    close = InterruptGuard._close

    def late_close(self: InterruptGuard) -> None:
        watchdog.stop()
        while not self._was_signalled:
            pass
        close(self)

    # It runs as a part of the watchdog's own file.
    late_close.__code__ = late_close.__code__.replace(co_filename=watchdog.__file__)
    monkeypatch.setattr(InterruptGuard, "_close", late_close)
    with InterruptGuard(20, is_last=True, patience=0.0) as guard:
        pass
    watchdog.arm()
    assert (guard.why, guard._open, watchdog._active) == ("stop", False, None)


SLOW_LIBRARY = """
import time
start = time.process_time()
while time.process_time() - start < 3:
    pass
"""


def import_slowly(tmp_path, monkeypatch, folder):
    """Import a module that takes longer than the limit, then loop for ever."""
    (tmp_path / folder).mkdir()
    (tmp_path / folder / "slow_library.py").write_text(SLOW_LIBRARY)
    monkeypatch.syspath_prepend(tmp_path / folder)
    monkeypatch.delitem(sys.modules, "slow_library", raising=False)
    names = {}
    guard = InterruptGuard(0.5)
    with pytest.raises(Interrupted), guard:
        exec("import slow_library\ndone = True\nwhile True: pass", names)
    monkeypatch.delitem(sys.modules, "slow_library", raising=False)
    return guard, names


def test_the_import_of_a_library_does_not_count_for_the_limit(tmp_path, monkeypatch):
    guard, names = import_slowly(tmp_path, monkeypatch, "site-packages")
    assert names["done"]
    assert guard.why == "timeout", "the loop after it has its own limit"
    assert 0.5 < guard.importing_s < 60


def test_the_time_of_the_program_s_own_modules_counts(tmp_path, monkeypatch):
    guard, names = import_slowly(tmp_path, monkeypatch, "own")
    assert "done" not in names
    assert guard.importing_s == 0


def test_imports_without_end_reach_the_limit_all_the_same(tmp_path, monkeypatch):
    monkeypatch.setattr(watchdog, "MOST_IMPORTING_S", 0.2)
    guard, _ = import_slowly(tmp_path, monkeypatch, "site-packages")
    assert guard.importing_s == pytest.approx(0.2)


def test_the_seconds_of_imports_are_known_while_a_program_runs():
    assert watchdog.importing_seconds() == 0.0
    with InterruptGuard(20) as guard:
        guard.importing_s = 3.0
        assert watchdog.importing_seconds() == 3.0
    assert watchdog.importing_seconds() == 0.0
