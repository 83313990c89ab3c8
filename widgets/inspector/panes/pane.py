"""Base class of the inspector's panes: widgets that show a page, or are hidden."""

from abc import abstractmethod

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from gradscribe.widgets.base.boxes import vbox
from gradscribe.widgets.base.theme import Theme
from gradscribe.widgets.inspector.panes.page import InspectorPage


class Pane(QWidget):
    """A section of the inspector. Subclasses override `show_page` and `set_theme`."""

    order = 50
    """Sort key of the panes, smallest first."""

    ruled = False
    """True if a hairline separates it from the panes above."""
    numbers_only = False
    """True if it only depends on numbers: it is only updated when they change."""

    uses_program = False
    """True if it depends on the text as it is now, which changes without a run."""

    check_requested = Signal(int, int)
    """Request a comparison with finite differences: value id, flat index."""
    gradcheck_requested = Signal(int)
    """Request a comparison of a custom Function's backward: index of the op."""
    peek_requested = Signal(int)
    """Request all numbers of a snapshot."""
    line_requested = Signal(int)
    """Go to a source line."""
    side_requested = Signal(str)
    """Show ``value`` or ``gradient``."""
    lab_requested = Signal(int)
    """Show the op with this index in the shape lab, with its Jacobian."""
    slice_requested = Signal(int, int)
    """Choose a slice: dimension, index."""
    tensor_requested = Signal()
    """Show the tensor in a window of its own."""
    element_requested = Signal(int)
    """Choose the element with this flat index."""
    property_requested = Signal(str, str)
    """Change a property of the selected tensor in the text: its name, the choice."""
    start_requested = Signal(int, str, str)
    """Let the pass on a line start at a reduction of its root (``sum``, ``mean``), or from a
    vector, an expression."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.theme = Theme.load("light")
        self.column = vbox(self, spacing=6)
        self._seen: object = None
        self._shown = False

    def set_theme(self, theme: Theme) -> None:
        """Use ``theme``'s colours; labels get theirs from the inspector's style sheet."""
        self.theme = theme
        self._seen = None
        self.update()

    def refresh(self, page: InspectorPage) -> bool:
        """Show ``page`` if it changed for this pane; return whether there is anything to show."""
        seen = page.numbers_key()
        if not self.numbers_only or seen != self._seen:
            self._seen, self._shown = seen, self.show_page(page)
        return self._shown

    @abstractmethod
    def show_page(self, page: InspectorPage) -> bool:
        """Show ``page``; return False to be hidden, if there is nothing to show."""
