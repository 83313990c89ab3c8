"""A model's output over the plane, with the data on top; points can be drawn by hand."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QEvent, QLineF, QPointF, QRectF, Qt, Signal
from PySide6.QtGui import QImage, QMouseEvent, QPainter, QPainterPath, QPen, QPixmap
from PySide6.QtWidgets import QWidget

from gradscribe.engine.protocol.setup import JsonValue
from gradscribe.engine.protocol.training import RunStarted, ViewReply, ViewRequest
from gradscribe.playback.text import formatting
from gradscribe.playback.translation import tr
from gradscribe.widgets.base.choice import Choice
from gradscribe.widgets.base.theme import Theme
from gradscribe.widgets.plots.drawing.axes import Axis
from gradscribe.widgets.plots.drawing.class_legend import (
    VALIDATION,
    ClassEntry,
    ClassLegend,
)
from gradscribe.widgets.plots.drawing.colors import class_color, class_shape
from gradscribe.widgets.plots.drawing.isolines import isolines
from gradscribe.widgets.plots.drawing.plane_table import between, rows_table
from gradscribe.widgets.plots.drawing.points import (
    NO_POINTS,
    VALIDATION_SHAPE,
    Box,
    Floats,
    PlanePoints,
    PointLayer,
    class_labels,
    points_of,
    to_pixels,
    with_drawn_points,
)
from gradscribe.widgets.plots.drawing.shading import (
    AROUND_ZERO,
    LONGEST_NAME,
    shading_legend,
    shading_of,
)
from gradscribe.widgets.plots.ground import (
    Ground,
    class_name,
    decisions,
    ground_image,
    outputs_at,
    refined,
    to_ground,
)
from gradscribe.widgets.plots.plot import (
    EDGE,
    AxesFrame,
    Canvas,
    Plot,
    draw_placeholder,
    plot_frame,
    switch_button,
)
from gradscribe.widgets.plots.training_view import ShownRun, TrainingView
from gradscribe.widgets.plots.views.curve_plot import draw_bubble

LEGEND = 26.0
NEAR = 9.0
"""Pixels from a point in which the mouse hits it."""
EMPTY: Box = (-1.0, -1.0, 1.0, 1.0)
GRID_SIDE = 100
"""Grid points along each side of a decision boundary."""
CLASS_LABELS = tuple(tr("class {number}", number=number) for number in range(5))
"""Classes of points that can be drawn."""
DRAWING_HINT = tr(
    "click draws, drag moves a point or pans; the menu on the right button takes a point away"
)


class BoundaryPlot(Plot):
    """The decision boundary, or the surface of a regression on two features."""

    drawn = Signal(float, float, int)
    """(x, y, class) of a new point."""
    moved = Signal(int, float, float)
    """(index, x, y) of a dragged point."""
    removed = Signal(int)
    named = Signal(int, str)
    """(class, new name), as edited in the legend below the plane."""

    def __init__(
        self,
        parent: QWidget | None = None,
        make_canvas: Callable[[Plot], Canvas] = Canvas,
    ) -> None:
        super().__init__(tr("Model output"), "", parent, make_canvas)
        self.sight: tuple[Axis | None, Axis | None] = (None, None)
        """The axes in sight; None: the one that shows everything."""
        self.drawn_axes = AxesFrame(QRectF(), Axis(0, 1), Axis(0, 1))
        """The axes as drawn last."""
        self.editable = False
        self.brush = 1
        """Class that a click draws."""
        self.domain = EMPTY
        self._refits = True
        self._ground: Ground | None = None
        self._image: QImage | None = None
        """Image of the ground; created when painted, as many grounds are never visible."""
        self._points, self._shading = NO_POINTS, AROUND_ZERO
        self._layer = PointLayer()
        self._area = QRectF()
        self._discrete, self._validation = False, True
        self._note = ""
        self._key = ClassLegend(self.canvas)
        self._key.named.connect(self.named)
        self._held: int | None = None
        self._data = ""
        """The name of the data set that is shown."""
        self._make_tools()

    def _make_tools(self) -> None:
        self.discrete = switch_button(
            tr("Discrete"), tr("Show which side it takes, not how sure it is"), False
        )
        self.discrete.toggled.connect(self.set_discrete)
        self.held_back = switch_button(
            tr("Validation"), tr("Show the points it does not learn from"), True
        )
        self.held_back.toggled.connect(self.set_validation)
        self.brushes = Choice()
        self.brushes.setAccessibleName(tr("Class that a click draws"))
        self.brushes.setToolTip(tr("Class that a click draws"))
        self.brushes.addItems(list(CLASS_LABELS))
        self.brushes.setCurrentIndex(self.brush)
        self.brushes.currentIndexChanged.connect(self._set_brush)
        self.brushes.hide()
        for tool in (self.brushes, self.held_back, self.discrete):
            self.tools.addWidget(tool)

    def _set_brush(self, place: int) -> None:
        self.brush = place

    def name_classes(self, names: Sequence[str]) -> None:
        """Rename the first classes that a click can draw; the rest have their default names."""
        for kind, name in enumerate((*names, *CLASS_LABELS[len(names) :])[: len(CLASS_LABELS)]):
            self.brushes.setItemText(kind, name)

    def set_drawable(self, drawable: bool, validates: bool) -> None:
        """Enable or disable drawing, moving and removing points.

        ``validates``: some points may be for validation, so that their switch is shown.
        """
        self.editable = drawable
        self.refresh()
        self.brushes.setVisible(drawable)
        self.held_back.setVisible(validates or not drawable)

    def set_data(self, name: str) -> None:
        """Fit the plane to the next ground if the data have another ``name``."""
        if name != self._data:
            self._data = name
            self._refits = True

    def show_ground(self, ground: Ground | None) -> None:
        """Show the model's output; None if there is none yet."""
        self._ground = ground
        if ground is not None:
            # While points are drawn the plane must not move under the mouse; it only grows.
            held = self.editable and len(self._points) > 0 and not self._refits
            self._refits = False
            self.domain = _union(self.domain, ground.domain) if held else ground.domain
        self._image = None
        self.refresh()

    @property
    def held(self) -> Box | None:
        """The fixed plane while points are drawn, which the next ground is to fill; else None."""
        return self.domain if self.editable and not self._refits else None

    def _drawn(self, ground: Ground, theme: Theme) -> QImage:
        fine = Ground(ground.domain, refined(ground), ground.shading)
        return ground_image(decisions(fine) if self._discrete else fine, theme.dark)

    def set_discrete(self, discrete: bool) -> None:
        """Show only the model's decision, not its confidence."""
        self._discrete = discrete
        self.set_theme(self.theme)

    def set_validation(self, shown: bool) -> None:
        """Show or hide the validation points."""
        self._validation = shown
        self.refresh()

    def show_points(self, points: PlanePoints) -> None:
        """Show these data; the plane is fitted to them until there is a ground."""
        self._points = points
        if points.targets is not None:
            self._shading = shading_of(points.targets)
        if self._ground is None and not self.editable:
            self.domain = _around(points)
        self.refresh()

    def show_note(self, note: str) -> None:
        """Write a remark at the lower right, such as the accuracy."""
        if note != self._note:
            self._note = note
            self.setAccessibleDescription(note)
            self.refresh()

    def set_theme(self, theme: Theme) -> None:
        """Use the colours of ``theme`` for the ground too."""
        if self._ground is not None and self._image is not None:
            self._image = self._drawn(self._ground, theme)
        super().set_theme(theme)
        if not self._area.isEmpty():
            # Ahead of painting, as the repaint of the whole window is slow enough.
            self._marks()

    # Drawing

    def fitted(self, x: Axis | None) -> tuple[Axis, Axis] | None:  # noqa: ARG002
        """Return the axes that show the whole plane; None while there is nothing on it."""
        if self._ground is None and not len(self._points):
            return None
        left, bottom, right, top = self.domain
        return Axis(left, right), Axis(bottom, top)

    @property
    def _seen(self) -> Box:
        """The part of the plane in sight."""
        left, bottom, right, top = self.domain
        x, y = self.sight[0] or Axis(left, right), self.sight[1] or Axis(bottom, top)
        return x.low, y.low, x.high, y.high

    def draw(self, painter: QPainter, area: QRectF) -> None:
        """Draw ground, axes, points, legend, and what the mouse points at."""
        self.draw_still(painter, area)
        self.draw_over(painter)

    def draw_still(self, painter: QPainter, area: QRectF) -> None:
        """Draw ground, axes, points, and the legend below."""
        if self.fitted(None) is None:
            words = tr("Click to draw a point") if self.editable else tr("No data yet")
            draw_placeholder(painter, area, self.theme, words)
            return
        left, bottom, right, top = self._seen
        above = area.adjusted(0, 0, 0, -LEGEND)
        ticks = Axis(bottom, top).ticks(max(2, round(area.height() / 50)))
        self._area = room = plot_frame(above, 6, ticks, self.theme)
        self.drawn_axes = AxesFrame(room, Axis(left, right), Axis(bottom, top))
        clip = QPainterPath()
        clip.addRoundedRect(room, 8, 8)
        painter.fillPath(clip, self.theme.panel2)
        # Below the ground: grid lines would look like what the model says.
        self.drawn_axes.draw(painter, self.theme, ticks)
        painter.setClipPath(clip)
        if self._ground is not None:
            if self._image is None:
                self._image = self._drawn(self._ground, self.theme)
            painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
            painter.drawImage(self._rect(self._ground.domain), self._image)
            self._draw_line(painter, self._ground)
        painter.setClipping(False)
        painter.drawPixmap(room.topLeft(), self._marks())
        self._draw_legend(painter, area)

    def _draw_line(self, painter: QPainter, ground: Ground) -> None:
        """Draw the line on which two classes are as probable."""
        if ground.grid.ndim != 2 or self._points.kinds is None:
            return
        grid, middle = ground.grid, ground.shading.middle
        if ground.logits is not None:
            grid, middle = ground.logits, 0.0
        rows, columns = grid.shape
        room = self._rect(ground.domain)
        lines = isolines(grid, middle) + 0.5
        ends = np.array([room.left(), room.bottom()] * 2) + lines * (
            np.array([room.width() / columns, -room.height() / rows] * 2)
        )
        painter.setPen(QPen(self.theme.ink, self.theme.stroke(1.4)))
        painter.drawLines([QLineF(*line) for line in ends.tolist()])

    def draw_over(self, painter: QPainter) -> None:
        """Draw the numbers under the mouse."""
        if self.fitted(None) is not None:
            self._draw_hover(painter, self._area)

    # What it offers to the hand

    def copy_from(self, other: "BoundaryPlot") -> None:
        """Show what another plot shows; points can be edited as there."""
        self.editable, self.brush, self._note = other.editable, other.brush, other._note
        self._points, self._shading, self.domain = other._points, other._shading, other.domain
        self._ground, self._image = other._ground, None
        self._discrete, self._validation = other._discrete, other._validation
        for tool in (self.brushes, self.held_back, self.discrete):
            tool.hide()
        self.set_caption(other.caption.said())
        self.refresh()

    def takes(self, happened: QMouseEvent) -> bool:
        """Return whether a press edits: with the left button on a point."""
        at = happened.position()
        if not self.editable:
            return False
        if happened.type() == QEvent.Type.MouseButtonDblClick:
            return True
        is_left = happened.button() == Qt.MouseButton.LeftButton
        return is_left and self._area.contains(at) and self._near(at) is not None

    def pick(self, at: QPointF) -> None:
        """Draw a point at a pixel that was clicked, if points can be edited."""
        if self.editable and self._near(at) is None:
            self.drawn.emit(*self._place(at), self.brush)

    def options_offered(self) -> Sequence[tuple[str, Callable[[], object], bool | None]]:
        """Return the entries that edit the points under the mouse, and switch what is shown."""
        return (
            *self._edits_offered(),
            (tr("Discrete"), self.discrete.toggle, self._discrete),
            (tr("Validation points"), self.held_back.toggle, self._validation),
        )

    def _edits_offered(self) -> list[tuple[str, Callable[[], object], bool | None]]:
        """Return what can be done at the place of the mouse, if points can be edited."""
        at = self.mouse
        if not self.editable or at is None or not self._area.contains(at):
            return []
        near = self._near(at)
        if near is not None:
            return [(tr("Remove this point"), partial(self.removed.emit, near), None)]
        x, y = self._place(at)
        return [
            (
                tr("Draw a point of {name} here", name=name),
                partial(self.drawn.emit, x, y, kind),
                None,
            )
            for kind, name in enumerate(CLASS_LABELS[: self.classes_offered()])
        ]

    def classes_offered(self) -> int:
        """Return how many classes can be drawn: those that there are, two at least."""
        kinds = self._points.kinds
        most = int(kinds.max()) + 1 if kinds is not None and len(kinds) else 0
        return min(len(CLASS_LABELS), max(2, most, self.brush + 1))

    def _inside(self, x: Axis, y: Axis) -> NDArray[np.bool_]:
        return between(self._points.x, x) & between(self._points.y, y)

    def summary(self, x: Axis, y: Axis) -> list[str]:
        """Return the number of points in a region, of each class, or the mean of their targets."""
        points, inside = self._points, self._inside(x, y)
        words = [tr("{count_nonzero:,} points", count_nonzero=np.count_nonzero(inside))]
        if points.targets is not None and inside.any():
            found = points.targets[inside]
            mean, least = (formatting.number(float(n)) for n in (found.mean(), found.min()))
            words.append(tr("targets: mean {mean}  least {least}", mean=mean, least=least))
        elif points.kinds is not None:
            kinds, counts = np.unique(points.kinds[inside], return_counts=True)
            words += [
                f"{class_name(int(kind), points.names)}  {count:,}"
                for kind, count in zip(kinds, counts, strict=True)
            ]
        return words

    def table_between(self, x: Axis, y: Axis) -> Iterator[str]:
        """Yield the points in sight as CSV, a row each, in the order of the data."""
        points, inside = self._points, self._inside(x, y)
        head, columns = ["x", "y"], [points.x, points.y]
        for name in ("kinds", "targets", "validation"):
            column = getattr(points, name)
            if column is not None:
                head.append({"kinds": "class", "targets": "target"}.get(name, name))
                columns.append(column)
        return rows_table(head, [column[inside] for column in columns])

    def _marks(self) -> QPixmap:
        return self._layer.pixmap(
            self._points,
            self._seen,
            self._area,
            self._shading,
            self.theme,
            self.devicePixelRatioF(),
            self._validation,
        )

    def _rect(self, domain: Box) -> QRectF:
        """Return the pixels of a part of the plane."""
        left, bottom, right, top = self._seen
        room = self._area
        wide, high = room.width() / (right - left), room.height() / (top - bottom)
        x, y = room.left() + (domain[0] - left) * wide, room.top() + (top - domain[3]) * high
        return QRectF(x, y, (domain[2] - domain[0]) * wide, (domain[3] - domain[1]) * high)

    def _pixels(self) -> tuple[Floats, Floats]:
        return to_pixels(self._points, self._seen, self._area)

    def _draw_legend(self, painter: QPainter, area: QRectF) -> None:
        line = QRectF(area.left() + EDGE, area.bottom() - LEGEND, area.width() - 2 * EDGE, LEGEND)
        shading = self._shading if self._points.targets is not None else None
        self._key.draw(painter, line, self._entries(), self._note, shading, self.theme)

    def _entries(self) -> Iterator[ClassEntry]:
        points, dark = self._points, self.theme.dark
        if points.kinds is not None and points.kinds.size:
            count = max(len(points.names), int(points.kinds.max()) + 1)
            for kind in range(count):
                yield class_shape(kind), class_color(kind, dark), class_name(kind, points.names)
        if self._validation and points.validation is not None and points.validation.any():
            shape = "circle" if points.targets is None else VALIDATION_SHAPE
            yield shape, self.theme.ink2, VALIDATION

    def _draw_hover(self, painter: QPainter, room: QRectF) -> None:
        if self.mouse is None or self._held is not None or not room.contains(self.mouse):
            return
        x, y = self._place(self.mouse)
        words = [f"({formatting.number(x, 2)}, {formatting.number(y, 2)})"]
        colors = [self.theme.ink]
        if self._ground is not None:
            for output, color in outputs_at(self._ground, x, y, self._points, self.theme):
                words.append(output)
                colors.append(color)
        draw_bubble(painter, room, self.mouse, words, colors, self.theme)

    # Mouse

    def _place(self, at: QPointF) -> tuple[float, float]:
        left, bottom, right, top = self._seen
        across = (at.x() - self._area.left()) / max(1.0, self._area.width())
        up = (self._area.bottom() - at.y()) / max(1.0, self._area.height())
        return left + across * (right - left), bottom + up * (top - bottom)

    def _near(self, at: QPointF) -> int | None:
        if not len(self._points):
            return None
        x, y = self._pixels()
        away = (x - at.x()) ** 2 + (y - at.y()) ** 2
        nearest = int(away.argmin())
        return nearest if away[nearest] <= NEAR**2 else None

    def handle(self, happened: QEvent) -> bool:
        """Show the output under the mouse; draw, drag and remove points if ``editable``."""
        mouse = self.follow_mouse(happened)
        if mouse is not None and self.editable:
            self._edit(mouse)
        return False

    def _edit(self, happened: QMouseEvent) -> None:
        at, kind = happened.position(), happened.type()
        is_left = happened.button() == Qt.MouseButton.LeftButton
        if kind == QEvent.Type.MouseButtonPress:
            near = self._near(at) if is_left and self._area.contains(at) else None
            if near is not None:
                self._held = near
            elif is_left and self._area.contains(at):
                self.drawn.emit(*self._place(at), self.brush)
        elif kind == QEvent.Type.MouseMove and self._held is not None:
            inside = QPointF(
                min(max(at.x(), self._area.left()), self._area.right()),
                min(max(at.y(), self._area.top()), self._area.bottom()),
            )
            self.moved.emit(self._held, *self._place(inside))
        elif kind == QEvent.Type.MouseButtonRelease:
            self._held = None
        elif kind == QEvent.Type.MouseButtonDblClick and self._points.kinds is not None:
            self._key.edit(at)


