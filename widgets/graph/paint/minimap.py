"""The minimap: the whole graph in a corner with the part in view; hidden when all is in view."""

from collections.abc import Callable

from PySide6.QtCore import QPointF, QRectF, QSizeF, Qt
from PySide6.QtGui import QColor, QPainter, QPen, QPixmap

from gradscribe.playback.graph.picture import CardKind
from gradscribe.playback.graph.reading import LEAVES
from gradscribe.widgets.base.theme import Theme, faded
from gradscribe.widgets.graph.camera import Camera
from gradscribe.widgets.graph.paint import shapes
from gradscribe.widgets.graph.paint.card import tints
from gradscribe.widgets.graph.paint.drawing import GraphDrawing
from gradscribe.widgets.graph.paint.far.dots import DotPainter
from gradscribe.widgets.graph.paint.stage import Stage

MAX_SIZE = QSizeF(132, 168)
MAX_WIDTH_SHARE = 0.25
"""Largest share of a small widget's width that it takes."""
NARROW_WIDTH, TOOLS_HEIGHT = 560.0, 46.0
"""Width below which it stands above the row of buttons, and the height of that row."""
MAX_HEIGHT_SHARE = 0.5
"""Largest share of the widget's height; a taller map is left out."""
MAX_TINTED = 1000
"""Largest number of cards with which the map's colours follow each step."""
MAX_ROUNDED = 300
"""Number of cards above which they are too small for visible round corners."""
_MARGIN = 14.0
_PAD = 8.0


