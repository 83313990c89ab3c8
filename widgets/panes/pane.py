"""What every inspector pane is: a widget that shows a page, or says that it has nothing to show."""

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QVBoxLayout, QWidget

from widgets.panes.page import Page
from widgets.theme import Theme


class Pane(QWidget):
    """A section of the inspector. Subclasses override `show_page` and `set_theme`."""

    order = 50
    """Panes stand in this order, small ones first."""

    ruled = False
    """Whether a hairline sets it off from the panes above."""
    numbers_only = False
    """Whether it shows nothing but numbers: it is then left alone until these change."""

    check_asked = Signal(int, int)
    """Compare with finite differences: value id, flat index."""
    gradcheck_asked = Signal(int)
    """Compare a custom Function's backward with finite differences: an op's index."""
    peek_asked = Signal(int)
    """Fetch all numbers of a snapshot."""
    line_asked = Signal(int)
    """Go to a source line."""
    side_asked = Signal(str)
    """Look at ``value`` or ``gradient``."""
    lab_asked = Signal(int)
    """Show the op with this index in the shape lab, with its Jacobian."""
    slice_asked = Signal(int, int)
    """Look at this index of that dimension."""
    element_asked = Signal(int)
    """Choose the element with this flat index."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.theme = Theme.load("light")
        self.column = QVBoxLayout(self)
        self.column.setContentsMargins(0, 0, 0, 0)
        self.column.setSpacing(6)
        self._seen: object = None
        self._shown = False

    def set_theme(self, theme: Theme) -> None:
        """Use ``theme``'s colours; labels follow the inspector's style sheet by themselves."""
        self.theme = theme
        self._seen = None
        self.update()

    def refresh(self, page: Page) -> bool:
        """Show ``page`` if it differs for this pane; return whether there is something to show."""
        seen = page.numbers_key()
        if not self.numbers_only or seen != self._seen:
            self._seen, self._shown = seen, self.show_page(page)
        return self._shown

    def show_page(self, page: Page) -> bool:
        """Show ``page``; return False where there is nothing to show, and be hidden."""
        raise NotImplementedError
