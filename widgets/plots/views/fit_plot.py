"""A regression on one feature: data, the model's curve, and residuals."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QEvent, QLineF, QPointF, QRectF, Qt, Signal
from PySide6.QtGui import QMouseEvent, QPainter, QPen
from PySide6.QtWidgets import QWidget

from gradscribe.engine.protocol.training import DataSample, ViewReply, ViewRequest
from gradscribe.playback.text import formatting
from gradscribe.playback.translation import pgettext, tr
from gradscribe.widgets.base.theme import faded
from gradscribe.widgets.plots.drawing.axes import Axis, axis_around
from gradscribe.widgets.plots.drawing.marks import Mark, MarkStamps
from gradscribe.widgets.plots.drawing.plane_table import between, rows_table
from gradscribe.widgets.plots.drawing.polylines import draw_polyline, finite_points
from gradscribe.widgets.plots.plot import (
    AxesFrame,
    Canvas,
    Plot,
    draw_dot,
    draw_placeholder,
    plot_frame,
    switch_button,
)
from gradscribe.widgets.plots.training_view import ShownRun, TrainingView
from gradscribe.widgets.plots.views.curve_plot import draw_bubble

NEAR = 9.0
TRUE_CAPTION = tr("dashed: the true function")

Floats = NDArray[np.floating]
_NOTHING = np.empty(0)


class FitPlot(Plot):
    """The data with the model's curve, or the residuals."""

    drawn = Signal(float, float, int)
    """(x, y, 0) of a new point."""
    moved = Signal(int, float, float)
    removed = Signal(int)

    def __init__(
        self,
        parent: QWidget | None = None,
        make_canvas: Callable[[Plot], Canvas] = Canvas,
    ) -> None:
        super().__init__(pgettext("of a model to points", "Fit"), "", parent, make_canvas)
        self.sight: tuple[Axis | None, Axis | None] = (None, None)
        """The axes in sight; None: the one that shows everything."""
        self.editable = False
        self._x, self._y = _NOTHING, _NOTHING
        self._said: NDArray[np.floating] = _NOTHING
        self._validation: NDArray[np.bool_] = np.zeros(0, np.bool_)
        self._curve: tuple[Floats, Floats] = (_NOTHING, _NOTHING)
        self._true: tuple[Floats, Floats] = (_NOTHING, _NOTHING)
        self._names = ("x", "y")
        self.drawn_axes = AxesFrame(QRectF(), Axis(0, 1), Axis(0, 1))
        """The axes as drawn last."""
        self._stamps = MarkStamps()
        self._held: int | None = None
        tip = tr("Show what is left when the fit is taken away from the data")
        self.residuals = switch_button(tr("Residuals"), tip, False)
        self.residuals.toggled.connect(lambda _on: self.refresh())
        self.tools.addWidget(self.residuals)

    def show_points(
        self,
        x: Floats,
        y: Floats,
        validation: NDArray[np.bool_] | None = None,
        names: tuple[str, str] = ("x", "y"),
    ) -> None:
        """Show the data: x, target, and which points are for validation."""
        self._x, self._y = np.asarray(x, np.float64), np.asarray(y, np.float64)
        self._validation = np.zeros(len(x), np.bool_) if validation is None else validation
        self._names = names
        self.refresh()

    def show_curve(self, x: Floats, y: Floats) -> None:
        """Show the model's output along ascending x."""
        self._curve = (np.asarray(x, np.float64), np.asarray(y, np.float64))
        self.refresh()

    def show_true(self, x: Floats, y: Floats) -> None:
        """Show the function that the data were made from, along ascending x; empty for none."""
        self._true = (np.asarray(x, np.float64), np.asarray(y, np.float64))
        self.set_caption(TRUE_CAPTION if self._true[0].size else "")
        self.refresh()

    def residual_values(self) -> Floats:
        """Return target minus fit at each point; NaN beyond the ends of the curve."""
        if not self._curve[0].size:
            return np.full_like(self._y, np.nan)
        return np.asarray(self._y - self._fit_values())

    def _fit_values(self) -> Floats:
        if not self._curve[0].size:
            return np.full_like(self._y, np.nan)
        return np.interp(self._x, *self._curve, left=np.nan, right=np.nan)

    # Drawing

    def _shown_y(self) -> Floats:
        return self.residual_values() if self.residuals.isChecked() else self._y

    def fitted(self, x: Axis | None) -> tuple[Axis, Axis] | None:
        """Return the axes that show everything; None without points."""
        if not self._x.size:
            return None
        known = np.concatenate([self._x, self._curve[0]])
        known = known[np.isfinite(known)]
        ends = (float(known.min()), float(known.max())) if known.size else (0.0, 1.0)
        y = self._y_axis(self._shown_y(), self.residuals.isChecked())
        return x or axis_around(*ends), y

    def draw(self, painter: QPainter, area: QRectF) -> None:
        """Draw axes, residuals, points and the curve, and what the mouse points at."""
        self.draw_still(painter, area)
        self.draw_over(painter)

    def draw_still(self, painter: QPainter, area: QRectF) -> None:
        """Draw axes, residuals, points and the curve."""
        fitted = self.fitted(None)
        if fitted is None:
            draw_placeholder(painter, area, self.theme, tr("No data yet"))
            return
        over, y = self.residuals.isChecked(), self._shown_y()
        x_axis, y_axis = self.sight[0] or fitted[0], self.sight[1] or fitted[1]
        ticks = y_axis.ticks(max(2, round(area.height() / 44)))
        frame = plot_frame(area, 6, ticks, self.theme)
        self.drawn_axes = AxesFrame(frame, x_axis, y_axis)
        self.drawn_axes.draw(painter, self.theme, ticks)
        moved = self.sight != (None, None)
        painter.setClipRect(frame if moved else frame.adjusted(0, -6, 0, 1))
        self._draw_misses(painter, y, over)
        self._draw_points(painter, y)
        self._draw_true(painter, over)
        self._draw_curve(painter, over)
        painter.setClipping(False)

    def draw_over(self, painter: QPainter) -> None:
        """Draw the numbers under the mouse."""
        if self._x.size:
            self._draw_hover(painter, self.drawn_axes.area, self._shown_y())

    # What it offers to the hand

    def copy_from(self, other: "FitPlot") -> None:
        """Show what another plot shows; points can be edited as there."""
        self.editable = other.editable
        self._curve, self._true = other._curve, other._true
        self.show_points(other._x, other._y, other._validation, other._names)
        self.set_caption(other.caption.said())

    def takes(self, happened: QMouseEvent) -> bool:
        """Return whether a press edits: with the left button on a point."""
        at = happened.position()
        if not self.editable or self.residuals.isChecked() or not self.drawn_axes.area.contains(at):
            return False
        if happened.type() == QEvent.Type.MouseButtonDblClick:
            return True
        is_left = happened.button() == Qt.MouseButton.LeftButton
        return is_left and self._near(at, self._y) is not None

    def pick(self, at: QPointF) -> None:
        """Draw a point at a pixel that was clicked, if points can be edited."""
        if self.editable and not self.residuals.isChecked() and self._near(at, self._y) is None:
            self.drawn.emit(self.drawn_axes.x_at(at), self.drawn_axes.y_at(at), 0)

    def options_offered(self) -> Sequence[tuple[str, Callable[[], object], bool | None]]:
        """Return the entries that edit the points under the mouse, and that for the residuals."""
        switch = (tr("Residuals"), self.residuals.toggle, self.residuals.isChecked())
        return (*self._edits_offered(), switch)

    def _edits_offered(self) -> list[tuple[str, Callable[[], object], bool | None]]:
        """Return what can be done at the place of the mouse, if points can be edited."""
        at, frame = self.mouse, self.drawn_axes
        if at is None or not self.editable or self.residuals.isChecked():
            return []
        if not frame.area.contains(at):
            return []
        near = self._near(at, self._y)
        if near is not None:
            return [(tr("Remove this point"), partial(self.removed.emit, near), None)]
        draw = partial(self.drawn.emit, frame.x_at(at), frame.y_at(at), 0)
        return [(tr("Draw a point here"), draw, None)]

    def _inside(self, x: Axis, y: Axis) -> NDArray[np.bool_]:
        return between(self._x, x) & between(self._shown_y(), y)

    def summary(self, x: Axis, y: Axis) -> list[str]:
        """Return count, and mean, least and root mean square of the residuals in a region."""
        inside = self._inside(x, y)
        words = [tr("{count_nonzero:,} points", count_nonzero=np.count_nonzero(inside))]
        found = self.residual_values()[inside]
        found = found[np.isfinite(found)]
        if found.size:
            with np.errstate(over="ignore", invalid="ignore"):
                spread = np.sqrt(np.mean(found**2))
                numbers = [formatting.number(float(n)) for n in (found.mean(), found.min(), spread)]
            words.append(
                tr(
                    "residuals: mean {numbers}  least {numbers_2}",
                    numbers=numbers[0],
                    numbers_2=numbers[1],
                )
            )
            words.append(tr("root mean square {numbers}", numbers=numbers[2]))
        return words

    def table_between(self, x: Axis, y: Axis) -> Iterator[str]:
        """Yield the points in sight as CSV, a row each, in the order of the data."""
        inside = self._inside(x, y)
        residuals = self.residual_values()
        columns = (self._x, self._y, self._fit_values(), residuals, self._validation)
        head = (*self._names, "fit", "residual", "validation")
        return rows_table(head, [column[inside] for column in columns])

    def _y_axis(self, y: Floats, over: bool) -> Axis:
        finite = y[np.isfinite(y)]
        if over and finite.size:
            reach = float(np.abs(finite).max())
            return axis_around(-reach, reach)
        if not finite.size:
            return axis_around(0.0, 1.0)
        low, high = float(finite.min()), float(finite.max())
        if self._curve[1].size and self.drawn_axes.y.high > self.drawn_axes.y.low:
            curve = self._curve[1][np.isfinite(self._curve[1])]
            if curve.size:
                # An untrained model that is far off must not squeeze the data into a line.
                room = 0.5 * (high - low)
                low = max(low - room, min(low, float(curve.min())))
                high = min(high + room, max(high, float(curve.max())))
        return axis_around(low, high)

    def _draw_misses(self, painter: QPainter, y: Floats, over: bool) -> None:
        """Draw the residuals as thin lines from each point to the curve."""
        if not self._curve[0].size or self._x.size > 600:
            return
        fit = np.zeros_like(y) if over else self._fit_values()
        ends = np.hstack([self.drawn_axes.points(self._x, y), self.drawn_axes.points(self._x, fit)])
        painter.setPen(QPen(faded(self.theme.backward, 0.45), self.theme.stroke(1)))
        known = ends[~np.isnan(ends).any(axis=1)]
        painter.drawLines([QLineF(*line) for line in known.tolist()])

    def _draw_points(self, painter: QPainter, y: Floats) -> None:
        theme, ratio = self.theme, self.devicePixelRatioF()
        known = Mark("circle", theme.data, theme.panel, 3.6)
        held_back = Mark("circle", theme.panel, theme.data, 3.6)
        looks, which = (known, held_back), self._validation.astype(np.intp)
        size = self.canvas.size().toSizeF()
        painter.drawPixmap(
            0, 0, self._stamps.layer(size, ratio, self.drawn_axes.points(self._x, y), looks, which)
        )

    def _draw_true(self, painter: QPainter, over: bool) -> None:
        """Draw the true function dashed; among residuals, what is left of it."""
        x, y = self._true
        if not x.size or (over and not self._curve[0].size):
            return
        pen = QPen(self.theme.ink, self.theme.stroke(2.0), Qt.PenStyle.DashLine)
        painter.setPen(pen)
        left = np.interp(x, *self._curve) if over else 0.0
        draw_polyline(painter, self.drawn_axes.points(x, y - left))

    def _draw_curve(self, painter: QPainter, over: bool) -> None:
        x, y = self._curve
        if not x.size:
            return
        painter.setPen(QPen(self.theme.forward, self.theme.stroke(2.4)))
        draw_polyline(painter, self.drawn_axes.points(x, np.zeros_like(y) if over else y))

    def _draw_hover(self, painter: QPainter, frame: QRectF, y: Floats) -> None:
        if self.mouse is None or not frame.contains(self.mouse) or self._held is not None:
            return
        x = self.drawn_axes.x_at(self.mouse)
        words, colors = [f"{self._names[0]}  {formatting.number(x, 3)}"], [self.theme.ink]
        if self._curve[0].size:
            output = float(np.interp(x, *self._curve))
            words.append(tr("fit  {number}", number=formatting.number(output, 3)))
            colors.append(self.theme.forward)
        if self._true[0].size:
            words.append(
                tr("true  {number}", number=formatting.number(float(np.interp(x, *self._true)), 3))
            )
            colors.append(self.theme.ink2)
        near = self._near(self.mouse, y)
        if near is not None:
            words.append(f"{self._names[1]}  {formatting.number(float(self._y[near]), 3)}")
            words.append(
                tr(
                    "residual  {number}",
                    number=formatting.number(float(self.residual_values()[near]), 3),
                )
            )
            colors += [self.theme.data, self.theme.backward]
            for point in finite_points(
                self.drawn_axes.points(self._x[near : near + 1], y[near : near + 1])
            ):
                draw_dot(painter, point, self.theme.data, self.theme.ink, 5)
        draw_bubble(painter, frame, self.mouse, words, colors, self.theme)

    # Mouse

    def _near(self, at: QPointF, y: Floats) -> int | None:
        away = np.hypot(*(self.drawn_axes.points(self._x, y) - (at.x(), at.y())).T)
        if np.isnan(away).all():
            return None
        best = int(np.nanargmin(away))
        return best if away[best] <= NEAR else None

    def handle(self, happened: QEvent) -> bool:
        """Show the numbers under the mouse; draw, drag and remove points if ``editable``."""
        mouse = self.follow_mouse(happened)
        if mouse is not None and self.editable and not self.residuals.isChecked():
            self._edit(mouse)
        return False

    def _edit(self, happened: QMouseEvent) -> None:
        at, kind = happened.position(), happened.type()
        x, y = self.drawn_axes.x_at(at), self.drawn_axes.y_at(at)
        is_left = happened.button() == Qt.MouseButton.LeftButton
        if kind == QEvent.Type.MouseButtonPress and is_left and self.drawn_axes.area.contains(at):
            self._held = self._near(at, self._y)
            if self._held is None:
                self.drawn.emit(x, y, 0)
        elif kind == QEvent.Type.MouseMove and self._held is not None:
            self.moved.emit(self._held, x, y)
        elif kind == QEvent.Type.MouseButtonRelease:
            self._held = None