def _around(points: PlanePoints) -> Box:
    """Return the bounding box of the points with a margin of a tenth."""
    if not len(points):
        return EMPTY
    axes = (points.x, points.y)
    (x0, x1), (y0, y1) = ((float(axis.min()), float(axis.max())) for axis in axes)
    wide, high = 0.1 * (x1 - x0) or 1.0, 0.1 * (y1 - y0) or 1.0
    return x0 - wide, y0 - high, x1 + wide, y1 + high


def _union(a: Box, b: Box) -> Box:
    return min(a[0], b[0]), min(a[1], b[1]), max(a[2], b[2]), max(a[3], b[3])


def class_legend(
    task: str, names: Sequence[str], targets: Floats | None = None, target: Sequence[str] = ()
) -> str:
    """Return the legend of the plane's colours; ``target``: the name of the ``targets``."""
    if targets is not None:
        return shading_legend(shading_of(targets), "".join(target[:1]))
    if task != "binary" or len(names) < 2:
        return tr("pale: unsure")
    first, second = class_labels(names[:2])
    return tr("blue: {second}, orange: {first}, pale: unsure", second=second, first=first)


def axes_note(names: Sequence[str]) -> list[str]:
    """Return a remark on the axes, if they are columns of a file."""
    if len(names) != 2 or tuple(names) == ("x1", "x2"):
        return []
    across, up = (formatting.elide_middle(name, LONGEST_NAME) for name in names)
    return [tr("across: {across}, up: {up}", across=across, up=up)]


