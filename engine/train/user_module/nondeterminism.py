"""Detect nondeterministic reads of a user's program: clocks and the system's random source."""

import datetime
import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from gradscribe.engine.train.user_module.external_state import USER_MODULE_NAME

NONDETERMINISTIC = frozenset(
    {
        *(time.time, time.monotonic, time.perf_counter, time.process_time, time.thread_time),
        *(time.time_ns, time.monotonic_ns, time.perf_counter_ns, time.process_time_ns),
        *(time.thread_time_ns, time.localtime, time.gmtime, time.ctime),
        *(datetime.datetime.now, datetime.datetime.utcnow, datetime.datetime.today),
        *(datetime.date.today, os.urandom),
    }
)
"""Functions whose result does not depend on the state of the run."""


@contextmanager
def watch_reads() -> Iterator[list[str]]:
    """Collect the names of functions of `NONDETERMINISTIC` that the run's source calls."""
    names: list[str] = []

    def profile(frame: FrameType, event: str, called: object) -> None:
        # Calls from other code do not count: a timer of the garbage collector reads the clock.
        if (
            event == "c_call"
            and called in NONDETERMINISTIC
            and frame.f_globals.get("__name__") == USER_MODULE_NAME
        ):
            names.append(getattr(called, "__name__", ""))

    before = sys.getprofile()
    sys.setprofile(profile)
    try:
        yield names
    finally:
        sys.setprofile(before)
