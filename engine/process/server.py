"""Receive requests and answer them, one at a time.

A reader thread receives requests; the main thread serves them. Only Stop is handled on the reader
thread, because the main thread is busy with the program that is to be stopped.
"""

import contextlib
import contextvars
import gc
import os
import select
import sys
import threading
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, NamedTuple

from gradscribe.engine import system
from gradscribe.engine.process.mailbox import Mailbox
from gradscribe.engine.protocol import frames as protocol_frames
from gradscribe.engine.protocol import messages
from gradscribe.engine.protocol.position import (
    CurrentLine,
    innermost_line,
    report_foreign_calls,
    report_process_ends,
    without_thread_switches,
)
from gradscribe.engine.protocol.regions import ReadRegion, Region
from gradscribe.engine.protocol.structs import replace
from gradscribe.engine.protocol.tape import Problem, Tape
from gradscribe.engine.protocol.training import TrainRequest
from gradscribe.engine.protocol.wire.message_writer import MessageWriter
from gradscribe.engine.run import watchdog
from gradscribe.engine.run.cleanup import Baseline, end_processes
from gradscribe.engine.run.live import drafts, scalar_sender
from gradscribe.engine.run.output import OutputSender
from gradscribe.engine.run.script_imports import (
    next_to_sent_files,
    script_folder,
    script_imports,
)

if TYPE_CHECKING:
    from gradscribe.engine.train.serve.host import TrainingHost

INTERNAL_ERROR = "RecordingError"
MAX_FRAMES = 40
TIDY_S = 0.05
"""Idle seconds after which the last program's objects are destroyed, which may run its code."""
IDLE_S = 0.2
"""Seconds without a request after which the engine imports what only some programs need."""


class EngineHandlers(NamedTuple):
    """Handlers of the requests; imported only after the pipes are private."""

    execute: Callable[[messages.Run, Callable[[str], None]], Tape]
    peek: Callable[[messages.Peek], messages.Peeked]
    check: Callable[[messages.Check], messages.Checked]
    gradcheck: Callable[[messages.Gradcheck], messages.Gradchecked]
    hand_check: Callable[[messages.HandCheck], messages.HandChecked]
    measure_costs: Callable[[messages.MeasureCosts], messages.MeasuredCosts]
    probe: Callable[[messages.Probe], messages.Probed]
    region: Callable[[ReadRegion], Region]
    model_file: Callable[[messages.ModelRequest], messages.ModelFile]
    tidy: Callable[[], object] = gc.collect
    before: Baseline | None = None
    """The process as it was before any program."""


