"""Precomputation of what the views need first from a tape, for use in a worker thread."""

from gradscribe.engine.protocol.tape import Tape
from gradscribe.playback.code import lines
from gradscribe.playback.graph import search
from gradscribe.playback.tape import saved_memory, scenes, track
from gradscribe.playback.tape.index import index_of
from gradscribe.playback.tape.loops import steps


def precompute(tape: Tape, position: int) -> None:
    """Compute and cache what the views show of a tape at a position.

    Takes time proportional to the tape; afterwards lookups at this and any other position are
    quick. Not thread-safe: nothing else may use this tape until it returns.
    """
    index = index_of(tape)
    search.build_index(index, scenes.scenes(index))
    steps.step_marks(index)
    track.segments(index)
    track.ledger(index)
    track.value_rows(index, position)
    lines.line_marks(index, position)
    saved_memory.peak_saved_bytes(index)