def _kind(run: ShownRun) -> str:
    """Return ``fit`` for a regression on one input, else ``residuals``."""
    return "fit" if run.columns == 1 and run.is_regression else "residuals"


def _show(plot: FitPlot, run: ShownRun, view: ViewReply) -> None:
    if run.data is None or view.kind != _kind(run):
        return  # Requested before the data were known.
    if view.kind == "residuals":
        _show_residuals(plot, view)
        return
    x, y = view.arrays["x"].array(), view.arrays["y"].array()
    plot.show_curve(x.reshape(-1), y.reshape(x.size, -1)[:, 0])
    truth = (view.arrays.get(name) for name in ("true_x", "true_y"))
    true_x, true_y = (_NOTHING if part is None else part.array() for part in truth)
    plot.show_true(true_x, true_y)


def _show_data(plot: FitPlot, run: ShownRun, drawn: NDArray[np.float64] | None) -> None:
    if run.data is not None and run.data.x.shape[0] and _kind(run) == "fit":
        show_curve_data(plot, run.data, drawn)


def show_curve_data(plot: FitPlot, data: DataSample, drawn: Floats | None = None) -> None:
    """Show data of one input, or (n, 2) points ``drawn`` by now."""
    x = data.x.array().reshape(-1).astype(np.float64)
    y = data.y.array().reshape(len(x), -1)[:, 0].astype(np.float64)
    names = (*data.x_names[:1], *data.y_names[:1])
    pair = (names[0], names[1]) if len(names) == 2 else ("x", "y")
    held_back = ~data.train.array().astype(np.bool_)
    is_other = drawn is not None and drawn.shape[1] == 2
    if drawn is not None and is_other and drawn.shape[0] == len(x):
        is_other = not np.allclose([x, y], drawn.T, atol=1e-5)
    if drawn is not None and is_other:
        (x, y), held_back = drawn.T, np.zeros(len(drawn), np.bool_)
    plot.show_points(x, y, held_back, pair)


