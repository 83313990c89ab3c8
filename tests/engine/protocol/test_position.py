"""Position of a program: found by its frames, sent before it ends its process."""

import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from gradscribe.engine.protocol import position
from gradscribe.engine.run import watchdog

PROGRAM = "def inner():\n    look()\ndef outer():\n    inner()\n\nouter()"


def test_the_innermost_line_of_the_program_is_found():
    found = []
    names = {"look": lambda: found.append(position.innermost_line(sys._getframe(), "mine"))}
    exec(compile(PROGRAM, "mine", "exec"), names)
    exec(compile("\n" + PROGRAM, "other", "exec"), names)
    assert found == [2, 0]
    assert position.innermost_line(None, "mine") == 0


def test_the_switch_interval_is_what_it_was():
    before = sys.getswitchinterval()
    with position.without_thread_switches():
        assert sys.getswitchinterval() == pytest.approx(position.PAUSE_S)
    assert sys.getswitchinterval() == before


def test_a_look_is_taken_while_a_program_runs_and_no_more_once_it_has_ended(monkeypatch):
    looks = threading.Semaphore(0)
    monkeypatch.setattr(watchdog, "on_tick", looks.release)
    monkeypatch.setattr(watchdog, "TICK_S", 0.01)
    with watchdog.InterruptGuard(0) as guard:
        assert looks.acquire(timeout=60)
        assert looks.acquire(timeout=60)
    assert guard.why == ""
    for thread in threading.enumerate():
        if thread.name == "watchdog":
            thread.join(60)
    assert not any(thread.name == "watchdog" for thread in threading.enumerate())


def test_a_limit_holds_though_looks_are_taken(monkeypatch):
    monkeypatch.setattr(watchdog, "on_tick", lambda: None)
    monkeypatch.setattr(watchdog, "TICK_S", 0.01)
    guard = watchdog.InterruptGuard(0.1)
    with pytest.raises(watchdog.Interrupted), guard:
        threading.Event().wait(60)
    assert guard.why == "timeout"


HARNESS = """
import os, signal, sys, threading
sys.path.insert(0, {root!r})
from gradscribe.engine.protocol import position as standing
os.setpgrp()
standing.report_process_ends(lambda frame: os.write(1, b"%d " % frame.f_lineno))
standing.report_foreign_calls(lambda frame: os.write(1, b"%d " % frame.f_lineno))
me, thread = os.getpid(), threading.get_ident()
"""
FATAL = [
    "os._exit(1)",
    "os.kill(me, signal.SIGKILL)",
    "os.kill(0, signal.SIGTERM)",
    "os.kill(-me, signal.SIGTERM)",
    "os.killpg(me, signal.SIGUSR1)",
    "signal.raise_signal(signal.SIGALRM)",
    "signal.pthread_kill(thread, signal.SIGUSR2)",
    "__import__('posix')._exit(2)",
]
MILD = [
    "os.kill(me, 0)",
    "os.kill(me, signal.SIGCONT)",
    "signal.raise_signal(signal.SIGWINCH)",
    "signal.signal(signal.SIGUSR1, lambda *_: 0); os.kill(me, signal.SIGUSR1)",
    "signal.signal(signal.SIGTERM, signal.SIG_IGN); signal.raise_signal(signal.SIGTERM)",
]
WRONG = ["os.kill()", "os.kill('me', 9)", "signal.raise_signal(None)", "os.killpg(me)"]


def told(line):
    """Run a line as the last of a process; return what was told of it and how it ended."""
    harness = HARNESS.format(root=str(Path(position.__file__).parents[3]))
    done = subprocess.run(
        [sys.executable, "-c", harness + line], capture_output=True, text=True, check=False
    )
    number = harness.count("\n") + 1
    return done.stdout.split(), str(number), done


@pytest.mark.skipif(os.name != "posix", reason="signals are POSIX")
@pytest.mark.parametrize("line", FATAL)
def test_an_end_is_told_of_just_before(line):
    lines, number, done = told(line)
    assert lines == [number]
    assert done.returncode != 0


@pytest.mark.skipif(os.name != "posix", reason="signals are POSIX")
@pytest.mark.parametrize("line", MILD)
def test_what_ends_nothing_is_not_told_of(line):
    lines, _, done = told(line + "; os.write(1, b'on')")
    assert (lines, done.returncode) == (["on"], 0)


@pytest.mark.skipif(os.name != "posix", reason="signals are POSIX")
@pytest.mark.parametrize("line", WRONG)
def test_what_is_called_wrongly_raises_what_it_always_did(line):
    _, _, done = told(line)
    assert "TypeError" in done.stderr


@pytest.mark.skipif(os.name != "posix", reason="signals are POSIX")
def test_the_functions_keep_their_names():
    lines, _, _ = told("print(os._exit.__name__, os.kill.__name__, signal.raise_signal.__name__)")
    assert lines == ["_exit", "kill", "raise_signal"]


FOREIGN = [
    "import ctypes; ctypes.CDLL(None)._exit(3)",
    "import ctypes; ctypes.CDLL(None)['_exit'](3)",
    "import ctypes; ctypes.cdll.LoadLibrary(None)._exit(3)",
    "import ctypes; ctypes.pythonapi._exit(3)",
    "import ctypes; api = ctypes.CDLL(None); api.raise_ = api['raise']; api.raise_(9)",
    "import ctypes; ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int)(('_exit', ctypes.CDLL(None)))(3)",
]
SORT = """import ctypes
api = ctypes.CDLL(None)
numbers = (ctypes.c_int * 3)(3, 1, 2)
@ctypes.CFUNCTYPE(ctypes.c_int, *[ctypes.POINTER(ctypes.c_int)] * 2)
def order(a, b): return a[0] - b[0]
api.qsort.restype = None
api.qsort(numbers, 3, 4, order)
api.strlen.argtypes = [ctypes.c_char_p]
print(*numbers, api.strlen(b'four'), isinstance(api.strlen, api._FuncPtr))"""


@pytest.mark.skipif(os.name != "posix", reason="signals are POSIX")
@pytest.mark.parametrize("line", FOREIGN)
def test_an_end_by_a_c_function_is_told_of_just_before(line):
    lines, number, done = told(line)
    assert lines == [number]
    assert done.returncode in (3, -9)


@pytest.mark.skipif(os.name != "posix", reason="signals are POSIX")
def test_c_functions_work_as_ever():
    lines, _, done = told(SORT)
    assert lines[-5:] == ["1", "2", "3", "4", "True"], done.stderr
