"""Processors that do not rest while something is measured, and how long each was gone.

A virtual processor that rests is given back late now and then: what wakes on it waits by the clock
while nobody works. One that is woken every few milliseconds does not rest.
"""

import os
import subprocess
import sys

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
