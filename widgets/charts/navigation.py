"""The part of a chart that is in sight, as wheel, drags and keys move it."""

import math
from collections.abc import Callable

from PySide6.QtCore import QObject, Qt, Signal

from gradscribe.widgets.charts.view import PAN_KEYS, WHEEL, ChartView
from gradscribe.widgets.plots.drawing.axes import LARGEST, Axis

PAN = 0.1
"""Share of the range that an arrow key pans."""
CLOSEST = 1e-6
"""Least range that can be zoomed to, relative to its numbers."""
FARTHEST = 100.0
"""Largest range that can be zoomed to, relative to the one that shows all."""


class Navigation(QObject):
    """Both axes of a chart: those that show all numbers, until a hand moves them.

    ``fitted`` returns the axes that show everything; given a horizontal axis, the vertical one
    shows what is above that. It returns None while there is nothing to see. With ``is_bounded``
    the horizontal axis stays within the fitted one, with ``least_height`` the vertical one, too.
    """

    changed = Signal()
    """Another range is in sight."""

    def __init__(
        self,
        view: ChartView,
        fitted: Callable[[Axis | None], tuple[Axis, Axis] | None],
        parent: QObject,
        *,
        is_bounded: bool = False,
        least: float = 0.0,
        least_height: float | None = None,
    ) -> None:
        super().__init__(parent)
        self.x: Axis | None = None
        """The horizontal axis if a hand has moved it; None: it follows the numbers."""
        self.y: Axis | None = None
        self.is_frozen = False
        self.least = least
        """Least width that can be zoomed to, in numbers of the horizontal axis."""
        self._least_height = least_height
        self._view, self._fitted, self._is_bounded = view, fitted, is_bounded
        view.box.seen.connect(self.see)
        view.box.freed.connect(self.fit)

    @property
    def is_following(self) -> bool:
        """True while everything is in sight, also what is to come."""
        return self.x is None and self.y is None

    def axes(self) -> tuple[Axis, Axis]:
        """Return the horizontal and the vertical axis as they are shown."""
        x, y = self._fitted(self.x) or (Axis(0, 1), Axis(0, 1))
        return self.x or x, self.y or y

    def show(self, x: Axis | None, y: Axis | None = None) -> None:
        """Show these ranges; None shows all of an axis."""
        if not self.is_frozen and (x, y) != (self.x, self.y):
            self.x, self.y = x, y
            self.changed.emit()

    def fit(self) -> None:
        """Show everything again, also what is to come."""
        self.x = self.y = None
        self.is_frozen = False
        self.changed.emit()

    def freeze(self, frozen: bool) -> None:
        """Keep both axes as they are, whatever grows or moves; or follow the numbers again."""
        if frozen:
            self.x, self.y = self.axes()
            self.is_frozen = True
            self.changed.emit()
        else:
            self.fit()

    def see(self, left: float, right: float, bottom: float, top: float) -> None:
        """Show these shares of the present ranges, as far as there is anything to see."""
        whole = self._fitted(None)
        if self.is_frozen or whole is None:
            return
        x, y = self.axes()
        if (left, right) != (0.0, 1.0):
            self._see_across(x, left, right, whole[0])
        if (bottom, top) != (0.0, 1.0):
            self._see_up(y, bottom, top, whole[1])
        self.changed.emit()

    def _see_across(self, x: Axis, left: float, right: float, whole: Axis) -> None:
        if not self._is_bounded:
            seen = _part(x, left, right)
            if seen is not None and _is_near(seen, whole):
                self.x = seen
            return
        self.x = _within(x, left, right, whole, self.least)

    def _see_up(self, y: Axis, bottom: float, top: float, whole: Axis) -> None:
        if self._least_height is not None:
            self.y = _within(y, bottom, top, whole, self._least_height)
            return
        seen = _part(y, bottom, top)
        fitted = self._fitted(self.x)
        if seen is None or fitted is None:
            return
        if not self._is_bounded:
            if _is_near(seen, fitted[1]):
                self.y = seen
            return
        whole = fitted[1]
        shrinks = top - bottom < 1.001
        self.y = seen if shrinks or seen.low > whole.low or seen.high < whole.high else None

    def press(self, key: int) -> bool:
        """Move by a key; return whether it does."""
        middle = self._view.box.rect().center()
        if key in PAN_KEYS:
            x, y = (PAN * way for way in PAN_KEYS[Qt.Key(key)])
            self.see(x, 1 + x, y, 1 + y)
        elif key in (Qt.Key.Key_Plus, Qt.Key.Key_Equal):
            self._view.box.zoom_at(WHEEL, middle)
        elif key == Qt.Key.Key_Minus:
            self._view.box.zoom_at(1 / WHEEL, middle)
        elif key == Qt.Key.Key_Home:
            self.fit()
        else:
            return False
        return True


def _within(axis: Axis, low: float, high: float, whole: Axis, least: float) -> Axis | None:
    """Return the axis between two shares of ``axis``, moved into ``whole``; None for all of it.

    It stays as it is instead of getting shorter than ``least``.
    """
    start, size = axis.number(low), (high - low) * (axis.high - axis.low)
    # Shares do not add up to the last bit: moving all of it sideways is no zoom.
    if size >= (1 - CLOSEST) * (whole.high - whole.low):
        return None
    if size < min(least, axis.high - axis.low):
        return None if axis == whole else axis
    start = min(max(start, whole.low), whole.high - size)
    return Axis(start, start + size)


def _part(axis: Axis, low: float, high: float) -> Axis | None:
    """Return the axis between two shares of ``axis``; None beyond what can be drawn."""
    if axis.log:
        ends = math.log10(axis.low), math.log10(axis.high)
        first, last = (ends[0] + share * (ends[1] - ends[0]) for share in (low, high))
        if last - first < CLOSEST or first < -307 or last > math.log10(LARGEST):
            return None
        return Axis(10**first, 10**last, log=True)
    seen = Axis(axis.number(low), axis.number(high))
    size = max(abs(seen.low), abs(seen.high))
    return seen if CLOSEST * size < seen.high - seen.low < LARGEST else None


def _is_near(seen: Axis, whole: Axis) -> bool:
    """Return whether a range is not so large or far away that the numbers would be a speck."""
    if seen.log:
        return True
    wide = whole.high - whole.low
    return seen.high - seen.low <= FARTHEST * wide and (
        seen.low < whole.high + FARTHEST * wide and seen.high > whole.low - FARTHEST * wide
    )
