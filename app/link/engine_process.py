"""An engine process: a QProcess that exchanges `engine.protocol.frames` messages."""

import math
from collections import deque
from collections.abc import Iterator, Sequence
from itertools import chain

from PySide6.QtCore import QElapsedTimer, QObject, QProcess, QProcessEnvironment, QTimer, Signal

from gradscribe.app.link import launch, own_engine
from gradscribe.app.link.far_engine import FarEngine, new_session
from gradscribe.app.link.interpreters import Interpreter, UnusablePython
from gradscribe.app.link.remote import sent_files
from gradscribe.engine.protocol import frames as protocol_frames
from gradscribe.engine.protocol import messages
from gradscribe.playback.translation import tr
from gradscribe.widgets.base.single_shot import single_shot

CLOSE_MS = 500
"""Time an engine gets to quit before it is killed."""
KILL_MS = 2000
FAR_END_MS = 4000
"""Time that an engine on another machine gets to end, and to say so."""
BOOT_S = 90.0
"""Seconds an engine may take to become ready; past that it is stuck: stopped from outside, or
waiting for a disk that does not answer."""
SLICE_MS = 15
"""Time slice for handling messages before control returns to the event loop."""
DONE = object()
MAX_PIPE_BYTES = 4 << 20
"""Most bytes in the pipe's buffer; further frames are queued in this process."""
MAX_BACKLOG = 64 << 20
"""Most unread bytes from an engine; one that sends more is broken or hijacked."""


