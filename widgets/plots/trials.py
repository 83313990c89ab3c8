"""Results of a sweep as pictures: points over one option, and lines over all of them."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from PySide6.QtCore import QEvent, QPointF, QRectF, Qt, Signal
from PySide6.QtGui import QColor, QFontMetricsF, QMouseEvent, QPainter, QPen, QPolygonF
from PySide6.QtWidgets import QComboBox, QWidget

from gradscribe.playback.text import formatting
from gradscribe.playback.translation import ngettext, tr
from gradscribe.widgets.base.theme import Theme, faded
from gradscribe.widgets.plots.drawing.axes import Axis, axis_around
from gradscribe.widgets.plots.drawing.colors import depth_color
from gradscribe.widgets.plots.drawing.plane_table import csv_lines
from gradscribe.widgets.plots.plot import (
    EDGE,
    TICK_PX,
    AxesFrame,
    Plot,
    draw_dot,
    draw_placeholder,
    plot_frame,
)
from gradscribe.widgets.plots.views.curve_plot import draw_bubble

HINT = tr("A click opens a trial; the best stands out")
NEAR = 14.0
"""Pixels around the mouse within which a trial is found."""
SPREAD = 1e3
"""Ratio of the largest to the least number above which an axis is logarithmic."""
MOST_LINES = 1_500
"""Most lines that are drawn; the best stay."""
TOP, TICKS = 34.0, 5
WHOLE = 1e-6
"""Distance from an integer below which a tick is one."""


@dataclass(frozen=True)
class PlottedTrial:
    """A trial: its options as numbers or texts, and its loss; NaN until there is one."""

    number: int
    values: tuple[float | str, ...]
    loss: float
    words: str = ""
    """Said when the mouse is over it."""


@dataclass(frozen=True)
class TrialAxis:
    """An axis of numbers, or of texts one after another."""

    axis: Axis
    texts: tuple[str, ...] = ()
    is_whole: bool = False
    """True if all numbers are integers."""

    def share(self, value: float | str) -> float:
        """Return the position of a value, from 0 to 1; NaN if it has none."""
        if self.texts:
            return self.axis.number_share(self.texts.index(str(value)))
        return self.axis.number_share(value) if isinstance(value, int | float) else math.nan

    def ticks(self, most: int) -> list[tuple[float, str]]:
        """Return positions and labels."""
        if not self.texts:
            found = self.axis.ticks(most)
            if self.is_whole:
                found = [(x, f"{round(x):,}") for x, _ in found if abs(x - round(x)) < WHOLE]
            return [(self.axis.number_share(x), label) for x, label in found]
        every = -(-len(self.texts) // most)
        places = range(0, len(self.texts), every)
        return [
            (self.axis.number_share(at), formatting.elide_middle(self.texts[at], 14))
            for at in places
        ]


def axis_of(values: Sequence[float | str]) -> TrialAxis:
    """Return the axis for values: logarithmic for positive numbers that are far apart."""
    if any(isinstance(value, str) for value in values):
        texts = tuple(dict.fromkeys(map(str, values)))
        return TrialAxis(Axis(-0.5, len(texts) - 0.5), texts)
    numbers = [float(value) for value in values if math.isfinite(float(value))]
    if not numbers:
        return TrialAxis(axis_around(math.inf, -math.inf))
    low, high = min(numbers), max(numbers)
    is_log = low > 0 and (high / low > SPREAD or _is_geometric(numbers))
    is_whole = all(number.is_integer() for number in numbers)
    return TrialAxis(axis_around(low, high, is_log), is_whole=is_whole and not is_log)


def _is_geometric(numbers: Sequence[float]) -> bool:
    """Return whether the distinct numbers are spaced by equal factors, as a logarithmic range."""
    sizes = sorted(set(numbers))
    factors = [b / a for a, b in pairwise(sizes)]
    return len(factors) > 2 and max(factors) < 1.01 * min(factors)


class TrialPlot(Plot):
    """A plot of trials, of which one can be pointed at and clicked."""

    picked = Signal(int)
    """Carries the number of the trial that was clicked."""

    def __init__(self, title: str, subtitle: str, parent: QWidget | None = None) -> None:
        super().__init__(title, subtitle, parent)
        self.names: tuple[str, ...] = ()
        """The options."""
        self.trials: tuple[PlottedTrial, ...] = ()
        self.selected: int | None = None
        self._places: list[tuple[PlottedTrial, QPolygonF]] = []
        """The drawn trials, each with its point or line in pixels."""
        self.canvas.setCursor(Qt.CursorShape.PointingHandCursor)

    def show_trials(self, names: Sequence[str], trials: Sequence[PlottedTrial]) -> None:
        """Show these trials of a sweep of the options ``names``."""
        self.names, self.trials = tuple(names), tuple(trials)
        self.refresh()

    def select(self, number: int | None) -> None:
        """Mark a trial."""
        if number != self.selected:
            self.selected = number
            self.refresh()

    def ended(self) -> list[PlottedTrial]:
        """Return the trials with a loss, the worst first, so that the best is drawn last."""
        with_loss = [trial for trial in self.trials if math.isfinite(trial.loss)]
        return sorted(with_loss, key=lambda trial: -trial.loss)

    def table(self) -> Iterator[str]:
        """Yield a row per trial: its number, its options and its loss."""
        yield csv_lines([("trial", *self.names, "loss")])
        for trial in self.trials:
            yield csv_lines([(str(trial.number), *map(str, trial.values), str(trial.loss))])

    def sentences(self) -> Sequence[str]:
        """Return how many trials have ended, and what the best one is."""
        ended = self.ended()
        count = ngettext("{count:,} trial has ended", "{count:,} trials have ended", len(ended))
        return [count, *([tr("best: {words}", words=ended[-1].words)] if ended else [])]

    def color(self, place: int, count: int) -> QColor:
        """Return the colour of a trial by its rank, the best last."""
        return depth_color(place, max(2, count), self.theme.dark)

    def at_mouse(self) -> PlottedTrial | None:
        """Return the trial at the mouse."""
        if self.mouse is None:
            return None
        found, near = None, NEAR
        for trial, places in self._places:
            away = _distance(self.mouse, places)
            if away < near:
                found, near = trial, away
        return found

    def handle(self, happened: QEvent) -> bool:
        """Follow the mouse, and pick a trial; called by the canvas."""
        moved = self.follow_mouse(happened)
        if moved is not None and moved.type() == QEvent.Type.MouseButtonRelease:
            return self._pick(moved)
        return moved is not None and moved.type() == QEvent.Type.MouseButtonPress

    def _pick(self, happened: QMouseEvent) -> bool:
        trial = self.at_mouse()
        if trial is not None and happened.button() == Qt.MouseButton.LeftButton:
            self.picked.emit(trial.number)
        return True

    def draw_pointed(self, painter: QPainter, area: QRectF) -> None:
        """Draw what is under the mouse."""
        trial = self.at_mouse()
        if trial is not None and self.mouse is not None:
            words = trial.words.split("\n")
            colors = [self.theme.ink3] * len(words)
            draw_bubble(painter, area, self.mouse, words, colors, self.theme)


def _distance(at: QPointF, places: QPolygonF) -> float:
    """Return the pixels from a point to a point or a polyline."""
    points = [places.at(i) for i in range(places.size())]
    if len(points) == 1:
        return math.hypot(at.x() - points[0].x(), at.y() - points[0].y())
    least = math.inf
    for a, b in pairwise(points):
        along = QPointF(b - a)
        square = along.x() ** 2 + along.y() ** 2 or 1.0
        share = ((at.x() - a.x()) * along.x() + (at.y() - a.y()) * along.y()) / square
        nearest = a + along * min(1.0, max(0.0, share))
        least = min(least, math.hypot(at.x() - nearest.x(), at.y() - nearest.y()))
    return least


class TrialScatter(TrialPlot):
    """The loss of each trial over one of its options."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(tr("Scatter"), HINT, parent)
        self.option = QComboBox(self)
        self.option.setAccessibleName(tr("Option along the axis"))
        self.option.currentIndexChanged.connect(lambda _: self.refresh())
        self.tools.addWidget(self.option)

    def show_trials(self, names: Sequence[str], trials: Sequence[PlottedTrial]) -> None:
        """Show these trials."""
        if tuple(names) != self.names:
            self.option.clear()
            self.option.addItems(list(names))
        super().show_trials(names, trials)

    def draw(self, painter: QPainter, area: QRectF) -> None:
        """Draw the points."""
        self._places = []
        shown, at = self.ended(), max(0, self.option.currentIndex())
        if not shown or at >= len(self.names):
            draw_placeholder(painter, area, self.theme, tr("No trial has ended yet"))
            return
        along = axis_of([trial.values[at] for trial in self.trials])
        up = axis_of([trial.loss for trial in shown])
        # The lines of the vertical axis are those of its own numbers.
        ticks = up.axis.ticks(TICKS)
        frame = AxesFrame(plot_frame(area, 10, ticks, self.theme), along.axis, up.axis)
        if along.texts:
            bare = Axis(0, 1)
            AxesFrame(frame.area, bare, up.axis).draw(painter, self.theme, ticks, whole=True)
            self._label(painter, frame.area, along)
        else:
            frame.draw(painter, self.theme, ticks, whole=along.is_whole)
        for place, trial in enumerate(shown):
            x = frame.area.left() + along.share(trial.values[at]) * frame.area.width()
            y = frame.area.bottom() - up.share(trial.loss) * frame.area.height()
            if not (math.isfinite(x) and math.isfinite(y)):
                continue
            self._places.append((trial, QPolygonF([QPointF(x, y)])))
            is_best = place == len(shown) - 1
            size = 6.5 if trial.number == self.selected else 5.0 if is_best else 3.6
            color = self.theme.ink if is_best else self.color(place, len(shown))
            draw_dot(painter, QPointF(x, y), color, self.theme.panel, size)
            if trial.number == self.selected:
                painter.setBrush(Qt.BrushStyle.NoBrush)
                painter.setPen(QPen(self.theme.selection, self.theme.stroke(2)))
                painter.drawEllipse(QPointF(x, y), size + 3, size + 3)
        self.draw_pointed(painter, area)

    def _label(self, painter: QPainter, area: QRectF, along: TrialAxis) -> None:
        """Write the texts along the axis over the numbers of places."""
        painter.setFont(self.theme.font(TICK_PX, 500))
        metrics = QFontMetricsF(painter.font())
        below = QRectF(
            area.left() - EDGE, area.bottom() + 1, area.width() + 2 * EDGE, metrics.height() + 4
        )
        painter.fillRect(below, self.theme.panel)
        painter.setPen(self.theme.ink2)
        for share, label in along.ticks(12):
            wide = metrics.horizontalAdvance(label)
            x = area.left() + share * area.width() - wide / 2
            painter.drawText(QPointF(x, area.bottom() + metrics.height() + 1), label)