class Server:
    """Reads requests from one descriptor and answers on another."""

    def __init__(self, incoming: int, outgoing: int) -> None:
        self._incoming = incoming
        self._writer = MessageWriter(outgoing)
        self.send = self._writer.send
        self._mail = Mailbox()
        self._running = 0
        self._program: messages.Run | None = None
        self._last_reported = CurrentLine(0, 0)
        self._folder = ""
        self._is_copy = False
        self._importing = 0.0
        """Seconds of imports of the running program that were reported."""
        self._host: TrainingHost | None = None
        self.trains = False  # True if the first request is for training.
        self.view_process: tuple[int, int, int] | None = None
        """Pipes to and from the process that computes training views, and its id."""
        self._reader = protocol_frames.MessageReader[messages.Request](messages.Request)  # type: ignore[arg-type]
        self._stream = OutputSender(lambda run_id, text: self.send(messages.Printed(run_id, text)))
        self._scalars = scalar_sender.ScalarSender(
            lambda run_id, found: self.send(messages.Computed(run_id, found))
        )
        self._drafts = drafts.DraftSender(
            lambda run_id, tape: self.send(messages.Recorded(run_id, tape, 0.0, is_draft=True))
        )

    def report_process_ends(self) -> None:
        """Begin to report the line on which a program ends this process, or may crash it."""
        report_process_ends(lambda frame: self._report_frame(frame, ends=True))
        report_foreign_calls(lambda frame: self._report_frame(frame, ends=False))

    def _report_line(self) -> None:
        """Report the line that the program is on, unless it was reported last."""
        program, main = self._program, threading.main_thread().ident
        if program is not None and main is not None:
            with without_thread_switches():
                line = innermost_line(sys._current_frames().get(main), program.filename)
            self._report(CurrentLine(program.run_id, line))

    def _on_tick(self) -> None:
        self._report_line()
        importing = watchdog.importing_seconds()
        if importing > self._importing and self._program is not None and not self._is_copy:
            self._importing = importing
            self.send(messages.Importing(self._program.run_id, importing))
        self._scalars.tick()
        self._drafts.tick()

    def _report_frame(self, frame: FrameType, *, ends: bool) -> None:
        """Report the line on which the program is about to do what may end this process."""
        if self._program is not None and not self._is_copy:
            line = innermost_line(frame, self._program.filename)
            self._report(CurrentLine(self._program.run_id, line, ends))

    def _report(self, at: CurrentLine) -> None:
        # It is dropped rather than waited for if the pipe is full or in use.
        is_new = bool(at.line) and at != self._last_reported
        if is_new and self._writer.send_now(at, system.can_write):
            self._last_reported = at

    def read(self) -> None:
        """Receive requests until the window closes the pipe, which ends the process."""
        while True:
            self._read_once()

    def read_in_thread(self) -> None:
        """Receive requests in a separate thread from now on."""
        threading.Thread(target=self.read, name="reader", daemon=True).start()

    def await_first_request(self, later: Callable[[], None]) -> str:
        """Receive requests up to the first that needs an answer; return its program's folder.

        There is no other thread yet. ``later`` is called once if nothing comes for a while.
        """
        if not select.select([self._incoming], [], [], IDLE_S)[0]:
            later()
        while True:
            for request in self._read_once():
                if isinstance(request, messages.Run):
                    return script_folder(request)
                if not isinstance(request, messages.Stop):
                    self.trains = isinstance(request, TrainRequest)
                    return ""

    def _read_once(self) -> list[messages.Request]:
        taken: list[messages.Request] = []
        try:
            data = os.read(self._incoming, system.READ)
            for request in self._reader.feed(data):
                if isinstance(request, messages.Quit):
                    os._exit(0)
                if isinstance(request, messages.Run):
                    request = next_to_sent_files(request)
                self._mail.put(request)
                taken.append(request)
        except OSError:
            os._exit(0)
        except protocol_frames.ProtocolError as error:
            log_error(f"The engine was sent garbage: {error}")
            os._exit(2)
        if not data:
            os._exit(0)
        return taken

    def serve(self, engine: EngineHandlers) -> None:
        """Answer requests forever."""
        watchdog.on_end = lambda: self._on_program_ended(engine)
        watchdog.on_tick = self._on_tick
        scalar_sender.current = self._scalars
        drafts.current = self._drafts
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._on_forked)
        while True:
            if not self._should_serve():
                continue
            if self._mail.wait_idle(TIDY_S):
                engine.tidy()
            request, stopped = self._mail.take()
            try:
                if isinstance(request, messages.Run):
                    self._run(engine, request, stopped)
                elif isinstance(request, TrainRequest):
                    self._training().take(request)
                elif isinstance(request, messages.Peek):
                    self.send(engine.peek(request))
                elif isinstance(request, ReadRegion):
                    self.send(engine.region(request))
                elif isinstance(request, messages.Probe):
                    self._running = request.run_id
                    self.send(engine.probe(request))
                elif isinstance(request, messages.Comparison | messages.ModelRequest):
                    self._running = request.run_id
                    with script_imports(self._folder):
                        self.send(_answer(engine, request))
            except KeyboardInterrupt:
                # A stop that came too late: its program has ended.
                continue
            finally:
                self._mail.done()

    def _training(self) -> "TrainingHost":
        """Return the host of training runs, created at the first request."""
        if self._host is None:
            from gradscribe.engine.train.serve.host import TrainingHost
            from gradscribe.engine.train.serve.view_client import ViewClient

            painter = ViewClient(self.send, *self.view_process) if self.view_process else None
            self._host = TrainingHost(self.send, painter)
        return self._host

    def _should_serve(self) -> bool:
        """Advance playing runs for a moment; return whether a request is to be served."""
        if not self._mail.wait_idle(0):
            return True  # Pending requests come first: a step of a big model takes seconds.
        rest = self._host.work() if self._host is not None else None
        return rest is None or not self._mail.wait_idle(rest)

    def _on_forked(self) -> None:
        """Detach a process that the program forked: it dies with the engine and writes nothing."""
        system.die_with_parent()
        self._is_copy = True
        self._writer.detach()

    def _on_program_ended(self, engine: EngineHandlers) -> None:
        """Clean up after a program before its tape is built."""
        if self._is_copy:
            os._exit(0)
        if engine.before is not None:
            engine.before.restore()
        end_processes()
        self._scalars.end()
        self._drafts.end()
        self.send(messages.Ended(self._running))

    def _run(self, engine: EngineHandlers, request: messages.Run, stopped: bool) -> None:
        self._running, self._folder = request.run_id, script_folder(request)
        if stopped:
            tape = Tape(status="error", error=Problem("Stopped", "Stopped before it began"))
            self.send(messages.Recorded(request.run_id, tape, 0.0))
            return
        self.send(messages.Started(request.run_id))
        self._importing = 0.0
        self._stream.begin(request.run_id)
        self._scalars.begin(request.run_id)
        self._drafts.begin(request.run_id)
        begun = time.perf_counter()
        self._program = request
        tape = contextvars.copy_context().run(_execute, engine, request, self._stream)
        self._program = None
        seconds = time.perf_counter() - begun
        self._stream.end()
        own_fault = tape.error is not None and tape.error.type == INTERNAL_ERROR
        spent = own_fault or (
            engine.before is not None and engine.before.is_contaminated(request.filename)
        )
        reply = messages.Recorded(request.run_id, tape, seconds, spent)
        try:
            with system.without_gc():
                self.send(_asked(reply, request))
        except Exception as error:  # noqa: BLE001 - nothing has been sent yet
            self.send(messages.Recorded(request.run_id, _own_fault(error), seconds, spent))


