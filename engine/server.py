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

from engine import process, watchdog, wire
from engine.leftovers import Baseline, end_processes
from engine.mailbox import Mailbox
from engine.printed import Stream
from engine.siblings import folder_of, siblings
from engine.standing import At, line_of, tell_of_ends, tell_of_foreign, undisturbed
from engine.tape import Problem, Tape
from engine.training import TrainRequest

if TYPE_CHECKING:
    from engine.train.host import Host

OWN_FAULT = "RecordingError"
MOST_FRAMES = 40
TIDY_S = 0.05
"""Idle seconds after which the last program's objects are destroyed, which may run its code."""
IDLE_S = 0.2
"""Seconds without a request after which the engine imports what only some programs need."""


class Engine(NamedTuple):
    """Handlers of the requests; imported only after the pipes are private."""

    execute: Callable[[wire.Run, Callable[[str], None]], Tape]
    peek: Callable[[wire.Peek], wire.Peeked]
    check: Callable[[wire.Check], wire.Checked]
    gradcheck: Callable[[wire.Gradcheck], wire.Gradchecked]
    probe: Callable[[wire.Probe], wire.Probed]
    tidy: Callable[[], object] = gc.collect
    before: Baseline | None = None
    """The process as it was before any program."""


class Server:
    """Reads requests from one descriptor and answers on another."""

    def __init__(self, incoming: int, outgoing: int) -> None:
        self._incoming = incoming
        self._outgoing = outgoing
        self._sending = threading.Lock()
        self._mail = Mailbox()
        self._running = 0
        self._program: wire.Run | None = None
        self._last_reported = At(0, 0)
        self._folder = ""
        self._is_copy = False
        self._host: Host | None = None
        self.trains = False  # True if the first request is for training.
        self.painter: tuple[int, int, int] | None = None
        """Pipes to and from the process that computes training views, and its id."""
        self._reader = wire.Reader[wire.Request](wire.Request)  # type: ignore[arg-type]
        self._stream = Stream(lambda run_id, text: self.send(wire.Printed(run_id, text)))

    def send(self, message: wire.Reply) -> None:
        """Write a message. End the process if the pipe is closed."""
        with self._sending:
            for frame in wire.frames(message):
                view = memoryview(frame)
                while view:
                    try:
                        view = view[os.write(self._outgoing, view) :]
                    except OSError:
                        os._exit(0)

    def tell_of_ends(self) -> None:
        """Begin to report the line on which a program ends this process, or may crash it."""
        tell_of_ends(lambda frame: self._report_frame(frame, ends=True))
        tell_of_foreign(lambda frame: self._report_frame(frame, ends=False))

    def _report_line(self) -> None:
        """Report the line that the program is on, unless it was reported last."""
        program, main = self._program, threading.main_thread().ident
        if program is not None and main is not None:
            with undisturbed():
                line = line_of(sys._current_frames().get(main), program.filename)
            self._report(At(program.run_id, line))

    def _report_frame(self, frame: FrameType, *, ends: bool) -> None:
        """Report the line on which the program is about to do what may end this process."""
        if self._program is not None and not self._is_copy:
            line = line_of(frame, self._program.filename)
            self._report(At(self._program.run_id, line, ends))

    def _report(self, at: At) -> None:
        # It is dropped rather than waited for if the pipe is full or in use.
        if at.line and at != self._last_reported and self._sending.acquire(blocking=False):
            try:
                if process.has_room(self._outgoing):
                    self._last_reported = at
                    for frame in wire.frames(at):
                        os.write(self._outgoing, frame)
            finally:
                self._sending.release()

    def read(self) -> None:
        """Receive requests until the window closes the pipe, which ends the process."""
        while True:
            self._read_once()

    def read_in_thread(self) -> None:
        """Receive requests in a separate thread from now on."""
        threading.Thread(target=self.read, name="reader", daemon=True).start()

    def first_folder(self, later: Callable[[], None]) -> str:
        """Receive requests up to the first that needs an answer; return its program's folder.

        There is no other thread yet. ``later`` is called once if nothing comes for a while.
        """
        if not select.select([self._incoming], [], [], IDLE_S)[0]:
            later()
        while True:
            for request in self._read_once():
                if isinstance(request, wire.Run):
                    return folder_of(request)
                if not isinstance(request, wire.Stop):
                    self.trains = isinstance(request, TrainRequest)
                    return ""

    def _read_once(self) -> list[wire.Request]:
        taken: list[wire.Request] = []
        try:
            data = os.read(self._incoming, process.READ)
            for request in self._reader.feed(data):
                if isinstance(request, wire.Quit):
                    os._exit(0)
                self._mail.put(request)
                taken.append(request)
        except OSError:
            os._exit(0)
        except wire.Garbage as error:
            complain(f"The engine was sent garbage: {error}")
            os._exit(2)
        if not data:
            os._exit(0)
        return taken

    def serve(self, engine: Engine) -> None:
        """Answer requests forever."""
        watchdog.on_end = lambda: self._on_program_ended(engine)
        watchdog.on_look = self._report_line
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._on_forked)
        while True:
            if not self._should_serve():
                continue
            if self._mail.idle(TIDY_S):
                engine.tidy()
            request, stopped = self._mail.take()
            try:
                if isinstance(request, wire.Run):
                    self._run(engine, request, stopped)
                elif isinstance(request, TrainRequest):
                    self._training().take(request)
                elif isinstance(request, wire.Peek):
                    self.send(engine.peek(request))
                elif isinstance(request, wire.Probe):
                    self._running = request.run_id
                    self.send(engine.probe(request))
                elif isinstance(request, wire.Check | wire.Gradcheck):
                    self._running = request.run_id
                    with siblings(self._folder):
                        if isinstance(request, wire.Check):
                            self.send(engine.check(request))
                        else:
                            self.send(engine.gradcheck(request))
            except KeyboardInterrupt:
                # A stop that came too late: its program has ended.
                continue
            finally:
                self._mail.done()

    def _training(self) -> "Host":
        """Return the host of training runs, created at the first request."""
        if self._host is None:
            from engine.train.host import Host
            from engine.train.painter import Painter

            painter = Painter(self.send, *self.painter) if self.painter else None
            self._host = Host(self.send, painter)
        return self._host

    def _should_serve(self) -> bool:
        """Advance playing runs for a moment; return whether a request is to be served."""
        if not self._mail.idle(0):
            return True  # Pending requests come first: a step of a big model takes seconds.
        rest = self._host.work() if self._host is not None else None
        return rest is None or not self._mail.idle(rest)

    def _on_forked(self) -> None:
        """Detach a process that the program forked: it dies with the engine and writes nothing."""
        process.die_with_parent()
        self._is_copy = True
        self._outgoing = os.open(os.devnull, os.O_WRONLY)

    def _on_program_ended(self, engine: Engine) -> None:
        """Clean up after a program before its tape is built."""
        if self._is_copy:
            os._exit(0)
        if engine.before is not None:
            engine.before.mend()
        end_processes()
        self.send(wire.Ended(self._running))

    def _run(self, engine: Engine, request: wire.Run, stopped: bool) -> None:
        self._running, self._folder = request.run_id, folder_of(request)
        if stopped:
            tape = Tape(status="error", error=Problem("Stopped", "Stopped before it began"))
            self.send(wire.Recorded(request.run_id, tape, 0.0))
            return
        self.send(wire.Started(request.run_id))
        self._stream.begin(request.run_id)
        begun = time.perf_counter()
        self._program = request
        tape = contextvars.copy_context().run(_execute, engine, request, self._stream)
        self._program = None
        seconds = time.perf_counter() - begun
        self._stream.end()
        own_fault = tape.error is not None and tape.error.type == OWN_FAULT
        spent = own_fault or (engine.before is not None and engine.before.spent(request.filename))
        try:
            self.send(wire.Recorded(request.run_id, tape, seconds, spent))
        except Exception as error:  # noqa: BLE001 - nothing has been sent yet
            self.send(wire.Recorded(request.run_id, _own_fault(error), seconds, spent))


