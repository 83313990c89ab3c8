"""A limit of processor time for a search that cannot be interrupted otherwise."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


class SearchTimeout(Exception):
    """The time limit was exceeded."""


@contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Raise `SearchTimeout` in the body once it has used so much of the process's time.

    A regular expression can take years for a short line; `re` looks for signals while it searches.
    There is no limit on systems without such a timer (Windows), nor outside of the main thread.
    """
    is_main = threading.current_thread() is threading.main_thread()
    if not hasattr(signal, "setitimer") or not is_main:
        yield
        return
    armed = True

    def stop(_number: int, _frame: FrameType | None) -> None:
        if armed:
            raise SearchTimeout

    before = signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        armed = False
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)
