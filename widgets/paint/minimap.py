"""The whole picture in a corner, with the part one sees; there only when not all is seen."""

from collections.abc import Callable

from PySide6.QtCore import QPointF, QRectF, QSizeF, Qt
from PySide6.QtGui import QColor, QPainter, QPen, QPixmap

from playback.picture import CardKind
from widgets.camera import Camera
from widgets.paint import shapes, tints
from widgets.paint.drawing import Drawing
from widgets.paint.reading import LEAVES
from widgets.paint.specks import Specks
from widgets.paint.stage import Stage
from widgets.theme import Theme, faded

LARGEST = QSizeF(132, 168)
SHARE = 0.25
"""Of a small widget it takes no more than so much of the width."""
NARROW, FOOT = 560.0, 46.0
"""In a narrow widget it stands above the row of buttons, which is so high."""
MOST_HEIGHT = 0.5
"""Part of the widget's height; a map that would take more is left out."""
TINTED = 1000
"""In a picture of at most so many cards the map's colours follow each step."""
ROUNDED = 300
"""The cards of a bigger picture are too small for round corners to be seen."""
_MARGIN = 14.0
_PAD = 8.0


class Minimap:
    """A small copy of a drawing's cards, kept as a pixmap until `forget`."""

    def __init__(self) -> None:
        self._pixmap = QPixmap()
        self._key: tuple[object, ...] = ()
        self.awaited = False
        """Whether it was left out lately, and is to be painted in a turn to come."""

    def forget(self) -> None:
        """Paint anew next time: something changed."""
        self._key = ()

    @staticmethod
    def needed(bounds: QRectF, camera: Camera, view: QSizeF) -> bool:
        """Tell whether some of the picture is out of sight, and there is room for a map."""
        if bounds.isEmpty() or Minimap.box(bounds, view).height() > MOST_HEIGHT * view.height():
            return False
        seen = camera.box_to_scene(QRectF(QPointF(), view)).adjusted(-2, -2, 2, 2)
        return not bounds.isEmpty() and not seen.contains(bounds)

    @staticmethod
    def has_room(stage: Stage, camera: Camera, view: QSizeF) -> bool:
        """Tell whether the map may be there: in a narrow widget it covers no card."""
        if view.width() >= NARROW:
            return True
        box = Minimap.box(stage.bounds, view).adjusted(-_PAD, -_PAD, _PAD, _PAD)
        return not stage.cards_in(camera.box_to_scene(box), 0.0)

    @staticmethod
    def box(bounds: QRectF, view: QSizeF) -> QRectF:
        """Return where the map lies in the widget."""
        zoom = _zoom(bounds, view)
        width = max(40.0, bounds.width() * zoom + 2 * _PAD)
        height = max(40.0, bounds.height() * zoom + 2 * _PAD)
        foot = _MARGIN if view.width() >= NARROW else FOOT
        return QRectF(_MARGIN, view.height() - foot - height, width, height)

    @staticmethod
    def to_scene(bounds: QRectF, view: QSizeF, point: QPointF) -> QPointF:
        """Return the scene point below a point of the map."""
        away = (point - Minimap.box(bounds, view).center()) / _zoom(bounds, view)
        return bounds.center() + away

    def paint(
        self,
        painter: QPainter,
        drawing: Drawing,
        camera: Camera,
        view: QSizeF,
        hurried: bool = False,
    ) -> None:
        """Paint the map into the widget's lower left corner.

        ``hurried``: leave one of many cards out for now, if it was not painted yet; see `awaited`.
        """
        bounds = drawing.stage.bounds
        box = self.box(bounds, view)
        ratio = painter.device().devicePixelRatioF()
        # What a mode tells may change with each step; of many cards nobody would see it.
        tinted = drawing.coloring is not None and len(drawing.stage.cards) <= TINTED
        look = id(drawing.look) if tinted else 0
        key = (id(drawing.stage), id(drawing.theme), ratio, box.width(), box.height(), look)
        self.awaited = hurried and key != self._key and len(drawing.stage.cards) > ROUNDED
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
        painter.setPen(QPen(drawing.theme.selection, 1.6))
        painter.setBrush(faded(drawing.theme.selection, 0.10))
        painter.drawRoundedRect(window, 3, 3)

    @staticmethod
    def _copy(drawing: Drawing, size: QSizeF, ratio: float, view: QSizeF) -> QPixmap:
        theme, stage = drawing.theme, drawing.stage
        pixmap = QPixmap((size * ratio).toSize())
        pixmap.setDevicePixelRatio(ratio)
        pixmap.fill(Qt.GlobalColor.transparent)
        painter = QPainter(pixmap)
        try:
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
            if len(stage.boxes) > ROUNDED:
                specks = Specks(stage, _colors(drawing))
                specks.paint_cards(painter, [stage.bounds], 1.0 / (zoom * ratio))
                return pixmap
            for key, box in stage.boxes.items():
                shapes.fill(painter, box, 10, _color(drawing, key))
        finally:
            painter.end()
        return pixmap


def _colors(drawing: Drawing) -> Callable[[str], QColor]:
    """Return what tells the colour of a card by its key; without a mode each kind is asked once."""
    if drawing.coloring is not None:
        return lambda key: _color(drawing, key)
    cards, theme = drawing.stage.cards, drawing.theme
    known = {kind: _kind_color(theme, kind) for kind in {card.kind for card in cards.values()}}
    return lambda key: known[cards[key].kind]


def _color(drawing: Drawing, key: str) -> QColor:
    """Return the colour of a card: what the colour mode says of it, else what it is."""
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
    width = min(LARGEST.width(), SHARE * view.width())
    across = max(1.0, width - 2 * _PAD) / max(1.0, bounds.width())
    down = (LARGEST.height() - 2 * _PAD) / max(1.0, bounds.height())
    return min(across, down)