def _execute(engine: Engine, request: wire.Run, stream: Stream) -> Tape:
    try:
        with siblings(folder_of(request)):
            return engine.execute(request, stream.write)
    except BaseException as error:  # noqa: BLE001 - outermost handler: report it, stay alive
        return _own_fault(error)


def _own_fault(error: BaseException) -> Tape:
    trace: tuple[str, ...] = ()
    if isinstance(error, MemoryError):
        text, hint = "The recording takes more memory than there is", "Make a size smaller."
    elif isinstance(error, wire.TooLong):
        text, hint = "The recording is too large to show", "Make a size smaller, or a loop shorter."
    else:
        text = f"Gradscribe failed to record this: {type(error).__name__}: {error}"
        hint = "This is a fault of Gradscribe, not of the program."
        complain("".join(traceback.format_exception(error)))
        trace = _places(error)
    return Tape(status="error", error=Problem(OWN_FAULT, text[:2000], hint, trace=trace))


def _places(error: BaseException) -> tuple[str, ...]:
    """Return the traceback's places in Gradscribe's own source, without the program's lines."""
    own = Path(__file__).parent
    frames = traceback.extract_tb(error.__traceback__)[-MOST_FRAMES:]
    return tuple(
        f"engine/{Path(frame.filename).relative_to(own).as_posix()}:{frame.lineno} in {frame.name}"
        for frame in frames
        if Path(frame.filename).is_relative_to(own)
    )


def complain(text: str) -> None:
    """Write an internal error to standard error, which may be closed."""
    with contextlib.suppress(OSError, ValueError):
        sys.stderr.write(text.rstrip() + "\n")
        sys.stderr.flush()
