"""Confusion matrix: a table of counts with shaded cells."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QFontMetricsF, QPainter
from PySide6.QtWidgets import QWidget

from gradscribe.engine.protocol.training import ViewReply, ViewRequest
from gradscribe.widgets.base.theme import mix
from gradscribe.widgets.plots.plot import EDGE, Plot, draw_placeholder
from gradscribe.widgets.plots.training_view import ShownRun, TrainingView


class ConfusionMatrix(Plot):
    """Confusion matrix with the true classes as rows and the predicted classes as columns."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("Confusion matrix", "rows are the truth, columns the answer", parent)
        self._counts: NDArray[np.intp] = np.zeros((0, 0), np.intp)
        self._names: tuple[str, ...] = ()

    def show_counts(self, counts: NDArray[np.intp], names: Sequence[str] = ()) -> None:
        """Show (K, K) counts; ``counts[i, j]`` points of class i were predicted as class j."""
        self._counts = np.asarray(counts)
        self._names = tuple(names) or tuple(str(k) for k in range(len(self._counts)))
        right, total = int(np.trace(self._counts)), int(self._counts.sum())
        self.set_caption(f"rows are the truth, columns the answer · {right} of {total} right")
        self.refresh()

    def draw(self, painter: QPainter, area: QRectF) -> None:
        """Draw the table, without sums."""
        kinds = len(self._counts)
        if not kinds:
            draw_placeholder(painter, area, self.theme, "No classes here")
            return
        painter.setFont(self.theme.font(11, 500))
        metrics = QFontMetricsF(painter.font())
        left = min(90.0, max(metrics.horizontalAdvance(name) for name in self._names) + 10)
        room = area.adjusted(EDGE + left, 8, -EDGE, -24)
        side = QRectF(room)
        wide, high = side.width() / kinds, side.height() / kinds
        for row in range(kinds):
            line = QRectF(area.left() + EDGE, room.top() + row * high, left - 8, high)
            name = metrics.elidedText(self._names[row], Qt.TextElideMode.ElideRight, left - 8)
            painter.setPen(self.theme.ink2)
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
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(fill)
        painter.drawRoundedRect(box, 4, 4)
        if box.width() < 16 or box.height() < 12:
            return
        painter.setPen(self.theme.ink if count else self.theme.ink3)
        painter.setFont(self.theme.font(12, 600 if right else 500))
        painter.drawText(box, Qt.AlignmentFlag.AlignCenter, str(count))


def _show(plot: ConfusionMatrix, run: ShownRun, view: ViewReply) -> None:
    counts = view.arrays["train"].array() + view.arrays["val"].array()
    plot.show_counts(counts, run.begun.classes if run.begun is not None else ())


def _clear(plot: ConfusionMatrix) -> None:
    plot.show_counts(np.zeros((0, 0), np.intp))


ENTRY = TrainingView(
    "Output",
    "output",
    20,
    ConfusionMatrix,
    ("confusion",),
    wishes=lambda _plot, _run: (ViewRequest("confusion"),),
    show=_show,
    clear=_clear,
    begin=lambda plot, _begun: _clear(plot),
    applies=lambda run: run.begun is not None and run.begun.task in ("binary", "classes", "tokens"),
)
