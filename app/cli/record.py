"""Headless recording: run a program in an engine process and block until its tape arrives."""

import contextlib
import queue
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import IO, Self

from gradscribe.app.files import documents
from gradscribe.app.link import launch, own_engine
from gradscribe.app.link.interpreters import Interpreter
from gradscribe.app.link.launch import ENDLESS, GARBAGE, PRINTED_LIMIT
from gradscribe.engine.protocol import frames, messages, tape_file
from gradscribe.engine.protocol.check_replies import MAX_PEEKED
from gradscribe.engine.protocol.outcome import Outcome
from gradscribe.engine.protocol.position import CurrentLine
from gradscribe.engine.protocol.processor_waits import SpentTime
from gradscribe.engine.protocol.tape import Problem, Snapshot, Tape
from gradscribe.engine.system import without_gc

TIMEOUT_S = 60.0
EVENT_LIMIT = 2_000_000
FULL_EVENTS = 40_000
"""Events for which steps of long loops are recorded in full."""
READY_S = 120.0
"""Seconds for the engine to start; importing torch from a cold disk is slow."""
FREEZE_S = 600.0
"""Seconds for assembling the tape; millions of events take a while."""
NUMBERS_S = 30.0
"""Seconds for the numbers of one tensor."""
READ = 1 << 16
FAR_END_S = 4.0
"""Seconds for an engine on another machine to end, and to say so."""


class NoDevice(documents.Refused):
    """The engine does not have the requested device."""


def record_source(
    source: str,
    *,
    filename: str = "<gradscribe>",
    device: str = "cpu",
    timeout: float = TIMEOUT_S,
    seed: int = 0,
    printed: Callable[[str], None] | None = None,
    policy: bool = False,
    is_open: bool = False,
    is_full: bool = False,
    memory: int = 256 << 20,
    examine: bool = True,
    leaves_only: bool = False,
    interpreter: Interpreter | None = None,
    arguments: tuple[str, ...] = (),
    big: "BigTensors | None" = None,
) -> Tape:
    """Run a program in a new engine and return its tape.

    ``timeout`` in seconds; ``printed`` is called with pieces of output while the program runs.
    ``policy``: apply that for programs from outside; ``is_open``: with all of the user's rights;
    ``is_full``: record all steps of long loops in full; ``memory``: bytes for numbers of big
    tensors; ``examine``: look for mistakes; ``leaves_only``: no more than leaves, output and error.
    ``big`` is filled after the run.

    Raises:
        NoDevice: the device does not exist.
    """
    run = messages.Run(
        1,
        source,
        filename,
        seed,
        full_device_name(device),
        timeout,
        EVENT_LIMIT,
        threads=0,
        memory=memory,
        policy=policy,
        examine=examine,
        leaves_only=leaves_only,
        full_events=0 if is_full else FULL_EVENTS,
        arguments=arguments,
    )
    with BlockingEngine(is_open, interpreter) as engine:
        tape = _first_tape(engine, run, printed)
        if big is not None and not engine.spent:
            big.found.update(engine.numbers(run.run_id, tape, big.budget))
        return tape


def _first_tape(
    engine: "BlockingEngine", run: messages.Run, printed: Callable[[str], None] | None
) -> Tape:
    ready = engine.wait_ready()
    if isinstance(ready, Tape):
        return ready
    if run.device not in ready.devices:
        raise NoDevice(f"No device {run.device} here; there is: {', '.join(ready.devices)}")
    return engine.record(run, printed)


@dataclass
class BigTensors:
    """Numbers of tensors that a tape only summarizes, by their index in its snapshots.

    ``budget``: most bytes of them.
    """

    budget: int
    found: dict[int, Snapshot] = field(default_factory=dict)


class ProgramRecorder:
    """Record programs one after another in one engine, replaced when it died or is contaminated.

    ``problem`` is the reason why no engine could be started; empty otherwise.
    """

    def __init__(self, is_open: bool = False, interpreter: Interpreter | None = None) -> None:
        self._is_open, self._interpreter = is_open, interpreter
        self._engine: BlockingEngine | None = None
        self.problem = ""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self._end()

    def record(self, source: str, timeout: float = TIMEOUT_S, policy: bool = False) -> Tape:
        """Run a program and return its tape; see `record_source`."""
        return self._perform(
            messages.Run(1, source, timeout=timeout, event_limit=EVENT_LIMIT, policy=policy)
        )[0]

    def outcome(self, run: messages.Run) -> Outcome:
        """Run a program and return its outcome; ``run`` asks for no more than that."""
        tape, outcome = self._perform(run)
        return outcome or Outcome(tape.status, tape.error, is_cut=True)

    def _perform(self, run: messages.Run) -> tuple[Tape, Outcome | None]:
        if self._engine is None:
            self._engine = BlockingEngine(self._is_open, self._interpreter)
            self._engine.__enter__()
            ready = self._engine.wait_ready()
            if isinstance(ready, Tape):
                self.problem = ready.error.message if ready.error else "there is no engine"
                return ready, None
        tape = self._engine.record(run, None)
        outcome = self._engine.outcome
        if self._engine.spent or tape.status in ("died", "timeout"):
            self._end()
        return tape, outcome

    def _end(self) -> None:
        if self._engine is not None:
            self._engine.__exit__()
            self._engine = None


