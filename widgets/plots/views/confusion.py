"""Confusion matrix: a table of counts with shaded cells, each of which opens its examples."""

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QEvent, QPointF, QRectF, Qt
from PySide6.QtGui import QFontMetricsF, QKeyEvent, QPainter, QPen
from PySide6.QtWidgets import QWidget

from gradscribe.engine.protocol.setup import JsonValue
from gradscribe.engine.protocol.training import ViewReply, ViewRequest
from gradscribe.playback.translation import tr
from gradscribe.widgets.base.choice import Choice
from gradscribe.widgets.base.theme import Theme, mix
from gradscribe.widgets.plots.drawing.plane_table import csv_lines
from gradscribe.widgets.plots.plot import EDGE, Plot, draw_placeholder
from gradscribe.widgets.plots.training_view import ShownRun, TrainingView
from gradscribe.widgets.plots.views.cell_examples import CellExamples, examples_of

PARTS = {"both": tr("All data"), "train": tr("Training"), "val": tr("Validation")}
"""Parts of the data whose answers are counted, with their titles."""
_MOVES = {
    Qt.Key.Key_Left: (0, -1),
    Qt.Key.Key_Right: (0, 1),
    Qt.Key.Key_Up: (-1, 0),
    Qt.Key.Key_Down: (1, 0),
}
_OPENING = (Qt.Key.Key_Return, Qt.Key.Key_Enter)

LISTED_MISTAKES = 3
"""Most kinds of mistakes in the summary."""
Counts = NDArray[np.intp]
Cell = tuple[int, int]
"""The true class, which is the row, and the answer, which is the column."""


