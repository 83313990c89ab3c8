"""What a program reads that is another each time: the clock, and chance from the system."""

import datetime
import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from engine.train.outside import OWN

READ = frozenset(
    {
        *(time.time, time.monotonic, time.perf_counter, time.process_time, time.thread_time),
        *(time.time_ns, time.monotonic_ns, time.perf_counter_ns, time.process_time_ns),
        *(time.thread_time_ns, time.localtime, time.gmtime, time.ctime),
        *(datetime.datetime.now, datetime.datetime.utcnow, datetime.datetime.today),
        *(datetime.date.today, os.urandom),
    }
)
"""Functions whose answer no state of the run decides."""


@contextmanager
def watched() -> Iterator[list[str]]:
    """Watch what a run's own source calls; the list gets the names of those of `READ`."""
    found: list[str] = []

    def look(frame: FrameType, event: str, called: object) -> None:
        # Others may look at the clock whenever they like: one who times the garbage collector does.
        if event == "c_call" and called in READ and frame.f_globals.get("__name__") == OWN:
            found.append(getattr(called, "__name__", ""))

    before = sys.getprofile()
    sys.setprofile(look)
    try:
        yield found
    finally:
        sys.setprofile(before)
