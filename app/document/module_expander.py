"""Find the modules to expand, in a worker thread for big scenes."""

from PySide6.QtCore import QObject, Signal

from gradscribe.app.runtime.worker import BackgroundWorker
from gradscribe.engine.protocol.tape import Tape
from gradscribe.playback.graph.expansion import keys_inside
from gradscribe.playback.tape.scenes import Scene

INLINE_OPS = 600
"""Most ops of a scene that is handled in the GUI thread."""


class ModuleExpander(QObject):
    """Compute the keys of modules to open; only the latest request is answered."""

    found = Signal(object)
    """Carries the keys, a frozenset."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._worker = BackgroundWorker(self)

    def request(self, tape: Tape, scene: Scene, keys: frozenset[str], depth: int | None) -> None:
        """Request `keys_inside` of ``keys``; for a small scene `found` is emitted at once."""
        self.forget()
        if scene.ops[1] - scene.ops[0] <= INLINE_OPS:
            self.found.emit(keys_inside(tape, scene, keys, depth))
        else:
            self._worker.request(
                lambda task: keys_inside(tape, scene, keys, depth, task.is_cancelled),
                lambda result: self.found.emit(result()),
            )

    def forget(self) -> None:
        """Cancel all requests."""
        self._worker.cancel()

    def close(self) -> None:
        """Wait for the worker thread to end."""
        self._worker.close()