class Minimap:
    """A small copy of a drawing's cards, cached as a pixmap until `forget`."""

    def __init__(self) -> None:
        self._pixmap = QPixmap()
        self._key: tuple[object, ...] = ()
        self.awaited = False
        """True if it was left out last time, and is to be painted in a later turn."""

    def forget(self) -> None:
        """Invalidate the pixmap: something changed."""
        self._key = ()

    @staticmethod
    def is_needed(bounds: QRectF, camera: Camera, view: QSizeF) -> bool:
        """Return whether some of the graph is out of view, and the map is not too tall."""
        if (
            bounds.isEmpty()
            or Minimap.box(bounds, view).height() > MAX_HEIGHT_SHARE * view.height()
        ):
            return False
        seen = camera.box_to_scene(QRectF(QPointF(), view)).adjusted(-2, -2, 2, 2)
        return not bounds.isEmpty() and not seen.contains(bounds)

    @staticmethod
    def is_clear(stage: Stage, camera: Camera, view: QSizeF) -> bool:
        """Return whether the map may be shown: in a narrow widget it must not cover a card."""
        if view.width() >= NARROW_WIDTH:
            return True
        box = Minimap.box(stage.bounds, view).adjusted(-_PAD, -_PAD, _PAD, _PAD)
        return not stage.cards_in(camera.box_to_scene(box), 0.0)

    @staticmethod
    def box(bounds: QRectF, view: QSizeF) -> QRectF:
        """Return the map's box in the widget."""
        zoom = _zoom(bounds, view)
        width = max(40.0, bounds.width() * zoom + 2 * _PAD)
        height = max(40.0, bounds.height() * zoom + 2 * _PAD)
        foot = _MARGIN if view.width() >= NARROW_WIDTH else TOOLS_HEIGHT
        return QRectF(_MARGIN, view.height() - foot - height, width, height)

    @staticmethod
    def to_scene(bounds: QRectF, view: QSizeF, point: QPointF) -> QPointF:
        """Return the scene point at a point of the map."""
        away = (point - Minimap.box(bounds, view).center()) / _zoom(bounds, view)
        return bounds.center() + away

    def paint(
        self,
        painter: QPainter,
        drawing: GraphDrawing,
        camera: Camera,
        view: QSizeF,
        hurried: bool = False,
    ) -> None:
        """Paint the map into the widget's lower left corner.

        ``hurried``: postpone a map of many cards that is not painted yet; see `awaited`.
        """
        bounds = drawing.stage.bounds
        box = self.box(bounds, view)
        ratio = painter.device().devicePixelRatioF()
        # A mode's colours may change with each step; with many cards that is not noticeable.
        tinted = drawing.coloring is not None and len(drawing.stage.cards) <= MAX_TINTED
        look = id(drawing.look) if tinted else 0
        key = (id(drawing.stage), id(drawing.theme), ratio, box.width(), box.height(), look)
        self.awaited = hurried and key != self._key and len(drawing.stage.cards) > MAX_ROUNDED
        if self.awaited:
            return
        if key != self._key:
            self._key = key
            self._pixmap = self._copy(drawing, box.size(), ratio, view)
        painter.drawPixmap(box.topLeft(), self._pixmap)
        zoom = _zoom(bounds, view)
        seen = camera.box_to_scene(QRectF(QPointF(), view))
        middle = box.center() + (seen.center() - bounds.center()) * zoom
        size = seen.size() * zoom
        window = QRectF(middle - QPointF(size.width() / 2, size.height() / 2), size)
        window = window.intersected(box.adjusted(2, 2, -2, -2))
        painter.setPen(QPen(drawing.theme.selection, drawing.theme.stroke(1.6)))
        painter.setBrush(faded(drawing.theme.selection, 0.10))
        painter.drawRoundedRect(window, 3, 3)

    @staticmethod
    def _copy(drawing: GraphDrawing, size: QSizeF, ratio: float, view: QSizeF) -> QPixmap:
        theme, stage = drawing.theme, drawing.stage
        pixmap = QPixmap((size * ratio).toSize())
        pixmap.setDevicePixelRatio(ratio)
        pixmap.fill(Qt.GlobalColor.transparent)
        with QPainter(pixmap) as painter:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            whole = QRectF(QPointF(), size)
            shapes.fill(painter, whole, 8, faded(theme.panel, 0.94))
            shapes.outline(painter, whole, 8, theme.line, 1.0)
            zoom = _zoom(stage.bounds, view)
            painter.translate(whole.center())
            painter.scale(zoom, zoom)
            painter.translate(-stage.bounds.center())
            for key in stage.frame_order:
                odd = stage.depths[key] % 2
                ground = theme.frame_odd if odd else theme.frame_even
                shapes.fill(painter, stage.frame_boxes[key], 14, ground)
                shapes.outline(painter, stage.frame_boxes[key], 14, theme.frame_line, 0.8 / zoom)
            if len(stage.boxes) > MAX_ROUNDED:
                specks = DotPainter(stage, _colors(drawing))
                specks.paint_cards(painter, [stage.bounds], 1.0 / (zoom * ratio))
                return pixmap
            for key, box in stage.boxes.items():
                shapes.fill(painter, box, 10, _color(drawing, key))
        return pixmap


def _colors(drawing: GraphDrawing) -> Callable[[str], QColor]:
    """Return a function from card keys to colours; without a mode, kinds are computed once."""
    if drawing.coloring is not None:
        return lambda key: _color(drawing, key)
    cards, theme = drawing.stage.cards, drawing.theme
    known = {kind: _kind_color(theme, kind) for kind in {card.kind for card in cards.values()}}
    return lambda key: known[cards[key].kind]


def _color(drawing: GraphDrawing, key: str) -> QColor:
    """Return the colour of a card: by the colour mode if there is one, else by kind."""
    theme = drawing.theme
    if drawing.coloring is not None:
        tint = drawing.coloring.tint(drawing.stage.cards[key], drawing.look.cards.get(key))
        return theme.line if tint is None else tints.color(tint, theme.dark)
    return _kind_color(theme, drawing.stage.cards[key].kind)


def _kind_color(theme: Theme, kind: CardKind) -> QColor:
    if kind in LEAVES:
        return theme.color(kind)
    return theme.ink if kind == "loss" else theme.line_strong


def _zoom(bounds: QRectF, view: QSizeF) -> float:
    width = min(MAX_SIZE.width(), MAX_WIDTH_SHARE * view.width())
    across = max(1.0, width - 2 * _PAD) / max(1.0, bounds.width())
    down = (MAX_SIZE.height() - 2 * _PAD) / max(1.0, bounds.height())
    return min(across, down)
