"""Find the modules to expand, in a worker thread for big scenes."""

from collections.abc import Callable

from PySide6.QtCore import QObject, Signal

from gradscribe.app.runtime.worker import BackgroundWorker
from gradscribe.engine.protocol.tape import Tape
from gradscribe.playback.graph import build
from gradscribe.playback.graph.picture import Picture
from gradscribe.playback.tape.scenes import Scene

MAX_CARDS = 400
"""Most cards of a picture; expansion stops beyond it, where nothing would be legible."""
INLINE_OPS = 600
"""Most ops of a scene that is handled in the GUI thread."""


def module_keys(picture: Picture) -> frozenset[str]:
    """Return the keys of the modules in a picture, open or folded."""
    folded = {card.key for card in picture.cards if card.kind == "module"}
    return frozenset(folded | {frame.key for frame in picture.frames})


def keys_inside(
    tape: Tape,
    scene: Scene,
    keys: frozenset[str] = frozenset(),
    depth: int | None = None,
    late: Callable[[], bool] = lambda: False,
) -> frozenset[str]:
    """Return ``keys`` and those of the modules inside, ``depth`` levels deep or all of them.

    It goes no deeper past `MAX_CARDS` cards. ``late`` returns whether to cancel.
    """
    while not late() and depth != 0:
        picture = build.build_picture(tape, scene, keys)
        seen = keys | module_keys(picture)
        if seen == keys or len(picture.cards) > MAX_CARDS:
            break
        keys, depth = seen, None if depth is None else depth - 1
    return keys


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
