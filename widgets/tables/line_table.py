"""Tensors that the running line changes, before and after it."""

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QMouseEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QPushButton, QScrollArea, QVBoxLayout, QWidget

from gradscribe.playback.code.line_states import StateRow
from gradscribe.playback.text import formatting
from gradscribe.widgets.base.labels import Heading, Label, sheet
from gradscribe.widgets.base.single_shot import single_shot
from gradscribe.widgets.base.theme import Theme

MAX_ROWS = 24
"""Maximum number of changed tensors shown."""
ROWS_PER_TURN = 6
"""Maximum number of row widgets created per turn of the event loop."""
ARROW = " → "


class _Row(QFrame):
    """A tensor that changed."""

    picked = Signal(int)

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setProperty("row", "soft")
        self._value_id = 0
        column = QVBoxLayout(self)
        column.setContentsMargins(10, 6, 10, 7)
        column.setSpacing(2)
        self.name = Label("section", "", self)
        self.value = Label("words", "", self)
        self.gradient = Label("gradient", "", self)
        for part in (self.name, self.value, self.gradient):
            column.addWidget(part)

    def show_row(self, row: StateRow) -> None:
        """Show a tensor; unchanged value or gradient is left out."""
        self._value_id = row.value_id
        self.name.say(formatting.variable(row.name))
        self.value.say(value_text(row))
        self.value.setVisible(row.value_changes)
        self.gradient.say(gradient_text(row))
        self.gradient.setVisible(row.grad_changes)
        self.setAccessibleName(f"{row.name}: {value_text(row)}, {gradient_text(row)}")

    def mouseReleaseEvent(self, _event: QMouseEvent) -> None:
        """Emit `picked` with the value id."""
        self.picked.emit(self._value_id)


def value_text(row: StateRow) -> str:
    """Return ``0.5000 → 0.6200``, or ``new: 0.6200`` without an old value."""
    if not row.value_changes:
        return row.after
    return f"{row.before}{ARROW}{row.after}" if row.before else f"new: {row.after}"


def gradient_text(row: StateRow) -> str:
    """Return ``grad None → −1.2000``."""
    before, after = (
        "None" if grad in ("", "\N{EM DASH}") else grad
        for grad in (row.grad_before, row.grad_after)
    )
    return f"grad {before}{ARROW}{after}" if row.grad_changes else f"grad {after}"


class LineTable(QWidget):
    """The running line, and every tensor it changes, before → after."""

    picked = Signal(int)
    """A value id."""
    next_pressed = Signal()
    back_pressed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.heading = Heading("Line", "before and after the running line", self)
        self.line = Label("code", "", self)
        self.same = Label("caption", "", self)
        self.back = QPushButton("Line before", self)
        self.back.setToolTip("Undo the last line (Ctrl+F10)")
        self.back.clicked.connect(self.back_pressed)
        self.forward = QPushButton("Next line", self)
        self.forward.setToolTip("Run to the end of the next line (F10)")
        self.forward.clicked.connect(self.next_pressed)
        buttons = QHBoxLayout()
        buttons.addWidget(self.back)
        buttons.addWidget(self.forward)
        buttons.addStretch(1)
        inside = QWidget()
        inside.setObjectName("line-body")
        self._rows_column = QVBoxLayout(inside)
        self._rows_column.setContentsMargins(0, 0, 8, 0)
        self._rows_column.setSpacing(6)
        self.rows: list[_Row] = []
        self._rows_column.addWidget(self.same)
        self._rows_column.addStretch(1)
        area = QScrollArea(self)
        area.setWidgetResizable(True)
        area.setFrameShape(QFrame.Shape.NoFrame)
        area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        area.setWidget(inside)
        area.viewport().setAutoFillBackground(False)
        column = QVBoxLayout(self)
        column.setContentsMargins(14, 12, 8, 10)
        column.setSpacing(8)
        column.addWidget(self.heading)
        column.addLayout(buttons)
        column.addWidget(self.line)
        column.addWidget(area, 1)
        self._changed: list[StateRow] = []
        self._rows_timer = single_shot(self, self._show_rows)
        self.set_theme(Theme.load("light"))
        self.show_line(0, "", ())

    def set_theme(self, theme: Theme) -> None:
        """Use ``theme``'s colours and fonts."""
        self.setStyleSheet(sheet(theme) + "#line-body { background: transparent; }")

    def show_line(self, line: int, source: str, rows: Sequence[StateRow]) -> None:
        """Show the running line (0: none yet), its source, and the named tensors."""
        self._changed = changed = [row for row in rows if row.value_changes or row.grad_changes]
        self.line.say(f"{line}  {source.strip()}" if line else "")
        self.line.setVisible(bool(line))
        self._show_rows()
        self.same.say(_remark(line, len(changed), [row.name for row in rows]))
        self.forward.setEnabled(True)

    def _show_rows(self) -> None:
        """Show the changed tensors; of many missing row widgets, create some in later turns."""
        wanted = min(len(self._changed), MAX_ROWS)
        for _ in range(min(ROWS_PER_TURN, wanted - len(self.rows))):
            row = _Row(self)
            row.picked.connect(self.picked)
            self._rows_column.insertWidget(len(self.rows), row)
            self.rows.append(row)
        for at, widget in enumerate(self.rows):
            widget.setVisible(at < wanted)
            if at < wanted:
                widget.show_row(self._changed[at])
        if len(self.rows) < wanted:
            self._rows_timer.start()


def _remark(line: int, changed: int, names: list[str]) -> str:
    if not line:
        return "No line has run yet"
    if changed > MAX_ROWS:
        return f"and {formatting.count(changed - MAX_ROWS, 'other')}"
    unchanged = names[changed:]
    if not changed:
        return "This line changes no tensor"
    return f"Unchanged: {', '.join(unchanged[:8])}" if unchanged else ""
