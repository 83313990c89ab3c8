"""Loss surface: the loss over two directions in weight space, and the path of training on it."""

import math
from collections.abc import Callable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QEvent, QLineF, QPointF, QRectF, QSignalBlocker, Qt, Signal
from PySide6.QtGui import QColor, QFontMetricsF, QImage, QMouseEvent, QPainter, QPen
from PySide6.QtWidgets import QWidget

from gradscribe.engine.protocol.setup import JsonValue
from gradscribe.engine.protocol.training import Parameter, RunStarted, ViewReply, ViewRequest
from gradscribe.engine.protocol.training.replies import MAX_SURFACE_PARAMETERS
from gradscribe.playback.text import formatting
from gradscribe.playback.translation import tr
from gradscribe.widgets.base.choice import Choice
from gradscribe.widgets.base.theme import Theme, faded
from gradscribe.widgets.graph.paint import heat
from gradscribe.widgets.plots.drawing.axes import Axis
from gradscribe.widgets.plots.drawing.colors import rgb_of
from gradscribe.widgets.plots.drawing.element_picker import ElementPicker
from gradscribe.widgets.plots.drawing.isolines import isolines
from gradscribe.widgets.plots.drawing.plane_table import between, grid_table
from gradscribe.widgets.plots.drawing.polylines import draw_polyline, finite_points
from gradscribe.widgets.plots.drawing.upsampling import upsample
from gradscribe.widgets.plots.plot import (
    AxesFrame,
    Canvas,
    Plot,
    draw_dot,
    draw_placeholder,
    plot_frame,
)
from gradscribe.widgets.plots.training_view import ShownRun, TrainingView, size_note
from gradscribe.widgets.plots.views.curve_plot import draw_bubble

BANDS = 14
"""Colour bands, which make valleys visible like contour lines."""
FINER = 11
"""Factor by which the grid of losses is refined for painting."""
CELL = 1.5
"""Resolution of the path in pixels: a thick line with many turns within one is expensive."""

NEAR = 9.0
"""Pixels from a place on the path in which the mouse hits it."""
LEAST_ARROW, ARROW_HEAD = 34.0, 8.0
"""Least length of the arrow of the next step in pixels, and length of the sides of its head."""
LEVELS = 14
"""Most lines of equal loss."""
LONGEST_THICK = 4000.0
"""Longest path in pixels that is drawn thick: longer ones cross themselves, which is expensive."""

DIRECTIONS = {"random": "random", "pca": "PCA", "parameters": "parameters"}
"""Kinds of directions, with their titles."""
EVERY_MS = 1500
KEY_DIGITS = range(2, 8)
"""Decimals of the losses in the key, the fewest first."""
KEY_SHARES = (0.0, 1 / 3, 2 / 3, 1.0)
"""Shares of the colours whose losses are written at the key."""
KEY_GAP, KEY_BAR, KEY_PX = 8.0, 10.0, 11
"""Pixels between the surface and its key, of the width of the key, and of its text."""
LEAST_KEYED = (240.0, 90.0)
"""Least width and height of the canvas in pixels with a key of the colours."""

Grid = NDArray[np.float64]


