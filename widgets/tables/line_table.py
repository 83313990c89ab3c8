"""Tensors that the running line changes, before and after it."""

from collections.abc import Sequence
from functools import partial

from PySide6.QtCore import QPoint, Qt, Signal
from PySide6.QtGui import QContextMenuEvent, QKeyEvent, QMouseEvent
from PySide6.QtWidgets import QFrame, QScrollArea, QWidget

from gradscribe.playback.code.line_states import StateRow
from gradscribe.playback.text import formatting
from gradscribe.playback.translation import ngettext, tr
from gradscribe.widgets.base import menus
from gradscribe.widgets.base.boxes import STRETCH, hbox, make_scrollable, push_button, vbox
from gradscribe.widgets.base.labels import Heading, Label, sheet
from gradscribe.widgets.base.single_shot import single_shot
from gradscribe.widgets.base.stylesheet import set_sheet
from gradscribe.widgets.base.theme import Theme

MAX_ROWS = 24
"""Maximum number of changed tensors shown."""
ROWS_PER_TURN = 6
"""Maximum number of row widgets created per turn of the event loop."""
ARROW = " → "


class _Row(QFrame):
    """A tensor that changed; Return picks it, up and down go to its neighbours."""

    picked = Signal(int)
    moved = Signal(int)
    """Carries -1 for the row above, 1 for the row below."""
    menu_requested = Signal(QPoint, list)

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setProperty("row", "soft")
        self.setFocusPolicy(Qt.FocusPolicy.ClickFocus)
        self._value_id = 0
        column = vbox(self, margins=(10, 6, 10, 7), spacing=2)
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

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """Emit `picked` with the value id."""
        if event.button() == Qt.MouseButton.LeftButton:
            self.picked.emit(self._value_id)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Pick with Return, move with the arrow keys; leave other keys to the window."""
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.picked.emit(self._value_id)
        elif event.key() in (Qt.Key.Key_Up, Qt.Key.Key_Down):
            self.moved.emit(1 if event.key() == Qt.Key.Key_Down else -1)
        else:
            super().keyPressEvent(event)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """Pick the tensor and offer its menu."""
        self.picked.emit(self._value_id)
        copy = menus.actions(
            self, (tr("Copy the row"), lambda: menus.copy_text(self.accessibleName()))
        )
        self.menu_requested.emit(event.globalPos(), copy)


def value_text(row: StateRow) -> str:
    """Return ``0.5000 → 0.6200``, or ``new: 0.6200`` without an old value."""
    if not row.value_changes:
        return row.after
    return f"{row.before}{ARROW}{row.after}" if row.before else tr("new: {after}", after=row.after)


def gradient_text(row: StateRow) -> str:
    """Return ``grad None → −1.2000``."""
    before, after = (
        "None" if grad in ("", "\N{EM DASH}") else grad
        for grad in (row.grad_before, row.grad_after)
    )
    return (
        tr("grad {before}{arrow}{after}", before=before, arrow=ARROW, after=after)
        if row.grad_changes
        else tr("grad {after}", after=after)
    )


class LineTable(QWidget):
    """The running line, and every tensor it changes, before → after."""

    picked = Signal(int)
    """A value id."""
    menu_requested = Signal(QPoint, list)
    """Open the menu of the picked value at a global point, with actions of the table first."""
    next_pressed = Signal()
    back_pressed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.heading = Heading(tr("Line"), tr("before and after the running line"), self)
        self.line = Label("code", "", self)
        self.same = Label("caption", "", self)
        tip = tr("Undo the last line (Ctrl+F10)")
        self.back = push_button(tr("Line before"), self, self.back_pressed, tip=tip)
        tip = tr("Run to the end of the next line (F10)")
        self.forward = push_button(tr("Next line"), self, self.next_pressed, tip=tip)
        buttons = hbox(None, self.back, self.forward, STRETCH)
        inside = QWidget()
        inside.setObjectName("line-body")
        self._rows_column = vbox(inside, self.same, STRETCH, margins=(0, 0, 8, 0), spacing=6)
        self.rows: list[_Row] = []
        self._area = QScrollArea(self)
        make_scrollable(self._area, inside)
        self._area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        vbox(
            self,
            self.heading,
            buttons,
            self.line,
            (self._area, 1),
            margins=(14, 12, 8, 10),
            spacing=8,
        )
        self._changed: list[StateRow] = []
        self._rows_timer = single_shot(self, self._show_rows)
        self.set_theme(Theme.load("light"))
        self.show_line(0, "", ())

    def set_theme(self, theme: Theme) -> None:
        """Use ``theme``'s colours and fonts."""
        set_sheet(self, sheet(theme) + "#line-body { background: transparent; }")

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
            row.menu_requested.connect(self.menu_requested)
            row.moved.connect(partial(self._move, len(self.rows)))
            if not self.rows:
                # Tab stops once, at the first; the arrow keys go on from there.
                row.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
            self._rows_column.insertWidget(len(self.rows), row)
            self.rows.append(row)
        for at, widget in enumerate(self.rows):
            widget.setVisible(at < wanted)
            if at < wanted:
                widget.show_row(self._changed[at])
        if len(self.rows) < wanted:
            self._rows_timer.start()

    def _move(self, at: int, by: int) -> None:
        """Give the focus to the row above or below, if there is one."""
        if 0 <= at + by < len(self.rows) and self.rows[at + by].isVisibleTo(self):
            self.rows[at + by].setFocus(Qt.FocusReason.OtherFocusReason)
            self._area.ensureWidgetVisible(self.rows[at + by], 0, 0)


def _remark(line: int, changed: int, names: list[str]) -> str:
    if not line:
        return tr("No line has run yet")
    if changed > MAX_ROWS:
        return tr(
            "and {others}",
            others=ngettext("{count:,} other", "{count:,} others", changed - MAX_ROWS),
        )
    unchanged = names[changed:]
    if not changed:
        return tr("This line changes no tensor")
    return tr("Unchanged: {join}", join=", ".join(unchanged[:8])) if unchanged else ""
