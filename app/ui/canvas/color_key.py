"""Colour key on the graph: what its colours say, and the way back to the whole graph."""

from PySide6.QtCore import QObject

from gradscribe.app.document.presenter import Presenter
from gradscribe.app.document.session import Session
from gradscribe.app.files.settings import Settings
from gradscribe.app.ui.canvas.graph_overlay import GraphOverlay
from gradscribe.app.ui.theming import Theming
from gradscribe.playback.flow.highlight import TITLES
from gradscribe.playback.graph.coloring import ColorLegend
from gradscribe.playback.translation import ngettext, tr
from gradscribe.widgets.graph.view import GraphView


class ColorKeyController(QObject):
    """Show the key of the graph's colours, of an answer, or of the graph of gradients."""

    def __init__(
        self,
        session: Session,
        presenter: Presenter,
        graph: GraphView,
        over: GraphOverlay,
        settings: Settings,
        look: Theming,
        parent: QObject,
    ) -> None:
        super().__init__(parent)
        self._session, self._presenter, self._graph = session, presenter, graph
        self._over, self._settings, self._look = over, settings, look
        over.key.ended.connect(self.end)
        presenter.picture_shown.connect(self.refresh)
        presenter.questions.changed.connect(self.refresh)
        session.view_changed.connect(self.refresh)

    @property
    def hides_cards(self) -> bool:
        """True while an answer or the graph of gradients leaves cards out or fades them."""
        view = self._session.view
        return view.highlight is not None or view.gradient_only

    def refresh(self) -> None:
        """Show the key of what is drawn now."""
        asked, answer = self._session.view.highlight, self._presenter.questions.answer
        key, hidden = self._graph.color_key(), self._presenter.picture.hidden
        if asked is not None and answer is not None:
            key = ColorLegend(TITLES[asked.question], "groups", note=answer.words)
        elif asked is None and self._session.view.gradient_only:
            number = ngettext("{count:,} card", "{count:,} cards", hidden)
            words = (
                tr("{number} without a gradient left out", number=number)
                if hidden
                else tr("Nothing is left out")
            )
            key = key or ColorLegend(tr("Gradient graph"), "groups", note=words)
        self._over.show_key(key, self._look.theme())
        self._graph.setAccessibleDescription("" if key is None else f"{key.title}. {key.note}")

    def end(self) -> None:
        """Go back to the graph without what the key is about."""
        if self._session.view.highlight is not None:
            self._session.set_highlight(None)
        elif self._session.view.coloring:
            self._session.set_coloring("")
            self._settings.put("coloring", "")
        else:
            self._session.set_gradient_only(False)
