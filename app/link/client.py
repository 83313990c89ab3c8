"""Client side of the engine connection: it restarts an engine that dies or hangs."""

import time
from collections import deque
from collections.abc import Callable

from PySide6.QtCore import QObject, Signal

from gradscribe.app.link import launch
from gradscribe.app.link.engine_process import EngineProcess
from gradscribe.app.link.interpreters import Interpreter
from gradscribe.app.link.language import LanguageLink
from gradscribe.app.link.requests import (
    PendingRequest,
    failed_check_reply,
    failed_model_file,
    fallback_reply,
    lost_engine_tape,
)
from gradscribe.engine.protocol import messages
from gradscribe.engine.protocol.position import CurrentLine
from gradscribe.engine.protocol.processor_waits import SpentTime
from gradscribe.engine.protocol.regions import ReadRegion, Region
from gradscribe.engine.protocol.structs import replace
from gradscribe.engine.protocol.tape import Tape
from gradscribe.playback.translation import tr
from gradscribe.widgets.base.single_shot import single_shot

STOP_GRACE_MS = 1500
"""Time a program gets to stop before its engine is killed."""
TIMEOUT_S = 10.0
EVENT_LIMIT = 40_000
MEMORY = 256 << 20
STOP_GRACE_WITH_SPARE_MS = 500
"""The same if a spare engine is ready to take over."""
START_S = 20.0
"""Seconds within which an engine must begin a program before it is replaced. It may be busy
loading more of PyTorch from a slow disk."""
START_WITH_SPARE_S = 5.0
"""The same if a spare engine is ready: the engine may hang in what its last program left behind."""
SPARE_MS = 3000
"""Delay from the first engine's readiness to the start of a spare one."""
NEXT_SPARE_MS = 300
"""Delay from a spare engine's takeover to the start of the next spare."""
RESTARTS = 3
RESTART_WINDOW_S = 10.0
"""Seconds in which an engine that dies before it is ready is restarted at most `RESTARTS` times."""
PROBE_S = 6.0
"""Time limit of a probe."""
IMPORTING_S = 120.0
"""Most seconds of imports that do not count for the time limit of a run."""
MODEL_FILE_S = 130.0
"""Time limit of a module's file; the engine's own is a little shorter."""
HAND_RUNS = 2
"""Runs of the program that the code of a comparison by hand may take as long as."""
CHECK_RUNS = 4
"""Number of times that a check runs the program."""


