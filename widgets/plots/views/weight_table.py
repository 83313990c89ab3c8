"""Editable table of a parameter's elements."""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import (
    QAbstractTableModel,
    QModelIndex,
    QPersistentModelIndex,
    QSignalBlocker,
    Qt,
    Signal,
)
from PySide6.QtGui import QColor, QPainter, QResizeEvent
from PySide6.QtWidgets import (
    QHBoxLayout,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTableView,
    QWidget,
)

from gradscribe.engine.protocol.training import Parameter, RunStarted, ViewReply, ViewRequest
from gradscribe.engine.protocol.training.replies import MAX_VIEW_PARAMETERS
from gradscribe.playback.text import formatting
from gradscribe.playback.translation import tr
from gradscribe.widgets.base import menus
from gradscribe.widgets.base.boxes import vbox
from gradscribe.widgets.base.choice import Choice
from gradscribe.widgets.base.labels import Heading, Label, sheet
from gradscribe.widgets.base.stylesheet import set_sheet
from gradscribe.widgets.base.theme import Theme, mono_font
from gradscribe.widgets.graph.paint import heat
from gradscribe.widgets.plots.training_view import ShownRun, TrainingView, size_note

MOST = 256
"""Most rows and columns that are shown."""

EDIT_HINT = tr("double click changes a number; the run goes on with it")
LONGEST = 24
"""Most characters of an invalid text in the message about it."""

Index = QModelIndex | QPersistentModelIndex
Floats = NDArray[np.float32] | NDArray[np.float64]