def accuracy_text(view: ViewReply) -> str:
    """Return ``197 of 200 right`` of a ``scores`` view, or its validation loss."""
    facts = view.facts
    right, count = facts.get("train_right"), facts.get("train_count")
    if right is None or count is None:
        return ""
    words = tr("{right:.0f} of {count:.0f} right", right=right, count=count)
    held, of = facts.get("val_right"), facts.get("val_count")
    return (
        tr("{words} · validation {held:.0f} of {of:.0f}", words=words, held=held, of=of)
        if held is not None and of
        else words
    )


def applies(run: ShownRun) -> bool:
    """Return whether a run's data are on a plane, or not known yet."""
    if run.begun is None or run.data is None:
        return True
    return run.columns == 2 and len(run.data.y.shape) <= 2


def _wishes(plot: BoundaryPlot, _run: ShownRun) -> tuple[ViewRequest]:
    options: dict[str, JsonValue] = {"side": GRID_SIDE}
    if plot.held is not None:
        options["around"] = [*plot.held]
    return (ViewRequest("boundary", 33, options),)


def _show(plot: BoundaryPlot, run: ShownRun, view: ViewReply) -> None:
    if view.kind == "scores":
        plot.show_note(accuracy_text(view))
        return
    points = points_of(run.data, (), run.is_regression) if run.data is not None else NO_POINTS
    loss = run.begun.setup.loss if run.begun is not None else None
    plot.show_ground(to_ground(view, run.is_regression, points, loss is None or loss.name == "bce"))


