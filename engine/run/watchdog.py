"""Stop a running program from outside: at its time limit, or because the window asked.

The limit is one of the program's own time: time for which it waits for a processor does not count.

A signal handler raises `Interrupted` in the main thread, and only while a `InterruptGuard` is
open. It does not interrupt the engine's own code, so that a tape under construction stays
consistent: the signal is repeated until it hits the program itself; after `PATIENCE_S` it
interrupts anything. It never interrupts the import of a library, however long that takes: a
half-imported library cannot be imported again and would be missing for every later program. Nor
does that time count: from a cold disk the first optimizer imports for as long as a program may run.
"""

import _thread
import contextlib
import ctypes
import math
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType
from typing import Literal

from gradscribe.engine.protocol.processor_waits import SpentTime
from gradscribe.engine.sandbox.builtins import use_original_builtins

use_original_builtins(globals())

StopReason = Literal["", "timeout", "stop"]

PATIENCE_S = 1.0
"""Seconds for which the engine's own code is not interrupted once a stop is due."""
RETRY_S = 0.005
AGAIN_S = 0.25
"""Pause between interrupts for a program that catches them."""
NO_SIGNAL_S = PATIENCE_S + 0.3
"""Seconds after which a program that received no signal is assumed to block them."""

STUCK_S = 2.5
"""Seconds past the limit after which a program waits in a call that no signal ends."""
TICK_S = 0.1
MOST_IMPORTING_S = 120.0
"""Most seconds of imports that do not count."""
_WAITERS = 100
"""More than there are: ``notify_all`` calls a builtin that the program may have replaced."""

_Handler = Callable[[int, FrameType | None], object] | int
_ENGINE = str(Path(__file__).absolute().parents[1]) + os.sep
_STDLIB = str(Path(os.__file__).resolve().parent) + os.sep
_lock = threading.RLock()
_active: "InterruptGuard | None" = None
_stop_wanted = False
on_tick: Callable[[], None] | None = None
"""Called every `TICK_S` while a guarded program runs, in the watchdog's thread."""
on_stuck: Callable[[], None] | None = None
"""Called in the watchdog's thread `STUCK_S` after a time limit that could not end the program."""
on_end: Callable[[], None] | None = None
"""Called whenever a guarded program has ended, before its tape is built."""


_blocked = 0


@contextlib.contextmanager
def block_interrupts() -> Iterator[None]:
    """Block interrupts, even overdue ones, while an operation must stay atomic."""
    global _blocked
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    _blocked += 1
    try:
        yield
    finally:
        _blocked -= 1


class Interrupted(KeyboardInterrupt):
    """The program was stopped from outside; ``why`` is the reason, ``seconds`` the limit."""

    def __init__(self, why: StopReason = "", seconds: float = 0.0) -> None:
        if not why and _active is not None:
            why, seconds = _active.why, _active.seconds
            _active.hold_off()
        super().__init__(why)
        self.why = why
        self.seconds = seconds


def importing_seconds() -> float:
    """Return the seconds of imports that have not counted in the running program."""
    guard = _active
    return guard.importing_s if guard is not None else 0.0


def arm() -> None:
    """Forget an earlier stop: from now on `stop` refers to the program about to run."""
    global _stop_wanted
    with _lock:
        _stop_wanted = False


def stop() -> None:
    """Interrupt the running program, or the program about to run. Callable from any thread."""
    global _stop_wanted
    with _lock:
        _stop_wanted = True
        if _active is not None:
            _active.interrupt("stop")


