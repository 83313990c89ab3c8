"""How often each view of a run that plays is made: they take a bounded share of time."""

from collections.abc import Iterable

BUDGET = {"reference": 0.015, "captured": 0.1}
"""The share of the time that the views of a run may take, by its mode: the captured mode has the
time to spare, the reference mode is to be as quick as the plain loop."""
STALE_S = 1.5
"""So long at most a cheap view is not made anew, however many others there are."""
MOST = 0.003
"""The greatest share that a view takes for the sake of `STALE_S`."""


class Pace:
    """Remembers what each view costs and when it may be made again."""

    def __init__(self) -> None:
        self._costs: dict[str, float] = {}
        self._due: dict[str, float] = {}
        self._wanted: dict[str, float] = {}

    def want(self, wanted: dict[str, float]) -> None:
        """Take the views that are wanted, each with the seconds between two at least.

        Each may be made at once.
        """
        self._wanted = dict(wanted)
        self._due = {}

    def is_due(self, key: str, now: float) -> bool:
        """Whether a view may be made at ``now``, in seconds of any clock."""
        return now >= self._due.get(key, 0.0)

    def made(self, key: str, cost: float, now: float, budget: float) -> None:
        """Note that a view was begun at ``now`` and took ``cost``; decide when it is due again.

        The first of its kind costs far more than those that follow, so a second is made soon.
        """
        before, every = self._costs.get(key), self._wanted.get(key, 0.0)
        if before is None or cost < before:
            self._costs[key] = cost
        else:
            # One dear picture among cheap ones was the machine's doing.
            self._costs[key] = min(cost, 1.5 * before)
        cost = self._costs[key]
        share = level([(c, self._wanted[k]) for k, c in self._costs.items() if k in self._wanted],
                      budget)  # fmt: skip
        longest = STALE_S if before is None else max(STALE_S, cost / MOST)
        rest = max(every, min(cost / share, longest))
        # A little late is not made later still: else it would miss every second of regular turns.
        self._due[key] = max(self._due.get(key, now), now - rest / 4) + rest

    def never(self, key: str) -> None:
        """Note that a view cannot be made of this run."""
        self._due[key] = float("inf")


def level(loads: Iterable[tuple[float, float]], budget: float) -> float:
    """Return the share of the time that each view may take so that all stay within ``budget``.

    ``loads``: what each costs and how often it is wanted, in seconds. Who wants less than an equal
    share leaves the rest to the others.
    """
    shares = sorted(cost / every if every > 0 else 1.0 for cost, every in loads)
    for at, share in enumerate(shares):
        equal = budget / (len(shares) - at)
        if share > equal:
            return equal
        budget -= share
    return 1.0
