"""Loss surface: the loss over two directions in weight space, and the path of training on it."""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QEvent, QPointF, QRectF, QSignalBlocker
from PySide6.QtGui import QImage, QPainter, QPen
from PySide6.QtWidgets import QWidget

from gradscribe.engine.protocol.setup import JsonValue
from gradscribe.engine.protocol.training import Parameter, RunStarted, ViewReply, ViewRequest
from gradscribe.engine.protocol.training.replies import MAX_SURFACE_PARAMETERS
from gradscribe.playback.text import formatting
from gradscribe.widgets.base.choice import Choice
from gradscribe.widgets.base.theme import Theme
from gradscribe.widgets.graph.paint import heat
from gradscribe.widgets.plots.drawing.axes import Axis
from gradscribe.widgets.plots.drawing.colors import rgb_of
from gradscribe.widgets.plots.drawing.element_picker import ElementPicker
from gradscribe.widgets.plots.drawing.polylines import draw_polyline, finite_points
from gradscribe.widgets.plots.drawing.upsampling import upsample
from gradscribe.widgets.plots.plot import AxesFrame, Plot, draw_dot, draw_placeholder, plot_frame
from gradscribe.widgets.plots.training_view import ShownRun, TrainingView, size_note
from gradscribe.widgets.plots.views.curve_plot import draw_bubble

BANDS = 14
"""Colour bands, which make valleys visible like contour lines."""
FINER = 11
"""Factor by which the grid of losses is refined for painting."""
CELL = 1.5
"""Resolution of the path in pixels: a thick line with many turns within one is expensive."""

LONGEST_THICK = 4000.0
"""Longest path in pixels that is drawn thick: longer ones cross themselves, which is expensive."""

DIRECTIONS = {"random": "random", "pca": "PCA", "parameters": "parameters"}
"""Kinds of directions, with their titles."""
EVERY_MS = 1500

Grid = NDArray[np.float64]


