"""Zoom to a card with the keyboard, and back."""

from PySide6.QtCore import QObject, Signal

from gradscribe.app.document.presenter import Presenter
from gradscribe.app.document.session import Session
from gradscribe.playback.graph.folding import breadcrumbs
from gradscribe.widgets.graph.camera import MAX_ZOOM, Camera, fitting
from gradscribe.widgets.graph.view import GraphView

SHARE = 0.4
"""Share of the view that the card takes up, of its width or its height."""


class CardZoom(QObject):
    """Show the selected card large, or without one the card that plays.

    While it is zoomed, the view goes with the selection.
    """

    changed = Signal()

    def __init__(self, session: Session, presenter: Presenter, graph: GraphView) -> None:
        super().__init__(graph)
        self._session, self._presenter, self._graph = session, presenter, graph
        self._before: Camera | None = None
        """The view to go back to; None without a zoom."""
        self._was_whole = False
        self._key = ""
        session.view_changed.connect(self._follow)
        session.tape_changed.connect(self.forget)

    @property
    def is_on(self) -> bool:
        """True while a card is shown large."""
        return self._before is not None

    def toggle(self) -> None:
        """Zoom to the card, or back to the view of before."""
        graph = self._graph
        if self._before is not None:
            before, was_whole = self._before, self._was_whole
            self.forget()
            graph.fit() if was_whole else graph.glide_to(before)
            return
        key = self._session.view.selection
        if key not in graph.stage().boxes:
            key = breadcrumbs.playing_card(graph.look())
        if key in graph.stage().boxes:
            graph.finish_motion()
            self._before, self._was_whole = graph.camera(), graph.shows_whole
            self._show(key)
            self.changed.emit()

    def forget(self) -> None:
        """Leave the view as it is, with none to go back to."""
        self._before, self._key = None, ""
        self.changed.emit()

    def _follow(self) -> None:
        key = self._session.view.selection
        if self._before is not None and key != self._key and key in self._graph.stage().boxes:
            self._show(key)

    def _show(self, key: str) -> None:
        self._key = key
        box, view = self._graph.stage().boxes[key], self._graph.canvas.size
        margin = (1 - SHARE) / 2 * min(view.width(), view.height())
        self._graph.glide_to(fitting(box, view, MAX_ZOOM, margin))
