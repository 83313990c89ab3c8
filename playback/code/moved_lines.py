"""Lines of a text found again in an earlier version of it."""

from collections.abc import Collection


def in_earlier_text(lines: Collection[int], now: str, then: str) -> frozenset[int]:
    """Return where ``lines`` of the text ``now`` (from 1) were in ``then``.

    Lines before and after what was changed keep their text; of the changed part itself the lines
    are matched only if their number is the same.
    """
    if now == then:
        return frozenset(lines)
    new, old = now.split("\n"), then.split("\n")
    shared = min(len(new), len(old))
    head = next((k for k in range(shared) if new[k] != old[k]), shared)
    most = shared - head
    tail = next((k for k in range(most) if new[-1 - k] != old[-1 - k]), most)
    by = len(old) - len(new)
    moved = {
        line if line <= head or by == 0 else line + by
        for line in lines
        if line <= head or line > len(new) - tail or by == 0
    }
    return frozenset(moved)