class _Grid(QAbstractTableModel):
    """A parameter as a matrix: all dimensions but the first are flattened."""

    wanted = Signal(int, float)
    unfit = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        self.numbers: Floats = np.zeros((0, 0), np.float32)
        self.grads: Floats | None = None
        self.dark = False
        self._scale = 1.0

    def show(self, numbers: Floats, grads: Floats | None) -> None:
        """Show other numbers; the model is reset only if the shape changes."""
        same = numbers.shape == self.numbers.shape
        if not same:
            self.beginResetModel()
        self.numbers, self.grads = numbers, grads
        self._scale = heat.scale_of(numbers.astype(np.float64))
        if not same:
            self.endResetModel()
        elif numbers.size:
            last = self.index(self.rowCount() - 1, self.columnCount() - 1)
            self.dataChanged.emit(self.index(0, 0), last)

    def rowCount(self, _parent: Index | None = None) -> int:
        rows: int = self.numbers.shape[0]
        return min(MOST, rows)

    def columnCount(self, _parent: Index | None = None) -> int:
        columns: int = self.numbers.shape[1]
        return min(MOST, columns)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        if not index.isValid():
            return None
        at = index.row(), index.column()
        number = float(self.numbers[at])
        if role == Qt.ItemDataRole.DisplayRole:
            return formatting.number(number)
        if role == Qt.ItemDataRole.EditRole:
            return exact_text(self.numbers[at])
        if role == Qt.ItemDataRole.ToolTipRole:
            grad = (
                tr("\ngradient {number}", number=formatting.number(float(self.grads[at])))
                if self.grads is not None
                else ""
            )
            return f"{exact_text(self.numbers[at])}{grad}"
        if role == Qt.ItemDataRole.BackgroundRole:
            color = heat.color(number, self._scale, self.dark)
            color.setAlphaF(0.45)
            return color
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return int(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        return None

    def flags(self, index: Index) -> Qt.ItemFlag:
        return super().flags(index) | Qt.ItemFlag.ItemIsEditable

    def setData(self, index: Index, value: object, role: int = Qt.ItemDataRole.EditRole) -> bool:
        if role != Qt.ItemDataRole.EditRole:
            return False
        try:
            number = float(str(value).strip().replace("−", "-").replace(",", "."))
        except ValueError:
            number = np.nan
        if not abs(number) <= float(np.finfo(self.numbers.dtype).max):
            self.unfit.emit(str(value))
            return False
        if str(value) == self.data(index, role):
            return False
        columns = max(1, self.numbers.shape[1])
        self.wanted.emit(index.row() * columns + index.column(), number)
        return True

    def headerData(
        self, section: int, _way: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> object:
        return str(section) if role == Qt.ItemDataRole.DisplayRole else None


class _Tinted(QStyledItemDelegate):
    """Paints the background colour of a cell, which the style sheet would suppress."""

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        color = index.data(Qt.ItemDataRole.BackgroundRole)
        if isinstance(color, QColor):
            painter.fillRect(option.rect, color)
        super().paint(painter, option, index)

    def createEditor(self, parent: QWidget, option: QStyleOptionViewItem, index: Index) -> QWidget:
        editor = super().createEditor(parent, option, index)
        # The default padding leaves no space for digits in a table row.
        editor.setStyleSheet("padding: 0 2px; border-radius: 0; min-height: 0")
        return editor


class WeightTable(QWidget):
    """Shows a parameter; an edit is signalled as (parameter, flat index, number)."""

    edited = Signal(str, int, float)
    refused = Signal(str)
    """Carries the message about a text that is not a number."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAccessibleName(tr("Weights"))
        self.heading = Heading(tr("Weights"), EDIT_HINT)
        self.choice = Choice()
        self.choice.setAccessibleName(tr("Parameter"))
        # The ends of parameter names must be visible to distinguish them.
        self.choice.setSizeAdjustPolicy(Choice.SizeAdjustPolicy.AdjustToContents)
        self.choice.setMinimumWidth(150)
        self.choice.setMaximumWidth(360)
        self.grid = _Grid()
        self.grid.setParent(self)
        self.table = QTableView()
        self.table.setModel(self.grid)
        self.table.setItemDelegate(_Tinted(self.table))
        self.table.setProperty("bare", True)
        self.table.setAccessibleName(tr("Numbers of the parameter"))
        menus.offer_copies(
            self.table,
            (tr("Edit the number"), lambda: self.table.edit(self.table.currentIndex())),
            (tr("Copy the number"), self._copy_number),
            role=Qt.ItemDataRole.EditRole,
        )
        self.table.horizontalHeader().setDefaultSectionSize(96)
        self.table.verticalHeader().setDefaultSectionSize(24)
        top = QHBoxLayout()
        self.step = Label("caption").fit_text()
        top.addWidget(self.heading, 1)
        top.addWidget(self.step)
        top.addWidget(self.choice)
        column = vbox(self, margins=(16, 12, 12, 8))
        column.addLayout(top)
        column.addWidget(self.table, 1)
        self._parameters: tuple[Parameter, ...] = ()
        self._flat: Floats = np.zeros(0, np.float32)
        self._grads: Floats | None = None
        self.choice.currentIndexChanged.connect(lambda _at: self._show())
        self.grid.wanted.connect(self._emit_edit)
        self.grid.unfit.connect(self._refuse)

    def resizeEvent(self, happened: QResizeEvent) -> None:
        """Shorten the heading to leave space for the numbers; called by Qt."""
        super().resizeEvent(happened)
        self.heading.fit_height(self.height())

    def set_theme(self, theme: Theme) -> None:
        """Use the colours and fonts of ``theme``."""
        set_sheet(self, sheet(theme))
        self.grid.dark = theme.dark
        self.table.setFont(mono_font(12 * theme.scale))
        self._show()

    def set_parameters(self, parameters: Sequence[Parameter]) -> None:
        """Offer these parameters; the current choice stays if it is among them."""
        before = self.choice.currentText()
        self._parameters = tuple(parameters)
        with QSignalBlocker(self.choice):
            self.choice.clear()
            for parameter in parameters:
                self.choice.addItem(parameter.name)
            self.choice.setCurrentIndex(max(0, self.choice.findText(before)))
        self._flat, self._grads = np.zeros(0, np.float32), None
        self._show()

    def show_step(self, step: int | None) -> None:
        """Say which step the numbers are of; None: say nothing."""
        self.step.say("" if step is None else tr("step {step:,}", step=step))

    def show_flat(self, flat: Floats, grads: Floats | None = None) -> None:
        """Take the flat vectors of all parameters and of their gradients."""
        self._flat, self._grads = flat, grads
        if self.table.state() != QTableView.State.EditingState:
            self._show()

    def _chosen(self) -> Parameter | None:
        at = self.choice.currentIndex()
        return self._parameters[at] if 0 <= at < len(self._parameters) else None

    def _show(self) -> None:
        parameter = self._chosen()
        numbers = _matrix(self._flat, parameter) if parameter is not None else None
        if parameter is None or numbers is None:
            self.grid.show(np.zeros((0, 0), np.float32), None)
            return
        grads = _matrix(self._grads, parameter) if self._grads is not None else None
        if grads is not None and np.isnan(grads).all():
            grads = None  # There is none before the first backward pass.
        self.grid.show(numbers, grads)

    def _copy_number(self) -> None:
        menus.copy_text(self.table.currentIndex().data(Qt.ItemDataRole.EditRole))

    def _refuse(self, typed: str) -> None:
        short = typed if len(typed) <= LONGEST else f"{typed[:LONGEST]}…"
        self.refused.emit(tr("“{short}” is not a valid weight; the old value stays", short=short))

    def _emit_edit(self, index: int, number: float) -> None:
        parameter = self._chosen()
        if parameter is not None:
            self.edited.emit(parameter.name, index, number)


def exact_text(number: np.floating) -> str:
    """Return the shortest text that identifies a number in its dtype."""
    short = str(number)
    return short.removesuffix(".0")


def _matrix(flat: Floats, parameter: Parameter) -> Floats | None:
    size = math.prod(parameter.shape)
    part = flat[parameter.start : parameter.start + size]
    if part.size != size or not size:
        return None
    rows = parameter.shape[0] if len(parameter.shape) > 1 else 1
    return part.reshape(rows, -1)


def _begin(table: WeightTable, begun: RunStarted) -> None:
    table.set_parameters(begun.parameters)
    table.heading.set_text(tr("Weights"), size_note(begun, MAX_VIEW_PARAMETERS) or EDIT_HINT)


def _show_reply(table: WeightTable, _run: ShownRun, view: ViewReply) -> None:
    grads = view.arrays["grads"].array() if "grads" in view.arrays else None
    table.show_flat(view.arrays["flat"].array(), grads)


ENTRY = TrainingView(
    tr("Weights"),
    "steps",
    30,
    WeightTable,
    ("weights",),
    wishes=lambda _table, _run: (ViewRequest("weights", 100),),
    show=_show_reply,
    clear=lambda table: table.set_parameters(()),
    begin=_begin,
)
