"""The line that a program is on, reported while it runs and before it ends its own process.

A killed process can report nothing: the window shows the line it was sent last.
"""

import contextlib
import ctypes
import functools
import os
import signal
import sys
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any

from msgspec import Struct

from gradscribe.engine.protocol.check_tape import MAX_LINES

PAUSE_S = 0.05
"""Thread switch interval while frames are followed."""
_HARMLESS = {
    getattr(signal, name)
    for name in ("SIGINT", "SIGCHLD", "SIGCONT", "SIGURG", "SIGWINCH")
    if hasattr(signal, name)
}
"""Signals that do not end a process by default; and SIGINT, which the engine handles."""


class CurrentLine(Struct, frozen=True, tag=True):
    """The line that a run's program is on; ``ends``: it is about to end the process."""

    run_id: int
    line: int
    ends: bool = False


def innermost_line(frame: FrameType | None, filename: str) -> int:
    """Return the innermost line of ``filename`` among a frame and its callers; 0 for none."""
    while frame is not None:
        if frame.f_code.co_filename == filename:
            # A code object may be constructed with any line number, or none.
            return min(frame.f_lineno or 0, MAX_LINES)
        frame = frame.f_back
    return 0


@contextlib.contextmanager
def without_thread_switches() -> Iterator[None]:
    """Keep other threads from running while their frames are followed.

    Python 3.11 crashes occasionally if they do. The body must be short.
    """
    before = sys.getswitchinterval()
    sys.setswitchinterval(PAUSE_S)
    try:
        # Threads that wait already use the old interval; a system call lets them run first.
        os.path.exists(os.sep)
        yield
    finally:
        sys.setswitchinterval(before)


def report_process_ends(tell: Callable[[FrameType], None]) -> None:
    """Arrange that ``tell`` gets the frame that ends or stops this process, just before it does."""

    def wrap(call: Callable[..., Any], is_end: Callable[..., bool]) -> Callable[..., Any]:
        @functools.wraps(call)
        def reporting(*args: Any, **words: Any) -> Any:  # noqa: ANN401
            with contextlib.suppress(Exception):
                if is_end(*args, **words):
                    tell(sys._getframe(1))
            return call(*args, **words)

        return reporting

    system: Any = sys.modules.get("posix") or sys.modules.get("nt")
    os._exit = wrap(os._exit, lambda *_args, **_words: True)
    os.kill = wrap(os.kill, lambda pid, number: _includes_self(pid) and _is_deadly(number))
    system._exit, system.kill = os._exit, os.kill
    signal.raise_signal = wrap(signal.raise_signal, _is_deadly)
    if sys.platform != "win32":
        os.killpg = wrap(
            os.killpg, lambda group, number: _includes_self(-group) and _is_deadly(number)
        )
        system.killpg = os.killpg
        signal.pthread_kill = wrap(signal.pthread_kill, lambda _, number: _is_deadly(number))


def report_foreign_calls(tell: Callable[[FrameType], None]) -> None:
    """Arrange that ``tell`` gets each frame that calls a C function through ctypes.

    Such a call may crash this process. Function objects created before are not covered.
    """
    plain: Any = getattr(ctypes, "_CFuncPtr")  # noqa: B009

    class Reported(plain):  # type: ignore[misc]
        _flags_ = 1
        """The C calling convention (FUNCFLAG_CDECL); each library's own class sets it again."""

        def __call__(self, *args: Any, **words: Any) -> Any:  # noqa: ANN401
            with contextlib.suppress(Exception):
                tell(sys._getframe(1))
            return super().__call__(*args, **words)

    setattr(ctypes, "_CFuncPtr", Reported)  # noqa: B010
    # `pythonapi` is loaded before any program, with a function class derived from the old base.
    api: Any = ctypes.pythonapi
    ctypes.PyDLL.__init__(api, api._name, handle=api._handle)


def _includes_self(pid: int) -> bool:
    """Return whether a signal sent to ``pid`` reaches this process."""
    return pid in (0, -1, os.getpid()) or (sys.platform != "win32" and pid == -os.getpgrp())


def _is_deadly(number: int) -> bool:
    """Return whether a signal ends or stops this process: it has no handler for it."""
    return number != 0 and number not in _HARMLESS and signal.getsignal(number) is signal.SIG_DFL
