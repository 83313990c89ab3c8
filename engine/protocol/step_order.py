"""The order of the statements of a training step: the right one, and what differs from it."""

from collections import Counter
from collections.abc import Sequence
from itertools import groupby

RIGHT_ORDER = ("zero_grad", "forward", "loss", "backward", "step")
MAX_STATEMENTS = 20
"""Maximum number of statements of a step."""
_MOVED_FIRST = ("zero_grad", "step", "backward", "loss", "forward")
"""Statements in the order in which they are named as moved, where two have changed places."""
_TIMES = {2: "twice"}


def describe_order(order: Sequence[str]) -> str:
    """Return what differs from the right order: ``no zero_grad, step twice``; else empty."""
    counts = Counter(order)
    words = [f"no {name}" for name in RIGHT_ORDER if not counts[name]]
    words += [
        f"{name} {_TIMES.get(counts[name], f'{counts[name]} times')}"
        for name in RIGHT_ORDER
        if counts[name] > 1
    ]
    runs = [name for name, _ in groupby(order)]
    if not _is_sorted(runs):
        words.append(_moved(runs))
    return ", ".join(words)


def _is_sorted(names: Sequence[str]) -> bool:
    places = [RIGHT_ORDER.index(name) for name in names]
    return places == sorted(places)


def _moved(names: list[str]) -> str:
    """Return where the statement stands that has moved; the whole order if several have."""
    for name in _MOVED_FIRST:
        for at in (at for at, other in enumerate(names) if other == name):
            if not _is_sorted(names[:at] + names[at + 1 :]):
                continue
            is_late = any(RIGHT_ORDER.index(n) > RIGHT_ORDER.index(name) for n in names[:at])
            if is_late:
                return f"{name} after {names[at - 1]}"
            return f"{name} before {names[at + 1]}"
    return f"order {', '.join(names)}"
