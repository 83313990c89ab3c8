"""Progress of a sweep: a line on the terminal, lines in a log, or events for a program."""

import sys
import time
from typing import Self

import msgspec

from gradscribe.app.cli.sweeps.runner import Listener, SweepRun
from gradscribe.app.cli.terminal import say
from gradscribe.app.training.sweep import rows
from gradscribe.app.training.sweep.rows import TrialRow

UPDATE_S = 0.2
"""Least time between two updates of the line on a terminal."""
LOG_S = 10.0
"""Least time between two lines in a log."""
WIDTH = 79


class SweepProgress:
    """Shows the progress of a run of trials while it is entered."""

    def __init__(self, run: SweepRun, events: bool) -> None:
        self._run, self._events = run, events
        self._is_terminal = sys.stderr.isatty()
        self._next = 0.0
        self.listener = Listener(self._progress, self._finished, self._tick)

    def __enter__(self) -> Self:
        if self._events:
            folder = str(self._run.folder.path.absolute()) if self._run.folder else ""
            self._send({"event": "begun", "folder": folder, "rows": self._run.all_rows})
        elif self._run.resumed:
            total = len(self._run.trials)
            sys.stderr.write(f"{self._run.resumed:,} of {total:,} trials were finished before\n")
        return self

    def __exit__(self, *_: object) -> None:
        if self._is_terminal and not self._events:
            sys.stderr.write(f"\r{'':<{WIDTH}}\r")
            sys.stderr.flush()

    def _progress(self, row: TrialRow) -> None:
        if self._events:
            self._send({"event": "progress", "row": row})

    def _finished(self, row: TrialRow) -> None:
        if self._events:
            left = self._run.seconds_left
            self._send({"event": "finished", "row": row, "seconds_left": left})

    def _send(self, event: dict[str, object]) -> None:
        say(msgspec.json.encode(event) + b"\n")

    def _tick(self) -> None:
        now = time.monotonic()
        if self._events or now < self._next:
            return
        if self._is_terminal:
            self._next = now + UPDATE_S
            sys.stderr.write(f"\r{line(self._run)[:WIDTH]:<{WIDTH}}")
        elif self._run.finished > self._run.resumed:
            self._next = now + LOG_S
            sys.stderr.write(f"{line(self._run)}\n")
        sys.stderr.flush()


def line(run: SweepRun) -> str:
    """Return the progress of a sweep in a line, with the time that is left."""
    total, found = len(run.trials), rows.best(run.all_rows)
    left = run.seconds_left
    parts = [f"{run.finished:,} of {total:,} trials"]
    if left is not None:
        parts.append(f"{duration(left)} left")
    if found is not None:
        parts.append(f"best {found.score:.4g} ({found.title})")
    bar = ("#" * round(12 * run.finished / max(1, total))).ljust(12, ".")
    return f"{bar} {', '.join(parts)}"


def duration(seconds: float) -> str:
    """Return a duration as text: ``40 s``, ``3 min 20 s``, ``2 h 5 min``."""
    whole = max(1, round(seconds))
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600:,} h {whole % 3600 // 60} min"