class LossSurface(Plot):
    """Loss as colour, strong where it is low, and the path from its start (hollow) to its end."""

    step_picked = Signal(int)
    """Carries the step of a place on the path that was clicked."""

    def __init__(
        self,
        parent: QWidget | None = None,
        make_canvas: Callable[[Plot], Canvas] = Canvas,
    ) -> None:
        super().__init__(tr("Loss surface"), "", parent, make_canvas)
        self.sight: tuple[Axis | None, Axis | None] = (None, None)
        """The axes in sight; None: the one that shows everything."""
        self.drawn_axes = AxesFrame(QRectF(), Axis(0, 1), Axis(0, 1))
        """The axes as drawn last."""
        self.is_log = True
        """True to colour by the logarithm of the height above the least loss."""
        self._lines: list[Grid] = []
        self._exact: tuple[Grid, Grid] | None = None
        self._steps: NDArray[np.int64] = np.zeros(0, np.int64)
        self._grid: Grid = np.zeros((0, 0))
        self._path: Grid = np.zeros((0, 2))
        self._step: tuple[float, float] | None = None
        self._domain = (0.0, 0.0, 1.0, 1.0)
        self._names = ("", "")
        self._image: QImage | None = None
        """Image of the losses, created when painted."""
        self._has_two = False
        self.directions = Choice()
        self.directions.setAccessibleName(tr("Directions"))
        self.directions.setToolTip(tr("Directions"))
        for kind, name in DIRECTIONS.items():
            self.directions.addItem(name, kind)
        self.directions.currentIndexChanged.connect(lambda _at: self.wished.emit())
        self.across, self.up = ElementPicker(tr("Across")), ElementPicker(tr("Up"))
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
        self,
        domain: tuple[float, float, float, float],
        grid: Grid,
        names: tuple[str, str],
        places: tuple[Grid, Grid] | None = None,
    ) -> None:
        """Show the loss on a grid over ``domain`` (left, bottom, right, top); row 0 is lowest.

        ``places``: the exact numbers (columns,) and (rows,); None for equal distances.
        """
        self._exact = places
        self._domain, self._names = domain, names
        self._grid = np.asarray(grid, np.float64)
        self._image = None
        self._lines = self._equal_losses()
        self.set_caption(
            tr(
                "across {names}, up {names_2} · stronger colour is a lower loss",
                names=names[0],
                names_2=names[1],
            )
        )
        self.refresh()

    def show_path(self, path: Grid, steps: Sequence[int] | NDArray[np.integer] = ()) -> None:
        """Show the path of training: (n, 2), ending at the current weights; ``steps``: (n,)."""
        self._path = np.asarray(path, np.float64).reshape(-1, 2)
        self._steps = np.asarray(steps, np.int64).reshape(-1)
        self.refresh()

    def show_gradient_step(self, step: tuple[float, float] | None) -> None:
        """Show -lr * gradient within the plane, from the end of the path; None for no step."""
        self._step = step if step is not None and all(map(math.isfinite, step)) else None
        self.refresh()

    def copy_from(self, other: "LossSurface") -> None:
        """Show what another surface shows, in the same colours."""
        self.is_log = other.is_log
        self.show_grid(other._domain, other._grid, other._names, other._exact)
        self.show_path(other._path, other._steps)
        self.show_gradient_step(other._step)
        self.set_caption(other.caption.said())

    def set_log(self, log: bool) -> None:
        """Colour by the logarithm of the height above the least loss, or by the height."""
        self.is_log = log
        self._image = None
        self._lines = self._equal_losses()
        self.refresh()

    def _equal_losses(self) -> list[Grid]:
        """Return lines of equal loss in numbers of the axes, (n, 4) each."""
        rows, columns = self._grid.shape
        if not np.isfinite(self._domain).all() or min(rows, columns) < 2:
            return []
        left, bottom, right, top = self._domain
        wide, high = (right - left) / (columns - 1), (top - bottom) / (rows - 1)
        scale, origin = np.array([wide, high, wide, high]), np.array([left, bottom] * 2)
        found = (isolines(self._grid, level) for level in levels(self._grid, self.is_log))
        return [origin + scale * lines for lines in found if len(lines)]

    def set_theme(self, theme: Theme) -> None:
        """Use the colours of ``theme``."""
        self._image = None
        super().set_theme(theme)

    def fitted(self, x: Axis | None) -> tuple[Axis, Axis] | None:  # noqa: ARG002
        """Return the axes that show everything; None before there is a surface."""
        left, bottom, right, top = self._domain
        if not self._grid.size or not math.isfinite(right - left + top - bottom):
            return None
        return Axis(left, right), Axis(bottom, top)

    def draw(self, painter: QPainter, area: QRectF) -> None:
        """Draw losses, axes and path, and what the mouse points at."""
        self.draw_still(painter, area)
        self.draw_over(painter)

    def draw_still(self, painter: QPainter, area: QRectF) -> None:
        """Draw losses, axes and path."""
        fitted = self.fitted(None)
        if fitted is None:
            words = (
                tr("The weights are not finite here") if self._grid.size else tr("Not computed yet")
            )
            draw_placeholder(painter, area, self.theme, words)
            return
        x, y = self.sight[0] or fitted[0], self.sight[1] or fitted[1]
        ticks = y.ticks(max(2, round(area.height() / 50)))
        key = self._key_width(area)
        frame = plot_frame(area.adjusted(0, 0, -key, 0), 6, ticks, self.theme)
        self.drawn_axes = axes = AxesFrame(frame, x, y)
        painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
        if self._image is None:
            self._image = contour_image(self._grid, self.theme, log=self.is_log)
        painter.setClipRect(frame)
        painter.drawImage(self._image_rect(), self._image)
        painter.setClipping(False)
        axes.draw(painter, self.theme, ticks)
        painter.setClipRect(frame)
        self._draw_lines(painter)
        self._draw_path(painter, axes)
        self._draw_step(painter, axes)
        painter.setClipping(False)
        if key:
            bar = QRectF(frame.right() + KEY_GAP, frame.top(), KEY_BAR, frame.height())
            self._draw_key(painter, bar)

    def _image_rect(self) -> QRectF:
        """Return the pixels of the image: its cells are around the places of the losses."""
        left, bottom, right, top = self._domain
        rows, columns = self._grid.shape
        wide, high = (right - left) / max(1, columns - 1), (top - bottom) / max(1, rows - 1)
        x = np.array([left - wide / 2, right + wide / 2])
        y = np.array([bottom - high / 2, top + high / 2])
        (x0, y0), (x1, y1) = self.drawn_axes.points(x, y).tolist()
        return QRectF(QPointF(x0, y1), QPointF(x1, y0))

    def _key_width(self, area: QRectF) -> float:
        """Return the pixels of the key of the colours; 0 if there is no space for it."""
        if area.width() < LEAST_KEYED[0] or area.height() < LEAST_KEYED[1]:
            return 0.0
        metrics = QFontMetricsF(self.theme.font(KEY_PX, 500))
        labels = (
            metrics.horizontalAdvance(label) for _, label in key_labels(self._grid, self.is_log)
        )
        return KEY_GAP + KEY_BAR + 4 + max(labels, default=0.0)

    def _draw_key(self, painter: QPainter, bar: QRectF) -> None:
        """Draw the colours from the least loss at the bottom to the highest, with some losses."""
        # The topmost colour is that of all higher losses.
        theme, high = self.theme, bar.height() / (BANDS + 1)
        painter.setPen(Qt.PenStyle.NoPen)
        for band in range(BANDS + 1):
            painter.setBrush(QColor(*band_color(band / BANDS, theme)))
            top = bar.bottom() - (band + 1) * high
            painter.drawRect(QRectF(bar.left(), top, bar.width(), high + 0.5))
        painter.setFont(theme.font(KEY_PX, 500))
        painter.setPen(theme.ink2)
        metrics = QFontMetricsF(painter.font())
        for share, label in key_labels(self._grid, self.is_log):
            y = bar.bottom() - share * BANDS * high
            top = min(max(bar.top(), y - metrics.height() / 2), bar.bottom() - metrics.height())
            painter.drawText(QPointF(bar.right() + 4, top + metrics.ascent()), label)

    def _draw_lines(self, painter: QPainter) -> None:
        painter.setPen(QPen(faded(self.theme.ink, 0.3), self.theme.stroke(1)))
        for lines in self._lines:
            ends = np.hstack(
                [self.drawn_axes.points(*lines[:, :2].T), self.drawn_axes.points(*lines[:, 2:].T)]
            )
            painter.drawLines([QLineF(*line) for line in ends.tolist()])

    def draw_over(self, painter: QPainter) -> None:
        """Draw the numbers under the mouse."""
        at = self.mouse
        if at is not None and self.fitted(None) is not None and self.drawn_axes.area.contains(at):
            self._draw_hover(painter, self.drawn_axes, at)

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

    def step_arrow(self) -> tuple[QLineF, float] | None:
        """Return the arrow of the next step in pixels, and how much longer than the step it is.

        A step too short to be seen is drawn `LEAST_ARROW` pixels long. None without a step.
        """
        path = self._path[np.isfinite(self._path).all(axis=1)]
        if self._step is None or not len(path) or self._step == (0.0, 0.0):
            return None
        ends = np.array([path[-1], path[-1] + np.array(self._step)])
        (x0, y0), (x1, y1) = self.drawn_axes.points(*ends.T).tolist()
        length = math.hypot(x1 - x0, y1 - y0)
        if not 0 < length < math.inf:
            return None
        times = max(1.0, LEAST_ARROW / length)
        return QLineF(x0, y0, x0 + (x1 - x0) * times, y0 + (y1 - y0) * times), times

    def _draw_step(self, painter: QPainter, axes: AxesFrame) -> None:
        found = self.step_arrow()
        if found is None:
            return
        line, times = found
        for color, width in ((self.theme.panel, 5.0), (self.theme.parameter, 2.2)):
            painter.setPen(QPen(color, width, Qt.PenStyle.SolidLine, Qt.PenCapStyle.RoundCap))
            painter.drawLine(line)
            for side in (150.0, -150.0):
                barb = QLineF.fromPolar(ARROW_HEAD, line.angle() + side).translated(line.p2())
                painter.drawLine(barb)
        words = "−lr · gradient" + (f" ×{formatting.short_number(times)}" if times > 1 else "")
        painter.setFont(self.theme.font(KEY_PX, 600))
        metrics = QFontMetricsF(painter.font())
        box = QRectF(0, 0, metrics.horizontalAdvance(words) + 8, metrics.height())
        box.moveCenter(line.p2() + QPointF(0, 14 if line.dy() >= 0 else -14))
        box.moveLeft(min(max(box.left(), axes.area.left()), axes.area.right() - box.width()))
        box.moveTop(min(max(box.top(), axes.area.top()), axes.area.bottom() - box.height()))
        painter.fillRect(box, faded(self.theme.panel, 0.85))
        painter.setPen(self.theme.parameter)
        painter.drawText(box, Qt.AlignmentFlag.AlignCenter, words)

    def _draw_hover(self, painter: QPainter, axes: AxesFrame, at: QPointF) -> None:
        x, y = axes.x_at(at), axes.y_at(at)
        words = [
            f"{self._names[0]}  {formatting.number(x, 3)}",
            f"{self._names[1]}  {formatting.number(y, 3)}",
            tr("loss  {number}", number=formatting.number(self.loss_at(x, y))),
        ]
        colors = [self.theme.ink, self.theme.parameter, self.theme.forward]
        near = self._near(at)
        if near is not None:
            words.append(tr("step  {steps:,}", steps=self._steps[near]))
            colors.append(self.theme.backward)
        draw_bubble(painter, axes.area, at, words, colors, self.theme)

    def loss_at(self, x: float, y: float) -> float:
        """Return the loss, linear between its four neighbours; NaN outside of the surface."""
        left, bottom, right, top = self._domain
        rows, columns = self._grid.shape
        if not (left <= x <= right and bottom <= y <= top) or min(rows, columns) < 2:
            return math.nan
        across, up = (
            (columns - 1) * (x - left) / (right - left),
            (rows - 1) * (y - bottom) / (top - bottom),
        )
        column, row = min(columns - 2, int(across)), min(rows - 2, int(up))
        a, b = across - column, up - row
        corners = self._grid[row : row + 2, column : column + 2]
        shares = np.outer([1 - b, b], [1 - a, a])
        # A corner of no weight must not make the sum NaN where it is not finite.
        with np.errstate(invalid="ignore"):
            return float((corners[shares > 0] * shares[shares > 0]).sum())

    # What it offers to the hand

    def takes(self, _happened: QMouseEvent) -> bool:
        """Return False: nothing can be edited here."""
        return False

    def _near(self, at: QPointF) -> int | None:
        """Return the index of the place on the path at a pixel."""
        if not len(self._steps) or len(self._steps) != len(self._path):
            return None
        away = np.hypot(*(self.drawn_axes.points(*self._path.T) - (at.x(), at.y())).T)
        away = np.where(np.isfinite(away), away, np.inf)
        near = int(away.argmin())
        return near if away[near] <= NEAR else None

    def pick(self, at: QPointF) -> None:
        """Go to the step of the path at a pixel."""
        near = self._near(at)
        if near is not None:
            self.step_picked.emit(int(self._steps[near]))

    def options_offered(self) -> Sequence[tuple[str, Callable[[], object], bool | None]]:
        """Return the entry that switches the colours."""
        return ((tr("Logarithmic colours"), lambda: self.set_log(not self.is_log), self.is_log),)

    def _places(self) -> tuple[Grid, Grid]:
        """Return the places of the losses: (columns,) and (rows,)."""
        if self._exact is not None:
            return self._exact
        left, bottom, right, top = self._domain
        rows, columns = self._grid.shape
        return np.linspace(left, right, columns), np.linspace(bottom, top, rows)

    def summary(self, x: Axis, y: Axis) -> list[str]:
        """Return count, mean and least of the losses between two axes."""
        across, up = self._places()
        found = self._grid[np.ix_(between(up, y), between(across, x))].ravel()
        found = found[np.isfinite(found)]
        if not found.size:
            return [tr("No loss was computed here")]
        with np.errstate(over="ignore", invalid="ignore"):
            mean, least = (formatting.number(float(n)) for n in (found.mean(), found.min()))
        on_path = between(self._path[:, 0], x) & between(self._path[:, 1], y)
        return [
            tr("{size:,} losses", size=found.size),
            tr("mean {mean}  least {least}", mean=mean, least=least),
            tr("{count_nonzero:,} places of the path", count_nonzero=np.count_nonzero(on_path)),
        ]

    def table_between(self, x: Axis, y: Axis) -> Iterator[str]:
        """Yield the losses in sight as CSV: a row per place."""
        return grid_table(self._names, "loss", *self._places(), self._grid, x, y)

    def handle(self, happened: QEvent) -> bool:
        """Follow the mouse."""
        self.follow_mouse(happened)
        return False