def full_device_name(device: str) -> str:
    """Return a device with its index: CUDA means the first one."""
    return "cuda:0" if device == "cuda" else device


class NoReply(Exception):
    """No message arrived before the deadline."""


class EngineGone(NoReply):
    """The engine has ended, so no message will arrive."""


class BlockingEngine:
    """An engine process with blocking reads; leaving the context kills it."""

    def __init__(
        self,
        is_open: bool = False,
        interpreter: Interpreter | None = None,
        linger: float = launch.LINGER_S,
    ) -> None:
        """Start an engine; one on another machine stays for ``linger`` seconds without a line.

        Raises:
            UnusablePython: no Python with PyTorch is known.
        """
        self._interpreter = interpreter = own_engine.resolve(interpreter)
        self._is_lost = False
        """True while there is no line to its machine."""
        self._process = subprocess.Popen(
            [
                launch.python_executable(interpreter),
                *launch.process_arguments(interpreter, linger),
                launch.ALONE,
                *([launch.OPEN] if is_open else []),
            ],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=launch.environment(is_open, interpreter),
            bufsize=0,
            # Keep Ctrl-C in the terminal from the engine, which would print a traceback.
            start_new_session=True,
        )
        self._messages: queue.Queue[messages.Reply | None] = queue.Queue()
        self._errors = bytearray()
        self._printed: list[str] = []
        self._at: CurrentLine | None = None
        self._fault = ""
        """Reason why its messages are ignored; empty while they are not."""
        self.away = 0.0
        """Seconds without a line to its machine."""
        self.spent = False
        """True if the last program left state behind that would affect the next one."""
        self.outcome: Outcome | None = None
        """The outcome of the last program, if that was asked for and it ended by itself."""
        self._threads = [
            threading.Thread(target=work, daemon=True)
            for work in (self._listen, self._forward_errors)
        ]

    def __enter__(self) -> Self:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *exc: object) -> None:
        self._end_far()
        launch.kill(self._process.pid)
        self._process.kill()
        self._process.wait()
        for thread in self._threads:
            thread.join()
        for pipe in (self._process.stdin, self._process.stdout, self._process.stderr):
            assert pipe is not None
            pipe.close()

    def _end_far(self) -> None:
        """End an engine on another machine, whose process here is about to be killed."""
        if self._process.poll() is None and launch.end(self._process.pid, self._interpreter):
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(FAR_END_S)

    def wait_ready(self) -> messages.Ready | Tape:
        """Wait for the engine; return a tape with the reason if it does not start."""
        deadline = time.monotonic() + READY_S
        try:
            while not isinstance(message := self.next(deadline), messages.Ready):
                pass
        except NoReply:
            self._await_end(launch.ABORT_S)
            why = self._refusal() or f"The engine does not start ({self.exit_reason()})"
            return Tape(status="died", error=Problem("EngineDied", why))
        return message

    def record(self, run: messages.Run, printed: Callable[[str], None] | None) -> Tape:
        """Send a program and wait for its tape; kill it if it is late."""
        self._printed.clear()
        self._at = self.outcome = None
        self.send(run)
        spent = self._count_time(run.timeout + launch.grace(self._interpreter))
        room, ended = PRINTED_LIMIT, False
        try:
            while room >= 0:
                match self._next_within(spent):
                    case messages.Recorded(run.run_id, tape, spent=is_spent, outcome=outcome):
                        self.spent, self.outcome = is_spent, outcome
                        return launch.with_far_hint(tape, self._interpreter)
                    case messages.Ended(run.run_id) if not ended:
                        spent, ended = self._count_time(FREEZE_S), True
                    case CurrentLine(run.run_id) as at:
                        self._at = at
                    case messages.Printed(run.run_id, text):
                        room -= len(text)
                        self._printed.append(text)
                        if printed is not None:
                            printed(text)
            self._fault = ENDLESS
            return self._failed_tape(run, late=False)
        except NoReply as silence:
            late = not isinstance(silence, EngineGone)
            return self._failed_tape(run, late=late, ended=ended)

    def numbers(self, run_id: int, tape: Tape, budget: int) -> dict[int, Snapshot]:
        """Return the numbers of tensors that the tape of the last run only summarizes.

        They are as many as ``budget`` bytes hold and the engine still has.
        """
        found: dict[int, Snapshot] = {}
        for at in tape_file.summarized(tape, budget)[0]:
            try:
                self.send(messages.Peek(run_id, at, MAX_PEEKED))
                spent = self._count_time(NUMBERS_S)
                while not isinstance(reply := self._next_within(spent), messages.Peeked):
                    pass
            except NoReply:
                return found
            if reply.full is not None and reply.full.data is not None:
                found[at] = reply.full
        return found

    def _count_time(self, seconds: float) -> SpentTime:
        """Return a time limit of the engine from now on, without its waits for a processor."""
        return SpentTime(seconds, self._process.pid)

    def _next_within(self, spent: SpentTime) -> messages.Reply:
        """Return the next message; see `next`."""
        while (left := spent.left()) > 0:
            away = self.away
            try:
                return self.next(time.monotonic() + left)
            except EngineGone:
                raise
            except NoReply:
                continue
            finally:
                spent.limit += self.away - away
        raise NoReply

    def _failed_tape(self, run: messages.Run, late: bool, ended: bool = False) -> Tape:
        aborted = late and launch.abort(self._process.pid)
        self._await_end(launch.ABORT_S if aborted or late else launch.GRACE_S)
        who = run.source, run.filename
        stdout, at = "".join(self._printed), self._at
        if late and ended:
            return launch.unfinished_tape(FREEZE_S, stdout)
        if late:
            return launch.timeout_tape(*who, run.timeout, self._error_tail(), stdout, at=at)
        return launch.crash_tape(*who, self.exit_reason(), self._error_tail(), stdout, at)

    def _await_end(self, seconds: float) -> None:
        is_far = self._interpreter is not None and bool(self._interpreter.host)
        try:
            self._process.wait(max(seconds, FAR_END_S) if is_far else seconds)
        except subprocess.TimeoutExpired:
            self._end_far()
            self._process.kill()
            self._process.wait()
        self._threads[1].join(seconds)

    def _refusal(self) -> str:
        """Return the reason why there is no engine on another machine; empty if there was one."""
        return launch.refusal(self._process.wait(), self._interpreter, self._error_tail())

    def exit_reason(self) -> str:
        """Wait for its end and return a short reason for it."""
        code = self._process.wait()
        return self._fault or launch.exit_reason(abs(code), code < 0, self._error_tail())

    def _error_tail(self) -> str:
        return self._errors[-launch.TAIL :].decode("utf-8", "replace")

    def send(self, message: messages.Request) -> None:
        """Send a request; `next` raises if the engine is gone."""
        assert self._process.stdin is not None
        try:
            for frame in frames.encode_frames(message):
                self._process.stdin.write(frame)
        except OSError:
            self._messages.put(None)

    def next(self, deadline: float) -> messages.Reply:
        """Return the next message. Raises `NoReply` past the deadline, `EngineGone` if it ended.

        Time without a line to its machine does not count.
        """
        while True:
            # Without a line it ends by itself if that stays so.
            left = None if self._is_lost else max(0.0, deadline - time.monotonic())
            try:
                message = self._messages.get(timeout=left)
            except queue.Empty:
                raise NoReply from None
            if message is None:
                raise EngineGone
            if not isinstance(message, messages.LineState):
                return message
            self._is_lost = not message.is_up
            deadline += message.seconds
            self.away += message.seconds
            _report_line(message)

    def _listen(self) -> None:
        reader = frames.MessageReader[messages.Reply](messages.Reply)  # type: ignore[arg-type]
        try:
            while data := _read(self._process.stdout):
                # A tape is a million objects that all stay alive.
                with without_gc():
                    for message in reader.feed(data):
                        self._messages.put(message)
        except frames.ProtocolError:
            self._fault = GARBAGE
        self._messages.put(None)

    def _forward_errors(self) -> None:
        """Forward standard error of the scripts, but no crash dump."""
        crashed = False
        while data := _read(self._process.stderr):
            self._errors += data
            del self._errors[: -launch.TAIL]
            before, fatal, _ = data.partition(b"Fatal Python error")
            if not crashed:
                sys.stderr.write(before.decode("utf-8", "replace"))
                sys.stderr.flush()
            crashed = crashed or bool(fatal)


def _report_line(line: messages.LineState) -> None:
    """Report on standard error that the line is lost, or there again."""
    text = f"{line.host} is there again" if line.is_up else f"line lost, trying again ({line.why})"
    sys.stderr.write(f"gradscribe: {text}\n")
    sys.stderr.flush()


def _read(pipe: IO[bytes] | None) -> bytes:
    assert pipe is not None
    return pipe.read(READ) or b""
