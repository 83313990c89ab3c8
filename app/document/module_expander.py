"""Find the modules to expand, in a worker thread for big scenes."""

from collections.abc import Callable

from PySide6.QtCore import QObject, QRunnable, QThreadPool, Signal

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


class _Job(QRunnable):
    """One request, processed in the worker thread."""

    def __init__(
        self, unfolder: "ModuleExpander", turn: int, ask: Callable[..., frozenset[str]]
    ) -> None:
        super().__init__()
        self.unfolder, self.turn, self.ask = unfolder, turn, ask

    def run(self) -> None:
        """Compute the keys, unless a newer request was made."""
        keys = self.ask(late=self._late)
        if not self._late():
            self.unfolder.answered.emit(self.turn, keys)

    def _late(self) -> bool:
        return self.turn != self.unfolder.turn


class ModuleExpander(QObject):
    """Compute the keys of modules to open; only the latest request is answered."""

    found = Signal(object)
    """Carries the keys, a frozenset."""
    answered = Signal(int, object)
    """Emitted in the worker thread: number of the request and the keys."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.turn = 0
        self._pool = QThreadPool(self)
        self._pool.setMaxThreadCount(1)
        self.answered.connect(self._deliver)

    def request(self, tape: Tape, scene: Scene, keys: frozenset[str], depth: int | None) -> None:
        """Request `keys_inside` of ``keys``; for a small scene `found` is emitted at once."""
        self.turn += 1

        def ask(late: Callable[[], bool] = lambda: False) -> frozenset[str]:
            return keys_inside(tape, scene, keys, depth, late)

        if scene.ops[1] - scene.ops[0] <= INLINE_OPS:
            self.found.emit(ask())
        else:
            self._pool.start(_Job(self, self.turn, ask))

    def forget(self) -> None:
        """Cancel all requests."""
        self.turn += 1

    def _deliver(self, turn: int, keys: frozenset[str]) -> None:
        if turn == self.turn:
            self.found.emit(keys)

    def close(self) -> None:
        """Wait for the worker thread to end."""
        self.forget()
        self._pool.clear()
        self._pool.waitForDone()