class ConfusionMatrix(Plot):
    """Confusion matrix with the true classes as rows and the predicted classes as columns."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(
            tr("Confusion matrix"), tr("rows are the truth, columns the answer"), parent
        )
        self._parts: dict[str, Counts] = {}
        self._counts: Counts = np.zeros((0, 0), np.intp)
        self._names: tuple[str, ...] = ()
        self._frame = QRectF()
        """The cells as drawn last."""
        self.cell: Cell | None = None
        """The cell at the keyboard or the mouse."""
        self.examples: CellExamples | None = None
        """The window with the examples of a cell."""
        self._opened: Cell | None = None
        self.part = Choice()
        self.part.setAccessibleName(tr("Part of the data"))
        for kind, title in PARTS.items():
            self.part.addItem(title, kind)
        self.part.currentIndexChanged.connect(self._choose_part)
        self.tools.addWidget(self.part)
        self.canvas.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.canvas.setAccessibleName(
            tr("Cells: arrows choose a cell, Return shows its examples, T opens all numbers")
        )

    def show_counts(self, counts: Counts, names: Sequence[str] = ()) -> None:
        """Show (K, K) counts; ``counts[i, j]`` points of class i were predicted as class j."""
        self.show_parts({"train": np.asarray(counts)}, names)

    def show_parts(self, parts: dict[str, Counts], names: Sequence[str] = ()) -> None:
        """Show the counts of the parts of the data, ``train`` and ``val``."""
        self._parts = parts
        kinds = max((len(counts) for counts in parts.values()), default=0)
        self._names = tuple(names) or tuple(str(k) for k in range(kinds))
        self._show_part()

    def _choose_part(self) -> None:
        self._show_part()
        if self.examples is not None and self._opened is not None:
            self.open_cell(self._opened)

    def _show_part(self) -> None:
        chosen = self.part.currentData()
        held = [c for part, c in self._parts.items() if chosen in ("both", part) and len(c)]
        self._counts = np.sum(held, axis=0) if held else np.zeros((0, 0), np.intp)
        right, total = int(np.trace(self._counts)), int(self._counts.sum())
        words = tr("rows are the truth, columns the answer")
        if total:
            words = tr(
                "rows are the truth, columns the answer · {right:,} of {total:,} right",
                right=right,
                total=total,
            )
        self.set_caption(words)
        if self.cell is not None and max(self.cell) >= len(self._counts):
            self.cell = None
        self.refresh()

    def clear(self) -> None:
        """Show nothing, and close the examples."""
        self.show_parts({})
        self.cell = self._opened = None
        if self.examples is not None:
            self.examples.close()

    def set_theme(self, theme: Theme) -> None:
        """Use the colours and fonts of ``theme``."""
        super().set_theme(theme)
        if self.examples is not None:
            self.examples.set_theme(theme)

    def draw(self, painter: QPainter, area: QRectF) -> None:
        """Draw the table, without sums."""
        kinds = len(self._counts)
        if not kinds:
            words = tr("No classes here") if self._parts else tr("No answers yet")
            draw_placeholder(painter, area, self.theme, words)
            return
        metrics = QFontMetricsF(self.theme.font(11, 500))
        left = min(90.0, max(metrics.horizontalAdvance(name) for name in self._names) + 10)
        self._frame = room = area.adjusted(EDGE + left, 8, -EDGE, -24)
        wide, high = room.width() / kinds, room.height() / kinds
        for row in range(kinds):
            line = QRectF(area.left() + EDGE, room.top() + row * high, left - 8, high)
            name = metrics.elidedText(self._names[row], Qt.TextElideMode.ElideRight, left - 8)
            painter.setPen(self.theme.ink2)
            # The cells of the row above have set theirs.
            painter.setFont(self.theme.font(11, 500))
            flags = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight
            painter.drawText(line, flags, name)
            whole = max(1, int(self._counts[row].sum()))
            for column in range(kinds):
                box = QRectF(room.left() + column * wide, room.top() + row * high, wide, high)
                self._draw_cell(painter, box.adjusted(1, 1, -1, -1), row, column, whole)
        painter.setPen(self.theme.ink2)
        painter.setFont(self.theme.font(11, 500))
        for column in range(kinds):
            below = QRectF(room.left() + column * wide, room.bottom() + 2, wide, 20)
            name = metrics.elidedText(self._names[column], Qt.TextElideMode.ElideRight, wide - 2)
            painter.drawText(below, Qt.AlignmentFlag.AlignCenter, name)

    def _draw_cell(self, painter: QPainter, box: QRectF, row: int, column: int, whole: int) -> None:
        count = int(self._counts[row, column])
        right = row == column
        full = self.theme.forward if right else self.theme.error
        share = count / whole
        fill = mix(full, self.theme.panel2, 0.12 + 0.5 * share) if count else self.theme.panel2
        is_chosen = (row, column) == self.cell
        outline = (
            QPen(self.theme.selection, self.theme.stroke(2))
            if is_chosen
            else QPen(Qt.PenStyle.NoPen)
        )
        painter.setPen(outline)
        painter.setBrush(fill)
        painter.drawRoundedRect(box, 4, 4)
        if box.width() < 16 or box.height() < 12:
            return
        painter.setPen(self.theme.ink if count else self.theme.ink3)
        painter.setFont(self.theme.font(12, 600 if right else 500))
        painter.drawText(box, Qt.AlignmentFlag.AlignCenter, f"{count:,}")

    # Mouse and keyboard

    def cell_at(self, at: QPointF) -> Cell | None:
        """Return the cell at a pixel of the canvas."""
        kinds, frame = len(self._counts), self._frame
        if not kinds or not frame.contains(at):
            return None
        row = int((at.y() - frame.top()) / frame.height() * kinds)
        column = int((at.x() - frame.left()) / frame.width() * kinds)
        return min(row, kinds - 1), min(column, kinds - 1)

    def place_of(self, cell: Cell) -> QPointF:
        """Return the centre of a cell in pixels of the canvas."""
        frame, kinds = self._frame, max(1, len(self._counts))
        x = frame.left() + (cell[1] + 0.5) * frame.width() / kinds
        return QPointF(x, frame.top() + (cell[0] + 0.5) * frame.height() / kinds)

    def handle(self, happened: QEvent) -> bool:
        """Follow mouse and arrows; a click or Return opens the examples of a cell."""
        kind = happened.type()
        if isinstance(happened, QKeyEvent):
            is_used = happened.key() in _MOVES or happened.key() in _OPENING
            if (
                not is_used
                or self.canvas.pointer.is_on
                or happened.modifiers() & ~Qt.KeyboardModifier.KeypadModifier
            ):
                return False
            if kind == QEvent.Type.ShortcutOverride:
                happened.accept()
                return True
            return kind == QEvent.Type.KeyPress and self._press(Qt.Key(happened.key()))
        mouse = self.follow_mouse(happened)
        if mouse is None:
            return False
        at = self.cell_at(mouse.position())
        if at != self.cell:
            self._point_at(at)
        is_click = kind == QEvent.Type.MouseButtonRelease
        if is_click and at is not None and mouse.button() == Qt.MouseButton.LeftButton:
            self.open_cell(at)
        return False

    def _press(self, key: Qt.Key) -> bool:
        kinds = len(self._counts)
        if not kinds:
            return False
        if key in _OPENING:
            if self.cell is not None:
                self.open_cell(self.cell)
            return self.cell is not None
        down, right = _MOVES[key]
        row, column = self.cell or (-down, -right)
        self._point_at((min(max(row + down, 0), kinds - 1), min(max(column + right, 0), kinds - 1)))
        return True

    def _point_at(self, cell: Cell | None) -> None:
        self.cell = cell
        words = self.describe(cell) if cell is not None else ""
        self.canvas.setToolTip(tr("{words}: a click shows them", words=words) if words else "")
        self.canvas.setAccessibleDescription(words)
        self.refresh()

    def describe(self, cell: Cell) -> str:
        """Return what a cell counts: ``3 of cat taken for dog``."""
        row, column = cell
        count = tr("{int:,} of {names}", int=int(self._counts[cell]), names=self._names[row])
        return (
            tr("{count} recognized", count=count)
            if row == column
            else tr("{count} taken for {names}", count=count, names=self._names[column])
        )

    def table(self) -> Iterator[str]:
        """Yield a row per true class: how often each class was the answer."""
        yield csv_lines([(tr("truth"), *self._names)])
        rows = zip(self._names, self._counts.tolist(), strict=False)
        yield csv_lines((name, *map(str, counts)) for name, counts in rows)

    def sentences(self) -> Sequence[str]:
        """Return how many answers are right, and the commonest mistakes."""
        counts = self._counts.copy()
        np.fill_diagonal(counts, 0)
        mistakes = np.argsort(counts, axis=None)[::-1][:LISTED_MISTAKES]
        cells = [
            (int(row), int(column))
            for row, column in zip(*np.unravel_index(mistakes, counts.shape), strict=True)
        ]
        return [self.caption.said(), *(self.describe(cell) for cell in cells if counts[cell])]

    def open_cell(self, cell: Cell) -> None:
        """Show the examples of a cell in a window, which is raised if it is open."""
        self._opened = cell
        if self.examples is None:
            self.examples = CellExamples(self.window())
            self.examples.set_theme(self.theme)
            self.examples.closed.connect(self._close_examples)
        self.examples.begin(f"{self.describe(cell)} · {self.part.currentText().lower()}")
        self.examples.show()
        self.examples.activateWindow()
        self.wished.emit()

    def _close_examples(self) -> None:
        self.examples = self._opened = None
        self.wished.emit()

    def options(self) -> dict[str, JsonValue]:
        """Return the options of the engine's view: the cell whose examples are shown."""
        if self._opened is None:
            return {}
        true, answer = self._opened
        return {"part": self.part.currentData(), "true": true, "answer": answer}

    def show_examples(self, run: ShownRun, view: ViewReply) -> None:
        """Show the examples that came with the counts."""
        if self.examples is None or self._opened is None or "rows" not in view.arrays:
            return
        shown = examples_of(run, view, self._names)
        count = int(self._counts[self._opened])
        words = f"{self.describe(self._opened)} · {self.part.currentText().lower()}"
        self.examples.show_examples(words, shown, count)


def _show(plot: ConfusionMatrix, run: ShownRun, view: ViewReply) -> None:
    counts = {part: view.arrays[part].array() for part in ("train", "val")}
    plot.show_parts(counts, run.begun.classes if run.begun is not None else ())
    plot.show_examples(run, view)


ENTRY = TrainingView(
    tr("Output"),
    "output",
    20,
    ConfusionMatrix,
    ("confusion",),
    wishes=lambda plot, _run: (ViewRequest("confusion", options=plot.options()),),
    show=_show,
    clear=lambda plot: plot.clear(),
    begin=lambda plot, _begun: plot.clear(),
    applies=lambda run: run.begun is not None and run.begun.task in ("binary", "classes", "tokens"),
)
