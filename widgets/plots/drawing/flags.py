"""Flags at the steps of a plot after which a setting was changed."""

from collections.abc import Sequence

from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QPainter, QPen, QPolygonF

from gradscribe.widgets.base.theme import Theme, faded
from gradscribe.widgets.plots.plot import AxesFrame

StepFlag = tuple[int, str]
"""A step after which something was changed, and what, in a few words."""
WIDE, HIGH = 8.0, 8.0
"""Pixels of the cloth of a flag."""
NEAR = 8.0
"""Pixels to a flag within which the mouse reads it."""


def flag_columns(axes: AxesFrame, flags: Sequence[StepFlag]) -> list[tuple[float, StepFlag]]:
    """Return the flags in sight, each with the centre of its pixel column."""
    frame = axes.area
    seen = [flag for flag in flags if axes.x.low <= flag[0] <= axes.x.high]
    shares = ((axes.x.number_share(flag[0]), flag) for flag in seen)
    return [(int(frame.left() + share * frame.width()) + 0.5, flag) for share, flag in shares]


def flags_near(axes: AxesFrame, flags: Sequence[StepFlag], x: float) -> list[StepFlag]:
    """Return the flags next to ``x`` in pixels, in the order of their steps."""
    return [flag for column, flag in flag_columns(axes, flags) if -NEAR <= x - column <= WIDE]


def draw_flags(painter: QPainter, axes: AxesFrame, flags: Sequence[StepFlag], theme: Theme) -> None:
    """Draw a pole over the whole height of the plot and a flag at its top, once per column."""
    frame = axes.area
    painter.save()
    for column in sorted({column for column, _ in flag_columns(axes, flags)}):
        painter.setPen(QPen(faded(theme.parameter, 0.75), theme.stroke(1), Qt.PenStyle.DashLine))
        painter.drawLine(QPointF(column, frame.top()), QPointF(column, frame.bottom()))
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(theme.parameter)
        # At the right end the cloth would lie outside.
        side = -1 if column + WIDE > frame.right() + 4 else 1
        top = frame.top()
        tip = QPointF(column + side * WIDE, top + HIGH / 2)
        painter.drawPolygon(QPolygonF([QPointF(column, top), tip, QPointF(column, top + HIGH)]))
    painter.restore()
