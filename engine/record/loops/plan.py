"""Choice of the steps of a loop that are recorded in full.

Counted in events and steps, never in time: a program recorded twice has the same tape.
"""

from msgspec import Struct

FIRST_SHARE = 0.4
"""Share of the events that is recorded before steps are left out."""
SPREAD_SHARE = 0.8
"""Share of the events up to which further steps of a loop are recorded in full; what follows the
loop has the rest."""
OWN_SHARE = 0.05
"""Share of the events that each further loop may record before its steps are left out."""
LEAST_STEPS = 3
"""Steps of a loop that are recorded in full before any is left out."""
LAST_STEPS = 2
"""Steps that are recorded in full at the end of a loop, if that can be foreseen."""
LEAST_GAP = 8
"""Fewest steps between two that are recorded in full."""
SPREAD = 4
"""The distance between two steps that are recorded in full is the number of steps divided by it."""


class StepPlan(Struct, frozen=True):
    """A choice of steps, for a limit of events, 0 to record all in full."""

    event_limit: int
    wanted: tuple[int, int, int] | None = None
    """Line of a loop, its first and its last step to record in full; None to spread the steps that
    the limit allows."""

    def events_before(self, events: int) -> int:
        """Return the events at which a loop that begins after ``events`` may leave out steps."""
        if self.wanted is not None:
            return 0
        own = events + OWN_SHARE * self.event_limit
        return int(min(self.event_limit, max(FIRST_SHARE * self.event_limit, own)))

    def next_full(self, line: int, step: int, events: int, cost: int) -> int | None:
        """Return the next step, from ``step`` on, to record in full; None if none is.

        ``line``: of the loop; ``events``: recorded so far; ``cost``: those of a step.
        """
        if self.wanted is not None:
            _, first, last = self.wanted
            return max(step, first) if self.is_wanted(line) and step <= last else None
        if events + cost > SPREAD_SHARE * self.event_limit:
            return None
        return step + max(LEAST_GAP, step // SPREAD)

    def with_last(self, full_at: int | None, step: int, end: int) -> int | None:
        """Return the next step to record in full so that the last ones are, too.

        ``end``: the last step, if nothing ends the loop before.
        """
        first = end - LAST_STEPS + 1
        if first <= step <= end:
            return step
        if step < first:
            return first if full_at is None else min(full_at, first)
        return full_at

    def is_wanted(self, line: int) -> bool:
        """Return whether steps of the loop at a line were asked for."""
        return self.wanted is not None and self.wanted[0] == line
