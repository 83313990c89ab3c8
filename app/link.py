"""The window's end of the wire: an engine at any time, whatever becomes of the one before."""

import time
from collections import deque

from PySide6.QtCore import QObject, Signal

from app import child
from app.engine_process import EngineProcess
from app.jobs import Job, answer, epitaph, unchecked
from engine import wire
from engine.standing import At
from engine.tape import Tape
from widgets.once import once

STOP_GRACE_MS = 1500
"""A program that was asked to stop is killed after so long."""
TIMEOUT_S = 10.0
EVENT_LIMIT = 40_000
MEMORY = 256 << 20
QUICK_GRACE_MS = 500
"""Sooner where a spare engine waits to take over."""
START_S = 20.0
"""An engine that does not begin a program within this is stuck and gets replaced. It may be busy
reading more of PyTorch from a slow disk."""
QUICK_START_S = 5.0
"""Sooner where a spare engine waits: the one before it may hang in what its program left behind."""
SPARE_MS = 3000
"""A spare engine is started so long after the first has become ready."""
NEXT_SPARE_MS = 300
"""And so long after it has taken over."""
RESTARTS = 3
RESTART_WINDOW_S = 10.0
"""Engines that die before they are ready are restarted `RESTARTS` times in so many seconds."""
PROBE_S = 6.0
"""A look at a few lines takes no longer."""
CHECK_RUNS = 4
"""A check runs the program so many times."""


