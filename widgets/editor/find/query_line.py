"""A line of text in which a mistake can be underlined."""

from PySide6.QtCore import QCoreApplication
from PySide6.QtGui import QInputMethodEvent, QTextCharFormat
from PySide6.QtWidgets import QLineEdit, QWidget

from gradscribe.widgets.editor.find.query import QueryError
from gradscribe.widgets.editor.highlight import units


class QueryLine(QLineEdit):
    """Line for a query or a replacement, named by its placeholder."""

    def __init__(self, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setPlaceholderText(name)
        self.setAccessibleName(name)
        self.setMinimumWidth(60)
        self.underlined = (0, 0)
        """The columns that are underlined; both equal: none."""

    def underline(self, error: QueryError | None) -> None:
        """Underline the place of an error; None removes the underline."""
        span = (error.start, error.end) if error is not None else (0, 0)
        if span == self.underlined:
            return
        self.underlined = span
        look = QTextCharFormat()
        look.setUnderlineStyle(QTextCharFormat.UnderlineStyle.WaveUnderline)
        look.setUnderlineColor(self.palette().color(self.foregroundRole()))
        # A line edit takes formats of its text from input methods alone; places count from there.
        start, end = (units(self.text()[:column]) for column in span)
        kind = QInputMethodEvent.AttributeType.TextFormat
        marks = [
            QInputMethodEvent.Attribute(kind, start - self.cursorPosition(), end - start, look)
        ]
        QCoreApplication.sendEvent(self, QInputMethodEvent("", marks if end > start else []))
