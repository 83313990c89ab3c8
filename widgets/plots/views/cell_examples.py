"""Window with the examples that a cell of the confusion matrix counts."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QCloseEvent, QIcon, QImage, QKeyEvent, QPixmap
from PySide6.QtWidgets import QAbstractItemView, QLayout, QTableWidget, QTableWidgetItem, QWidget

from gradscribe.engine.protocol.training import ViewReply
from gradscribe.playback.text import formatting
from gradscribe.playback.translation import tr
from gradscribe.widgets.base import menus
from gradscribe.widgets.base.boxes import vbox
from gradscribe.widgets.base.columns.order import ColumnOrder
from gradscribe.widgets.base.columns.widths import ColumnWidths
from gradscribe.widgets.base.labels import Label, sheet, tip
from gradscribe.widgets.base.open_windows import resize_within_screen
from gradscribe.widgets.base.stylesheet import set_sheet
from gradscribe.widgets.base.theme import Theme
from gradscribe.widgets.plots.training_view import ShownRun

PICTURE = 56
"""Pixels of the side of a picture."""
SIZE = (460, 420)
MOST_COLUMNS = 30
"""Most inputs of an example that are shown."""


@dataclass(frozen=True)
class ShownExample:
    """An example: the texts of its cells, and its picture if it has one."""

    texts: tuple[str, ...]
    picture: NDArray[np.uint8] | None = None
    """(H, W), 0 is black."""


@dataclass(frozen=True)
class ShownExamples:
    """The header of a table, and a row per example."""

    header: tuple[str, ...]
    rows: tuple[ShownExample, ...]


def examples_of(run: ShownRun, view: ViewReply, names: Sequence[str]) -> ShownExamples:
    """Return the examples in a view of the kind ``confusion``."""
    rows, x = view.arrays["rows"].array(), view.arrays["x"].array()
    is_picture = x.ndim > 2
    columns: list[tuple[str, list[str]]] = [(tr("Row"), [f"{row:,}" for row in rows.tolist()])]
    if "wanted" in view.arrays:
        for title, tokens in (
            (tr("Input"), x),
            *((k.capitalize(), view.arrays[k].array()) for k in ("wanted", "given")),
        ):
            columns.append((title, [_sequence(line, names) for line in tokens]))
    elif not is_picture:
        known = run.data.x_names if run.data is not None else ()
        flat = x.reshape(len(x), math.prod(x.shape[1:]))
        for at in range(min(flat.shape[1], MOST_COLUMNS)):
            title = known[at] if at < len(known) else f"x{at + 1}"
            columns.append((title, [formatting.number(float(n), 3) for n in flat[:, at]]))
    if "sure" in view.arrays:
        columns.append((tr("Sure"), [f"{100 * n:.0f} %" for n in view.arrays["sure"].array()]))
    pictures = [_picture(one) for one in x] if is_picture else [None] * len(rows)
    texts = zip(*(cells for _, cells in columns), strict=True)
    made = [ShownExample(line, pic) for line, pic in zip(texts, pictures, strict=True)]
    return ShownExamples(tuple(title for title, _ in columns), tuple(made))


def _sequence(tokens: NDArray[np.int64], names: Sequence[str]) -> str:
    return " ".join(
        names[t] if 0 <= t < len(names) else str(t) for t in tokens.reshape(-1).tolist()
    )


def _picture(x: NDArray[np.floating]) -> NDArray[np.uint8]:
    """Return an input of one or several channels, (..., H, W), as grey levels."""
    flat = np.asarray(x, np.float64).reshape(-1, *x.shape[-2:]).mean(axis=0)
    flat = np.where(np.isfinite(flat), flat, 0.0)
    reach = float(flat.max() - flat.min()) or 1.0
    grey: NDArray[np.uint8] = ((flat - flat.min()) / reach * 255).astype(np.uint8)
    return grey


class CellExamples(QWidget):
    """A table of the examples of a cell, which follows the training."""

    closed = Signal()

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent, Qt.WindowType.Window)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.heading, self.note = Label("heading"), Label("caption")
        self.table = QTableWidget(0, 0)
        self.table.setAccessibleName(tr("Examples"))
        self.table.setProperty("bare", True)
        self.table.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.table.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.table.verticalHeader().hide()
        self.table.setShowGrid(False)
        menus.offer_copies(self.table)
        header = self.table.horizontalHeader()
        self._widths = ColumnWidths(header, "examples of a cell")
        self._widths.reset.connect(self._fit_columns)
        self._order = ColumnOrder(header)
        self._order.changed.connect(self._fill_rows)
        self.table.setTextElideMode(Qt.TextElideMode.ElideMiddle)
        self.table.setIconSize(QSize(PICTURE, PICTURE))
        rows = vbox(self, margins=(14, 12, 14, 12), spacing=6)
        # A minimum size would be sent to the window system; not every one accepts it.
        rows.setSizeConstraint(QLayout.SizeConstraint.SetNoConstraint)
        for part in (self.heading, self.note):
            rows.addWidget(part)
        rows.addWidget(self.table, 1)
        self.setAutoFillBackground(True)
        resize_within_screen(self, *SIZE)
        self._shown: ShownExamples | None = None

    def set_theme(self, theme: Theme) -> None:
        """Use the colours and fonts of ``theme``."""
        palette = self.palette()
        palette.setColor(self.backgroundRole(), theme.panel)
        self.setPalette(palette)
        set_sheet(self, sheet(theme))

    def begin(self, words: str) -> None:
        """Show the title of another cell until its examples arrive."""
        self.setWindowTitle(words)
        self.heading.say(words)
        self.note.say(tr("Looking them up…"))
        self._fill(ShownExamples((), ()))

    def show_examples(self, words: str, examples: ShownExamples, count: int) -> None:
        """Show the examples, the first of ``count``."""
        self.setWindowTitle(words)
        self.heading.say(words)
        shown = len(examples.rows)
        if not shown:
            self.note.say(tr("There is no such example at this step"))
        else:
            more = tr("the first {shown:,}", shown=shown) if shown < count else tr("all of them")
            self.note.say(tr("{more}, as the model answers at this step", more=more))
        if examples.header and "Wanted" in examples.header:
            self.note.say(tr("{said}; the count is one of tokens", said=self.note.said()))
        self._fill(examples)

    def _fill(self, examples: ShownExamples) -> None:
        before, self._shown = self._shown, examples
        if before is not None and [r.texts for r in before.rows] == [
            r.texts for r in examples.rows
        ]:
            return
        self._fill_rows()

    def _fill_rows(self) -> None:
        examples = self._shown
        if examples is None:
            return
        self.table.clear()
        self.table.setColumnCount(len(examples.header))
        self.table.setRowCount(len(examples.rows))
        self.table.setHorizontalHeaderLabels(list(examples.header))
        ordered = self._order.sorted(examples.rows, lambda example: example.texts)
        for row, example in enumerate(ordered):
            for column, text in enumerate(example.texts):
                item = QTableWidgetItem(text)
                item.setToolTip(tip(text))
                if column == 0 and example.picture is not None:
                    item.setIcon(_icon(example.picture))
                self.table.setItem(row, column, item)
        self._fit_columns()
        self.table.resizeRowsToContents()

    def _fit_columns(self) -> None:
        with self._widths.fitting() as fit:
            for column in range(self.table.columnCount()):
                head = self.table.horizontalHeader().sectionSizeHint(column)
                fit(column, max(head, self.table.sizeHintForColumn(column)))

    def keyPressEvent(self, happened: QKeyEvent) -> None:
        """Close with Escape; called by Qt."""
        if happened.key() == Qt.Key.Key_Escape:
            self.close()
        elif not menus.open_by_key(happened):
            super().keyPressEvent(happened)

    def closeEvent(self, happened: QCloseEvent) -> None:
        """Report that nothing more is to be looked up; called by Qt."""
        super().closeEvent(happened)
        self.closed.emit()


def _icon(picture: NDArray[np.uint8]) -> QIcon:
    grey = np.ascontiguousarray(picture)
    high, wide = grey.shape
    image = QImage(grey.tobytes(), wide, high, wide, QImage.Format.Format_Grayscale8).copy()
    mode = Qt.AspectRatioMode.KeepAspectRatio
    return QIcon(QPixmap.fromImage(image.scaled(PICTURE, PICTURE, mode)))
