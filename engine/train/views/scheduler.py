"""Schedule the views of a playing run so that they take a bounded share of time."""

from collections.abc import Iterable

BUDGET = {"reference": 0.015, "captured": 0.1}
"""Share of the time for all views, by mode: captured mode has time to spare, reference mode must be
as fast as the plain loop."""
STALE_S = 1.5
"""Maximum age in seconds of a cheap view, however many other views there are."""
MOST = 0.003
"""Maximum share of the time for a view that is computed because of `STALE_S`."""


class ViewScheduler:
    """Scheduler of views by their measured costs."""

    def __init__(self) -> None:
        self._costs: dict[str, float] = {}
        self._due: dict[str, float] = {}
        self._wanted: dict[str, float] = {}

    def set_intervals(self, wanted: dict[str, float]) -> None:
        """Set the requested views with their minimum intervals in seconds; all are due at once."""
        self._wanted = dict(wanted)
        self._due = {}

    def is_due(self, key: str, now: float) -> bool:
        """Return whether a view is due at ``now``, in seconds of any clock."""
        return now >= self._due.get(key, 0.0)

    def record_cost(self, key: str, cost: float, now: float, budget: float) -> None:
        """Record that a view was begun at ``now`` and took ``cost``; set when it is due again.

        The first of a kind costs far more than the following, so the second comes soon.
        """
        before, every = self._costs.get(key), self._wanted.get(key, 0.0)
        if before is None or cost < before:
            self._costs[key] = cost
        else:
            # A single slow view among fast ones was delayed by the system.
            self._costs[key] = min(cost, 1.5 * before)
        cost = self._costs[key]
        loads = [(c, self._wanted[k]) for k, c in self._costs.items() if k in self._wanted]
        share = fair_share(loads, budget)
        longest = STALE_S if before is None else max(STALE_S, cost / MOST)
        rest = max(every, min(cost / share, longest))
        # A slightly late view keeps its rhythm: else it would miss every second regular turn.
        self._due[key] = max(self._due.get(key, now), now - rest / 4) + rest

    def disable(self, key: str) -> None:
        """Mark a view as not applicable to this run."""
        self._due[key] = float("inf")


def fair_share(loads: Iterable[tuple[float, float]], budget: float) -> float:
    """Return the share of the time that each view may take so that all stay within ``budget``.

    ``loads``: cost and interval of each view, in seconds. Views that need less than an equal share
    leave the rest to the others (max-min fairness).
    """
    shares = sorted(cost / every if every > 0 else 1.0 for cost, every in loads)
    for at, share in enumerate(shares):
        equal = budget / (len(shares) - at)
        if share > equal:
            return equal
        budget -= share
    return 1.0