def levels(grid: Grid, log: bool = True) -> list[float]:
    """Return losses at equal steps of colour, as `contour_image` draws them."""
    return losses_at(grid, np.arange(1, LEVELS) / LEVELS, log)


def losses_at(grid: Grid, shares: NDArray[np.floating], log: bool = True) -> list[float]:
    """Return the losses at shares of the colours, from the least loss at 0; the finite ones."""
    finite = grid[np.isfinite(grid)]
    if not finite.size:
        return []
    low = float(finite.min())
    reach = max(heat.quantile(finite, 0.98) - low, 1e-12)
    heights = np.expm1(shares * math.log1p(50)) / 50 if log else shares
    # A loss of 1e308 is drawn; 0 times an infinite reach is no number.
    with np.errstate(over="ignore", invalid="ignore"):
        return [float(n) for n in low + heights * reach if math.isfinite(n)]


def key_labels(grid: Grid, log: bool = True) -> list[tuple[float, str]]:
    """Return shares of the colours with their losses as text; the last is for all higher ones.

    The texts have as many decimals as are needed to tell the losses apart.
    """
    losses = losses_at(grid, np.asarray(KEY_SHARES), log)
    forms = ([formatting.number(loss, digits) for loss in losses] for digits in KEY_DIGITS)
    distinct = (texts for texts in forms if len(set(texts)) == len(set(losses)))
    texts = next(distinct, [formatting.number(loss, KEY_DIGITS[0]) for loss in losses])
    if len(texts) == len(KEY_SHARES):
        texts[-1] = f"≥ {texts[-1]}"
    return list(zip(KEY_SHARES, texts, strict=False))