class InterruptGuard:
    """Make a program interruptible: ``with Guard(seconds): exec(...)``, in the main thread.

    ``why`` is afterwards the reason for which it was stopped: ``timeout``, ``stop``, or empty. The
    body, or leaving it, raises `Interrupted` if it was. ``seconds`` <= 0 means no limit.
    ``is_last``: the program has ended already, and only what follows it runs. ``patience``:
    seconds for which the engine's own code is not interrupted once a stop is due.
    """

    def __init__(
        self, seconds: float, *, is_last: bool = False, patience: float = PATIENCE_S
    ) -> None:
        self.why: StopReason = ""
        self._is_last = is_last
        self._patience = patience
        self._was_raised = False
        self.seconds = seconds
        self._due = 0.0
        self._quiet_until = 0.0
        self._was_signalled = False
        self._raised = False
        self._open = False
        self.importing_s = 0.0
        """Seconds so far in which libraries were imported, which do not count."""
        self._changed = threading.Condition()
        self._handler: _Handler = signal.SIG_IGN

    def __enter__(self) -> "InterruptGuard":
        global _active
        if threading.current_thread() is not threading.main_thread():
            raise RuntimeError("a program can only be guarded in the main thread")
        previous = signal.signal(signal.SIGINT, self._on_signal)
        # None: the handler was installed by C code, and Python cannot restore it.
        self._handler = signal.SIG_DFL if previous is None else previous
        self._open = True
        threading.Thread(target=self._watch, name="watchdog", daemon=True).start()
        with _lock:
            _active = self
            wanted = _stop_wanted
        if wanted and not self._is_last:
            self._close()
            self.why = "stop"
            raise Interrupted("stop", self.seconds)
        return self

    def __exit__(self, *_: object) -> None:
        self._close()
        if on_end is not None and not self._is_last:
            on_end()

    def interrupt(self, why: StopReason) -> None:
        """Stop the program soon, for the reason ``why``. Callable from any thread."""
        with self._changed:
            if self._open and not self.why:
                self.why = why
                self._due = time.monotonic()
            self._changed.notify(_WAITERS)

    def hold_off(self) -> None:
        """Give an exception time to leave the program before it is raised once more."""
        self._quiet_until = time.monotonic() + AGAIN_S

    def finish(self) -> None:
        """End the time limit: the program has ended, and what follows is the engine's own work.

        A limit that was reached before, but interrupted nothing, is forgotten.
        """
        with self._changed:
            self._open = False
            if not self._was_raised:
                self.why = ""
            self._changed.notify(_WAITERS)
        self._cancel_pending()

    def _close(self) -> None:
        global _active
        self._open = False
        with _lock:
            _active = None
        with self._changed:
            self._changed.notify(_WAITERS)
        # The watchdog sends signals only under this lock, so none is pending any more.
        self._cancel_pending()
        signal.signal(signal.SIGINT, self._handler)

    def _watch(self) -> None:
        spent = SpentTime(self.seconds) if self.seconds > 0 else None
        looks = on_tick is not None and not self._is_last
        now = time.monotonic()
        while (left := spent.left() if spent is not None else math.inf) > 0:
            pause = min(left, TICK_S) if looks or spent is not None else left
            with self._changed:
                limit = None if pause == math.inf else pause
                if self._changed.wait_for(lambda: not self._open or bool(self.why), limit):
                    break
            before, now = now, time.monotonic()
            if spent is not None:
                self._spare_import(spent, now - before)
            if looks and on_tick is not None:
                on_tick()
        self.interrupt("timeout")
        with self._changed:
            while self._open:
                _send_signal()
                if (
                    not self._was_signalled
                    and not _blocked
                    and time.monotonic() > self._due + NO_SIGNAL_S
                ):
                    self._raised = self._was_raised = True
                    _raise_in_main_thread(Interrupted)
                if on_stuck is not None and time.monotonic() > self._due + STUCK_S:
                    on_stuck()
                self._changed.wait(
                    RETRY_S if self._due + self._patience > time.monotonic() else AGAIN_S
                )

    def _spare_import(self, spent: SpentTime, passed: float) -> None:
        """Lengthen the limit by the time since the last look if a library is being imported."""
        main = threading.main_thread().ident
        frame = sys._current_frames().get(main) if main is not None else None
        if not _is_importing(frame):
            return
        more = min(passed, MOST_IMPORTING_S - self.importing_s)
        if more > 0:
            self.importing_s += more
            spent.limit += more

    def _cancel_pending(self) -> None:
        """Cancel a pending asynchronous exception: replace it by another and catch that.

        Cleared without a replacement, Python would look for it at every step, forever.
        """
        if not self._raised:
            return
        self._raised = False
        with contextlib.suppress(_Cancelled):
            _raise_in_main_thread(_Cancelled)
            for _ in range(100):
                pass

    def _on_signal(self, number: int, frame: FrameType | None) -> None:  # noqa: ARG002
        now = time.monotonic()
        self._was_signalled = True
        if _blocked or not self._open or not self.why or now < self._quiet_until:
            return
        if _is_inside(frame, __file__):
            return  # A guard that is left half-open would interrupt for ever.
        if (now - self._due < self._patience and _is_engine_code(frame)) or _is_importing(frame):
            return
        self.hold_off()
        self._cancel_pending()
        self._was_raised = True
        raise Interrupted(self.why, self.seconds)


def _is_engine_code(frame: FrameType | None) -> bool:
    """Return whether the engine's own code runs, directly or through a library it called."""
    while frame is not None:
        name = frame.f_code.co_filename
        if name.startswith(_ENGINE):
            return True
        if not _is_library(name):
            return False
        frame = frame.f_back
    return False


def _is_inside(frame: FrameType | None, filename: str) -> bool:
    """Return whether code of a file runs, directly or by what it called."""
    while frame is not None:
        if frame.f_code.co_filename == filename:
            return True
        frame = frame.f_back
    return False


def _is_importing(frame: FrameType | None) -> bool:
    """Return whether a library is being imported, by the program or by another library."""
    while frame is not None:
        name = frame.f_code.co_filename
        if name.startswith("<frozen importlib"):
            return True
        if not (_is_library(name) or name.startswith(_ENGINE)):
            return False
        frame = frame.f_back
    return False


def _is_library(filename: str) -> bool:
    return "site-packages" in filename or filename.startswith(("<frozen", _STDLIB))


class _Cancelled(BaseException):
    """Replaces a pending exception that is no longer wanted."""


def _raise_in_main_thread(kind: type[BaseException]) -> None:
    """Raise an exception in the main thread without a signal."""
    main = threading.main_thread().ident
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(main or 0), ctypes.py_object(kind))


def _send_signal() -> None:
    # A real signal also ends a sleep or a read; without signals the interpreter's flag must do.
    if hasattr(signal, "pthread_kill"):
        main = threading.main_thread().ident
        assert main is not None
        with contextlib.suppress(ProcessLookupError):
            signal.pthread_kill(main, signal.SIGINT)
    else:
        _thread.interrupt_main()
