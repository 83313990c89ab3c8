"""The connection to the language process: started when it is needed, replaced when it fails."""

import contextlib
import time
from collections import deque

from PySide6.QtCore import QObject, Signal

from gradscribe.app.link import launch, own_engine
from gradscribe.app.link.engine_process import EngineProcess
from gradscribe.app.link.interpreters import Interpreter, UnusablePython
from gradscribe.engine.protocol import messages
from gradscribe.engine.protocol.language import LanguageReply, LanguageRequest
from gradscribe.engine.protocol.processor_waits import SpentTime
from gradscribe.playback.translation import tr
from gradscribe.widgets.base.single_shot import single_shot

ANSWER_S = 30.0
"""Seconds within which a process must answer; it may be reading torch on a busy machine."""
RESTARTS = 3
RESTART_WINDOW_S = 120.0
"""Seconds in which a process that dies is restarted at most `RESTARTS` times."""
AGAIN_MS = 500
"""Delay before a process that died is replaced."""


class LanguageLink(QObject):
    """Owns the language process. A request that it does not survive is not repeated."""

    received = Signal(object)
    """Carries every `LanguageReply`."""
    ready_changed = Signal(bool)
    """There is a process that answers, or there is none any more."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._process: EngineProcess | None = None
        self._folder = ""
        self._interpreter: Interpreter | None = None
        self._wanted = False
        self._starts: deque[float] = deque()
        self._open: set[int] = set()
        """Serial numbers of requests that have no answer."""
        self._spent: SpentTime | None = None
        self._limit = single_shot(self, self._on_silence)
        self._again = single_shot(self, self._start, AGAIN_MS)

    @property
    def is_ready(self) -> bool:
        """True while there is a process that answers."""
        return self._process is not None and self._process.is_ready

    def pid(self) -> int:
        """Return the process id, 0 if there is no process."""
        return self._process.pid() if self._process is not None else 0

    def start(self) -> None:
        """Start the process unless there is one, or too little memory."""
        self._wanted = True
        if self._process is None and not self._again.isActive():
            self._start()

    def set_place(self, folder: str, interpreter: Interpreter | None = None) -> None:
        """Set the folder whose modules programs import, and the Python whose packages.

        A running process is replaced.
        """
        if interpreter is not None and interpreter.host:
            interpreter = None  # Its files are on another machine; names of torch are known here.
        with contextlib.suppress(UnusablePython):
            interpreter = own_engine.resolve(interpreter)
        if (folder, interpreter) != (self._folder, self._interpreter):
            self._folder, self._interpreter = folder, interpreter
            if self._process is not None:
                self._drop()
                self._start()

    def ask(self, request: LanguageRequest) -> None:
        """Send a request; it is dropped if there is no process."""
        if self._process is not None and self._process.is_ready:
            if not self._open:
                self._start_limit()
            self._open.add(request.serial)
            self._process.send(request)

    def close(self) -> None:
        """End the process; `start` may follow."""
        self._wanted = False
        self._again.stop()
        process, self._process = self._process, None
        self._forget()
        if process is not None:
            process.close()

    def _start(self) -> None:
        if not self._wanted or launch.free_memory() < launch.SPARE_BYTES:
            return
        self._starts.append(time.monotonic())
        process = EngineProcess(self, arguments=self._arguments())
        process.received.connect(self._take)
        process.ended.connect(self._on_lost)
        process.start()
        process.await_ready()
        self._process = process

    def _arguments(self) -> list[str]:
        try:
            python = own_engine.resolve(self._interpreter)
            return launch.language_arguments(self._folder, python)
        except UnusablePython:
            # The run says why; the names of this process's packages are better than none.
            return launch.language_arguments(self._folder)

    def _take(self, message: object) -> None:
        if isinstance(message, messages.Ready):
            self.ready_changed.emit(True)
        elif isinstance(message, LanguageReply):
            serial = getattr(message, "serial", 0)
            # Of several requests of a kind only the newest is answered.
            self._open = {waiting for waiting in self._open if waiting > serial}
            if self._open and serial:
                self._start_limit()
            elif not self._open:
                self._limit.stop()
            self.received.emit(message)

    def _start_limit(self) -> None:
        """Start the time limit of an answer, which leaves out waits for a processor."""
        self._spent = SpentTime(ANSWER_S, self.pid())
        self._limit.start(round(1000 * ANSWER_S))

    def _on_silence(self) -> None:
        left = self._spent.left() if self._spent is not None else 0.0
        if left > 0:
            self._limit.start(round(1000 * left))
        elif self._process is not None:
            self._on_lost(tr("it does not answer"))

    def _on_lost(self, _why: str) -> None:
        self._drop()
        now = time.monotonic()
        while self._starts and now - self._starts[0] > RESTART_WINDOW_S:
            self._starts.popleft()
        wait_ms = AGAIN_MS if len(self._starts) <= RESTARTS else round(1000 * RESTART_WINDOW_S)
        self._again.start(wait_ms)

    def _drop(self) -> None:
        process, self._process = self._process, None
        was_ready = process is not None and process.is_ready
        self._forget()
        if process is not None:
            process.discard()
        if was_ready:
            self.ready_changed.emit(False)

    def _forget(self) -> None:
        self._open.clear()
        self._limit.stop()
