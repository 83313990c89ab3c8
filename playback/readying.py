"""Precomputation of what the views need first from a tape, for use in a worker thread."""

from engine.tape import Tape
from playback import held, lines, scenes, search, track
from playback.index import index_of


def ready(tape: Tape, position: int) -> None:
    """Compute and cache what the views show of a tape at a position.

    Takes time proportional to the tape; afterwards lookups at this and any other position are
    quick. Not thread-safe: nothing else may use this tape until it returns.
    """
    index = index_of(tape)
    search.prepare(index, scenes.scenes(index))
    track.segments(index)
    track.ledger(index)
    track.value_rows(index, position)
    lines.marks(index, position)
    held.most(index)
