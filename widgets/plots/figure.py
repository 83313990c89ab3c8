"""Painting of figures that a program plotted, in the style of the window."""

import math

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QLineF, QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QImage, QPainter, QPen

from gradscribe.engine.protocol.figures import AxesData, Figure, Trace
from gradscribe.widgets.base.theme import Theme, faded
from gradscribe.widgets.graph.paint import heat
from gradscribe.widgets.plots.drawing.axes import Axis, axis_around
from gradscribe.widgets.plots.drawing.colors import class_color
from gradscribe.widgets.plots.drawing.polylines import (
    PixelPoints,
    draw_polyline,
    finite_points,
    to_polygon,
)
from gradscribe.widgets.plots.plot import AxesFrame, draw_dot, label_width

_STROKES = {"dashed": Qt.PenStyle.DashLine, "dotted": Qt.PenStyle.DotLine}
_TEXT_PX = 12
_LEAST_CONTRAST = 40
"""Least difference in lightness (0 to 255) to the background; other colours become ink."""
_ROW = 20.0

Floats = NDArray[np.float64]


def draw_figure(painter: QPainter, area: QRectF, figure: Figure, theme: Theme) -> None:
    """Draw all axes of a figure into ``area``, row by row, with its title on top."""
    top = area
    if figure.title:
        _words(
            painter, QRectF(area.left(), area.top() + 4, area.width(), _ROW), figure.title, theme
        )
        top = area.adjusted(0, _ROW + 2, 0, 0)
    columns = max(1, figure.columns)
    rows = -(-len(figure.axes) // columns) or 1
    wide, high = top.width() / columns, top.height() / rows
    for place, plotted in enumerate(figure.axes):
        cell = QRectF(
            top.left() + place % columns * wide, top.top() + place // columns * high, wide, high
        )
        draw_axes(painter, cell, plotted, theme)


def figure_image(figure: Figure, theme: Theme, scale: float = 2.0) -> QImage:
    """Return an image of a figure on the theme's background, ``scale`` times its default size."""
    columns = max(1, figure.columns)
    width, height = 520 * columns, 360 * (-(-len(figure.axes) // columns) or 1)
    image = QImage(round(width * scale), round(height * scale), QImage.Format.Format_RGB32)
    image.fill(theme.panel)
    with QPainter(image) as painter:
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.scale(scale, scale)
        draw_figure(painter, QRectF(0, 0, width, height), figure, theme)
    return image


def describe_figure(figure: Figure) -> str:
    """Return a description of a figure: its titles and traces."""
    names = [figure.title, *(axes.title or axes.y_label for axes in figure.axes)]
    named = ", ".join(name for name in names if name)
    traces = [trace for axes in figure.axes for trace in axes.traces]
    kinds = ", ".join(f"{t.label or t.kind} with {max(len(t.x), 1)} points" for t in traces[:6])
    return ": ".join(filter(None, (named, kinds))) or "A figure"


def draw_axes(painter: QPainter, cell: QRectF, plotted: AxesData, theme: Theme) -> None:
    """Draw a pair of axes with all its contents."""
    above = _ROW if plotted.title else 8.0
    below = 24.0 + (_ROW - 4 if plotted.x_label else 0.0)
    aside = _ROW if plotted.y_label else 6.0
    x, y = _spans(plotted)
    ticks = y.ticks(max(2, round(cell.height() / 44)))
    frame = cell.adjusted(aside + label_width(theme, ticks) + 10, above + 4, -12, -below - 4)
    axes = AxesFrame(frame, x, y)
    if plotted.title:
        box = QRectF(frame.left(), cell.top() + 2, frame.width(), _ROW)
        _words(painter, box, plotted.title, theme)
    if plotted.image:
        _image(painter, frame, plotted, theme)
    else:
        axes.draw(painter, theme, ticks)
        painter.save()
        painter.setClipRect(frame.adjusted(-1, -6, 6, 1))
        for place, trace in enumerate(plotted.traces):
            _trace(painter, axes, trace, trace_color(trace, place, theme), theme)
        painter.restore()
    if plotted.x_label:
        box = QRectF(frame.left(), cell.bottom() - _ROW - 1, frame.width(), _ROW)
        _words(painter, box, plotted.x_label, theme, faint=True)
    if plotted.y_label:
        painter.save()
        painter.translate(cell.left() + 2, frame.center().y() + frame.height() / 2)
        painter.rotate(-90)
        _words(painter, QRectF(0, 0, frame.height(), _ROW), plotted.y_label, theme, faint=True)
        painter.restore()
    if plotted.legend:
        _legend(painter, axes, plotted, theme)


def trace_color(trace: Trace, place: int, theme: Theme) -> QColor:
    """Return a trace's colour: the program's, if it is visible on the background."""
    given = QColor(trace.color) if trace.color else QColor()
    if not given.isValid():
        return class_color(1 - place if place < 2 else place, theme.dark)
    ground = theme.panel.lightness()
    return theme.ink if abs(given.lightness() - ground) < _LEAST_CONTRAST else given


def _spans(plotted: AxesData) -> tuple[Axis, Axis]:
    xs, ys = [], []
    for trace in plotted.traces:
        half = trace.width / 2
        xs += [np.asarray(trace.x) - half, np.asarray(trace.x) + half]
        ys += [np.asarray(trace.y), np.asarray(trace.base)]
        if trace.kind == "bars":
            ys.append(np.zeros(1))
    found = []
    for parts, log, given in (
        (xs, plotted.x_log, plotted.x_range),
        (ys, plotted.y_log, plotted.y_range),
    ):
        numbers = np.concatenate([np.zeros(0), *parts])
        numbers = numbers[np.isfinite(numbers) & ((numbers > 0) | (not log))]
        if given is not None and given[0] < given[1] and (given[0] > 0 or not log):
            found.append(Axis(*given, log=log))
        elif numbers.size:
            found.append(axis_around(float(numbers.min()), float(numbers.max()), log))
        else:
            found.append(axis_around(math.nan, math.nan, log))
    return found[0], found[1]


def _trace(painter: QPainter, axes: AxesFrame, trace: Trace, color: QColor, theme: Theme) -> None:
    pen = QPen(color, 2.0, _STROKES.get(trace.style, Qt.PenStyle.SolidLine))
    painter.setPen(pen)
    painter.setBrush(Qt.BrushStyle.NoBrush)
    if trace.kind in ("level", "upright"):
        _across(painter, axes, trace)
        return
    points = axes.points(np.asarray(trace.x), np.asarray(trace.y))
    if trace.kind == "line":
        draw_polyline(painter, points)
    elif trace.kind == "bars":
        _bars(painter, axes, trace, points, color)
    elif trace.kind == "area":
        base = axes.points(np.asarray(trace.x), np.asarray(trace.base))
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(faded(color, 0.25))
        around = np.concatenate([points, base[::-1]])
        painter.drawPolygon(to_polygon(around[~np.isnan(around[:, 0])]))
    if trace.kind == "points" or (trace.marked and len(points) <= 60):
        for point in finite_points(points):
            draw_dot(painter, point, color, theme.panel, 3.5)


def _across(painter: QPainter, axes: AxesFrame, trace: Trace) -> None:
    frame = axes.area
    if trace.kind == "level" and trace.y:
        y = frame.bottom() - axes.y.number_share(trace.y[0]) * frame.height()
        if math.isfinite(y):
            painter.drawLine(QLineF(frame.left(), y, frame.right(), y))
    elif trace.kind == "upright" and trace.x:
        x = frame.left() + axes.x.number_share(trace.x[0]) * frame.width()
        if math.isfinite(x):
            painter.drawLine(QLineF(x, frame.top(), x, frame.bottom()))


def _bars(
    painter: QPainter, axes: AxesFrame, trace: Trace, points: PixelPoints, color: QColor
) -> None:
    frame, share = axes.area, axes.x.share(np.asarray([0.0, trace.width]))
    width = max(2.0, float(share[1] - share[0]) * frame.width() - 1) if not axes.x.log else 6.0
    zero = 0.0 if axes.y.log else axes.y.number_share(0.0)
    floor = frame.bottom() - zero * frame.height()
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(color)
    for point in finite_points(points):
        top, low = min(point.y(), floor), max(point.y(), floor)
        painter.drawRect(QRectF(point.x() - width / 2, top, width, max(low - top, 0.5)))


def _image(painter: QPainter, frame: QRectF, plotted: AxesData, theme: Theme) -> None:
    """Draw an image with square pixels, lighter for larger numbers."""
    data = np.asarray(plotted.image, np.float64)
    rows, columns = data.shape
    side = min(frame.width() / columns, frame.height() / rows)
    finite = data[np.isfinite(data)]
    low, high = (float(finite.min()), float(finite.max())) if finite.size else (0.0, 1.0)
    shares = np.nan_to_num((data - low) / ((high - low) or 1.0))
    levels = 0.25 + 0.7 * shares
    pixels = heat.srgb(levels.ravel(), np.full(data.size, 0.03), np.full(data.size, -0.06))
    left = frame.center().x() - side * columns / 2
    top = frame.center().y() - side * rows / 2
    painter.setPen(Qt.PenStyle.NoPen)
    for place, (red, green, blue) in enumerate(pixels.astype(int).tolist()):
        painter.fillRect(
            QRectF(left + place % columns * side, top + place // columns * side, side, side),
            QColor(red, green, blue),
        )
    painter.setPen(QPen(theme.line, 1))
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.drawRect(QRectF(left, top, side * columns, side * rows))


def _emptiest(plotted: AxesData, axes: AxesFrame) -> tuple[bool, bool]:
    """Return the corner with the fewest points as (is right, is bottom)."""
    counts = dict.fromkeys(((True, False), (False, False), (True, True), (False, True)), 0)
    for trace in plotted.traces:
        size = min(len(trace.x), len(trace.y))
        right = axes.x.share(np.asarray(trace.x[:size])) > 0.5
        low = axes.y.share(np.asarray(trace.y[:size])) < 0.5
        for corner in counts:
            counts[corner] += int(((right == corner[0]) & (low == corner[1])).sum())
    return min(counts, key=lambda corner: counts[corner])


def _legend(painter: QPainter, axes: AxesFrame, plotted: AxesData, theme: Theme) -> None:
    frame = axes.area
    named = [(place, t) for place, t in enumerate(plotted.traces) if t.label][:8]
    if not named:
        return
    painter.setFont(theme.font(11, 500))
    metrics = QFontMetricsF(painter.font())
    width = max(metrics.horizontalAdvance(t.label) for _, t in named) + 34
    right, low = _emptiest(plotted, axes)
    box = QRectF(0, 0, width, 6 + 16 * len(named))
    box.moveLeft(frame.right() - width - 6 if right else frame.left() + 6)
    box.moveTop(frame.bottom() - box.height() - 6 if low else frame.top() + 4)
    painter.setPen(QPen(theme.line, 1))
    painter.setBrush(faded(theme.panel, 0.88))
    painter.drawRoundedRect(box, 6, 6)
    for row, (place, trace) in enumerate(named):
        y = box.top() + 11 + 16 * row
        color = trace_color(trace, place, theme)
        painter.setPen(QPen(color, 2.0, _STROKES.get(trace.style, Qt.PenStyle.SolidLine)))
        if trace.kind == "points":
            draw_dot(painter, QPointF(box.left() + 15, y), color, theme.panel, 3.5)
        else:
            painter.drawLine(QLineF(box.left() + 7, y, box.left() + 23, y))
        painter.setPen(theme.ink2)
        painter.drawText(QPointF(box.left() + 28, y + metrics.ascent() / 2 - 1), trace.label)


def _words(painter: QPainter, box: QRectF, text: str, theme: Theme, *, faint: bool = False) -> None:
    painter.setFont(theme.font(_TEXT_PX if not faint else 11, 500 if faint else 600))
    painter.setPen(theme.ink2 if faint else theme.ink)
    shown = QFontMetricsF(painter.font()).elidedText(
        text.replace("\n", " "), Qt.TextElideMode.ElideRight, box.width()
    )
    painter.drawText(box, int(Qt.AlignmentFlag.AlignCenter), shown)