def plane_points(run: ShownRun, drawn: Floats | None) -> PlanePoints:
    """Return the points of a run on the plane, or those ``drawn`` by now."""
    if run.begun is None or run.data is None or not applies(run):
        return NO_POINTS
    points = points_of(run.data, run.begun.classes, run.is_regression)
    return with_drawn_points(points, drawn)


def _show_data(plot: BoundaryPlot, run: ShownRun, drawn: Floats | None) -> None:
    begun, data = run.begun, run.data
    if begun is None or data is None or not applies(run):
        return
    points = plane_points(run, drawn)
    plot.show_points(points)
    legend = class_legend(begun.task, begun.classes, points.targets, data.y_names)
    notes = [DRAWING_HINT] if plot.editable else axes_note(data.x_names)
    plot.set_caption(" · ".join([legend, *notes]))
    plot.show_note("")


def _begin(plot: BoundaryPlot, begun: RunStarted) -> None:
    plot.set_data(begun.setup.data.name)


def _clear(plot: BoundaryPlot) -> None:
    plot.show_points(NO_POINTS)
    plot.show_ground(None)
    plot.show_note("")


ENTRY = TrainingView(
    tr("Output"),
    "output",
    10,
    BoundaryPlot,
    ("boundary", "scores"),
    wishes=_wishes,
    show=_show,
    clear=_clear,
    begin=_begin,
    show_data=_show_data,
    applies=applies,
)
