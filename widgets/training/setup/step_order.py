"""The statements of a training step as rows that can be switched off, doubled and moved."""

from collections.abc import Sequence
from itertools import groupby

from PySide6.QtCore import QSignalBlocker, Qt, Signal
from PySide6.QtWidgets import QCheckBox, QHBoxLayout, QPushButton, QToolButton, QVBoxLayout, QWidget

from gradscribe.engine.protocol.step_order import MAX_STATEMENTS, RIGHT_ORDER
from gradscribe.playback.explain.step_order import explain_order
from gradscribe.playback.translation import tr
from gradscribe.widgets.base.labels import Label
from gradscribe.widgets.training.setup.sections import FoldingSection

CALLS = {
    "zero_grad": "optimizer.zero_grad()",
    "forward": "output = model(inputs)",
    "loss": "loss = criterion(output, targets)",
    "backward": "loss.backward()",
    "step": "optimizer.step()",
}
Row = tuple[str, int]
"""A statement, and how many times it runs in a row; 0 if it is left out."""


def rows_of(order: Sequence[str]) -> list[Row]:
    """Return the rows of an order; a statement that is left out stands at its usual place."""
    rows = [(name, len(list(same))) for name, same in groupby(order)]
    for place, name in enumerate(RIGHT_ORDER):
        if name not in order:
            before = [at for at, (other, _) in enumerate(rows) if RIGHT_ORDER.index(other) < place]
            rows.insert(before[-1] + 1 if before else 0, (name, 0))
    return rows


def order_of(rows: Sequence[Row]) -> tuple[str, ...]:
    """Return the order that rows stand for."""
    return tuple(name for name, times in rows for _ in range(times))


class StepOrderSection(FoldingSection):
    """The five statements in order, the words on what their order does, and the update by hand."""

    reordered = Signal(object)
    """Carries the new order."""
    update_switched = Signal(bool)
    """Carries whether the update is by hand."""

    def __init__(self) -> None:
        self.lines: list[_Line] = []
        self._order: tuple[str, ...] = RIGHT_ORDER
        self._rows: list[Row] = []
        self._is_manual = False
        super().__init__(tr("The five steps"), is_open=False)

    def fill(self) -> None:
        """Build the rows."""
        if self.lines:
            return
        self._column = QVBoxLayout()
        self._column.setSpacing(3)
        self.rows.addLayout(self._column)
        self.manual = QCheckBox(tr("Update by hand"))
        words = tr("p -= lr * p.grad in place of optimizer.step(): plain SGD")
        self.manual.setToolTip(words)
        self.manual.setAccessibleDescription(words)
        self.manual.clicked.connect(self.update_switched)
        self.why = Label("caption")
        self.usual = QPushButton(tr("Usual order"))
        self.usual.setProperty("crumb", True)
        self.usual.setToolTip(tr("zero_grad, forward, loss, backward, step"))
        self.usual.clicked.connect(lambda: self._choose(RIGHT_ORDER))
        self.rows.addWidget(self.why)
        self.rows.addWidget(self.usual, 0, Qt.AlignmentFlag.AlignLeft)
        self.rows.addWidget(self.manual)
        self._show()

    def choose(self, order: Sequence[str], is_manual: bool) -> None:
        """Show an order and how the update is made; emits nothing."""
        # An order that the user makes may have its switched off statement elsewhere.
        if tuple(order) != self._order or not self._rows:
            self._rows = rows_of(order)
        self._order, self._is_manual = tuple(order), is_manual
        if self.lines or self.is_open:
            self._show()

    def _show(self) -> None:
        self._rows = self._rows or rows_of(self._order)
        while len(self.lines) < len(self._rows):
            self._add_line(len(self.lines))
        for at, line in enumerate(self.lines):
            line.setVisible(at < len(self._rows))
            if at < len(self._rows):
                name, times = self._rows[at]
                line.show_statement(name, times, at > 0, at < len(self._rows) - 1)
        why = explain_order(self._order)
        self.why.say(why)
        self.why.setVisible(bool(why))
        self.usual.setVisible(self._order != RIGHT_ORDER or self._rows != rows_of(RIGHT_ORDER))
        self.manual.setChecked(self._is_manual)

    def _add_line(self, at: int) -> None:
        line = _Line()
        line.switched.connect(lambda is_on: self._set_times(at, int(is_on)))
        line.doubled.connect(lambda is_twice: self._set_times(at, 1 + int(is_twice)))
        line.moved.connect(lambda by: self._move(at, by))
        self.lines.append(line)
        self._column.addWidget(line)

    def _set_times(self, at: int, times: int) -> None:
        rows = [*self._rows]
        rows[at] = (rows[at][0], times)
        order = order_of(rows)
        if not order or len(order) > MAX_STATEMENTS:
            self._show()
            return
        self._take(rows)

    def _move(self, at: int, by: int) -> None:
        rows = [*self._rows]
        rows.insert(at + by, rows.pop(at))
        self._take(rows)
        # The focus follows the statement, so that the key can be pressed again.
        self.lines[at + by].focus_move(by)

    def _take(self, rows: list[Row]) -> None:
        order, before = order_of(rows), self._order
        self._rows, self._order = rows, order
        self._show()
        if order != before:
            self.reordered.emit(order)

    def _choose(self, order: tuple[str, ...]) -> None:
        self.choose(order, self._is_manual)
        self._rows = rows_of(order)
        self._show()
        self.reordered.emit(order)


class _Line(QWidget):
    """A statement: switched on or off, run twice, moved up or down."""

    switched = Signal(bool)
    doubled = Signal(bool)
    moved = Signal(int)

    def __init__(self) -> None:
        super().__init__()
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(4)
        self.box = QCheckBox()
        self.box.clicked.connect(self.switched)
        self.twice = QPushButton("×2")
        self.twice.setCheckable(True)
        self.twice.setProperty("crumb", True)
        self.twice.clicked.connect(self.doubled)
        self.up, self.down = QToolButton(), QToolButton()
        row.addWidget(self.box, 1)
        row.addWidget(self.twice)
        for button, arrow, by in (
            (self.up, Qt.ArrowType.UpArrow, -1),
            (self.down, Qt.ArrowType.DownArrow, 1),
        ):
            button.setArrowType(arrow)
            button.setProperty("quiet", True)
            button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
            button.clicked.connect(lambda _=False, by=by: self.moved.emit(by))
            row.addWidget(button)

    def show_statement(self, name: str, times: int, can_rise: bool, can_sink: bool) -> None:
        """Show a statement that runs ``times`` times in a row."""
        self.box.setText(f"{name} ×{times}" if times > 2 else name)
        self.box.setChecked(times > 0)
        self.box.setToolTip(CALLS[name])
        self.box.setAccessibleDescription(CALLS[name])
        with QSignalBlocker(self.twice):
            self.twice.setChecked(times > 1)
        self.twice.setEnabled(times > 0)
        for button, what, can in (
            (self.twice, tr("Run {name} twice", name=name), times > 0),
            (self.up, tr("Move {name} up", name=name), can_rise),
            (self.down, tr("Move {name} down", name=name), can_sink),
        ):
            button.setEnabled(can)
            button.setToolTip(what)
            button.setAccessibleName(what)

    def focus_move(self, by: int) -> None:
        """Focus the arrow that moves further the same way, or the other at the end."""
        first, other = (self.up, self.down) if by < 0 else (self.down, self.up)
        (first if first.isEnabled() else other).setFocus()
