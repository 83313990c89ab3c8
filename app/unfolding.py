"""Which modules are to stand open: worked out from picture to picture, big ones aside."""

from collections.abc import Callable

from PySide6.QtCore import QObject, QRunnable, QThreadPool, Signal

from engine.tape import Tape
from playback import graph
from playback.picture import Picture
from playback.scenes import Scene

MANY_CARDS = 400
"""Opening all modules stops where a picture has more cards than this: it would show nothing."""
INLINE_OPS = 600
"""In a scene of at most so many ops it is worked out at once."""


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

    It goes no deeper past `MANY_CARDS` cards. ``late`` tells that nobody waits any more.
    """
    while not late() and depth != 0:
        picture = graph.build(tape, scene, keys)
        seen = keys | module_keys(picture)
        if seen == keys or len(picture.cards) > MANY_CARDS:
            break
        keys, depth = seen, None if depth is None else depth - 1
    return keys


class _Job(QRunnable):
    """One question, answered on the worker thread."""

    def __init__(self, unfolder: "Unfolder", turn: int, ask: Callable[..., frozenset[str]]) -> None:
        super().__init__()
        self.unfolder, self.turn, self.ask = unfolder, turn, ask

    def run(self) -> None:
        """Answer it, unless something else was asked since."""
        keys = self.ask(late=self._late)
        if not self._late():
            self.unfolder.answered.emit(self.turn, keys)

    def _late(self) -> bool:
        return self.turn != self.unfolder.turn


class Unfolder(QObject):
    """Says which modules to open; only the newest question is answered."""

    found = Signal(object)
    """Carries the keys, a frozenset."""
    answered = Signal(int, object)
    """From the worker thread: the turn and the keys."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.turn = 0
        self._pool = QThreadPool(self)
        self._pool.setMaxThreadCount(1)
        self.answered.connect(self._deliver)

    def want(self, tape: Tape, scene: Scene, keys: frozenset[str], depth: int | None) -> None:
        """Ask for ``keys`` and what `keys_inside` adds; in a small scene `found` comes at once."""
        self.turn += 1

        def ask(late: Callable[[], bool] = lambda: False) -> frozenset[str]:
            return keys_inside(tape, scene, keys, depth, late)

        if scene.ops[1] - scene.ops[0] <= INLINE_OPS:
            self.found.emit(ask())
        else:
            self._pool.start(_Job(self, self.turn, ask))

    def forget(self) -> None:
        """Answer nothing that was asked so far."""
        self.turn += 1

    def _deliver(self, turn: int, keys: frozenset[str]) -> None:
        if turn == self.turn:
            self.found.emit(keys)

    def close(self) -> None:
        """Let the worker thread end."""
        self.forget()
        self._pool.clear()
        self._pool.waitForDone()