class TrialParallels(TrialPlot):
    """A line for each trial, through its value on an axis for each option, to its loss."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(
            tr("Parallel coordinates"), tr("A click opens a trial; the best stands out"), parent
        )

    def draw(self, painter: QPainter, area: QRectF) -> None:
        """Draw axes and lines."""
        self._places = []
        shown = self.ended()[-MOST_LINES:]
        if not shown:
            draw_placeholder(painter, area, self.theme, tr("No trial has ended yet"))
            return
        columns = [
            axis_of([trial.values[at] for trial in self.trials]) for at in range(len(self.names))
        ]
        columns.append(axis_of([trial.loss for trial in shown]))
        inside = area.adjusted(EDGE + 44, TOP, -EDGE - 60, -12)
        step = inside.width() / (len(columns) - 1)
        across = [inside.left() + at * step for at in range(len(columns))]
        for place, trial in enumerate(shown):
            values = (*trial.values, trial.loss)
            points = QPolygonF(
                [
                    QPointF(x, inside.bottom() - column.share(value) * inside.height())
                    for x, column, value in zip(across, columns, values, strict=True)
                ]
            )
            if all(
                math.isfinite(point.y()) for point in (points.at(i) for i in range(points.size()))
            ):
                self._places.append((trial, points))
                self._line(painter, trial, points, place, len(shown))
        for x, column, name in zip(across, columns, (*self.names, "loss"), strict=True):
            self._axis(painter, inside, x, column, name, step)
        self.draw_pointed(painter, area)

    def _line(
        self, painter: QPainter, trial: PlottedTrial, points: QPolygonF, place: int, count: int
    ) -> None:
        is_best = place == count - 1
        color = self.theme.ink if is_best else self.color(place, count)
        chosen = trial.number == self.selected
        pale = 1.0 if is_best or chosen or count < 40 else 0.55
        painter.setBrush(Qt.BrushStyle.NoBrush)
        wide = self.theme.stroke(3.2 if chosen else 2.6 if is_best else 1.3)
        painter.setPen(QPen(faded(color, pale), wide))
        painter.drawPolyline(points)

    def _axis(
        self, painter: QPainter, inside: QRectF, x: float, column: TrialAxis, name: str, step: float
    ) -> None:
        theme: Theme = self.theme
        painter.setPen(QPen(theme.line_strong, theme.stroke(1.4)))
        painter.drawLine(QPointF(x, inside.top()), QPointF(x, inside.bottom()))
        painter.setFont(theme.font(TICK_PX, 500))
        metrics = QFontMetricsF(painter.font())
        for share, label in column.ticks(TICKS):
            y = inside.bottom() - share * inside.height()
            wide = metrics.horizontalAdvance(label)
            ground = QRectF(x - wide - 10, y - metrics.height() / 2, wide + 6, metrics.height())
            painter.fillRect(ground, faded(theme.panel, 0.8))
            painter.setPen(theme.ink2)
            painter.drawText(ground, int(Qt.AlignmentFlag.AlignCenter), label)
            painter.setPen(QPen(theme.line_strong, theme.stroke(1.4)))
            painter.drawLine(QPointF(x - 3, y), QPointF(x, y))
        painter.setFont(theme.font(TICK_PX, 600))
        metrics = QFontMetricsF(painter.font())
        words = metrics.elidedText(name, Qt.TextElideMode.ElideMiddle, max(40.0, step - 10))
        wide = metrics.horizontalAdvance(words)
        painter.setPen(theme.ink)
        painter.drawText(QPointF(x - wide / 2, inside.top() - 12), words)
