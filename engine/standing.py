"""Where a program stands, told while it runs and before it ends its own process.

Whoever is killed tells nothing any more: the window knows what it was told last.
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

from engine.sound import MOST_LINES

PAUSE_S = 0.05
"""For so long no other thread interrupts, unless it is let."""
_HARMLESS = {
    getattr(signal, name)
    for name in ("SIGINT", "SIGCHLD", "SIGCONT", "SIGURG", "SIGWINCH")
    if hasattr(signal, name)
}
"""Signals that end nobody who has no use for them; and SIGINT, which is the engine's own."""


class At(Struct, frozen=True, tag=True):
    """The program of a run stands on ``line``; ``ends``: that line is about to end the process."""

    run_id: int
    line: int
    ends: bool = False


def line_of(frame: FrameType | None, filename: str) -> int:
    """Return the innermost line of ``filename`` among a frame and its callers, 0 for none."""
    while frame is not None:
        if frame.f_code.co_filename == filename:
            # Code can be made by hand, of any line or of none.
            return min(frame.f_lineno or 0, MOST_LINES)
        frame = frame.f_back
    return 0


@contextlib.contextmanager
def undisturbed() -> Iterator[None]:
    """Let no other thread run on while its frames are followed: that ends Python 3.11 now and then.

    What is done within must not take long.
    """
    before = sys.getswitchinterval()
    sys.setswitchinterval(PAUSE_S)
    try:
        # Who waits already does so for the interval of before; asking the system lets them on.
        os.path.exists(os.sep)
        yield
    finally:
        sys.setswitchinterval(before)


def tell_of_ends(tell: Callable[[FrameType], None]) -> None:
    """Have ``tell`` called with the frame that ends or stops this process, just before it does."""

    def wrap(call: Callable[..., Any], is_end: Callable[..., bool]) -> Callable[..., Any]:
        @functools.wraps(call)
        def telling(*args: Any, **words: Any) -> Any:  # noqa: ANN401
            with contextlib.suppress(Exception):
                if is_end(*args, **words):
                    tell(sys._getframe(1))
            return call(*args, **words)

        return telling

    system: Any = sys.modules.get("posix") or sys.modules.get("nt")
    os._exit = wrap(os._exit, lambda *_args, **_words: True)
    os.kill = wrap(os.kill, lambda pid, number: _is_us(pid) and _is_deadly(number))
    system._exit, system.kill = os._exit, os.kill
    signal.raise_signal = wrap(signal.raise_signal, _is_deadly)
    if sys.platform != "win32":
        os.killpg = wrap(os.killpg, lambda group, number: _is_us(-group) and _is_deadly(number))
        system.killpg = os.killpg
        signal.pthread_kill = wrap(signal.pthread_kill, lambda _, number: _is_deadly(number))


def tell_of_foreign(tell: Callable[[FrameType], None]) -> None:
    """Have ``tell`` called with the frame that calls a C function by its name or its address.

    Such a call may end this process without a word. Functions that were made before are left out.
    """
    plain: Any = getattr(ctypes, "_CFuncPtr")  # noqa: B009

    class Told(plain):  # type: ignore[misc]
        _flags_ = 1
        """Called as C does; each library's own class says it anew."""

        def __call__(self, *args: Any, **words: Any) -> Any:  # noqa: ANN401
            with contextlib.suppress(Exception):
                tell(sys._getframe(1))
            return super().__call__(*args, **words)

    setattr(ctypes, "_CFuncPtr", Told)  # noqa: B010
    # The one library that is open before any program has its own class of functions.
    api: Any = ctypes.pythonapi
    ctypes.PyDLL.__init__(api, api._name, handle=api._handle)


def _is_us(pid: int) -> bool:
    """Whether what is sent to ``pid`` reaches this process."""
    return pid in (0, -1, os.getpid()) or (sys.platform != "win32" and pid == -os.getpgrp())


def _is_deadly(number: int) -> bool:
    """Whether a signal ends or stops a process that has said nothing about it."""
    return number != 0 and number not in _HARMLESS and signal.getsignal(number) is signal.SIG_DFL