def band_color(share: float, theme: Theme) -> tuple[int, int, int]:
    """Return the colour of a share of the colours: the strongest is that of the least loss."""
    deep, pale = (np.array(rgb_of(color), np.float64) for color in (theme.forward, theme.panel2))
    weight = 0.08 + 0.87 * (1 - share)
    red, green, blue = (deep * weight + pale * (1 - weight)).astype(int).tolist()
    return red, green, blue


def contour_image(grid: Grid, theme: Theme, *, log: bool = True) -> QImage:
    """Return the losses as bands of a colour, by the log of their height above the minimum.

    Without ``log``: by the height. The image is transparent where the loss is not finite.
    """
    finite = np.isfinite(grid)
    if not finite.any():
        return QImage()
    low = float(grid[finite].min())
    reach = max(heat.quantile(grid[finite], 0.98) - low, 1e-12)
    with np.errstate(invalid="ignore", over="ignore"):
        height = np.clip((grid - low) / reach, 0, 4)
    if log:
        height = np.log1p(height * 50) / math.log1p(50)
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
        "pca": (tr("the path's main direction"), tr("its second")),
    }.get(chosen, ("a random direction", "another"))
    box = (float(a[0]), float(b[0]), float(a[-1]), float(b[-1]))
    center = [view.facts.get("center_a", 0.0), view.facts.get("center_b", 0.0)]
    plot.show_grid(box, view.arrays["grid"].array().astype(np.float64), names, (a, b))
    steps = view.arrays["path_steps"].array() if "path_steps" in view.arrays else ()
    plot.show_path(view.arrays["path"].array().astype(np.float64) + center, steps)
    facts = view.facts
    plot.show_gradient_step((facts["step_a"], facts["step_b"]) if "step_a" in facts else None)


def _clear(plot: LossSurface) -> None:
    plot.show_gradient_step(None)
    plot.show_grid((0.0, 0.0, 1.0, 1.0), np.zeros((0, 0)), ("", ""))
    plot.set_caption("")


def _begin(plot: LossSurface, begun: RunStarted) -> None:
    plot.offer_directions(begun.parameters)
    plot.set_caption(size_note(begun, MAX_SURFACE_PARAMETERS))


ENTRY = TrainingView(
    tr("Loss surface"),
    "model",
    30,
    LossSurface,
    ("surface",),
    wishes=lambda plot, _run: (ViewRequest("surface", EVERY_MS, plot.options()),),
    show=_show,
    clear=_clear,
    begin=_begin,
)
