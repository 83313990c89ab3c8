"""A machine on which what is measured waits for nothing: for no processor and for no screen.

A virtual processor that rests is given back late now and then: what wakes on it waits by the clock
while nobody works. One that is woken every few milliseconds does not rest.

A screen's server that has long had nothing to do gets little of a busy processor once it has, and
Qt waits for its answer. Desktops give what draws the screen real-time priority.
"""

import contextlib
import os
import subprocess
import sys
from pathlib import Path

SERVERS = ("Xvfb", "Xorg", "Xwayland")
BEAT_S = 0.002
BEATS = """
import os, select, sys, time
os.sched_setaffinity(0, {int(sys.argv[1])})
try:
    os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
except OSError:
    pass
print("ready", flush=True)
longest, last, over = 0.0, time.perf_counter(), False
while not over:
    over = select.select([0], [], [], float(sys.argv[2]))[0]
    now = time.perf_counter()
    longest, last = max(longest, now - last), now
print(longest, flush=True)
"""


class Awake:
    """A process for each processor, from `with` to its end; Linux only."""

    longest_ms = 0.0
    """The longest time, told at the end, for which a processor was not to be had."""

    def __enter__(self):
        self._beats = [
            subprocess.Popen(
                [sys.executable, "-c", BEATS, str(at), str(BEAT_S)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
            )
            for at in sorted(os.sched_getaffinity(0))
        ]
        for beat in self._beats:
            assert beat.stdout.readline() == "ready\n"
        return self

    def __exit__(self, *_):
        for beat in self._beats:
            said, _ = beat.communicate("")
            self.longest_ms = max(self.longest_ms, 1000 * float(said))


def servers(display):
    """Return the ids of the processes that may serve an X ``display`` as ``:8``."""
    found: list[int] = []
    if not display:
        return found
    for folder in Path("/proc").glob("[0-9]*"):
        # A process may end while it is looked at.
        with contextlib.suppress(OSError):
            program, *words = (folder / "cmdline").read_bytes().decode().split("\0")
            if Path(program).name in SERVERS and display.partition(".")[0] in words:
                found.append(int(folder.name))
    return found


@contextlib.contextmanager
def first(processes):
    """Let these go before all others as long as it lasts, where we may."""
    before = {}
    for one in processes:
        with contextlib.suppress(OSError):
            usual = os.sched_getscheduler(one), os.sched_getparam(one)
            os.sched_setscheduler(one, os.SCHED_RR, os.sched_param(1))
            before[one] = usual
    try:
        yield list(before)
    finally:
        for one, usual in before.items():
            with contextlib.suppress(OSError):
                os.sched_setscheduler(one, *usual)
