"""The lines and scatter plots of one pair of axes of a figure, as numbers to explore."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QEvent, QPointF, QRectF
from PySide6.QtGui import QColor, QMouseEvent, QPainter, QPen
from PySide6.QtWidgets import QWidget

from gradscribe.engine.protocol.figures import FigureAxes
from gradscribe.playback.text import formatting
from gradscribe.playback.translation import tr
from gradscribe.widgets.base.theme import Theme, contrast, mix
from gradscribe.widgets.plots.drawing.axes import Axis, axis_around
from gradscribe.widgets.plots.drawing.colors import class_color
from gradscribe.widgets.plots.drawing.curve_legend import draw_legend
from gradscribe.widgets.plots.drawing.marks import Mark, MarkStamps
from gradscribe.widgets.plots.drawing.plane_table import between, rows_table
from gradscribe.widgets.plots.drawing.polylines import draw_polyline
from gradscribe.widgets.plots.plot import (
    EDGE,
    AxesFrame,
    Canvas,
    Plot,
    draw_dot,
    draw_placeholder,
    plot_frame,
)
from gradscribe.widgets.plots.views.curve_plot import LISTED, draw_bubble

NEAR = 12.0
"""Pixels from a point in which the mouse reads it."""
LEAST_CONTRAST = 3.0
"""Least contrast of a line to the ground; a program's colour below it is mixed with ink."""
MIXES = 10
MARK = 3.0
"""Radius in pixels of a point of a scatter plot."""

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class AxesLine:
    """A line or a scatter plot: its numbers as the program plotted them."""

    name: str
    x: Floats
    y: Floats
    color: str
    is_scatter: bool