class Link(QObject):
    """Owns the engine process. Everything sent is answered, if need be by the link itself.

    ``run`` may be called at any time: before the engine is ready, and while another program runs
    (the engine then does the newest next). When an engine dies a fresh one is started; `died` is
    emitted first, then `received` with a tape of status ``died`` or ``timeout`` for the program
    that ran in it. A program that had not begun is given to the fresh engine.

    With ``spare`` a second engine waits beside the first, so that its place is taken at once.
    """

    ready = Signal(object)
    """Carries `wire.Ready`, for each engine anew."""
    received = Signal(object)
    """Carries every other reply."""
    died = Signal(str)
    """Why the engine ended, in one line that tells what happens next."""

    def __init__(self, parent: QObject | None = None, *, spare: bool = False) -> None:
        super().__init__(parent)
        self._engine: EngineProcess | None = None
        self._spare: EngineProcess | None = None
        self._wants_spare = spare
        self._opens = False
        self._lost_spares = 0
        self._replaced = False
        self._ready = False
        self._last_id = 0
        self._running: Job | None = None
        self._next: Job | None = None
        self._starts: deque[float] = deque()
        self._limit = once(self, self._too_late)
        self._grace = once(self, self._too_late)
        self._rest = once(self, self._start_spare)

    def start(self) -> None:
        """Start an engine unless there is one."""
        if self._engine is not None:
            return
        self._ready = False
        # One that is not ready may take minutes: it makes itself ready where nobody else works.
        if self._spare is not None and self._spare.is_ready:
            engine, self._spare = self._spare, None
            engine.ended.disconnect(self._lose_spare)
        else:
            engine = EngineProcess(self, is_open=self._opens)
            engine.start()
        engine.received.connect(self._take)
        engine.ended.connect(self._bury)
        engine.await_ready()
        self._engine = engine

    def close(self) -> None:
        """End the engine and forget what it was asked; `start` may follow."""
        self._forget()
        self._next = None
        self._starts.clear()
        self._rest.stop()
        self._engine = self._spare = None
        for engine in self.findChildren(EngineProcess):
            engine.close()

    def is_ready(self) -> bool:
        """Whether an engine is there that takes requests at once."""
        return self._engine is not None and self._ready

    def pid(self) -> int:
        """Return the engine's process id, 0 while there is none."""
        return self._engine.pid() if self._engine is not None else 0

    def spare_pid(self) -> int:
        """Return the process id of the spare engine once that is ready, else 0."""
        return self._spare.pid() if self._spare is not None and self._spare.is_ready else 0

    def run(
        self,
        source: str,
        *,
        filename: str = "<gradscribe>",
        seed: int = 0,
        device: str = "cpu",
        timeout: float = TIMEOUT_S,
        event_limit: int = EVENT_LIMIT,
        memory: int = MEMORY,
        policy: bool = False,
        is_open: bool = False,
    ) -> int:
        """Have a program run and return its run id, which its replies carry.

        ``timeout`` in seconds, ``memory`` in bytes of copied values; ``policy``: it came from
        elsewhere; ``is_open``: let it do what the user may. A program that waits for the one that
        runs is replaced by this one.
        """
        self._last_id += 1
        # No message can carry half a surrogate pair.
        source = source.encode("utf-8", "replace").decode()
        request = wire.Run(
            run_id=self._last_id,
            source=source,
            filename=filename,
            seed=seed,
            device=device,
            timeout=timeout,
            event_limit=event_limit,
            memory=memory,
            policy=policy,
        )
        self._fit(request, is_open and not policy)
        self._announce()
        job = self._next = Job(request, timeout)
        if self.is_ready():
            self._hand_over(job)
        return self._last_id

    def _fit(self, request: wire.Run, is_open: bool) -> None:
        """Have an engine for the program: what it gave up for one folder it cannot take back."""
        folder = "" if request.policy else child.folder_of(request.filename)
        self._opens = is_open
        engine = self._engine
        if self._spare is not None and self._spare.is_open != self._opens:
            spare, self._spare = self._spare, None
            spare.discard()
        if engine is not None and not engine.fits(folder, self._opens):
            job = self._running
            self._forget()
            self._swap()
            if job is not None:
                self.received.emit(answer(job, None))
        self.start()
        if self._engine is not None:
            self._engine.folder = folder

    def stop(self) -> None:
        """Interrupt the program that runs or waits; kill the engine if it doesn't end."""
        waiting, job = self._next, self._running
        if waiting is not None:
            # It is forgotten at once: an engine that is slow to begin is no reason to kill it.
            self._next = None
            self._send(wire.Stop(waiting.request.run_id))
        if job is None:
            self._limit.stop()
        elif not job.stopped:
            job.stopped = True
            self._send(wire.Stop(job.request.run_id))
            self._grace.start(QUICK_GRACE_MS if self.spare_pid() else STOP_GRACE_MS)
        if waiting is not None:
            self.received.emit(answer(waiting, None))

    def check(self, run_id: int, value: int, index: int = 0) -> None:
        """Ask for a finite-difference check of a leaf's element; answered by `wire.Checked`."""
        self._compare(wire.Check(run_id, value, index))

    def gradcheck(self, run_id: int, op: int) -> None:
        """Ask for torch's gradcheck of a custom Function; answered by `wire.Gradchecked`."""
        self._compare(wire.Gradcheck(run_id, op))

    def _compare(self, request: wire.Check | wire.Gradcheck) -> None:
        if self._running is not None or self._next is not None or not self.is_ready():
            self.received.emit(unchecked(request, "A program is running; try again in a moment"))
            return
        self._running = Job(request, TIMEOUT_S * CHECK_RUNS)
        self._limit.start(round((self._running.timeout + child.GRACE_S) * 1000))
        self._send(request)

    def probe(self, source: str, policy: bool = False) -> int:
        """Have a few lines looked at cell by cell; answered by `wire.Probed`.

        ``policy``: hold them to what a program from elsewhere may do.

        Returns the id that the answer carries, 0 where something else runs: ask again then.
        """
        if self._running is not None or self._next is not None or not self.is_ready():
            return 0
        self._last_id += 1
        lines = source.encode("utf-8", "replace").decode()
        request = wire.Probe(self._last_id, lines, policy)
        self._running = Job(request, PROBE_S)
        self._limit.start(round((PROBE_S + child.GRACE_S) * 1000))
        self._send(request)
        return self._last_id

    def peek(self, run_id: int, snapshot: int, limit: int = 1 << 20) -> None:
        """Ask for all numbers of a snapshot; answered by `wire.Peeked`."""
        if self.is_ready():
            self._send(wire.Peek(run_id, snapshot, limit))
        else:
            self.received.emit(wire.Peeked(run_id, snapshot, None))

    def _hand_over(self, job: Job) -> None:
        if self._running is None:
            self._limit.start(round(1000 * self._start_s()))
        self._send(job.request)

    def _start_s(self) -> float:
        return min(START_S, QUICK_START_S) if self.spare_pid() else START_S

    def _send(self, message: wire.Request) -> None:
        if self._engine is not None:
            self._engine.send(message)

    # What the engine says

    def _take(self, message: object) -> None:
        match message:
            case wire.Ready():
                self._ready = True
                self._starts.clear()
                if self._wants_spare and self._spare is None:
                    self._rest.start(NEXT_SPARE_MS if self._replaced else SPARE_MS)
                if self._next is not None:
                    self._hand_over(self._next)
                self.ready.emit(message)
                return
            case wire.Started(run_id):
                self._begin(run_id)
            case At(run_id):
                if self._running is not None and self._runs(run_id):
                    self._running.at = message
                return
            case wire.Ended(run_id):
                self._end(run_id)
            case wire.Printed(run_id, text):
                if not self._keep(run_id, text):
                    self._bury(child.ENDLESS)
                    return
            case wire.Recorded(run_id, spent=spent):
                self._finish(run_id)
                if spent:
                    self._swap()
            case wire.Checked(run_id) | wire.Gradchecked(run_id) | wire.Probed(run_id):
                self._finish(run_id)
        self.received.emit(message)
        self._announce()

    def _begin(self, run_id: int) -> None:
        if self._next is None or self._next.request.run_id != run_id:
            return
        self._running, self._next = self._next, None
        self._limit.start(round((self._running.timeout + child.GRACE_S) * 1000))

    def _runs(self, run_id: int) -> bool:
        return self._running is not None and self._running.request.run_id == run_id

    def _end(self, run_id: int) -> None:
        job = self._running
        if job is not None and self._runs(run_id) and isinstance(job.request, wire.Run):
            self._grace.stop()
            self._limit.start(round(child.FREEZE_S * 1000))

    def _keep(self, run_id: int, text: str) -> bool:
        """Keep a piece of output in case the engine dies; returns whether there may be so much."""
        if self._running is not None and self._runs(run_id):
            self._running.printed += text
            return len(self._running.printed) <= child.PRINTED_LIMIT
        return True

    def _finish(self, run_id: int) -> None:
        if self._next is not None and self._next.request.run_id == run_id:
            self._next = None
        if self._runs(run_id):
            self._forget()
            if self._next is not None:
                self._limit.start(round(1000 * self._start_s()))
        elif self._running is None and self._next is None:
            self._limit.stop()

    def _forget(self) -> None:
        self._running = None
        self._limit.stop()
        self._grace.stop()

    # The spare

    def _start_spare(self) -> None:
        if self._spare is None and child.memory_free() >= child.SPARE_BYTES:
            spare = self._spare = EngineProcess(self, spare=True, is_open=self._opens)
            spare.ended.connect(self._lose_spare)
            spare.start()

    def _lose_spare(self) -> None:
        spare, self._spare = self._spare, None
        if spare is not None:
            spare.discard()
        self._lost_spares += 1
        if self._lost_spares <= RESTARTS:
            self._rest.start(SPARE_MS)

    def lend(self, to: QObject) -> EngineProcess | None:
        """Give the spare away, to somebody whose own engine died; None where none is ready.

        Another one takes its place.
        """
        spare = self._spare
        if spare is None or not spare.is_ready or spare.is_open:
            return None
        self._spare = None
        spare.ended.disconnect(self._lose_spare)
        spare.setParent(to)
        self._rest.start(NEXT_SPARE_MS)
        return spare

    def _swap(self) -> None:
        """Let a fresh engine, if possible the spare, take the place of the one that is there."""
        engine, self._engine = self._engine, None
        self._limit.stop()
        self._replaced = True
        if engine is not None:
            engine.discard()
        self.start()

    def _announce(self) -> None:
        """Tell of an engine that was ready before it was needed."""
        engine = self._engine
        if engine is not None and engine.ready is not None and not self._ready:
            self._take(engine.ready)

    # When it doesn't

    def _too_late(self) -> None:
        job, engine = self._running, self._engine
        if job is None or engine is None or job.overdue:
            self._bury("it does not answer")
        else:
            job.overdue = True
            self._grace.stop()
            self._limit.start(round(child.ABORT_S * 1000))
            engine.abort()

    def _bury(self, why: str) -> None:
        job, engine = self._running, self._engine
        tape = epitaph(job, why, engine.errors if engine is not None else "") if job else None
        if job is not None and job.overdue:
            why = "the program did not stop" if job.stopped else "the program ran too long"
        self._replace(why, tape)

    def _replace(self, why: str, tape: Tape | None) -> None:
        """Put a fresh engine in the place of the one that is gone or has to go."""
        job, engine = self._running, self._engine
        self._forget()
        if self._may_restart():
            self._swap()
            self.died.emit(f"Python ended ({why}) and starts again")
        else:
            self._engine, self._next = None, None
            if engine is not None:
                engine.discard()
            self.died.emit(f"Python does not start ({why}). Press F5 to try again.")
        if job is not None:
            self.received.emit(answer(job, tape))
        self._announce()

    def _may_restart(self) -> bool:
        now = time.monotonic()
        self._starts.append(now)
        while self._starts and now - self._starts[0] > RESTART_WINDOW_S:
            self._starts.popleft()
        return len(self._starts) <= RESTARTS