def _show_residuals(plot: FitPlot, view: ViewReply) -> None:
    """Show outputs over targets, with the line on which both agree."""
    target = view.arrays["target"].array().reshape(-1).astype(np.float64)
    output = view.arrays["output"].array().reshape(-1).astype(np.float64)
    held_back = ~view.arrays["train"].array().reshape(-1).astype(np.bool_)
    plot.show_points(target, output, held_back, ("target", "output"))
    ends = np.array([target.min(), target.max()]) if target.size else np.zeros(2)
    plot.show_curve(ends, ends)
    plot.show_true(_NOTHING, _NOTHING)
    plot.set_caption(tr("across the target, up the output; on the line they agree"))


def _clear(plot: FitPlot) -> None:
    plot.show_true(_NOTHING, _NOTHING)
    plot.show_points(_NOTHING, _NOTHING)
    plot.show_curve(_NOTHING, _NOTHING)


def _begin(plot: FitPlot) -> None:
    plot.show_curve(_NOTHING, _NOTHING)
    plot.show_true(_NOTHING, _NOTHING)


ENTRY = TrainingView(
    tr("Output"),
    "output",
    30,
    FitPlot,
    ("fit", "residuals"),
    wishes=lambda _plot, run: (ViewRequest(_kind(run)),),
    show=_show,
    clear=_clear,
    begin=lambda plot, _begun: _begin(plot),
    show_data=_show_data,
)
