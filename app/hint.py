"""A word in the empty graph: what one waits for, or what to do next."""

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QVBoxLayout, QWidget

from app.state import Result


class Hint(QLabel):
    """Stands in the middle of the graph as long as there is nothing in it."""

    def __init__(self, over: QWidget) -> None:
        super().__init__(over)
        self.setProperty("role", "caption")
        self.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.setWordWrap(True)
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        column = QVBoxLayout(over)
        column.addWidget(self)

    def show_result(self, result: Result) -> None:
        """Show what fits the state of things."""
        text = hint(result)
        self.setText(text)
        self.setVisible(bool(text))


def hint(result: Result) -> str:
    """Return what to say in the middle of the graph; empty where there is a graph."""
    if result.tape.ops or result.tape.values:
        return ""
    if result.engine == "starting":
        return "Starting PyTorch…"
    if result.problem is not None:
        return "The graph appears here once the program runs"
    if result.shown_id:
        return "Type PyTorch on the left, or press Examples"
    return ""
