"""Card colours of the graph view: by kind, by a colour mode, or by marks from elsewhere."""

from gradscribe.playback.graph.coloring import ColorLegend, Mode, Tinter
from gradscribe.widgets.graph.canvas import GraphSheet


class GraphColors(GraphSheet):
    """The part of the graph view that chooses its colours."""

    _mode: Mode = ""

    def set_coloring(self, mode: Mode) -> None:
        """Colour the cards by a mode; the empty mode colours them by kind."""
        if mode != self._mode:
            self._mode = mode
            self._drawing.set_coloring(mode)
            self._repaint_all()

    def set_marks(self, tinter: Tinter | None) -> None:
        """Colour the cards of the current picture by ``tinter`` in place of any mode."""
        self._drawing.set_tinter(tinter)
        self._repaint_all()

    def color_key(self) -> ColorLegend | None:
        """Return the key of the colours; None while cards are coloured by kind."""
        coloring = self._drawing.coloring
        return None if coloring is None else coloring.key()
