"""Gradient sizes: a bar per parameter, on a log scale, with its norm."""

import math
from collections.abc import Iterator, Sequence

from PySide6.QtCore import QEvent, QPointF, QRectF, Qt
from PySide6.QtGui import QFontMetricsF, QMouseEvent, QPainter, QWheelEvent
from PySide6.QtWidgets import QWidget

from gradscribe.engine.protocol.training import ViewReply, ViewRequest
from gradscribe.playback.text import formatting
from gradscribe.playback.text.fitting import fitted_name
from gradscribe.playback.translation import tr
from gradscribe.widgets.base.labels import tip
from gradscribe.widgets.base.theme import mono_font
from gradscribe.widgets.plots.drawing.plane_table import csv_lines
from gradscribe.widgets.plots.drawing.scroll_bar import CanvasScrollBar
from gradscribe.widgets.plots.plot import EDGE, Plot, draw_placeholder
from gradscribe.widgets.plots.training_view import ShownRun, TrainingView

DECADES = 5
"""Powers of ten below the largest norm for which a bar is visible."""
ROW = 23.0


class GradientBars(Plot):
    """Norms of the gradients at the last backward pass, parameter by parameter."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(
            tr("Gradient sizes"), tr("norm of ∂L/∂p at the last backward pass, log scale"), parent
        )
        self._names: tuple[str, ...] = ()
        self._norms: tuple[float | None, ...] = ()
        self._top = 0.0
        self.scroller = CanvasScrollBar(self, ROW)

    def show_norms(self, names: Sequence[str], norms: Sequence[float | None]) -> None:
        """Show a bar per parameter; NaN and infinities are written as text.

        None: there is no gradient, as it was cleared, or the parameter is frozen or unused.
        """
        pairs = list(zip(names, norms, strict=False))
        self._names, self._norms = tuple(n for n, _ in pairs), tuple(x for _, x in pairs)
        self.setAccessibleDescription(", ".join(f"{n} {_words(x)}" for n, x in pairs))
        self.refresh()

    def table(self) -> Iterator[str]:
        """Yield a row per parameter; a parameter without a gradient has an empty norm."""
        norms = ("" if norm is None else repr(float(norm)) for norm in self._norms)
        yield csv_lines([("parameter", "norm"), *zip(self._names, norms, strict=True)])

    def sentences(self) -> Sequence[str]:
        """Return the largest and the least norm, and what is wrong with the others."""
        known = [
            (norm, n) for n, norm in zip(self._names, self._norms, strict=True) if norm is not None
        ]
        finite = sorted((norm, n) for norm, n in known if math.isfinite(norm))
        words = [self.caption.said()]
        if finite:
            (least, low), (most, high) = finite[0], finite[-1]
            words.append(tr("largest: {name} {norm}", name=high, norm=_words(most)))
            words.append(tr("least: {name} {norm}", name=low, norm=_words(least)))
        if wrong := [name for norm, name in known if not math.isfinite(norm)]:
            words.append(tr("not finite: {names}", names=", ".join(wrong)))
        return words

    def copy_from(self, other: "GradientBars") -> None:
        """Show what another one shows."""
        self.show_norms(other._names, other._norms)

    def draw(self, painter: QPainter, area: QRectF) -> None:
        """Draw the rows that fit; wheel and scroll bar reach the others."""
        if not self._norms:
            draw_placeholder(painter, area, self.theme, tr("No gradient yet"))
            return
        row = ROW * min(1.5, self.theme.scale)
        inner = area.adjusted(EDGE, 2, -EDGE, -8)
        self._top = self.scroller.top(len(self._names) * row, inner)
        name_font = mono_font(12 * self.theme.scale)
        names = QFontMetricsF(name_font)
        widest = max(names.horizontalAdvance(name) for name in self._names)
        left = min(max(80.0, widest + 12), inner.width() * 0.42)
        painter.setFont(self.theme.font(12, 600))
        numbers = QFontMetricsF(painter.font())
        right = max(numbers.horizontalAdvance(_words(x)) for x in self._norms) + 10
        most = max((x for x in self._norms if x is not None and math.isfinite(x)), default=0.0)
        painter.setClipRect(area.adjusted(0, 0, 0, -4))
        for index, (name, norm) in enumerate(zip(self._names, self._norms, strict=True)):
            y = inner.top() + index * row - self._top
            if y > area.bottom() or y + row < area.top():
                continue
            line = QRectF(inner.left(), y, inner.width(), row)
            painter.setFont(name_font)
            painter.setPen(self.theme.ink2)
            short = fitted_name(name, lambda form: names.horizontalAdvance(form) <= left - 10)
            painter.drawText(line, Qt.AlignmentFlag.AlignVCenter, short)
            groove = QRectF(line.left() + left, y + row / 2 - 4.5, line.width() - left - right, 9)
            self._draw_bar(painter, groove, 0.0 if norm is None else bar_length(norm, most))
            painter.setFont(self.theme.font(12, 600))
            # A parameter without a gradient is not an error.
            wrong = norm is not None and not math.isfinite(norm)
            painter.setPen(self.theme.error if wrong else self.theme.ink)
            flags = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight
            painter.drawText(line, flags, _words(norm))

    def _draw_bar(self, painter: QPainter, groove: QRectF, share: float) -> None:
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(self.theme.panel2)
        painter.drawRoundedRect(groove, 4.5, 4.5)
        if share > 0:
            painter.setBrush(self.theme.backward)
            filled = QRectF(groove)
            filled.setWidth(max(9.0, groove.width() * share))
            painter.drawRoundedRect(filled, 4.5, 4.5)

    def handle(self, happened: QEvent) -> bool:
        """Scroll with the wheel; show the full name in a tool tip."""
        if isinstance(happened, QWheelEvent):
            return self.scroller.turn(happened)
        if isinstance(happened, QMouseEvent):
            self.canvas.setToolTip(tip(self._name_at(happened.position())))
        return False

    def _name_at(self, at: QPointF) -> str:
        index = int((at.y() - 2 + self._top) / (ROW * min(1.5, self.theme.scale)))
        if not 0 <= index < len(self._names):
            return ""
        return f"{self._names[index]}  {_words(self._norms[index])}"


def _words(norm: float | None) -> str:
    return "None" if norm is None else formatting.number(norm)


def bar_length(norm: float, most: float) -> float:
    """Return a bar's length from 0 to 1: 0.85 for the largest, a fifth less per power of ten.

    A gradient of exactly 0 has no bar; an infinite one fills it.
    """
    if math.isnan(norm) or norm == 0 or most <= 0:
        return 0.0 if not math.isinf(norm) else 1.0
    if math.isinf(norm):
        return 1.0
    return max(0.03, 0.85 * (1 + math.log10(norm / most) / DECADES))


def _show(plot: GradientBars, run: ShownRun, view: ViewReply) -> None:
    names = [p.name for p in run.begun.parameters] if run.begun is not None else []
    norms, held = (view.arrays[name].array().tolist() for name in ("norms", "held"))
    pairs = zip(norms, held, strict=True)
    plot.show_norms(names, [norm if has else None for norm, has in pairs])


ENTRY = TrainingView(
    tr("Now"),
    "numbers",
    10,
    GradientBars,
    ("gradients",),
    wishes=lambda _plot, _run: (ViewRequest("gradients", 50),),
    show=_show,
    clear=lambda plot: plot.show_norms((), ()),
)