class Link(QObject):
    """Owns the engine process. Every request is answered, if necessary by the link itself.

    ``run`` may be called at any time: before the engine is ready, and while another program runs
    (the engine then runs the newest next). When an engine dies, a new one is started; `died` is
    emitted first, then `received` with a tape of status ``died`` or ``timeout`` for the program
    that ran in it. A program that had not begun is sent to the new engine.

    With ``spare`` a second engine is started in advance, so that it can take over at once. Else
    ``lend``, if given, returns a ready engine that is not in use, or None: an engine is started
    then.
    """

    ready = Signal(object)
    """Carries `messages.Ready`, once for each engine."""
    received = Signal(object)
    """Carries every other reply."""
    died = Signal(str)
    """Carries one line: why the engine ended, and what happens next."""

    def __init__(
        self,
        parent: QObject | None = None,
        *,
        spare: bool = False,
        lend: Callable[[QObject], EngineProcess | None] | None = None,
    ) -> None:
        super().__init__(parent)
        self._lend = lend
        self._engine: EngineProcess | None = None
        self._spare: EngineProcess | None = None
        self._wants_spare = spare
        self._opens = False
        self._interpreter: Interpreter | None = None
        self._is_line_lost = False
        self._lost_spares = 0
        self._replaced = False
        self._ready = False
        self._last_id = 0
        self._running: PendingRequest | None = None
        self._next: PendingRequest | None = None
        self._starts: deque[float] = deque()
        self._limit = single_shot(self, self._on_timeout)
        self._grace = single_shot(self, self._on_timeout)
        self._rest = single_shot(self, self._start_spare)

    def start(self) -> None:
        """Start an engine unless there is one."""
        if self._engine is not None:
            return
        self._ready = self._is_line_lost = False
        # Do not wait for an unready spare: it starts at low priority and may take minutes.
        if self._spare is not None and self._spare.is_ready:
            engine, self._spare = self._spare, None
            engine.ended.disconnect(self._lose_spare)
        else:
            engine = self._borrowed() or self._started()
        engine.received.connect(self._take)
        engine.ended.connect(self._on_engine_lost)
        engine.await_ready()
        self._engine = engine

    def _borrowed(self) -> EngineProcess | None:
        is_usual = not self._opens and self._interpreter is None
        return self._lend(self) if self._lend is not None and is_usual else None

    def _started(self) -> EngineProcess:
        engine = EngineProcess(self, is_open=self._opens, interpreter=self._interpreter)
        engine.start()
        return engine

    def close(self) -> None:
        """End the engine and drop its requests; `start` may follow."""
        self._forget()
        self._next = None
        self._starts.clear()
        self._rest.stop()
        self._engine = self._spare = None
        for engine in self.findChildren(EngineProcess):
            engine.close()

    def is_ready(self) -> bool:
        """Return whether there is an engine that takes requests."""
        return self._engine is not None and self._ready

    def pid(self) -> int:
        """Return the engine's process id, 0 if there is none."""
        return self._engine.pid() if self._engine is not None else 0

    def spare_pid(self) -> int:
        """Return the process id of the spare engine if it is ready, else 0."""
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
        brief: bool = False,
        wanted_steps: tuple[int, int, int] | None = None,
        drafts: bool = False,
        watched_module: str = "",
        interpreter: Interpreter | None = None,
    ) -> int:
        """Run a program and return its run id, which its replies carry.

        ``timeout`` in seconds, ``memory`` in bytes of copied values; ``policy``: apply the policy
        for programs from outside; ``is_open``: run with all of the user's permissions; ``brief``:
        send only the outcome; ``wanted_steps``, ``drafts``, ``watched_module``: see `messages.Run`.

        A program that waits for the running one is replaced by this one.
        """
        self._last_id += 1
        # A message cannot carry a lone surrogate.
        source = source.encode("utf-8", "replace").decode()
        request = messages.Run(
            run_id=self._last_id,
            source=source,
            filename=filename,
            seed=seed,
            device=device,
            timeout=timeout,
            event_limit=event_limit,
            memory=memory,
            policy=policy,
            brief=brief,
            wanted_steps=wanted_steps,
            drafts=drafts,
            watched_module=watched_module,
        )
        self._fit(request, is_open and not policy, interpreter)
        self._announce()
        job = self._next = PendingRequest(request, timeout)
        if self.is_ready():
            self._hand_over(job)
        return self._last_id

    def _fit(self, request: messages.Run, is_open: bool, interpreter: Interpreter | None) -> None:
        """Make sure the engine may run the program: sandbox restrictions cannot be lifted again."""
        folder = "" if request.policy else launch.script_folder(request.filename)
        self._opens, self._interpreter = is_open, interpreter
        engine = self._engine
        if self._spare is not None and not self._is_like_it(self._spare):
            spare, self._spare = self._spare, None
            spare.discard()
        if engine is not None and not engine.fits(folder, is_open, interpreter):
            job = self._running
            self._forget()
            self._swap()
            if job is not None:
                self.received.emit(fallback_reply(job, None))
        self.start()
        if self._engine is not None:
            self._engine.folder = folder

    def _is_like_it(self, engine: EngineProcess) -> bool:
        return engine.is_open == self._opens and engine.interpreter == self._interpreter

    def stop(self) -> None:
        """Interrupt the program that runs or waits; kill the engine if it doesn't end."""
        waiting, job = self._next, self._running
        if waiting is not None:
            # Drop it at once: an engine that is slow to begin need not be killed.
            self._next = None
            self._send(messages.Stop(waiting.request.run_id))
        if job is None:
            self._limit.stop()
        elif not job.stopped:
            job.stopped = True
            self._send(messages.Stop(job.request.run_id))
            if not job.has_ended:
                self._grace.start(STOP_GRACE_WITH_SPARE_MS if self.spare_pid() else STOP_GRACE_MS)
        if waiting is not None:
            self.received.emit(fallback_reply(waiting, None))

    def check(self, run_id: int, value: int, index: int = 0) -> None:
        """Request a finite-difference check of a leaf's element; answered by `messages.Checked`."""
        self._compare(messages.Check(run_id, value, index))

    def gradcheck(self, run_id: int, op: int) -> None:
        """Request torch's gradcheck of a custom Function; answered by `messages.Gradchecked`."""
        self._compare(messages.Gradcheck(run_id, op))

    def check_by_hand(self, request: messages.HandCheck) -> None:
        """Request a comparison of gradients by hand; answered by `messages.HandChecked`."""
        code = request.code.encode("utf-8", "replace").decode()
        self._compare(replace(request, code=code))

    def measure_costs(self, run_id: int, kind: messages.CostKind) -> None:
        """Request times and memory of the computation; answered by `messages.MeasuredCosts`."""
        self._compare(messages.MeasureCosts(run_id, kind))

    def _compare(self, request: messages.Comparison) -> None:
        if self._running is not None or self._next is not None or not self.is_ready():
            self.received.emit(
                failed_check_reply(request, tr("A program is running; try again in a moment"))
            )
            return
        runs = HAND_RUNS if isinstance(request, messages.HandCheck) else CHECK_RUNS
        self._running = PendingRequest(request, TIMEOUT_S * runs)
        self._start_limit(self._running, self._running.timeout + launch.grace(self._interpreter))
        self._send(request)

    def model_file(self, request: messages.ModelRequest) -> None:
        """Request a module as a file; answered by `messages.ModelFile`."""
        if self._running is not None or self._next is not None or not self.is_ready():
            why = tr("a program is running; try again in a moment")
            self.received.emit(failed_model_file(request, why))
            return
        self._running = PendingRequest(request, MODEL_FILE_S)
        self._start_limit(self._running, MODEL_FILE_S + launch.grace(self._interpreter))
        self._send(request)

    def probe(self, source: str, policy: bool = False) -> int:
        """Trace a few lines cell by cell; answered by `messages.Probed`.

        ``policy``: apply the policy for programs from outside.

        Returns the id that the reply carries; 0 if the engine is busy: try again later.
        """
        if self._running is not None or self._next is not None or not self.is_ready():
            return 0
        self._last_id += 1
        lines = source.encode("utf-8", "replace").decode()
        request = messages.Probe(self._last_id, lines, policy)
        self._running = PendingRequest(request, PROBE_S)
        self._limit.start(round((PROBE_S + launch.grace(self._interpreter)) * 1000))
        self._send(request)
        return self._last_id

    def peek(self, run_id: int, snapshot: int, limit: int = 1 << 20) -> None:
        """Request all numbers of a snapshot; answered by `messages.Peeked`."""
        if self.is_ready():
            self._send(messages.Peek(run_id, snapshot, limit))
        else:
            self.received.emit(messages.Peeked(run_id, snapshot, None))

    def read_region(self, request: ReadRegion) -> None:
        """Request a region of a tensor; answered by `Region`."""
        if self.is_ready():
            self._send(request)
        else:
            head = (request.run_id, request.snapshot, request.serial, (0, 0, 0, 0))
            self.received.emit(Region(*head, problem=tr("The engine is starting: try again soon")))

    def _hand_over(self, job: PendingRequest) -> None:
        if self._running is None:
            self._limit.start(round(1000 * self._start_s()))
        self._send(job.request)

    def _start_s(self) -> float:
        return min(START_S, START_WITH_SPARE_S) if self.spare_pid() else START_S

    def _send(self, message: messages.Request) -> None:
        if self._engine is not None:
            self._engine.send(message)

    # Messages from the engine

    def _take(self, message: object) -> None:
        match message:
            case messages.Ready():
                self._ready = True
                self._starts.clear()
                if self._wants_spare and self._spare is None:
                    self._rest.start(NEXT_SPARE_MS if self._replaced else SPARE_MS)
                if self._next is not None:
                    self._hand_over(self._next)
                self.ready.emit(message)
                return
            case messages.LineState():
                self._note_line(message)
            case messages.Started(run_id):
                self._begin(run_id)
            case CurrentLine(run_id):
                if self._running is not None and self._runs(run_id):
                    self._running.at = message
                return
            case messages.Ended(run_id):
                self._end(run_id)
            case messages.Importing(run_id, seconds):
                self._lengthen(run_id, seconds)
                return
            case messages.Printed(run_id, text):
                if not self._keep(run_id, text):
                    self._on_engine_lost(launch.ENDLESS)
                    return
            case messages.Recorded(run_id, tape=tape, spent=spent, is_draft=False):
                message = replace(message, tape=launch.with_far_hint(tape, self._interpreter))
                self._finish(run_id)
                if spent:
                    self._swap()
            case (
                messages.Checked(run_id)
                | messages.Gradchecked(run_id)
                | messages.HandChecked(run_id)
                | messages.MeasuredCosts(run_id)
                | messages.Probed(run_id)
            ):
                self._finish(run_id)
            case messages.ModelFile(run_id):
                self._finish(run_id)
        self.received.emit(message)
        self._announce()

    def _note_line(self, line: messages.LineState) -> None:
        """Let no time count for a request while there is no line to its machine."""
        self._is_line_lost = not line.is_up
        job = self._running
        if not line.is_up:
            self._limit.stop()
        elif job is not None and job.spent is not None:
            job.spent.limit += line.seconds
            self._limit.start(round(1000 * max(0.0, job.spent.left())))
        elif self._next is not None:
            self._limit.start(round(1000 * self._start_s()))

    def _begin(self, run_id: int) -> None:
        if self._next is None or self._next.request.run_id != run_id:
            return
        self._running, self._next = self._next, None
        self._start_limit(self._running, self._running.timeout + launch.grace(self._interpreter))

    def _runs(self, run_id: int) -> bool:
        return self._running is not None and self._running.request.run_id == run_id

    def _end(self, run_id: int) -> None:
        job = self._running
        if job is not None and self._runs(run_id) and isinstance(job.request, messages.Run):
            self._grace.stop()
            job.has_ended = True
            self._start_limit(job, launch.FREEZE_S)

    def _lengthen(self, run_id: int, seconds: float) -> None:
        """Lengthen the limit of a run by its imports so far."""
        job = self._running
        if job is None or job.spent is None or not self._runs(run_id):
            return
        more = min(seconds, IMPORTING_S) - job.importing
        if more > 0:
            job.importing += more
            job.spent.limit += more

    def _keep(self, run_id: int, text: str) -> bool:
        """Store output in case the engine dies; return whether it is within the limit."""
        if self._running is not None and self._runs(run_id):
            self._running.printed += text
            return len(self._running.printed) <= launch.PRINTED_LIMIT
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
        if self._interpreter is not None and self._interpreter.host:
            return  # Its memory is that of a machine that others may use, too.
        if self._spare is None and launch.free_memory() >= launch.SPARE_BYTES:
            spare = self._spare = EngineProcess(
                self, spare=True, is_open=self._opens, interpreter=self._interpreter
            )
            spare.ended.connect(self._lose_spare)
            spare.start()

    def _lose_spare(self) -> None:
        spare, self._spare = self._spare, None
        if spare is not None:
            spare.discard()
        self._lost_spares += 1
        if self._lost_spares <= RESTARTS:
            self._rest.start(SPARE_MS)

    def give_spare(self, to: QObject) -> EngineProcess | None:
        """Give the spare engine away, to replace another link's engine; None if none is ready.

        A new spare is started in its place.
        """
        spare = self._spare
        if spare is None or not spare.is_ready or spare.is_open or spare.interpreter is not None:
            return None
        self._spare = None
        spare.ended.disconnect(self._lose_spare)
        spare.setParent(to)
        self._rest.start(NEXT_SPARE_MS)
        return spare

    def companion(self, parent: QObject) -> "Link":
        """Return a link to another engine, which takes this link's spare engine if it is ready."""
        return Link(parent, lend=self.give_spare)

    def language(self, parent: QObject) -> LanguageLink:
        """Return a link to a language process, which starts when it is needed."""
        return LanguageLink(parent)

    def _swap(self) -> None:
        """Replace the engine by the spare if it is ready, else by a new one."""
        engine, self._engine = self._engine, None
        self._limit.stop()
        self._replaced = True
        if engine is not None:
            engine.discard()
        self.start()

    def _announce(self) -> None:
        """Emit `ready` for an engine that was ready before it was needed."""
        engine = self._engine
        if engine is not None and engine.ready is not None and not self._ready:
            self._take(engine.ready)

    # Failures

    def _start_limit(self, job: PendingRequest, seconds: float) -> None:
        """Start the time limit of a request, which leaves out waits for a processor."""
        process = self._engine.pid() if self._engine is not None else 0
        job.spent = SpentTime(seconds, process)
        self._limit.start(round(seconds * 1000))

    def _on_timeout(self) -> None:
        job, engine = self._running, self._engine
        if self._is_line_lost and (job is None or not job.stopped):
            return  # The limit begins again when the line is there.
        if job is not None and job.spent is not None and not (job.overdue or job.stopped):
            left = job.spent.left()
            if left > 0:
                self._limit.start(round(left * 1000))
                return
        if job is None or engine is None or job.overdue:
            self._on_engine_lost(tr("it does not answer"))
        else:
            job.overdue = True
            self._grace.stop()
            self._limit.start(round(launch.ABORT_S * 1000))
            engine.abort()

    def _on_engine_lost(self, why: str) -> None:
        job, engine = self._running, self._engine
        tape = (
            lost_engine_tape(job, why, engine.errors if engine is not None else "") if job else None
        )
        if job is not None and job.overdue:
            why = tr("the program did not stop") if job.stopped else tr("the program ran too long")
        self._replace(why, tape)

    def _replace(self, why: str, tape: Tape | None) -> None:
        """Replace an engine that died or has to be killed, and answer its request."""
        job, engine = self._running, self._engine
        self._forget()
        if engine is not None and engine.is_refused:
            self._engine, self._next = None, None
            engine.discard()
            self.died.emit(why)
        elif self._may_restart():
            self._swap()
            self.died.emit(tr("Python ended ({why}) and starts again", why=why))
        else:
            self._engine, self._next = None, None
            if engine is not None:
                engine.discard()
            self.died.emit(tr("Python does not start ({why}). Press F5 to try again.", why=why))
        if job is not None:
            self.received.emit(fallback_reply(job, tape))
        self._announce()

    def _may_restart(self) -> bool:
        now = time.monotonic()
        self._starts.append(now)
        while self._starts and now - self._starts[0] > RESTART_WINDOW_S:
            self._starts.popleft()
        return len(self._starts) <= RESTARTS