class FigureAxesPlot(Plot):
    """A pair of axes of a figure, drawn from its numbers in the colours of the window."""

    def __init__(
        self,
        axes: FigureAxes,
        title: str,
        parent: QWidget | None = None,
        make_canvas: Callable[[Plot], Canvas] = Canvas,
    ) -> None:
        super().__init__(title, "", parent, make_canvas)
        self.sight: tuple[Axis | None, Axis | None] = (None, None)
        """The axes in sight; None: the one that the figure has."""
        self.lines = [
            AxesLine(
                line.name or tr("line {number}", number=number),
                np.frombuffer(line.x),
                np.frombuffer(line.y),
                line.color,
                line.is_scatter,
            )
            for number, line in enumerate(axes.lines, 1)
        ]
        self._axes = axes
        self._is_log = axes.is_log
        self._stamps = MarkStamps()
        self.drawn_axes = AxesFrame(QRectF(), Axis(0, 1), Axis(0, 1))
        """The axes as drawn last."""
        cut = tr("lines with too many points are missing") if axes.is_cut else ""
        labels = [f"{way}: {text}" for way, text in zip(("across", "up"), axes.labels, strict=True)]
        shown = [words for words, text in zip(labels, axes.labels, strict=True) if text]
        self.set_caption(" · ".join(filter(None, (*shown, cut))))

    # Ranges

    def fitted(self, x: Axis | None) -> tuple[Axis, Axis] | None:
        """Return the axes as the figure has them; fitted to the points on another scale."""
        if not self.lines:
            return None
        return x or self._own_axis(0), self._own_axis(1)

    def _own_axis(self, side: int) -> Axis:
        low, high = sorted(self._axes.limits[2 * side : 2 * side + 2])
        is_log = self._is_log[side]
        if is_log == self._axes.is_log[side]:
            return Axis(low, high, is_log)
        numbers = np.concatenate([line.y if side else line.x for line in self.lines])
        known = numbers[np.isfinite(numbers) & ((numbers > 0) | (not is_log))]
        if not known.size:
            return axis_around(1.0, 1.0, is_log)
        return axis_around(float(known.min()), float(known.max()), is_log)

    def set_log(self, side: int, log: bool) -> None:
        """Use a logarithmic or a linear axis: 0 across, 1 up."""
        scales = list(self._is_log)
        scales[side] = log
        self._is_log = scales[0], scales[1]
        self.refresh()

    def options_offered(self) -> Sequence[tuple[str, Callable[[], object], bool | None]]:
        """Return the entries that switch the scale of each axis."""
        return [
            (
                tr("Logarithmic axis {way}", way=way),
                partial(self.set_log, side, not self._is_log[side]),
                self._is_log[side],
            )
            for side, way in enumerate(("across", "up"))
        ]

    # Drawing

    def draw(self, painter: QPainter, area: QRectF) -> None:
        """Draw axes, lines and points, and the numbers under the mouse."""
        self.draw_still(painter, area)
        self.draw_over(painter)

    def draw_still(self, painter: QPainter, area: QRectF) -> None:
        """Draw axes, lines and points."""
        fitted = self.fitted(None)
        if fitted is None:
            draw_placeholder(painter, area, self.theme, tr("No lines or points here"))
            return
        entries = [
            (line.name, self.line_color(number), ())
            for number, line in enumerate(self.lines[:LISTED])
        ]
        if len(entries) > 1:
            inner = draw_legend(painter, area.adjusted(EDGE, 0, -EDGE, -8), entries, self.theme)
            area = area.adjusted(0, 0, 0, inner.bottom() - area.bottom() + 8)
        x, y = self.sight[0] or fitted[0], self.sight[1] or fitted[1]
        ticks = y.ticks(max(2, round(area.height() / 44)))
        frame = plot_frame(area, 6, ticks, self.theme)
        self.drawn_axes = AxesFrame(frame, x, y)
        self.drawn_axes.draw(painter, self.theme, ticks)
        painter.setClipRect(frame)
        for number, line in enumerate(self.lines):
            self._draw_line(painter, line, self.line_color(number))
        painter.setClipping(False)

    def line_color(self, number: int) -> QColor:
        """Return the program's colour of a line, towards ink as far as the ground needs it."""
        line, theme = self.lines[number], self.theme
        given = QColor(line.color) if line.color else class_color(number % 5, theme.dark)
        for share in np.linspace(0, 1, MIXES + 1).tolist():
            mixed = mix(theme.ink, given, share)
            if contrast(mixed, theme.panel) >= LEAST_CONTRAST:
                return mixed
        return theme.ink

    def _draw_line(self, painter: QPainter, line: AxesLine, color: QColor) -> None:
        with np.errstate(all="ignore"):
            points = self.drawn_axes.points(line.x, line.y)
        if not line.is_scatter:
            painter.setPen(QPen(color, self.theme.stroke(1.8)))
            draw_polyline(painter, points)
            return
        looks, which = (Mark("circle", color, self.theme.panel, MARK),), np.zeros(len(points), int)
        ratio, size = self.devicePixelRatioF(), self.canvas.size().toSizeF()
        painter.drawPixmap(0, 0, self._stamps.layer(size, ratio, points, looks, which))

    def draw_over(self, painter: QPainter) -> None:
        """Draw the point under the mouse with its numbers, or those of the place."""
        at, frame = self.mouse, self.drawn_axes.area
        if at is None or not self.lines or not frame.contains(at):
            return
        found = self._near(at)
        if found is None:
            x, y = self.drawn_axes.x_at(at), self.drawn_axes.y_at(at)
            words, colors = [f"({formatting.number(x, 3)}, {formatting.number(y, 3)})"], []
        else:
            number, index = found
            line, color = self.lines[number], self.line_color(number)
            where = self.drawn_axes.points(line.x[index : index + 1], line.y[index : index + 1])
            draw_dot(painter, QPointF(*where[0].tolist()), color, self.theme.panel, 5)
            numbers = (float(line.x[index]), float(line.y[index]))
            words = ["x = {:.6g}  y = {:.6g}".format(*numbers).replace("-", formatting.MINUS)]
            words, colors = [*words, line.name], [color]
        draw_bubble(painter, frame, at, words, [self.theme.surface, *colors], self.theme)

    def _near(self, at: QPointF) -> tuple[int, int] | None:
        """Return line and index of the nearest point, if it is near."""
        best, found = NEAR, None
        for number, line in enumerate(self.lines):
            with np.errstate(all="ignore"):
                away = np.hypot(*(self.drawn_axes.points(line.x, line.y) - (at.x(), at.y())).T)
            away = np.where(np.isnan(away), np.inf, away)
            index = int(np.argmin(away))
            if away[index] <= best:
                best, found = float(away[index]), (number, index)
        return found

    # What it offers to the hand

    def copy_from(self, other: "FigureAxesPlot") -> None:
        """Use the scales of another plot of the same axes."""
        self._is_log = other._is_log
        self.refresh()

    def takes(self, _happened: QMouseEvent) -> bool:
        """Return False: nothing can be edited."""
        return False

    def pick(self, _at: QPointF) -> None:
        """Do nothing on a click."""

    def handle(self, happened: QEvent) -> bool:
        """Follow the mouse."""
        self.follow_mouse(happened)
        return False

    def summary(self, x: Axis, y: Axis) -> list[str]:
        """Return count, and mean and least number of each line in a region."""
        words, count = [], 0
        for line in self.lines:
            inside = line.y[between(line.x, x) & between(line.y, y)]
            count += inside.size
            if inside.size:
                mean, least = (formatting.number(float(n)) for n in (inside.mean(), inside.min()))
                words.append(
                    tr(
                        "{name}  {size:,} points  mean {mean}  least {least}",
                        name=line.name,
                        size=inside.size,
                        mean=mean,
                        least=least,
                    )
                )
        return [tr("{count:,} points", count=count), *words[:LISTED]]

    def table_between(self, x: Axis, y: Axis) -> Iterator[str]:
        """Yield the points in sight as CSV, line by line, exactly as they were plotted."""
        names, columns = list[NDArray[np.str_]](), list[tuple[Floats, Floats]]()
        for line in self.lines:
            inside = between(line.x, x) & between(line.y, y)
            names.append(np.full(np.count_nonzero(inside), line.name))
            columns.append((line.x[inside], line.y[inside]))
        parts: list[NDArray[np.generic]] = [np.concatenate(names)] if names else []
        parts += [np.concatenate([pair[side] for pair in columns]) for side in (0, 1) if columns]
        yield from rows_table(("line", "x", "y"), parts)

    def set_theme(self, theme: Theme) -> None:
        """Use the colours of ``theme``."""
        super().set_theme(theme)
        self.refresh()