class EngineProcess(QObject):
    """An engine process; after `start`, `received` carries messages until `ended` is emitted."""

    received = Signal(object)
    ended = Signal(str)
    """Carries a short reason; emitted once, never after `discard` or `close`."""

    def __init__(
        self,
        parent: QObject,
        spare: bool = False,
        is_open: bool = False,
        arguments: Sequence[str] | None = None,
        interpreter: Interpreter | None = None,
        linger: float = launch.LINGER_S,
        left: FarEngine | None = None,
    ) -> None:
        """Prepare an engine.

        ``arguments`` of the interpreter: those of another process that speaks the protocol;
        ``interpreter``: another Python than this process's;
        ``linger``: seconds for which one on another machine stays without a line;
        ``left``: one that runs there already, and is ready.
        """
        super().__init__(parent)
        self.is_open = is_open
        """True if its programs have all of the user's permissions."""
        self.interpreter = interpreter if left is None else left.python
        self._session = left.session if left is not None else new_session()
        self.folder: str | None = None
        """The folder that its programs may read; None until one is assigned."""
        self.ready: messages.Ready | None = left.ready if left is not None else None
        """Its `Ready` message; None before it takes requests."""
        self.errors = ""
        """The end of its standard error."""
        self._over = False
        self._silenced = False
        self._reader = protocol_frames.MessageReader[messages.Reply](messages.Reply)  # type: ignore[arg-type]
        self._messages: Iterator[messages.Reply | None] = iter(())
        self._backlog = bytearray()
        self._turn = single_shot(self, self._take)
        self._boot = single_shot(self, lambda: self._end(tr("it does not get ready")))
        self._sent = self._stamp()
        self._process = process = QProcess(self)
        self._refusal = ""
        """Reason why no Python can run it, or can have the engine's source; empty if one can."""
        python = interpreter if arguments is not None else self._resolved()
        process.setProgram(launch.python_executable(python))
        engine = launch.process_arguments(
            python, linger, arguments, self._session, left is not None
        )
        process.setArguments([*engine, *[launch.SPARE] * spare, *[launch.OPEN] * is_open])
        process.setProcessEnvironment(self._environment(python))
        self._outgoing: deque[Iterator[bytes]] = deque()
        self._pid = 0
        self._connect()

    def _connect(self) -> None:
        process = self._process
        process.bytesWritten.connect(self._write)
        process.started.connect(self._note_pid)
        process.readyReadStandardOutput.connect(self._read)
        process.readyReadStandardError.connect(self._read_errors)
        process.finished.connect(self._finish)
        process.errorOccurred.connect(self._fail)

    def _stamp(self) -> object:
        """Return what changes with the files that are sent to another machine."""
        return sent_files.stamp(self.interpreter.sent) if self.interpreter is not None else ()

    def _resolved(self) -> Interpreter | None:
        try:
            return own_engine.resolve(self.interpreter)
        except UnusablePython as refusal:
            self._refusal = str(refusal)
            return None

    def _environment(self, python: Interpreter | None) -> QProcessEnvironment:
        made = QProcessEnvironment()
        try:
            variables = launch.environment(self.is_open, python)
        except UnusablePython as refusal:
            variables, self._refusal = {}, str(refusal)
        for name, text in variables.items():
            made.insert(name, text)
        return made

    @property
    def is_refused(self) -> bool:
        """True if no Python can run it: another try would end the same way."""
        return bool(self._refusal)

    @property
    def is_far(self) -> bool:
        """True for an engine on another machine."""
        return self.interpreter is not None and bool(self.interpreter.host)

    @property
    def far(self) -> FarEngine | None:
        """The engine as the next window finds it; None if it is not ready, or on this machine."""
        python, ready = self.interpreter, self.ready
        if self._over or python is None or not python.host or ready is None:
            return None
        from gradscribe.app.link.remote.connection import engine_hash

        return FarEngine(python, self._session, ready, engine_hash())

    @property
    def is_ready(self) -> bool:
        """True once it takes requests."""
        return self.ready is not None

    def fits(self, folder: str, is_open: bool, interpreter: Interpreter | None) -> bool:
        """Return whether a program of that folder can run in it."""
        if self.is_open != is_open or self.interpreter != interpreter:
            return False
        if self._sent != self._stamp():
            return False  # A file has changed since it was sent.
        return is_open or self.folder in (None, folder)

    def start(self) -> None:
        """Start the process; `received` carries `protocol_frames.Ready` when it takes requests."""
        if self._refusal:
            self._boot.stop()
            QTimer.singleShot(0, self, lambda: self._end(self._refusal))
        else:
            self._process.start()

    def await_ready(self) -> None:
        """Start the timeout after which an engine that is not ready counts as dead."""
        if not self.is_ready:
            self._boot.start(round(1000 * BOOT_S))

    def send(self, message: messages.Request) -> None:
        """Write a message; it waits in the pipe until the engine reads it."""
        if not self._over:
            if self.folder is None:
                self.folder = ""
            frames = protocol_frames.encode_frames(message)
            # Make the first frame now, so that a message that is too long raises in the caller.
            self._outgoing.append(chain((next(frames),), frames))
            self._write()

    def _write(self) -> None:
        """Write up to `MAX_PIPE_BYTES` bytes to the pipe; the rest follows as the pipe drains."""
        while self._outgoing and self._process.bytesToWrite() < MAX_PIPE_BYTES:
            frame = next(self._outgoing[0], None)
            if frame is None:
                self._outgoing.popleft()
            else:
                self._process.write(frame)

    def pid(self) -> int:
        """Return the process id, 0 if there is no process."""
        return self._process.processId()

    def abort(self) -> None:
        """Make it dump its traceback to standard error and die; `ended` follows."""
        if not launch.abort(self.pid()):
            self._kill()

    def discard(self) -> None:
        """Kill it without waiting and ignore its messages; the object deletes itself later."""
        self._silence()
        if self._process.state() == QProcess.ProcessState.NotRunning:
            self.deleteLater()
            return
        self._process.finished.connect(self.deleteLater)
        self._kill()

    def leave(self) -> None:
        """Let one on another machine go on without this window, once it has what was sent."""
        process = self._process
        for frame in chain.from_iterable(self._outgoing):
            process.write(frame)
        self._silence()
        process.closeWriteChannel()
        if process.state() != QProcess.ProcessState.NotRunning:
            process.waitForFinished(FAR_END_MS)
        launch.kill(self._pid)
        self.deleteLater()

    def close(self) -> None:
        """Ask it to quit, kill it after `CLOSE_MS`, and wait for its end."""
        self._silence()
        process = self._process
        if process.state() != QProcess.ProcessState.NotRunning:
            if process.state() == QProcess.ProcessState.Running and self.is_ready:
                for frame in protocol_frames.encode_frames(messages.Quit()):
                    process.write(frame)
                process.closeWriteChannel()
                process.waitForFinished(FAR_END_MS if self.is_far else CLOSE_MS)
            if process.state() != QProcess.ProcessState.NotRunning:
                self._kill()
                process.waitForFinished(KILL_MS)
            launch.kill(self._pid)
        self.deleteLater()

    def _kill(self) -> None:
        if launch.end(self._pid, self.interpreter):
            QTimer.singleShot(FAR_END_MS, self._process, self._process.kill)
            return
        launch.kill(self._pid)
        self._process.kill()

    def _note_pid(self) -> None:
        # Stored, because processes that a program started may outlive the engine.
        self._pid = self._process.processId()

    def _silence(self) -> None:
        self._over = True
        self._turn.stop()
        self._boot.stop()
        self._outgoing.clear()
        if self._silenced:
            return
        self._silenced = True
        self._process.bytesWritten.disconnect(self._write)
        self._process.readyReadStandardOutput.disconnect(self._read)
        self._process.readyReadStandardError.disconnect(self._read_errors)
        self._process.finished.disconnect(self._finish)
        self._process.errorOccurred.disconnect(self._fail)

    def _read(self) -> None:
        self._backlog += bytes(self._process.readAllStandardOutput().data())
        if len(self._backlog) > MAX_BACKLOG:
            self._end(launch.ENDLESS)
        elif not self._turn.isActive():
            # Handle it from the event loop: painting or layout may be in progress.
            self._turn.start(0)

    def _take(self, turn_ms: float = SLICE_MS) -> None:
        """Handle as many messages as fit into one time slice."""
        since = QElapsedTimer()
        since.start()
        try:
            while not self._over:
                message = next(self._messages, DONE)
                if message is DONE:
                    if not self._backlog:
                        return
                    data, self._backlog = bytes(self._backlog), bytearray()
                    self._messages = self._reader.feed_incrementally(data)
                    continue
                if isinstance(message, messages.Ready):
                    self.ready = message
                    self._boot.stop()
                if message is not None:
                    self.received.emit(message)
                if since.elapsed() >= turn_ms:
                    self._turn.start(0)
                    return
        except protocol_frames.ProtocolError:
            self._end(launch.GARBAGE)

    def _read_errors(self) -> None:
        data = bytes(self._process.readAllStandardError().data())
        text = data[-launch.TAIL :].decode("utf-8", "replace")
        self.errors = (self.errors + text)[-launch.TAIL :]

    def _finish(self, code: int, status: QProcess.ExitStatus) -> None:
        # The last output may arrive together with the end of the process.
        launch.kill(self._pid)
        self._turn.stop()
        self._backlog += bytes(self._process.readAllStandardOutput().data())
        self._take(math.inf)
        self._read_errors()
        refusal = launch.refusal(code, self.interpreter, self.errors)
        crashed = status == QProcess.ExitStatus.CrashExit
        self._end(refusal or launch.exit_reason(code, crashed, self.errors))

    def _fail(self, error: QProcess.ProcessError) -> None:
        if error == QProcess.ProcessError.FailedToStart:
            self._end(
                tr("it does not start: {errorstring}", errorstring=self._process.errorString())
            )

    def _end(self, why: str) -> None:
        if not self._over:
            self._over = True
            self._boot.stop()
            self.ended.emit(why)
