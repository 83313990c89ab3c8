"""Lines that are only in one of two versions of a program."""

from collections.abc import Sequence

from PySide6.QtWidgets import QFrame, QWidget

from gradscribe.playback.translation import ngettext
from gradscribe.widgets.base.boxes import vbox
from gradscribe.widgets.base.labels import Label, sheet
from gradscribe.widgets.base.stylesheet import set_sheet
from gradscribe.widgets.base.theme import Theme

MAX_LINES = 3
"""Maximum number of lines shown; the rest is counted."""


class DiffLines(QWidget):
    """Lines of code, each prefixed with a sign (``−`` or ``+``)."""

    def __init__(self, rows: Sequence[str], sign: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.rows = [row for row in rows if row.strip()]
        column = vbox(self, spacing=1)
        shown = self.rows[:MAX_LINES]
        blank = min((len(row) - len(row.lstrip()) for row in shown), default=0)
        for row in shown:
            column.addWidget(diff_strip(row[blank:], sign, self))
        if len(self.rows) > MAX_LINES:
            rest = len(self.rows) - MAX_LINES
            column.addWidget(
                Label("caption", ngettext("and {count} more line", "and {count} more lines", rest))
            )
        column.addStretch(1)

    def set_theme(self, theme: Theme) -> None:
        """Use ``theme``'s colours and fonts."""
        set_sheet(self, sheet(theme))


def diff_strip(line: str, sign: str, parent: QWidget) -> QFrame:
    """Return a line of code with its sign on the colour of what it is: left out or new."""
    strip = QFrame(parent)
    strip.setProperty("row", "error" if sign == "−" else "good")
    vbox(strip, Label("code", f"{sign} {line}", strip).selectable(), margins=(8, 2, 8, 2))
    return strip
