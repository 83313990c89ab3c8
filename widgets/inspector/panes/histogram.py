"""The histogram pane: distributions of value (blue) and gradient (pink), and statistics."""

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from gradscribe.engine.protocol.tape import Snapshot
from gradscribe.playback.tape import snapshot_text
from gradscribe.playback.text import formatting as words
from gradscribe.playback.translation import tr
from gradscribe.widgets.base.boxes import hbox, vbox
from gradscribe.widgets.base.labels import Label
from gradscribe.widgets.base.theme import Theme
from gradscribe.widgets.inspector.panes.page import InspectorPage, Side, to_float64
from gradscribe.widgets.inspector.panes.pane import Pane
from gradscribe.widgets.inspector.panes.rows import RowContent, RowList

BINS = 24
LEAST = 8
"""Tensors with fewer elements get no bars: the table shows their numbers."""
HEIGHT = 56.0


class HistogramBars(QWidget):
    """A histogram with the limits of its axis below."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.theme = Theme.load("light")
        self.color: QColor = self.theme.forward
        self.counts: NDArray[np.int64] = np.zeros(0, np.int64)
        self.low, self.high = 0.0, 0.0
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)

    def sizeHint(self) -> QSize:
        """Return the size of bars and axis."""
        return QSize(100, round(HEIGHT) + 20)

    def show_numbers(
        self, numbers: NDArray[np.float64], color: QColor, whole: bool = False
    ) -> None:
        """Show the finite ``numbers`` in `BINS` bins; ``whole``: integers with a bin each."""
        self.color = color
        finite = numbers[np.isfinite(numbers)]
        self.counts, self.low, self.high = binned(finite, whole)
        few = tr(
            "{number} to {number_2}",
            number=words.number(self.low),
            number_2=words.number(self.high),
        )
        self.setAccessibleName(
            tr("Histogram of {size} numbers from {few}", size=finite.size, few=few)
        )
        self.update()

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Draw the bars, the base line and the limits."""
        with QPainter(self) as painter:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(self.theme.line)
            painter.drawRect(QRectF(0, HEIGHT, self.width(), 1))
            painter.setBrush(self.color)
            most = max(1, int(self.counts.max())) if self.counts.size else 1
            step = self.width() / max(1, self.counts.size)
            for at, count in enumerate(self.counts.tolist()):
                if count:
                    high = max(1.5, HEIGHT * count / most)
                    box = QRectF(at * step, HEIGHT - high, max(1.0, step - 1), high)
                    painter.drawRoundedRect(box, 1, 1)
            painter.setPen(self.theme.ink2)
            painter.setFont(self.theme.font(11))
            below = QRectF(0, HEIGHT + 3, self.width(), 16)
            if self.counts.size:
                painter.drawText(below, Qt.AlignmentFlag.AlignLeft, axis_label(self.low))
                if self.high != self.low:
                    painter.drawText(below, Qt.AlignmentFlag.AlignRight, axis_label(self.high))
            else:
                painter.drawText(below, Qt.AlignmentFlag.AlignLeft, tr("no finite numbers"))


