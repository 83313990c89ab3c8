"""Histograms of weights, gradients and activations, one per tensor."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QEvent, QPointF, QRectF, Qt
from PySide6.QtGui import QFontMetricsF, QPainter, QWheelEvent
from PySide6.QtWidgets import QWidget

from gradscribe.engine.protocol.training import ViewReply, ViewRequest
from gradscribe.playback.text import formatting
from gradscribe.playback.text.fitting import fitted_name
from gradscribe.playback.translation import tr
from gradscribe.widgets.base.choice import Choice
from gradscribe.widgets.base.theme import mono_font
from gradscribe.widgets.plots.drawing.plane_table import csv_lines
from gradscribe.widgets.plots.drawing.scroll_bar import CanvasScrollBar
from gradscribe.widgets.plots.plot import EDGE, Plot, draw_placeholder
from gradscribe.widgets.plots.training_view import ShownRun, TrainingView

Kind = Literal["weight", "gradient", "activation"]
KINDS: tuple[Kind, ...] = ("weight", "gradient", "activation")
"""In the order of `engine.train.views.histograms`."""
CELL = 76.0
LEAST = 150.0
LONE = 7.0
"""Width in pixels of the bar of a tensor whose numbers are all equal."""


@dataclass(frozen=True)
class TensorHistogram:
    """Histogram of a tensor: counts of equal bins from ``low`` to ``high``."""

    name: str
    kind: Kind
    counts: NDArray[np.intp]
    low: float
    high: float


NOTHING = tr("Nothing to count yet")


class HistogramGrid(Plot):
    """A grid of histograms; colour and name show their kind."""

    def __init__(self, title: str, subtitle: str, parent: QWidget | None = None) -> None:
        super().__init__(title, subtitle, parent)
        self.nothing = NOTHING
        """The text shown without any histogram."""
        self._spreads: tuple[TensorHistogram, ...] = ()
        self.scroller = CanvasScrollBar(self, CELL / 2)

    def show_histograms(self, spreads: Sequence[TensorHistogram]) -> None:
        """Show a histogram per tensor."""
        self._spreads = tuple(spreads)
        self.refresh()

    def table(self) -> Iterator[str]:
        """Yield a row per bin of each tensor: its ends and how many numbers are between them."""
        yield csv_lines([("tensor", "kind", "from", "to", "count")])
        for spread in self._spreads:
            ends = np.linspace(spread.low, spread.high, len(spread.counts) + 1).tolist()
            rows = zip(ends[:-1], ends[1:], spread.counts.tolist(), strict=True)
            yield csv_lines((spread.name, spread.kind, *map(str, row)) for row in rows)

    def sentences(self) -> Sequence[str]:
        """Return the count and the range of each tensor's numbers."""
        words = [self.caption.said()] if self._spreads else [self.nothing]
        for spread in self._spreads:
            low, high = formatting.number(spread.low), formatting.number(spread.high)
            count = int(spread.counts.sum())
            words.append(
                tr(
                    "{name}: {count:,} from {low} to {high}",
                    name=spread.name,
                    count=count,
                    low=low,
                    high=high,
                )
            )
        return words

    def copy_from(self, other: "HistogramGrid") -> None:
        """Show what another one shows."""
        self.nothing = other.nothing
        self.set_caption(other.caption.said())
        self.show_histograms(other._spreads)

    def draw(self, painter: QPainter, area: QRectF) -> None:
        """Draw in as many columns as fit."""
        if not self._spreads:
            draw_placeholder(painter, area, self.theme, self.nothing)
            return
        inner = area.adjusted(EDGE, 4, -EDGE, -6)
        columns = max(1, int(inner.width() // (LEAST * self.theme.scale)))
        rows = -(-len(self._spreads) // columns)
        high = max(CELL * self.theme.scale, min(120.0, inner.height() / rows))
        top = self.scroller.top(rows * high, inner)
        painter.setClipRect(area.adjusted(0, 0, 0, -2))
        wide = inner.width() / columns
        for index, spread in enumerate(self._spreads):
            x = inner.left() + (index % columns) * wide
            y = inner.top() + (index // columns) * high - top
            if y < area.bottom() and y + high > area.top():
                self._draw_one(painter, QRectF(x, y, wide - 14, high - 10), spread)

    def _draw_one(self, painter: QPainter, box: QRectF, spread: TensorHistogram) -> None:
        theme = self.theme
        colors = {
            "weight": theme.parameter,
            "gradient": theme.backward,
            "activation": theme.forward,
        }
        painter.setFont(mono_font(11 * theme.scale))
        metrics = QFontMetricsF(painter.font())
        painter.setPen(theme.ink2)
        name = f"∂L/∂{spread.name}" if spread.kind == "gradient" else spread.name
        short = fitted_name(name, lambda form: metrics.horizontalAdvance(form) <= box.width())
        painter.drawText(QPointF(box.left(), box.top() + metrics.ascent()), short)
        bars = box.adjusted(0, metrics.height() + 2, 0, -metrics.height())
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(theme.line)
        painter.drawRect(QRectF(bars.left(), bars.bottom(), bars.width(), 1))
        painter.setBrush(colors[spread.kind])
        if spread.low == spread.high:
            self._draw_lone(painter, bars, spread)
            return
        most = max(1, int(spread.counts.max())) if spread.counts.size else 1
        step = bars.width() / max(1, spread.counts.size)
        for place, count in enumerate(spread.counts.tolist()):
            if count:
                tall = max(1.5, bars.height() * count / most)
                painter.drawRect(
                    QRectF(bars.left() + place * step, bars.bottom() - tall, max(1, step - 1), tall)
                )
        painter.setPen(theme.ink3)
        painter.setFont(theme.font(11))
        below = QRectF(bars.left(), bars.bottom() + 1, bars.width(), metrics.height() + 2)
        painter.drawText(below, Qt.AlignmentFlag.AlignLeft, formatting.number(spread.low, 2))
        painter.drawText(below, Qt.AlignmentFlag.AlignRight, formatting.number(spread.high, 2))
        if spread.low < 0 < spread.high:
            zero = bars.left() - spread.low / (spread.high - spread.low) * bars.width()
            painter.fillRect(QRectF(zero, bars.top(), 1, bars.height() + 3), theme.line_strong)

    def _draw_lone(self, painter: QPainter, bars: QRectF, spread: TensorHistogram) -> None:
        """Draw the centred bar of numbers that are all equal, labelled with the number."""
        painter.drawRect(QRectF(bars.center().x() - LONE / 2, bars.top(), LONE, bars.height()))
        painter.setPen(self.theme.ink3)
        painter.setFont(self.theme.font(11))
        below = QRectF(bars.left(), bars.bottom() + 1, bars.width(), 40)
        middle = Qt.AlignmentFlag.AlignHCenter | Qt.AlignmentFlag.AlignTop
        painter.drawText(below, middle, formatting.number(spread.low, 2))

    def handle(self, happened: QEvent) -> bool:
        """Scroll with the wheel."""
        return isinstance(happened, QWheelEvent) and self.scroller.turn(happened)


class TensorHistograms(HistogramGrid):
    """Histograms of weights, gradients or activations, as chosen."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(tr("Histograms"), tr("how the numbers of each tensor are spread"), parent)
        self.choice = Choice()
        self.choice.setAccessibleName(tr("Which numbers"))
        self.choice.setToolTip(tr("Which numbers"))
        self.choice.addItems(list(KINDS))
        self.choice.currentIndexChanged.connect(lambda _at: self.wished.emit())
        self.tools.addWidget(self.choice)


def to_histograms(run: ShownRun, view: ViewReply) -> list[TensorHistogram]:
    """Return the histograms of a view of the engine, of the kind that it says."""
    kind: Kind = KINDS[round(view.facts.get("of", 0.0))]
    counts, edges = view.arrays["counts"].array(), view.arrays["edges"].array()
    if run.begun is None:
        return []
    if kind == "activation":
        names = [layer.title for layer in run.begun.layers or run.begun.units]
    else:
        names = [parameter.name for parameter in run.begun.parameters]
    return [
        TensorHistogram(name, kind, row.astype(np.intp), float(low), float(high))
        for name, row, (low, high) in zip(names, counts, edges, strict=False)
    ]


ENTRY = TrainingView(
    tr("Histograms"),
    "numbers",
    30,
    TensorHistograms,
    ("histograms",),
    wishes=lambda plot, _run: (ViewRequest("histograms", 100, {"of": plot.choice.currentText()}),),
    show=lambda plot, run, view: plot.show_histograms(to_histograms(run, view)),
    clear=lambda plot: plot.show_histograms(()),
    begin=lambda plot, _begun: plot.show_histograms(()),
)
