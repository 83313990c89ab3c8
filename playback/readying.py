"""A tape made ready: what every view will ask of it first, worked out beforehand."""

from engine.tape import Tape
from playback import held, lines, scenes, search, track
from playback.index import index_of


def ready(tape: Tape, position: int) -> None:
    """Work out and keep what the views show of a tape at a position.

    Takes as long as the tape is; afterwards the same questions are quick, and so are those about
    any other position. Until it returns nobody else may ask anything of this tape.
    """
    index = index_of(tape)
    search.prepare(index, scenes.scenes(index))
    track.segments(index)
    track.ledger(index)
    track.value_rows(index, position)
    lines.marks(index, position)
    held.most(index)
