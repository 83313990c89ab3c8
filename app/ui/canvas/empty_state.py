"""Empty state of the graph: a text that says what it waits for, or what to do next."""

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QVBoxLayout, QWidget

from gradscribe.app.document.state import Doc, Result
from gradscribe.playback.translation import tr


class EmptyState(QLabel):
    """A label in the middle of the graph, visible while the graph is empty."""

    def __init__(self, over: QWidget) -> None:
        super().__init__(over)
        self.setProperty("role", "caption")
        self.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.setWordWrap(True)
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        column = QVBoxLayout(over)
        column.addWidget(self)
        self._result, self._doc, self._has_cards = Result(), Doc(), True

    def show_result(self, result: Result, doc: Doc) -> None:
        """Show the text for the current state."""
        if result.tape is not self._result.tape:
            self._has_cards = True
        self._result, self._doc = result, doc
        self._update()

    def show_picture(self, has_cards: bool) -> None:
        """Take into account whether the picture of the current tape shows anything."""
        self._has_cards = has_cards
        self._update()

    def _update(self) -> None:
        text = empty_state_text(self._result, self._doc)
        if not text and not self._has_cards:
            text = _without_cards(self._result)
        self.setText(text)
        self.setVisible(bool(text))


def _without_cards(result: Result) -> str:
    """Return the text for a tape of which there is nothing to draw."""
    if result.problem is not None:
        return tr("The program ended before its first operation")
    return tr("No operation has run here")


def empty_state_text(result: Result, doc: Doc) -> str:
    """Return the text for an empty graph; empty if there is a graph."""
    if not result.shows_nothing:
        return ""
    if result.engine == "starting":
        return tr("Starting PyTorch…")
    if result.engine == "missing":
        return tr("Programs need PyTorch: Run › Python › Set up PyTorch…")
    if not doc.may_run:
        return tr("Read the program, then run it")
    if result.problem is not None:
        return tr("The graph appears here once the program runs")
    if doc.lesson and not doc.source:
        return tr("The program runs once you have answered")
    if result.engine == "running" and result.shown_id and doc.source.strip():
        return tr("Running…")
    if result.shown_id:
        return tr("Type PyTorch on the left, or press Examples")
    return ""
