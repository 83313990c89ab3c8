"""Keys of the modules that a picture can open, level by level."""

from collections.abc import Callable

from gradscribe.engine.protocol.tape import Tape
from gradscribe.playback.graph import build
from gradscribe.playback.graph.picture import Picture
from gradscribe.playback.tape.index import Index
from gradscribe.playback.tape.scenes import Scene

MAX_CARDS = 400
"""Most cards of a picture; expansion stops beyond it, where nothing would be legible."""


def module_keys(picture: Picture) -> frozenset[str]:
    """Return the keys of the modules in a picture, open or folded."""
    folded = {card.key for card in picture.cards if card.kind == "module"}
    return frozenset(folded | {frame.key for frame in picture.frames})


def keys_inside(
    tape: Tape | Index,
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