def binned(
    finite: NDArray[np.float64], whole: bool = False
) -> tuple[NDArray[np.int64], float, float]:
    """Return counts per bin, minimum and maximum; no bins without numbers."""
    if not finite.size:
        return np.zeros(0, np.int64), 0.0, 0.0
    low, high = float(finite.min()), float(finite.max())
    width = high - low
    if not np.isfinite(width) or width <= max(abs(low), abs(high)) * 1e-12:
        middle = np.zeros(BINS, np.int64)
        middle[BINS // 2] = finite.size
        return middle, low, high
    if whole and width < BINS:
        return np.bincount((finite - low).astype(np.int64)), low, high
    places = np.minimum(((finite - low) / width * BINS).astype(np.int64), BINS - 1)
    return np.bincount(places, minlength=BINS), low, high


def axis_label(x: float) -> str:
    """Return the limit of an axis with three significant digits."""
    return f"{x:.3g}".replace("-", words.MINUS)


def statistics(snapshot: Snapshot) -> list[RowContent]:
    """Return mean and deviation, extremes, norm, and the counts of NaN and infinities."""
    array = snapshot.array()
    if array is None:
        numbers = (snapshot.mean, snapshot.std, snapshot.min, snapshot.max, snapshot.norm)
        mean, std, low, high, norm = numbers
        nan, inf = snapshot.nan, snapshot.inf
    else:
        plain = to_float64(array)
        with np.errstate(all="ignore"):
            mean = float(plain.mean()) if plain.size else None
            std = float(plain.std(ddof=1)) if plain.size > 1 else None
            low, high = (float(plain.min()), float(plain.max())) if plain.size else (None, None)
        norm = snapshot_text.norm(snapshot)
        nan, inf = int(np.isnan(plain).sum()), int(np.isinf(plain).sum())
    lines = [
        RowContent(tr("mean · std"), "", f"{words.number(mean)} · {words.number(std)}", "fact"),
        RowContent(tr("min · max"), "", f"{words.number(low)} · {words.number(high)}", "fact"),
        RowContent(tr("norm"), "", words.number(norm), "fact"),
    ]
    if nan or inf:
        lines.append(RowContent("NaN · ∞", "", f"{nan:,} · {inf:,}", "warning"))
    return lines


class HistogramPane(Pane):
    """Histograms of value and gradient side by side, and statistics of the chosen side."""

    order = 40
    numbers_only = True
    ruled = True

    def __init__(self) -> None:
        super().__init__()
        row = hbox(None, spacing=14)
        self.bars: dict[Side, HistogramBars] = {}
        self.boxes: dict[Side, QWidget] = {}
        sides: tuple[tuple[Side, str, str], ...] = (
            ("value", tr("Values"), "caption"),
            ("gradient", tr("Gradient"), "gradient"),
        )
        for side, title, role in sides:
            box = QWidget(self)
            column = vbox(box, Label(role, title, box), spacing=4)
            self.bars[side] = HistogramBars(box)
            self.boxes[side] = box
            column.addWidget(self.bars[side])
            row.addWidget(box, 1)
        self._note = Label("caption", "", self)
        self._rows = RowList(self, 0)
        self.column.addLayout(row)
        self.column.addWidget(self._note)
        self.column.addWidget(self._rows)

    def set_theme(self, theme: Theme) -> None:
        """Use ``theme``'s colours."""
        super().set_theme(theme)
        self._rows.set_theme(theme)
        for side, bars in self.bars.items():
            bars.theme = theme
            bars.color = theme.forward if side == "value" else theme.backward
            bars.update()

    def show_page(self, page: InspectorPage) -> bool:
        """Show the histograms that exist; hidden for scalars."""
        current = page.snapshot()
        if current is None or current.numel < 2:
            return False
        sampled = False
        for side, bars in self.bars.items():
            snapshot = page.snapshot(side)
            self.boxes[side].setVisible(snapshot is not None and snapshot.numel >= LEAST)
            if snapshot is not None:
                numbers, part = histogram_numbers(snapshot)
                sampled = sampled or part
                color = self.theme.forward if side == "value" else self.theme.backward
                whole = not snapshot.dtype.startswith(("float", "bfloat", "complex"))
                bars.show_numbers(numbers, color, whole)
        self._note.say(tr("The histograms count a sample"))
        self._note.setVisible(sampled)
        self._rows.say(self._lines(page, current))
        return True

    def _lines(self, page: InspectorPage, current: Snapshot) -> list[RowContent]:
        lines = statistics(current)
        if page.side == "gradient":
            pink = [line._replace(tone="fact-backward") for line in lines if line.tone == "fact"]
            return pink + [line for line in lines if line.tone != "fact"]
        gradient = page.snapshot("gradient")
        if gradient is not None:
            norm = words.number(snapshot_text.norm(gradient))
            lines.append(RowContent(tr("gradient norm"), "", norm, "fact-backward"))
        return lines


def histogram_numbers(snapshot: Snapshot) -> tuple[NDArray[np.float64], bool]:
    """Return the numbers to count, as a 1-D array, and whether they are only a sample."""
    array = snapshot.array()
    if array is not None:
        return to_float64(array).reshape(-1), False
    if snapshot.thumb is None:
        return np.zeros(0), True
    return to_float64(np.frombuffer(snapshot.thumb, "<f4")).reshape(-1), True


ENTRY = HistogramPane
