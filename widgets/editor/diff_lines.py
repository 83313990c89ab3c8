"""Lines that are only in one of two versions of a program."""

from collections.abc import Sequence

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QVBoxLayout, QWidget

from gradscribe.widgets.base.labels import Label, sheet
from gradscribe.widgets.base.theme import Theme

MAX_LINES = 3
"""Maximum number of lines shown; the rest is counted."""


class DiffLines(QWidget):
    """Lines of code, each prefixed with a sign (``−`` or ``+``)."""

    def __init__(self, rows: Sequence[str], sign: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.rows = [row for row in rows if row.strip()]
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(1)
        shown = self.rows[:MAX_LINES]
        blank = min((len(row) - len(row.lstrip()) for row in shown), default=0)
        for row in shown:
            strip = QFrame(self)
            strip.setProperty("row", "error" if sign == "−" else "good")
            inside = QVBoxLayout(strip)
            inside.setContentsMargins(8, 2, 8, 2)
            code = Label("code", f"{sign} {row[blank:]}", strip)
            code.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
            inside.addWidget(code)
            column.addWidget(strip)
        if len(self.rows) > MAX_LINES:
            rest = len(self.rows) - MAX_LINES
            column.addWidget(
                Label("caption", f"and {rest} more {'line' if rest == 1 else 'lines'}")
            )
        column.addStretch(1)

    def set_theme(self, theme: Theme) -> None:
        """Use ``theme``'s colours and fonts."""
        self.setStyleSheet(sheet(theme))
