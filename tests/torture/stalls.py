"""Stalls of the event loop, and the place of the main thread meanwhile."""

import faulthandler
import re
import tempfile
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path

from PySide6.QtCore import QTimer

try:
    import resource
except ImportError:  # Windows
    resource = None

TICK_MS = 2
LOOK_S = 0.02
"""So often a turn is looked into that lasts long, by a thread beside it."""
LONG_MS = 100.0
"""A turn that was busy for so long is a stall to be told of."""
MOST_TOLD = 40
_FUTEX = 202
"""The number of that system call on x86-64."""
_ARGUMENTS = 9
"""The words that tell of a system call: its number, six arguments, stack and program counter."""
_NEAR = 1 << 16


@dataclass(frozen=True)
class Stall:
    """One turn of the event loop that took too long."""

    wall_ms: float
    busy_ms: float
    """The main thread's own time on the processor: what a crowded machine adds nothing to."""
    waited_ms: float
    """The main thread was ready to go on and had no processor: others' fault (Linux)."""
    read_kb: int
    """Reads of the main thread from the disk: files, or code it had not run before."""
    doing: str
    where: str
    """The main thread's stacks, `LOOK_S` apart, the innermost call of each first.

    Each begins with what the thread did or waited for (Linux)."""

    @property
    def own_ms(self) -> float:
        """The turn less what others had the processor: with waits for disk, lock and thread."""
        return self.wall_ms - self.waited_ms


@dataclass
class Meter:
    """Turns of the event loop, timed from its start to `stop`."""

    doing: str = ""
    """Present action, set by the acting code."""
    wall_ms: float = 0.0
    busy_ms: float = 0.0
    own_ms: float = 0.0
    """The longest turn, less what the main thread waited for a processor."""
    turns: int = 0
    worst: dict[str, float] = field(default_factory=dict)
    """The longest busy time after each kind of action."""
    stalls: list[Stall] = field(default_factory=list)
    told_ms: float = LONG_MS
    """Turns that last longer by the clock are told of, with where the main thread was."""

    def start(self, parent):
        """Measure until `stop`; the timer belongs to ``parent``."""
        self._over, self._main = threading.Event(), threading.get_ident()
        self._task = threading.get_native_id()
        self._seen: list[str] = []
        self._timer = QTimer(parent)
        self._timer.setInterval(TICK_MS)
        self._timer.timeout.connect(self._tick)
        self.forget()
        self._timer.start()
        self._watcher = threading.Thread(target=self._watch, daemon=True)
        self._watcher.start()

    def forget(self):
        """Begin the turn anew: what was done since the last one is none of the window's."""
        self._last, self._seen = _clocks(), []

    def stop(self):
        """Measure no more."""
        self._timer.stop()
        self._over.set()
        self._watcher.join()

    def _tick(self):
        now = _clocks()
        passed = (b - a for a, b in zip(self._last, now, strict=True))
        wall, busy, waited = (1000 * next(passed) for _ in range(3))
        own = wall - waited
        self.turns += 1
        self.wall_ms = max(self.wall_ms, wall)
        self.busy_ms = max(self.busy_ms, busy)
        self.own_ms = max(self.own_ms, own)
        self.worst[self.activity] = max(self.worst.get(self.activity, 0.0), busy)
        if wall > self.told_ms:
            where = "\n    ".join(self._seen)
            self._note(Stall(wall, busy, waited, next(passed) // 2, self.activity, where))
        self.forget()

    def _note(self, stall):
        self.stalls.append(stall)
        self.stalls.sort(key=lambda one: -one.own_ms)
        del self.stalls[MOST_TOLD:]

    def _watch(self):
        while not self._over.wait(LOOK_S / 3):
            seen = self._seen
            if time.perf_counter() - self._last[0] > LOOK_S * (1 + len(seen)):
                seen.append(f"{_at(self._task)}: {_where(self._main)}")


def _where(ident):
    """Return the calls in which a thread is, the innermost first.

    In C, all in one go: frames of a thread that runs on meanwhile end Python 3.11 now and then.
    """
    with tempfile.TemporaryFile("w+", encoding="utf-8") as file:
        faulthandler.dump_traceback(file, all_threads=True)
        file.seek(0)
        text = file.read()
    stack = text.partition(f"hread 0x{ident:016x} (most recent call first):\n")[2]
    calls = re.findall(r'File "(.+)", line (\d+) in (.+)', stack.partition("\n\n")[0])
    named = [f"{Path(file).parent.name}/{Path(file).name}:{at} {name}" for file, at, name in calls]
    return " < ".join(named[:9])


def _at(task):
    """Return what a thread is at: it runs, or what it waits for.

    Qt waits for the X server and for its own painting threads in a futex on its stack, and without
    an end; Python for its lock in one elsewhere, and for `sys.getswitchinterval` at a time.
    """
    try:
        words = Path(f"/proc/self/task/{task}/syscall").read_text().split()
    except OSError:
        return "unknown"
    if len(words) < _ARGUMENTS:
        return "runs"
    call, *arguments, stack, _ = (int(word, 0) for word in words)
    if call == _FUTEX:
        if 0 <= arguments[0] - stack < _NEAR:
            return "waits for the screen or for Qt's threads"
        return "waits for Python" if arguments[3] else "waits for a lock"
    return f"in system call {call}"


def _clocks():
    """Return wall time, this thread's time on the processor and in wait for one (s), blocks read.

    A block has 512 bytes.
    """
    return time.perf_counter(), time.thread_time(), _waited(), _read()


def _read():
    if resource is None or not hasattr(resource, "RUSAGE_THREAD"):
        return 0
    return resource.getrusage(resource.RUSAGE_THREAD).ru_inblock


def _waited():
    try:
        text = Path("/proc/thread-self/schedstat").read_text()
        return int(text.split()[1]) / 1e9
    except (OSError, IndexError, ValueError):
        return 0.0
