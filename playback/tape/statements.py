"""Positions on the tape of a training step after some of its statements."""

from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate

from gradscribe.engine.protocol.tape import Tape

_AT = ("op", "enter", "leave", "leaf", "backward", "zero_grad", "step")
"""Kinds of events whose line is that of the running statement; a backward node has its op's."""


def position_after(tape: Tape, texts: Sequence[str], done: int) -> int:
    """Return the position on a step's tape after the first ``done`` of its statements."""
    starts = list(accumulate((len(text.splitlines()) for text in texts), initial=1))
    for at, event in enumerate(tape.events):
        if event.kind in _AT and event.line and bisect_right(starts, event.line) > done:
            return at
    return len(tape.events)
