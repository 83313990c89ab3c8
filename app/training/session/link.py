"""The engine process of training, apart from the program's: neither waits for the other."""

from collections.abc import Callable

from PySide6.QtCore import QObject, Signal

from gradscribe.app.link import launch
from gradscribe.app.link.engine_process import EngineProcess
from gradscribe.app.link.far_engine import FarEngine
from gradscribe.app.link.interpreters import Interpreter
from gradscribe.app.link.python_search import python_name
from gradscribe.app.training.setup.file_feed import FileFeed
from gradscribe.engine.protocol import messages
from gradscribe.engine.protocol.training import Detach, TrainRequest
from gradscribe.playback.translation import tr

RESTARTS = 3
"""An engine that dies more often before it is ready is reported as not starting."""


class TrainLink(QObject):
    """One engine process, started when it is first needed, replaced when it dies.

    It runs in `interpreter`, the Python that was chosen last, from the next `renew` on.

    ``lend`` returns a ready engine that is not in use, or None.
    """

    ready = Signal(object)
    """Carries `messages.Ready` each time an engine becomes ready for requests."""
    asked = Signal(object)
    """Carries each request when it is sent to the engine."""
    received = Signal(object)
    """Carries every other message."""
    died = Signal(str)
    """Carries the reason; the next `send` starts another engine."""
    progressed = Signal(str, float)
    """(path, share) of a data file that is being read; 1 when that is over."""

    def __init__(
        self,
        parent: QObject | None = None,
        lend: Callable[[QObject], EngineProcess | None] | None = None,
    ) -> None:
        super().__init__(parent)
        self._lend = lend
        self.interpreter: Interpreter | None = None
        """The Python that new runs train in; None for Gradscribe's own."""
        self.leaves = False
        """True if `close` lets an engine on another machine go on."""
        self._engine: EngineProcess | None = None
        self._waiting: list[TrainRequest] = []
        self.files = FileFeed(self)
        self.files.passed.connect(self._forward)
        self.files.progressed.connect(self.progressed)
        self._last_id = 0
        self._failures = 0

    def next_id(self) -> int:
        """Return a run id that no run has had."""
        self._last_id += 1
        return self._last_id

    def pid(self) -> int:
        """Return the engine's process id, 0 while there is none."""
        return self._engine.pid() if self._engine is not None else 0

    @property
    def is_ready(self) -> bool:
        """True while an engine accepts requests."""
        return self._engine is not None and self._engine.is_ready

    @property
    def far(self) -> FarEngine | None:
        """The engine if it is on another machine and ready."""
        return self._engine.far if self._engine is not None else None

    def start(self) -> None:
        """Start an engine if there is none."""
        if self._engine is not None:
            return
        lend = self._lend if self.interpreter is None else None
        lent = lend(self) if lend is not None else None
        engine = lent or EngineProcess(
            self, interpreter=self.interpreter, linger=launch.TRAINING_LINGER_S
        )
        self._take(engine)
        if engine.ready is None:
            engine.start()
        else:
            self._on_message(engine.ready)

    def adopt(self, left: FarEngine, last_id: int) -> None:
        """Go on with an engine that runs on another machine, in place of the one there is.

        ``last_id``: the greatest id of a run in it.
        """
        self._drop()
        self.interpreter = left.python
        self._last_id = max(self._last_id, last_id)
        engine = EngineProcess(self, linger=launch.TRAINING_LINGER_S, left=left)
        self._take(engine)
        engine.start()
        self._on_message(left.ready)

    def _take(self, engine: EngineProcess) -> None:
        self._engine = engine
        engine.received.connect(self._on_message)
        engine.ended.connect(self.kill)
        engine.await_ready()

    def renew(self) -> None:
        """Drop an engine in another Python than the chosen one; `died` carries a line of it.

        The runs in it are restored in the next one like those of an engine that died.
        """
        if self._engine is not None and self._engine.interpreter != self.interpreter:
            self._drop()
            python = self.interpreter
            where = (
                tr("Python of {python_name}", python_name=python_name(python))
                if python
                else tr("Gradscribe's own Python")
            )
            self.died.emit(tr("Training moved to {where}", where=where))

    def send(self, message: TrainRequest) -> None:
        """Send a request, or queue it until the engine is ready."""
        self.start()
        if self.is_ready:
            self.files.take(message)
        else:
            self._waiting.append(message)

    def kill(self, why: str) -> None:
        """Drop the engine, which does not reply or has ended; report why."""
        if not self._drop():
            return
        self._failures += 1
        does = "ended" if self._failures <= RESTARTS else tr("does not start")
        self.died.emit(tr("The training engine {does} ({why})", does=does, why=why))

    def _drop(self) -> bool:
        """Drop the engine and what waits for it; return whether there was one."""
        engine, self._engine = self._engine, None
        self._waiting.clear()
        self.files.forget()
        if engine is not None:
            engine.discard()
        return engine is not None

    def close(self) -> None:
        """End the engine for good, or leave it."""
        leaves = self.leaves and self.far is not None
        engine, self._engine = self._engine, None
        self._waiting.clear()
        self.files.close()
        if engine is not None and leaves:
            engine.send(Detach())
            engine.leave()
        elif engine is not None:
            engine.close()

    def stop_reading(self) -> None:
        """Stop reading the data file that is being read for the engine."""
        self.files.stop()

    def _forward(self, message: TrainRequest) -> None:
        if self._engine is not None:
            self._engine.send(message)
            self.asked.emit(message)

    def _on_message(self, message: object) -> None:
        if isinstance(message, messages.Ready):
            self._failures = 0
            self.ready.emit(message)
            waiting, self._waiting = self._waiting, []
            for request in waiting:
                self.send(request)
        else:
            self.received.emit(message)
