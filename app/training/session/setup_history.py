"""Undo stack of the training setup and of edited weights."""

from msgspec import Struct

from gradscribe.engine.protocol.setup import Setup
from gradscribe.engine.protocol.structs import replace

MOST_UNDO = 200


class WeightChange(Struct, frozen=True):
    """An edit of one element of a parameter: the values before and after."""

    run_id: int
    name: str
    index: int
    before: float
    after: float


class SetupHistory:
    """Earlier setups and edits of weights to undo, and undone ones to redo."""

    def __init__(self) -> None:
        self._undo: list[Setup | WeightChange] = []
        self._redo: list[Setup | WeightChange] = []

    def push(self, change: Setup | WeightChange, merge: bool = False) -> None:
        """Add a change of a weight, or the setup before a change; ``merge`` it into the last."""
        if not merge:
            self._undo = [*self._undo[1 - MOST_UNDO :], change]
        self._redo.clear()

    def undo(self, setup: Setup) -> Setup | WeightChange | None:
        """Return the setup or the edit that undoes the last change; `redo` restores ``setup``."""
        return _move(self._undo, self._redo, setup)

    def redo(self, setup: Setup) -> Setup | WeightChange | None:
        """Return the setup or the edit that repeats the change that was undone last."""
        return _move(self._redo, self._undo, setup)

    def forget_weights(self) -> None:
        """Drop the edits of weights, which a rewind or a restart has reverted already."""
        self._undo = [change for change in self._undo if not isinstance(change, WeightChange)]
        self._redo = [change for change in self._redo if not isinstance(change, WeightChange)]


def _move(
    source: list[Setup | WeightChange], target: list[Setup | WeightChange], setup: Setup
) -> Setup | WeightChange | None:
    if not source:
        return None
    change = source.pop()
    if isinstance(change, WeightChange):
        change = replace(change, before=change.after, after=change.before)
        target.append(change)
    else:
        target.append(setup)
    return change