def _answer(
    engine: EngineHandlers, request: messages.Comparison | messages.ModelRequest
) -> messages.Reply:
    """Answer a question that runs code of the program."""
    if isinstance(request, messages.Check):
        return engine.check(request)
    if isinstance(request, messages.Gradcheck):
        return engine.gradcheck(request)
    if isinstance(request, messages.HandCheck):
        return engine.hand_check(request)
    if isinstance(request, messages.MeasureCosts):
        return engine.measure_costs(request)
    return engine.model_file(request)


def _execute(engine: EngineHandlers, request: messages.Run, stream: OutputSender) -> Tape:
    try:
        with script_imports(script_folder(request)):
            return engine.execute(request, stream.write)
    except BaseException as error:  # noqa: BLE001 - outermost handler: report it, stay alive
        return _own_fault(error)


def _asked(reply: messages.Recorded, request: messages.Run) -> messages.Recorded:
    """Return what a request wants of a reply: all, or the outcome in place of the tape."""
    tape, source = reply.tape, request.source
    if not request.brief:
        return reply
    from gradscribe.engine.doctor.fix_trial import outcome_of

    end = Tape(tape.status, tape.error, findings=tape.findings)
    return replace(reply, tape=end, outcome=outcome_of(tape, source))


def _own_fault(error: BaseException) -> Tape:
    trace: tuple[str, ...] = ()
    if isinstance(error, MemoryError):
        text, hint = "The recording takes more memory than there is", "Make a size smaller."
    elif isinstance(error, protocol_frames.MessageTooLong):
        text, hint = "The recording is too large to show", "Make a size smaller, or a loop shorter."
    else:
        text = f"Gradscribe failed to record this: {type(error).__name__}: {error}"
        hint = "This is a fault of Gradscribe, not of the program."
        log_error("".join(traceback.format_exception(error)))
        trace = _places(error)
    return Tape(status="error", error=Problem(INTERNAL_ERROR, text[:2000], hint, trace=trace))


def _places(error: BaseException) -> tuple[str, ...]:
    """Return the traceback's places in Gradscribe's own source, without the program's lines."""
    own = Path(__file__).parents[1]
    frames = traceback.extract_tb(error.__traceback__)[-MAX_FRAMES:]
    return tuple(
        f"engine/{Path(frame.filename).relative_to(own).as_posix()}:{frame.lineno} in {frame.name}"
        for frame in frames
        if Path(frame.filename).is_relative_to(own)
    )


def log_error(text: str) -> None:
    """Write an internal error to standard error, which may be closed."""
    with contextlib.suppress(OSError, ValueError):
        sys.stderr.write(text.rstrip() + "\n")
        sys.stderr.flush()
