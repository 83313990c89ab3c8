"""Menu of the right button in the graph of a training step."""

from collections.abc import Callable
from functools import partial

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QObject, QPoint

from gradscribe.app.training.page.live_graph import LiveGraph
from gradscribe.app.training.session.session import TrainSession
from gradscribe.playback.tape.index import index_of
from gradscribe.playback.text.tensor_code import numbers_text
from gradscribe.playback.translation import ngettext, tr
from gradscribe.widgets.base import menus
from gradscribe.widgets.base.menus import Entry
from gradscribe.widgets.graph.picture_menu import picture_entries
from gradscribe.widgets.training.step_graph import StepGraph

GAP: Entry = ("", lambda: None)


class StepMenu(QObject):
    """Composes the menu of what was pointed at: its history, its numbers, its module, the graph.

    A right click selects, and opens no history as a left one does.
    """

    def __init__(
        self,
        session: TrainSession,
        view: StepGraph,
        live: LiveGraph,
        show_history: Callable[[str], None],
    ) -> None:
        super().__init__(view)
        self._session, self._view, self._live = session, view, live
        self._show_history = show_history
        view.graph.picks_for_menu = False
        view.graph.menu_requested.connect(self._open)

    def _open(self, kind: str, at: QPoint) -> None:
        menus.pop_up(self._view.graph, at, self.entries(kind, self._view.graph.menu_key))

    def entries(self, kind: str, key: str) -> list[Entry]:
        """Return the entries for a *card*, *wire*, *module* or the *graph*, and its key."""
        made: list[Entry] = []
        found = self._live.card(key)
        if found is not None:
            made.append((tr("History over the steps"), lambda: self._show_history(key)))
            made += self._copies(key)
        if kind == "module":
            made.append((tr("Fold or open the module"), lambda: self._view.graph.toggled.emit(key)))
        if made:
            made.append(GAP)
        fit, *picture = picture_entries(self._view.graph)
        return [
            *made,
            fit,
            (tr("Expand all modules"), self._live.expand),
            (tr("Collapse all modules"), self._live.collapse),
            (tr("Show this step on the tape"), self._live.show_tape),
            GAP,
            *picture,
        ]

    def _copies(self, key: str) -> list[Entry]:
        """Return copies of the numbers that the card shows where the graph stands."""
        found, look = self._live.card(key), self._view.graph.look().cards.get(key)
        if found is None:
            return []
        tape, card = found
        index = index_of(tape)
        made: list[Entry] = []
        value = card.value
        seen = index.snapshot_at(value, self._live.position) if value is not None else None
        gradient = look.gradient if look is not None else None
        for title, number in ((tr("Copy the value"), seen), (tr("Copy the gradient"), gradient)):
            snapshot = index.snapshot(number)
            array = snapshot.array() if snapshot is not None else None
            if array is not None:
                made.append((title, partial(self._copy, array)))
        return made

    def _copy(self, array: NDArray[np.generic]) -> None:
        menus.copy_text(numbers_text(array))
        what = ngettext("{count:,} number", "{count:,} numbers", array.size)
        self._session.said.emit(tr("{what} on the clipboard", what=what))
