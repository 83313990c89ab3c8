"""The window's end of the wire: an engine at any time, whatever becomes of the one before."""

import time
from collections import deque

from msgspec import Struct
from PySide6.QtCore import QObject, QTimer, Signal

from app import child
from app.engine_process import EngineProcess
from engine import wire
from engine.tape import Problem, Tape

STOP_GRACE_MS = 1500
"""A program that was asked to stop is killed after so long."""
TIMEOUT_S = 10.0
EVENT_LIMIT = 40_000
RESTARTS = 3
RESTART_WINDOW_S = 10.0
"""Engines that die before they are ready are restarted `RESTARTS` times in so many seconds."""
CHECK_RUNS = 4
"""A check runs the program so many times."""


class _Job(Struct):
    """What the engine has been asked for and has not answered; ``stopped``: by the user.

    ``overdue``: it has been told to die and may still say where it was. ``printed`` is its output,
    for the tape that the link has to make if the engine cannot.
    """

    request: wire.Run | wire.Check
    timeout: float
    stopped: bool = False
    overdue: bool = False
    printed: str = ""


class Link(QObject):
    """Owns the engine process. Everything sent is answered, if need be by the link itself.

    ``run`` may be called at any time: before the engine is ready, and while another program runs
    (the engine then does the newest next). When an engine dies a fresh one is started; `died` is
    emitted first, then `received` with a tape of status ``died`` or ``timeout`` for the program
    that ran in it. A program that had not begun is given to the fresh engine.
    """

    ready = Signal(object)
    """Carries `wire.Ready`, for each engine anew."""
    received = Signal(object)
    """Carries every other reply."""
    died = Signal(str)
    """Why the engine ended, in one line that tells what happens next."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._engine: EngineProcess | None = None
        self._last_id = 0
        self._running: _Job | None = None
        self._next: _Job | None = None
        self._starts: deque[float] = deque()
        self._limit = self._timer(self._too_late)
        self._grace = self._timer(self._too_late)

    def _timer(self, then: object) -> QTimer:
        timer = QTimer(self)
        timer.setSingleShot(True)
        timer.timeout.connect(then)
        return timer

    def start(self) -> None:
        """Start an engine unless there is one."""
        if self._engine is None:
            engine = self._engine = EngineProcess(self)
            engine.received.connect(self._take)
            engine.ended.connect(self._bury)
            engine.start()

    def close(self) -> None:
        """End the engine and forget what it was asked; `start` may follow."""
        self._forget()
        self._next = None
        self._starts.clear()
        self._engine = None
        for engine in self.findChildren(EngineProcess):
            engine.close()

    def is_ready(self) -> bool:
        """Whether an engine is there that takes requests at once."""
        return self._engine is not None and self._engine.is_ready

    def pid(self) -> int:
        """Return the engine's process id, 0 while there is none."""
        return self._engine.pid() if self._engine is not None else 0

    def run(
        self,
        source: str,
        *,
        filename: str = "<gradscribe>",
        seed: int = 0,
        device: str = "cpu",
        timeout: float = TIMEOUT_S,
        event_limit: int = EVENT_LIMIT,
    ) -> int:
        """Have a program run and return its run id, which its replies carry.

        ``timeout`` in seconds. A program that waits for the one that runs is replaced by this one.
        """
        self._last_id += 1
        request = wire.Run(self._last_id, source, filename, seed, device, timeout, event_limit)
        self._next = _Job(request, timeout)
        self.start()
        if self.is_ready():
            self._send(request)
        return self._last_id

    def stop(self) -> None:
        """Interrupt the program that runs or waits; kill the engine if it doesn't end."""
        if not self.is_ready() and self._next is not None:
            waiting, self._next = self._next, None
            self._answer(waiting, None)
            return
        for job in (self._next, self._running):
            if job is not None and not job.stopped:
                job.stopped = True
                self._send(wire.Stop(job.request.run_id))
                self._grace.start(STOP_GRACE_MS)

    def check(self, run_id: int, value: int, index: int = 0) -> None:
        """Ask for a finite-difference check of a leaf's element; answered by `wire.Checked`."""
        request = wire.Check(run_id, value, index)
        if self._running is not None or self._next is not None or not self.is_ready():
            self.received.emit(_unchecked(request, "The engine is busy; try again in a moment"))
            return
        self._running = _Job(request, TIMEOUT_S * CHECK_RUNS)
        self._limit.start(round((self._running.timeout + child.GRACE_S) * 1000))
        self._send(request)

    def peek(self, run_id: int, snapshot: int, limit: int = 1 << 20) -> None:
        """Ask for all numbers of a snapshot; answered by `wire.Peeked`."""
        if self.is_ready():
            self._send(wire.Peek(run_id, snapshot, limit))
        else:
            self.received.emit(wire.Peeked(run_id, snapshot, None))

    def _send(self, message: wire.Request) -> None:
        if self._engine is not None:
            self._engine.send(message)

    # What the engine says

    def _take(self, message: object) -> None:
        match message:
            case wire.Ready():
                self._starts.clear()
                if self._next is not None:
                    self._send(self._next.request)
                self.ready.emit(message)
            case wire.Started(run_id):
                self._begin(run_id)
                self.received.emit(message)
            case wire.Ended():
                if self._running is not None and isinstance(self._running.request, wire.Run):
                    self._grace.stop()
                    self._limit.start(round(child.FREEZE_S * 1000))
            case wire.Printed(_, text):
                if self._running is not None:
                    self._running.printed += text
                self.received.emit(message)
            case wire.Recorded(run_id):
                self._finish(run_id)
                self.received.emit(message)
            case wire.Checked():
                self._forget()
                self.received.emit(message)
            case _:
                self.received.emit(message)

    def _begin(self, run_id: int) -> None:
        if self._next is None or self._next.request.run_id != run_id:
            return
        self._running, self._next = self._next, None
        self._limit.start(round((self._running.timeout + child.GRACE_S) * 1000))

    def _finish(self, run_id: int) -> None:
        if self._next is not None and self._next.request.run_id == run_id:
            self._next = None
        self._forget()

    def _forget(self) -> None:
        self._running = None
        self._limit.stop()
        self._grace.stop()

    # When it doesn't

    def _too_late(self) -> None:
        job, engine = self._running, self._engine
        if job is None or engine is None or job.overdue:
            self._bury("killed")
        else:
            job.overdue = True
            self._grace.stop()
            self._limit.start(round(child.ABORT_S * 1000))
            engine.abort()

    def _bury(self, why: str) -> None:
        job = self._running
        tape = None
        if job is not None and isinstance(job.request, wire.Run):
            tape = self._epitaph(job, job.request, why)
        if job is not None and job.overdue:
            why = "it did not stop" if job.stopped else "the program ran too long"
        self._replace(why, tape)

    def _epitaph(self, job: _Job, run: wire.Run, why: str) -> Tape:
        errors = self._engine.errors if self._engine is not None else ""
        if job.overdue:
            return child.overdue(
                run.source, run.filename, job.timeout, errors, job.printed, job.stopped
            )
        return child.obituary(run.source, run.filename, why, errors, job.printed)

    def _replace(self, why: str, tape: Tape | None) -> None:
        """Put a fresh engine in the place of the one that is gone or has to go."""
        job, engine = self._running, self._engine
        self._forget()
        if self._next is not None and self._next.stopped:
            job, self._next = self._next, None
        self._engine = None
        if engine is not None:
            engine.discard()
        if self._may_restart():
            self.start()
            self.died.emit(f"The engine stopped ({why}). A fresh one is starting.")
        else:
            self._next = None
            self.died.emit(f"The engine does not start ({why}). Run again to try once more.")
        if job is not None:
            self._answer(job, tape)

    def _may_restart(self) -> bool:
        now = time.monotonic()
        self._starts.append(now)
        while self._starts and now - self._starts[0] > RESTART_WINDOW_S:
            self._starts.popleft()
        return len(self._starts) <= RESTARTS

    def _answer(self, job: _Job, tape: Tape | None) -> None:
        if isinstance(job.request, wire.Check):
            self.received.emit(_unchecked(job.request, "The engine stopped"))
        else:
            tape = tape or Tape(status="error", error=Problem("Stopped", "Stopped"))
            self.received.emit(wire.Recorded(job.request.run_id, tape, 0.0))


def _unchecked(request: wire.Check, why: str) -> wire.Checked:
    return wire.Checked(request.run_id, request.value, request.index, 0.0, 0.0, 0.0, False, why)
