"""What colours the graph's cards: what they are, a mode, or marks of somebody else's."""

from playback.coloring import Key, Mode, Tinter
from widgets.graph_sheet import GraphSheet


class GraphColors(GraphSheet):
    """The part of the graph view that chooses its colours."""

    _mode: Mode = ""

    def set_coloring(self, mode: Mode) -> None:
        """Colour the cards by something else; the empty mode colours them by what they are."""
        if mode != self._mode:
            self._mode = mode
            self._drawing.set_coloring(mode)
            self._repaint_all()

    def set_marks(self, tinter: Tinter | None) -> None:
        """Mark the cards of the present picture in place of any mode."""
        self._drawing.tint_by(tinter)
        self._repaint_all()

    def color_key(self) -> Key | None:
        """Return what the colours mean; None while cards are coloured by what they are."""
        coloring = self._drawing.coloring
        return None if coloring is None else coloring.key()
