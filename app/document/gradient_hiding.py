"""Gradients that are hidden until the user has found them; the tapes as they were recorded."""

from collections import deque

from gradscribe.engine.protocol.tape import Tape
from gradscribe.playback.by_hand.hidden import hide_gradients
from gradscribe.playback.by_hand.targets import GradientKey

Run = tuple[str, str, int, str]
"""Text, device and seed: the same program has the same gradients."""
MOST_TAPES = 4


class GradientHiding:
    """Turns recorded tapes into tapes without hidden gradients, and back."""

    def __init__(self) -> None:
        self.is_on = False
        self.shown: frozenset[GradientKey] = frozenset()
        """Owners of the gradients that were found or shown in the program of `run`."""
        self._run: Run = ("", "", 0, "")
        self._pairs: deque[tuple[Tape, Tape]] = deque(maxlen=MOST_TAPES)
        """Tapes without hidden gradients, and the tapes that they were made from."""

    def switch(self, on: bool, shown: frozenset[GradientKey] = frozenset()) -> None:
        """Hide gradients from now on, all but those of these owners; or hide none."""
        self.is_on, self.shown = on, shown if on else frozenset()

    def show(self, *keys: GradientKey) -> None:
        """Show the gradients of these owners from now on."""
        self.shown |= set(keys)

    def begin(self, run: Run) -> None:
        """Hide all gradients again if another program, or another seed, is run."""
        if run != self._run:
            self._run, self.shown = run, frozenset()

    def hidden(self, tape: Tape, is_same_run: bool = True) -> Tape:
        """Return a recorded tape without the gradients that are hidden."""
        if not self.is_on:
            return tape
        made = hide_gradients(tape, self.shown if is_same_run else frozenset())
        if made is not tape:
            self._pairs.append((made, tape))
        return made

    def recorded(self, tape: Tape) -> Tape:
        """Return the tape as it was recorded."""
        return next((true for made, true in reversed(self._pairs) if made is tape), tape)