class LossSurface(Plot):
    """Loss as colour, strong where it is low, and the path from its start (hollow) to its end."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("Loss surface", "", parent)
        self._grid: Grid = np.zeros((0, 0))
        self._path: Grid = np.zeros((0, 2))
        self._domain = (0.0, 0.0, 1.0, 1.0)
        self._names = ("", "")
        self._image: QImage | None = None
        """Image of the losses, created when painted."""
        self._has_two = False
        self.directions = Choice()
        self.directions.setAccessibleName("Directions")
        self.directions.setToolTip("Directions")
        for kind, name in DIRECTIONS.items():
            self.directions.addItem(name, kind)
        self.directions.currentIndexChanged.connect(lambda _at: self.wished.emit())
        self.across, self.up = ElementPicker("Across"), ElementPicker("Up")
        for pick in (self.across, self.up):
            pick.hide()
            pick.chosen.connect(self.wished)
            self.tools.addWidget(pick)
        self.tools.addWidget(self.directions)

    def offer_directions(self, parameters: Sequence[Parameter]) -> None:
        """Offer directions; a model of two numbers has only one plane."""
        for flat, pick in enumerate((self.across, self.up)):
            pick.set_parameters(parameters, flat)
        has_two, had_two = sum(math.prod(p.shape) for p in parameters) == 2, self._has_two
        self._has_two = has_two
        if has_two != had_two:
            with QSignalBlocker(self.directions):
                kind = "parameters" if has_two else "random"
                self.directions.setCurrentIndex(self.directions.findData(kind))

    def options(self) -> dict[str, JsonValue]:
        """Return the options of the engine's view: the plane in weight space."""
        chosen = self.directions.currentData()
        for pick in (self.across, self.up):
            pick.setVisible(chosen == "parameters")
        if chosen != "parameters":
            return {"directions": chosen}
        return {"directions": chosen, "x": self.across.flat(), "y": self.up.flat()}

    def show_grid(
        self, domain: tuple[float, float, float, float], grid: Grid, names: tuple[str, str]
    ) -> None:
        """Show the loss on a grid over ``domain`` (left, bottom, right, top); row 0 is lowest."""
        self._domain, self._names = domain, names
        self._grid = np.asarray(grid, np.float64)
        self._image = None
        self.set_caption(f"across {names[0]}, up {names[1]} · stronger colour is a lower loss")
        self.refresh()

    def show_path(self, path: Grid) -> None:
        """Show the path of training: (n, 2), ending at the current weights."""
        self._path = np.asarray(path, np.float64).reshape(-1, 2)
        self.refresh()

    def set_theme(self, theme: Theme) -> None:
        """Use the colours of ``theme``."""
        self._image = None
        super().set_theme(theme)

    def draw(self, painter: QPainter, area: QRectF) -> None:
        """Draw losses, axes and path."""
        if not self._grid.size:
            draw_placeholder(painter, area, self.theme, "Not computed yet")
            return
        if not np.isfinite(self._domain).all():
            draw_placeholder(painter, area, self.theme, "The weights are not finite here")
            return
        left, bottom, right, top = self._domain
        ticks = Axis(bottom, top).ticks(max(2, round(area.height() / 50)))
        frame = plot_frame(area, 6, ticks, self.theme)
        axes = AxesFrame(frame, Axis(left, right), Axis(bottom, top))
        painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
        if self._image is None:
            self._image = contour_image(self._grid, self.theme)
        painter.drawImage(frame, self._image)
        axes.draw(painter, self.theme, ticks)
        painter.setClipRect(frame)
        self._draw_path(painter, axes)
        painter.setClipping(False)
        if self.mouse is not None and frame.contains(self.mouse):
            self._draw_hover(painter, axes, self.mouse)

    def _draw_path(self, painter: QPainter, axes: AxesFrame) -> None:
        path = self._path[np.isfinite(self._path).all(axis=1)]
        if not len(path):
            return
        stride = max(1, len(path) // 800)
        kept = np.concatenate([path[::stride], path[-1:]])
        points = axes.points(*kept.T)
        moved = np.append(True, (np.diff(np.floor(points / CELL), axis=0) != 0).any(axis=1))
        moved[-1] = True
        points = points[moved]
        length = np.hypot(*np.diff(points, axis=0).T).sum()
        if length <= LONGEST_THICK:
            painter.setPen(QPen(self.theme.panel, 4))
            draw_polyline(painter, points)
        painter.setPen(QPen(self.theme.backward, 2 if length <= LONGEST_THICK else 1))
        draw_polyline(painter, points)
        first, *_, last = [*finite_points(points[:1]), *finite_points(points[-1:])]
        draw_dot(painter, first, self.theme.panel, self.theme.backward)
        draw_dot(painter, last, self.theme.backward, self.theme.panel, 5)

    def _draw_hover(self, painter: QPainter, axes: AxesFrame, at: QPointF) -> None:
        frame, (rows, columns) = axes.area, self._grid.shape
        a = (at.x() - frame.left()) / frame.width()
        b = (frame.bottom() - at.y()) / frame.height()
        row = min(rows - 1, max(0, int(b * rows)))
        loss = float(self._grid[row, min(columns - 1, max(0, int(a * columns)))])
        words = [
            f"{self._names[0]}  {formatting.number(axes.x.number(a), 3)}",
            f"{self._names[1]}  {formatting.number(axes.y.number(b), 3)}",
            f"loss  {formatting.number(loss)}",
        ]
        colors = [self.theme.ink, self.theme.parameter, self.theme.forward]
        draw_bubble(painter, frame, at, words, colors, self.theme)

    def handle(self, happened: QEvent) -> bool:
        """Follow the mouse."""
        self.follow_mouse(happened)
        return False


def contour_image(grid: Grid, theme: Theme) -> QImage:
    """Return the losses as bands of a colour, by the log of their height above the minimum.

    The image is transparent where the loss is not finite.
    """
    finite = np.isfinite(grid)
    if not finite.any():
        return QImage()
    low = float(grid[finite].min())
    reach = max(heat.quantile(grid[finite], 0.98) - low, 1e-12)
    with np.errstate(invalid="ignore", over="ignore"):
        height = np.log1p(np.clip((grid - low) / reach, 0, 4) * 50) / math.log1p(50)
    # Refined before it is quantized: the edges of the bands would be as coarse as the cells.
    height = upsample(np.where(finite, height, np.nan), FINER)
    finite = np.isfinite(height)
    share = np.where(finite, np.clip(height, 0, 1), 0)
    share = np.floor(share * BANDS) / BANDS
    deep = np.array(rgb_of(theme.forward), np.float64)
    pale = np.array(rgb_of(theme.panel2), np.float64)
    weight = (0.08 + 0.87 * (1 - share))[..., None]
    pixels = np.empty((*share.shape, 4), np.uint8)
    pixels[..., :3] = (deep * weight + pale * (1 - weight)).astype(np.uint8)
    pixels[..., 3] = np.where(finite, 255, 0)
    rows, columns = share.shape
    flipped = np.ascontiguousarray(pixels[::-1])
    held = QImage(flipped.tobytes(), columns, rows, 4 * columns, QImage.Format.Format_RGBA8888)
    return held.copy()


def _show(plot: LossSurface, _run: ShownRun, view: ViewReply) -> None:
    """Show the loss over two directions, with the path; the axes are in the parameters' units."""
    a, b = (
        view.arrays[name].array().astype(np.float64) + view.facts.get(f"center_{name}", 0.0)
        for name in ("a", "b")
    )
    chosen = plot.directions.currentData()
    names = {
        "parameters": (plot.across.title(), plot.up.title()),
        "pca": ("the path's main direction", "its second"),
    }.get(chosen, ("a random direction", "another"))
    box = (float(a[0]), float(b[0]), float(a[-1]), float(b[-1]))
    center = [view.facts.get("center_a", 0.0), view.facts.get("center_b", 0.0)]
    plot.show_grid(box, view.arrays["grid"].array().astype(np.float64), names)
    plot.show_path(view.arrays["path"].array().astype(np.float64) + center)


def _clear(plot: LossSurface) -> None:
    plot.show_grid((0.0, 0.0, 1.0, 1.0), np.zeros((0, 0)), ("", ""))
    plot.set_caption("")


def _begin(plot: LossSurface, begun: RunStarted) -> None:
    plot.offer_directions(begun.parameters)
    plot.set_caption(size_note(begun, MAX_SURFACE_PARAMETERS))


ENTRY = TrainingView(
    "Loss surface",
    "model",
    30,
    LossSurface,
    ("surface",),
    wishes=lambda plot, _run: (ViewRequest("surface", EVERY_MS, plot.options()),),
    show=_show,
    clear=_clear,
    begin=_begin,
)
