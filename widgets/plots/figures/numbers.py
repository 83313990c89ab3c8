"""The numbers of a figure: what is under a place of its picture, and the table of what is in sight.

Places are shares of the figure: from 0 at the left and at the top to 1.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QPointF, QRectF

from gradscribe.engine.protocol.figures import Figure, FigureAxes
from gradscribe.playback.translation import tr
from gradscribe.widgets.plots.drawing.axes import Axis

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class FigurePoint:
    """A point of a line: its numbers and its place."""

    name: str
    x: float
    y: float
    at: QPointF


@dataclass(frozen=True)
class _Line:
    name: str
    x: Floats
    y: Floats
    across: Floats
    down: Floats


class FigureNumbers:
    """The axes of a figure with the points of their lines."""

    def __init__(self, figure: Figure) -> None:
        self._axes = [(axes, *_axes_of(axes), _lines_of(axes)) for axes in figure.axes]
        self.is_cut = any(axes.is_cut for axes in figure.axes)
        self.has_points = any(axes.lines for axes in figure.axes)

    def numbers_at(self, place: QPointF) -> tuple[float, float] | None:
        """Return the numbers at a place; None outside all axes."""
        for axes, x, y, _ in reversed(self._axes):
            box = _box(axes)
            if box.contains(place):
                across = (place.x() - box.left()) / box.width()
                up = (box.bottom() - place.y()) / box.height()
                return x.number(across), y.number(up)
        return None

    def nearest(self, place: QPointF, reach: QPointF) -> FigurePoint | None:
        """Return the nearest point within ``reach`` across and down, in the axes at the place."""
        for axes, _, _, lines in reversed(self._axes):
            if _box(axes).contains(place):
                return _nearest(lines, place, reach)
        return None

    def table(self, seen: QRectF) -> Iterator[str]:
        """Yield the lines of a CSV file with the points whose places are within ``seen``."""
        yield "axes,line,x,y\n"
        for number, (axes, _, _, lines) in enumerate(self._axes, 1):
            part = _box(axes).intersected(seen)
            for count, line in enumerate(lines, 1):
                name = line.name.replace('"', '""') or tr("line {count}", count=count)
                inside = (part.left() <= line.across) & (line.across <= part.right())
                inside &= (part.top() <= line.down) & (line.down <= part.bottom())
                for x, y in zip(line.x[inside].tolist(), line.y[inside].tolist(), strict=True):
                    yield f'{number},"{name}",{x!r},{y!r}\n'


def _axes_of(axes: FigureAxes) -> tuple[Axis, Axis]:
    left, right, bottom, top = axes.limits
    return Axis(left, right, axes.is_log[0]), Axis(bottom, top, axes.is_log[1])


def _box(axes: FigureAxes) -> QRectF:
    left, bottom, width, height = axes.box
    return QRectF(left, 1 - bottom - height, width, height)


def _lines_of(axes: FigureAxes) -> list[_Line]:
    (across, up), box, found = _axes_of(axes), _box(axes), []
    for line in axes.lines:
        x, y = np.frombuffer(line.x), np.frombuffer(line.y)
        with np.errstate(all="ignore"):
            places = box.left() + box.width() * across.share(x)
            down = box.bottom() - box.height() * up.share(y)
        found.append(_Line(line.name, x, y, places, down))
    return found


def _nearest(lines: list[_Line], place: QPointF, reach: QPointF) -> FigurePoint | None:
    best, found = 1.0, None
    for line in lines:
        with np.errstate(all="ignore"):
            across = (line.across - place.x()) / reach.x()
            far = np.nan_to_num(across**2 + ((line.down - place.y()) / reach.y()) ** 2, nan=np.inf)
        at = int(np.argmin(far))
        if far[at] <= best:
            best = float(far[at])
            where = QPointF(float(line.across[at]), float(line.down[at]))
            found = FigurePoint(line.name, float(line.x[at]), float(line.y[at]), where)
    return found
