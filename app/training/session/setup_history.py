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


class ForgottenRun(Struct, frozen=True):
    """A run that was forgotten, to be brought back."""

    run_id: int


Undoable = Setup | WeightChange | ForgottenRun


class SetupHistory:
    """Earlier setups, edits of weights and forgotten runs to undo, and undone ones to redo."""

    def __init__(self) -> None:
        self._undo: list[Undoable] = []
        self._redo: list[Undoable] = []

    def push(self, change: Undoable, merge: bool = False) -> None:
        """Add a change of a weight, or the setup before a change; ``merge`` it into the last."""
        if not merge:
            self._undo = [*self._undo[1 - MOST_UNDO :], change]
        self._redo.clear()

    def undo(self, setup: Setup) -> Undoable | None:
        """Return the setup or the edit that undoes the last change; `redo` restores ``setup``."""
        return _move(self._undo, self._redo, setup)

    def redo(self, setup: Setup) -> Undoable | None:
        """Return the setup or the edit that repeats the change that was undone last."""
        return _move(self._redo, self._undo, setup)

    def forget_weights(self, but: int = 0) -> None:
        """Drop the edits of weights, which a rewind or a restart has reverted already.

        ``but``: the run whose edits still hold.
        """

        def holds(change: Undoable) -> bool:
            return not isinstance(change, WeightChange) or change.run_id == but

        self._undo, self._redo = list(filter(holds, self._undo)), list(filter(holds, self._redo))

    def forget_run(self, run_id: int) -> None:
        """Drop what would bring a run back that is gone for good."""
        gone = ForgottenRun(run_id)
        self._undo = [change for change in self._undo if change != gone]
        self._redo = [change for change in self._redo if change != gone]


def _move(source: list[Undoable], target: list[Undoable], setup: Setup) -> Undoable | None:
    if not source:
        return None
    change = source.pop()
    if isinstance(change, WeightChange):
        change = replace(change, before=change.after, after=change.before)
    target.append(setup if isinstance(change, Setup) else change)
    return change
