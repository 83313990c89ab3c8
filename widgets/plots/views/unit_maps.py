"""Plot of a network: a small output map per unit, layer by layer, and the weights in between."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import compress

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QEvent, QPointF, QRectF, Qt, Signal
from PySide6.QtGui import QFontMetricsF, QImage, QPainter, QPainterPath, QPen, QWheelEvent
from PySide6.QtWidgets import QWidget

from gradscribe.playback.text import formatting
from gradscribe.playback.translation import ngettext, tr
from gradscribe.widgets.base.motion import is_reduced
from gradscribe.widgets.base.theme import Theme
from gradscribe.widgets.graph.paint import heat
from gradscribe.widgets.plots.drawing.plane_table import csv_lines
from gradscribe.widgets.plots.drawing.points import (
    GROUND_STRENGTH,
    NO_POINTS,
    Box,
    PlanePoints,
    PointLayer,
)
from gradscribe.widgets.plots.drawing.scroll_bar import CanvasScrollBar
from gradscribe.widgets.plots.drawing.shading import AROUND_ZERO, shading_of
from gradscribe.widgets.plots.drawing.units import biases, filters, weight_lines
from gradscribe.widgets.plots.drawing.units.biases import BiasSquare
from gradscribe.widgets.plots.drawing.units.unit_curve import draw_unit_curve
from gradscribe.widgets.plots.drawing.units.unit_layout import (
    HEAD,
    column_boxes,
    grid_boxes,
    output_boxes,
)
from gradscribe.widgets.plots.drawing.units.weight_entry import WeightEntry
from gradscribe.widgets.plots.drawing.units.weight_lines import LayerWeights, WeightLine
from gradscribe.widgets.plots.drawing.upsampling import upsample
from gradscribe.widgets.plots.plot import EDGE, Plot, draw_placeholder
from gradscribe.widgets.plots.views.curve_plot import draw_bubble

ENLARGED_PX = 150.0
"""Pixels of the map under the mouse."""
OFF_OPACITY = 0.3
"""Opacity of an input that the model is not given."""
ABOUT = tr("output of each unit · lines are weights, dashed if negative · squares are biases")
ABOUT_IMAGES = tr(
    "output of each filter for the image chosen at the left · click another to choose it"
)
NO_UNITS = tr("Units are shown for models on one or two features, or on images")
WHEEL = 40.0
"""Pixels that a notch of the wheel scrolls by, if not all units fit."""
FLOW_PX = 2.0
"""Pixels that the dashes of the wires move with each update while training."""
FINER = 5
"""Factor by which a large map is refined for painting."""


@dataclass(frozen=True)
class LayerMaps:
    """The output maps of a layer: (units, H, W), the first row of a map at the bottom.

    Over a single input a map is a curve: (units, W). Inputs have ``names`` and are on or off.
    """

    name: str
    maps: NDArray[np.float32]
    names: tuple[str, ...] = ()
    on: tuple[bool, ...] = ()
    wires: LayerWeights | None = None
    domain: Box | None = None
    """The plane (left, bottom, right, top) of its maps."""
    crisp: bool = False
    """True if its maps are images, whose pixels are not to be smoothed."""
    called: tuple[str, ...] = ()
    """Meanings of its units, such as classes."""
    filters: NDArray[np.float32] | None = None
    """Weights of filters: (units, inputs, rows, columns), the first row at the top."""

    def title(self, unit: int) -> str:
        """Return the title of a unit."""
        if unit < len(self.names):
            return self.names[unit]
        if unit < len(self.called):
            return f"{self.called[unit]}  {formatting.number(float(self.maps[unit].mean()), 3)}"
        return f"{self.name}, {'unit' if self.filters is None else 'filter'} {unit}"

    def words(self, unit: int) -> list[str]:
        """Return the title of a unit, and its bias, if it has one."""
        has_bias = self.wires is not None and unit < len(self.wires.bias)
        bias = float(self.wires.bias[unit]) if self.wires is not None and has_bias else 0.0
        return [
            self.title(unit),
            *([tr("bias {number}", number=formatting.number(bias))] if has_bias else []),
        ]


class UnitMaps(Plot):
    """A column of maps per layer, in forward order.

    If each layer fits into one column, lines between the columns are weights. A single output is
    large then, with the data on it, and is replaced by the unit under the mouse.
    """

    switched = Signal(str)
    """Carries the name of an input that was clicked."""
    weighed = Signal(str, int, float)
    """(parameter, flat index, number) of an edited weight."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(tr("Network"), ABOUT, parent)
        self.sample = 0
        """Index of the image that was clicked, to show the maps of."""
        self._layers: tuple[LayerMaps, ...] = ()
        self._placeholder = tr("Nothing yet")
        self._images: list[list[QImage]] = []
        self._boxes: list[list[QRectF]] = []
        self._wires: list[WeightLine] = []
        self._biases: list[BiasSquare] = []
        self._points, self._shading = NO_POINTS, AROUND_ZERO
        self._large, self._small = PointLayer(), PointLayer()
        self._output: QRectF | None = None
        """The box of a large output, as drawn last."""
        self._flown: float | None = None
        self.scroller = CanvasScrollBar(self, WHEEL)
        self.entry = WeightEntry(self.canvas)
        self.entry.told.connect(self.weighed)

    def show_layers(self, layers: Sequence[LayerMaps], otherwise: str = NO_UNITS) -> None:
        """Show layers, or ``otherwise`` as text; each layer and each input has its own scale."""
        self._layers, self._placeholder = tuple(layers), otherwise
        self.set_caption(ABOUT_IMAGES if layers and layers[0].crisp else ABOUT)
        self._flown = None if self._flown is None else self._flown + FLOW_PX
        self._paint_images()
        self.refresh()

    def show_points(self, points: PlanePoints) -> None:
        """Show data points on the output and on the map under the mouse."""
        if points is not self._points:
            self._points = points
            if points.targets is not None:
                self._shading = shading_of(points.targets)
            self.refresh()

    def set_animated(self, flows: bool) -> None:
        """Animate the wires with each update, as a sign of training, if things may move."""
        flows = flows and not is_reduced()
        if flows != (self._flown is not None):
            self._flown = 0.0 if flows else None
            self.refresh()

    def set_theme(self, theme: Theme) -> None:
        """Use the colours of ``theme`` for the maps too."""
        super().set_theme(theme)
        self._paint_images()

    def _paint_images(self) -> None:
        dark = self.theme.dark
        self._images = []
        for layer in self._layers:
            grid = layer.maps.astype(np.float64)
            scale = None if layer.names else heat.scale_of(grid)
            flat = [part[::-1] if part.ndim == 2 else part[None] for part in grid]
            self._images.append([heat.image(part, dark, scale) for part in flat])

    def table(self) -> Iterator[str]:
        """Yield a row per weight and bias between layers that are shown."""
        yield csv_lines([("parameter", "unit", "input", "number")])
        for wires in (layer.wires for layer in self._layers if layer.wires is not None):
            for unit, row in enumerate(wires.weights):
                weights = enumerate(map(str, row))
                yield csv_lines((wires.name, str(unit), str(at), n) for at, n in weights)
            biases = enumerate(map(str, wires.bias))
            yield csv_lines((wires.bias_name, str(unit), "", n) for unit, n in biases)

    def sentences(self) -> Sequence[str]:
        """Return each layer with the number of its units and the range of its outputs."""
        if not self._layers:
            return [self._placeholder]
        return [self.caption.said(), *map(_layer_sentence, self._layers)]

    def copy_from(self, other: "UnitMaps") -> None:
        """Show what another one shows."""
        self.sample = other.sample
        self.show_layers(other._layers, other._placeholder)
        self.show_points(other._points)

    def draw(self, painter: QPainter, area: QRectF) -> None:
        """Draw the layers side by side, then the unit or weight under the mouse."""
        self._boxes, self._wires, self._biases, self._output = [], [], [], None
        if not self._layers:
            draw_placeholder(painter, area, self.theme, self._placeholder)
            return
        painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
        inner = area.adjusted(EDGE, 2, -EDGE, -8)
        painter.setFont(self.theme.font(11, 500))
        columns = self._columns(inner.adjusted(self._room_for_names(painter), 0, 0, 0))
        self._boxes = columns or self._scrolled([len(images) for images in self._images], inner)
        painter.setClipRect(area.adjusted(0, 0, 0, -2))
        if columns:
            self._draw_wires(painter)
        small = slice(None, -1 if self._output is not None else None)
        known = (self._layers[small], self._images[small], self._boxes[small])
        for layer, images, boxes in zip(*known, strict=True):
            self._draw_name(painter, layer.name, boxes, inner)
            for unit, (image, box) in enumerate(zip(images, boxes, strict=True)):
                if not area.intersects(box):
                    continue
                painter.setOpacity(1.0 if unit >= len(layer.on) or layer.on[unit] else OFF_OPACITY)
                smooth = QPainter.RenderHint.SmoothPixmapTransform
                painter.setRenderHint(smooth, not layer.crisp)
                self._draw_map(painter, box, image, layer.maps[unit])
                if unit < len(layer.called):
                    filters.draw_label(painter, box, image, layer.called[unit], self.theme)
                if columns and unit < len(layer.names):
                    self._draw_input(painter, layer.names[unit], box)
                painter.setOpacity(1.0)
        biases.draw_biases(painter, self._biases, self.theme)
        if self._output is not None:
            self._draw_output(painter, self._output)
        painter.setClipping(False)
        self._draw_enlarged(painter, area)

    def _columns(self, inner: QRectF) -> list[list[QRectF]]:
        """Return the boxes of maps with each layer in one column, and a single output large."""
        counts = [len(images) for images in self._images]
        if self._layers[0].crisp:
            return []  # Images would get too small in one column.
        if self._layers[-1].maps.ndim == 3 and (large := output_boxes(counts, inner)):
            self._output = large[-1][0]
            return large
        return column_boxes(counts, inner)

    def _draw_output(self, painter: QPainter, box: QRectF) -> None:
        """Draw the refined map of the output, or of the unit under the mouse, with the data."""
        column, unit = (self._under() or (-1, 0))[:2]
        layer = self._layers[column]
        numbers = layer.maps[unit]
        scale = heat.scale_of((numbers if layer.names else layer.maps).astype(np.float64))
        grid = upsample(numbers.astype(np.float64), FINER)
        image = heat.image(grid[::-1], self.theme.dark, scale / GROUND_STRENGTH)
        self._draw_map(painter, box, image, numbers)
        self._draw_points(painter, box, self._large, 1.0)
        words = ", ".join(layer.words(unit)) if column >= 0 else layer.name
        painter.setFont(self.theme.font(11, 500))
        metrics = QFontMetricsF(painter.font())
        painter.setPen(self.theme.ink2)
        short = metrics.elidedText(words, Qt.TextElideMode.ElideLeft, box.width())
        painter.drawText(QPointF(box.left(), box.top() - HEAD + metrics.ascent()), short)

    def _draw_points(self, painter: QPainter, box: QRectF, layer: PointLayer, size: float) -> None:
        domain = self._layers[0].domain
        if domain is not None and len(self._points):
            ratio = self.devicePixelRatioF()
            given = (self._points, domain, box, self._shading, self.theme, ratio)
            painter.drawPixmap(box.topLeft(), layer.pixmap(*given, size=size))

    def _room_for_names(self, painter: QPainter) -> float:
        """Return the width of the names to the left of the inputs."""
        metrics = QFontMetricsF(painter.font())
        return max((metrics.horizontalAdvance(n) + 8 for n in self._layers[0].names), default=0.0)

    def _draw_input(self, painter: QPainter, name: str, box: QRectF) -> None:
        metrics = QFontMetricsF(painter.font())
        left = box.left() - metrics.horizontalAdvance(name) - 6
        painter.setPen(self.theme.ink)
        down = box.center().y() + (metrics.ascent() - metrics.descent()) / 2
        painter.drawText(QPointF(left, down), name)

    def _scrolled(self, counts: Sequence[int], inner: QRectF) -> list[list[QRectF]]:
        boxes, high = grid_boxes(counts, inner)
        top = self.scroller.top(high, inner)
        return [[box.translated(0, -top) for box in column] for column in boxes]

    def _draw_name(
        self, painter: QPainter, name: str, boxes: Sequence[QRectF], inner: QRectF
    ) -> None:
        if not boxes:
            return
        metrics = QFontMetricsF(painter.font())
        wide = inner.width() / len(self._layers) - 8
        shown = metrics.elidedText(name, Qt.TextElideMode.ElideRight, wide)
        left = min(boxes[0].left(), inner.right() - metrics.horizontalAdvance(shown))
        painter.setPen(self.theme.ink2)
        painter.drawText(QPointF(left, boxes[0].top() - HEAD + metrics.ascent()), shown)

    def _draw_wires(self, painter: QPainter) -> None:
        given = [(n, layer.wires) for n, layer in enumerate(self._layers) if n and layer.wires]
        if (
            sum(weight_lines.count_lines(n, linear, self._boxes) for n, linear in given)
            > weight_lines.MOST
        ):
            return
        for n, linear in given:
            self._wires += weight_lines.weight_lines(n, linear, self._boxes)
            self._biases += biases.biases_of(n, linear, self._boxes)
        lit, found, wire = None, self._under(), self._wire_under()
        if found is not None:
            column, unit, _ = found
            lit = [w for w in self._wires if (w.column, w.unit) == (column, unit)]
            lit += [w for w in self._wires if (w.column - 1, w.source) == (column, unit)]
        elif wire is not None:
            lit = [wire]
        weight_lines.draw_lines(painter, self._wires, self.theme, lit, self._flown)

    def _draw_map(
        self, painter: QPainter, box: QRectF, image: QImage, numbers: NDArray[np.float32]
    ) -> None:
        if numbers.ndim == 1:
            draw_unit_curve(painter, box, numbers, self.theme)
            return
        clip = QPainterPath()
        clip.addRoundedRect(box, 5, 5)
        painter.save()
        painter.setClipPath(clip, Qt.ClipOperation.IntersectClip)
        painter.drawImage(box, image)
        painter.restore()
        painter.setPen(QPen(self.theme.line, self.theme.stroke(1)))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawRoundedRect(box, 5, 5)

    def _draw_enlarged(self, painter: QPainter, area: QRectF) -> None:
        found = self._under()
        if found is None:
            self._draw_weight(painter, area)
        if found is None or self._output is not None:
            return
        column, unit, box = found
        layer = self._layers[column]
        words, kernels = layer.words(unit), filters.filter_weights(layer.filters, unit)
        painter.setFont(self.theme.font(12, 500))
        metrics = QFontMetricsF(painter.font())
        most = min(ENLARGED_PX * self.theme.scale, area.width() - 20)
        tiles = filters.filter_height(kernels, most)
        below = len(words) * metrics.height() + 8 + tiles
        side = min(ENLARGED_PX * self.theme.scale, area.height() - below - 10, area.width() - 20)
        left = box.right() + 10
        if left + side + 8 > area.right():
            left = max(area.left() + 4, box.left() - side - 18)
        top = min(max(area.top() + 4, box.center().y() - side / 2), area.bottom() - side - below)
        card = QRectF(left, top, side + 8, side + below)
        painter.setPen(QPen(self.theme.line_strong, self.theme.stroke(1)))
        painter.setBrush(self.theme.panel)
        painter.drawRoundedRect(card, 8, 8)
        large = QRectF(left + 4, top + 4, side, side)
        if layer.maps[unit].ndim == 1:
            draw_unit_curve(painter, large, layer.maps[unit], self.theme)
        else:
            painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform, not layer.crisp)
            painter.drawImage(large, self._images[column][unit])
            self._draw_points(painter, large, self._small, 0.75)
        painter.setPen(self.theme.ink)
        for line, word in enumerate(words):
            row = QRectF(left + 8, top + side + 6, side - 8, metrics.height())
            short = metrics.elidedText(word, Qt.TextElideMode.ElideLeft, side - 8)
            row.translate(0, line * metrics.height())
            painter.drawText(row, Qt.AlignmentFlag.AlignVCenter, short)
        if tiles:
            place = QRectF(left + 4, card.bottom() - tiles, side, tiles)
            filters.draw_filter(painter, place, kernels, self.theme)

    def _draw_weight(self, painter: QPainter, area: QRectF) -> None:
        hit = self._bias_under() or self._wire_under()
        if hit is None or self.mouse is None or self.entry.isVisible():
            return
        linear = self._layers[hit.column].wires
        assert linear is not None
        if isinstance(hit, WeightLine):
            name, kind, number = f"{linear.name}[{hit.unit}, {hit.at}]", "weight", hit.weight
            grad = None if linear.grads is None else linear.grads[hit.unit, hit.at]
        else:
            name, kind, number = f"{linear.bias_name}[{hit.unit}]", "bias", hit.number
            grad = None if linear.bias_grads is None else linear.bias_grads[hit.unit]
        words = [name, f"{kind}  {formatting.number(number)}"]
        colors = [self.theme.ink2, heat.color(-1 if number < 0 else 1, 1, self.theme.dark)]
        if grad is not None:
            words.append(tr("gradient  {number}", number=formatting.number(float(grad))))
            colors.append(self.theme.backward)
        draw_bubble(painter, area, self.mouse, words, colors, self.theme)

    def _under(self) -> tuple[int, int, QRectF] | None:
        if self.mouse is None or self._bias_under() is not None:
            return None
        for column, boxes in enumerate(self._boxes):
            for unit, box in enumerate(boxes):
                if box.contains(self.mouse):
                    return column, unit, box
        return None

    def _bias_under(self) -> BiasSquare | None:
        return biases.bias_at(self._biases, self.mouse) if self.mouse is not None else None

    def _wire_under(self) -> WeightLine | None:
        return weight_lines.line_at(self._wires, self.mouse) if self.mouse is not None else None

    def handle(self, happened: QEvent) -> bool:
        """Enlarge the unit under the mouse; a click toggles an input or edits a weight."""
        if isinstance(happened, QWheelEvent):
            return self.scroller.turn(happened)
        if self.follow_mouse(happened) and happened.type() == QEvent.Type.MouseButtonPress:
            self._click(self._under())
        return False

    def _click(self, found: tuple[int, int, QRectF] | None) -> None:
        self.entry.hide()
        if found is not None:
            column, unit, _ = found
            if unit < len(self._layers[column].on) and self._layers[column].crisp:
                self.sample = unit
                self.wished.emit()
            elif unit < len(self._layers[column].on):
                self.switched.emit(self._layers[column].names[unit])
            return
        bias, wire = self._bias_under(), self._wire_under()
        hit = bias or wire
        layer = self._layers[hit.column].wires if hit is not None else None
        if layer is None or self.mouse is None:
            return
        if bias is not None:
            self.entry.open(layer.bias_name, bias.unit, bias.number, self.mouse)
        elif wire is not None:
            place = wire.unit * layer.weights.shape[1] + wire.at
            self.entry.open(layer.name, place, wire.weight, self.mouse)


def _layer_sentence(layer: LayerMaps) -> str:
    finite = layer.maps[np.isfinite(layer.maps)]
    units = ngettext("{count:,} unit", "{count:,} units", len(layer.maps))
    words = [layer.name, units]
    if layer.on:
        words.append(tr("on: {names}", names=", ".join(compress(layer.names, layer.on))))
    elif finite.size:
        low, high = (formatting.number(float(n), 3) for n in (finite.min(), finite.max()))
        words.append(tr("outputs from {low} to {high}", low=low, high=high))
    return ", ".join(words)
