"""The fold states of a scene that a page holds: which modules are open together.

Every state is laid out here, as in the window, because the layout is too big for a page. There are
more states than a file can hold, so a page has those of the window, all folded and all open, one
for each module (itself and the modules around it open), then combinations as long as they fit. In
the page a fold leads to the stored state that differs least.
"""

from collections import deque
from collections.abc import Iterator

from gradscribe.playback.graph.build import build_picture
from gradscribe.playback.graph.expansion import keys_inside, module_keys
from gradscribe.playback.graph.picture import Picture
from gradscribe.playback.tape.index import Index
from gradscribe.playback.tape.scenes import Scene

Keys = frozenset[str]
COMBINED_CARDS = 300
"""Cards of all states of a scene above which no more combinations are added."""


def open_keys(picture: Picture) -> Keys:
    """Return the keys of the open modules of a picture."""
    return frozenset(frame.key for frame in picture.frames)


def fold_states(index: Index, scene: Scene, most: int) -> tuple[dict[Keys, Picture], Keys]:
    """Return states by their open modules, that of the window first, and the modules left out.

    ``most`` limits the cards of all states together; the first is always there.
    """
    usual = build_picture(index, scene)
    found = {open_keys(usual): usual}
    known = set(module_keys(usual))
    left = most - len(usual.cards)
    for keys in _wanted(index, scene, found, known):
        if keys in found:
            continue
        picture = build_picture(index, scene, keys)
        known |= module_keys(picture)
        if open_keys(picture) in found:
            continue
        if len(picture.cards) > left:
            break
        left -= len(picture.cards)
        found[open_keys(picture)] = picture
    # A module is foldable in one state if it is open there, and there is a state without it.
    return found, frozenset(known) - frozenset().union(*found)


def _wanted(
    index: Index, scene: Scene, found: dict[Keys, Picture], known: set[str]
) -> Iterator[Keys]:
    """Yield the keys of states, the most useful first; ``found`` and ``known`` grow meanwhile."""
    if not known:
        return
    yield frozenset()
    yield keys_inside(index, scene)
    waiting: deque[Keys] = deque([frozenset()])
    covered: set[str] = set()
    while waiting:
        around = waiting.popleft()
        for key in sorted(_folded(found.get(around)) - covered):
            covered.add(key)
            yield around | {key}
            waiting.append(around | {key})
    tried = 0
    while tried < len(found) and sum(len(p.cards) for p in found.values()) < COMBINED_CARDS:
        keys = list(found)[tried]
        for key in sorted(module_keys(found[keys])):
            yield keys ^ {key}
        tried += 1


def _folded(picture: Picture | None) -> set[str]:
    cards = () if picture is None else picture.cards
    return {card.key for card in cards if card.kind == "module"}
