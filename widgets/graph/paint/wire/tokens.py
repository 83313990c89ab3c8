"""Tokens on wires: discs for values, chevrons for gradients; cached as pixmaps."""

import math
from functools import lru_cache

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QPaintEngine, QPainter, QPen, QPixmap, QPolygonF

from gradscribe.widgets.base.theme import Theme, faded
from gradscribe.widgets.graph.paint.wire.wires import Polyline

HALO = 11.0
DISC = 5.2
_SIDE = 2 * HALO + 2
_TURNS = 32
"""Number of directions in which chevrons are cached."""


def ease(t: float) -> float:
    """Return an ease-in-out-cubic of t in 0 to 1."""
    t = max(0.0, min(1.0, t))
    return 4 * t**3 if t < 0.5 else 1 - (-2 * t + 2) ** 3 / 2


def ease_out(t: float) -> float:
    """Return an ease-out-cubic of t in 0 to 1."""
    return 1 - (1 - max(0.0, min(1.0, t))) ** 3


def ease_out_back(t: float, over: float = 1.4) -> float:
    """Return an ease that shoots a little past 1 and comes back."""
    t = max(0.0, min(1.0, t)) - 1
    return 1 + (over + 1) * t**3 + over * t**2


def draw(
    painter: QPainter,
    track: Polyline,
    share: float,
    backward: bool,
    theme: Theme,
    opacity: float = 1.0,
) -> None:
    """Draw a token at a share of its path: forward from a wire's start, backward from its end.

    The painter is in scene units; the token keeps its size on the screen up to 100 % and grows
    with the picture beyond.
    """
    x, y, angle = track.at(1 - share if backward else share)
    # Half a turn is added: a gradient runs against the wire's own direction.
    turn = round((angle + math.pi) / (2 * math.pi) * _TURNS) % _TURNS if backward else -1
    zoom = max(0.7, painter.transform().m11())
    size = _SIDE * zoom / painter.transform().m11()
    box = QRectF(x - size / 2, y - size / 2, size, size)
    engine, device = painter.paintEngine(), painter.device()
    painter.save()
    painter.setOpacity(painter.opacity() * opacity)
    if device is None or engine is None or engine.type() == QPaintEngine.Type.SVG:
        painter.translate(box.center())
        painter.scale(size / _SIDE, size / _SIDE)
        _paint(painter, theme, turn)
    else:
        pixmap = _token(theme, turn, round(zoom * device.devicePixelRatioF(), 2))
        painter.drawPixmap(box, pixmap, QRectF(pixmap.rect()))
    painter.restore()


@lru_cache(maxsize=256)
def _token(theme: Theme, turn: int, scale: float) -> QPixmap:
    """Return a token's pixmap; ``turn`` is its direction, or -1 for the round one."""
    pixmap = QPixmap(math.ceil(_SIDE * scale), math.ceil(_SIDE * scale))
    pixmap.fill(Qt.GlobalColor.transparent)
    with QPainter(pixmap) as painter:
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.scale(pixmap.width() / _SIDE, pixmap.height() / _SIDE)
        painter.translate(_SIDE / 2, _SIDE / 2)
        _paint(painter, theme, turn)
    return pixmap


def _paint(painter: QPainter, theme: Theme, turn: int) -> None:
    """Paint a token around the origin."""
    color = theme.forward if turn < 0 else theme.backward
    painter.setPen(Qt.PenStyle.NoPen)
    for radius, opacity in ((HALO, 0.14), (HALO * 0.78, 0.2)):
        painter.setBrush(faded(color, opacity))
        painter.drawEllipse(QPointF(0, 0), radius, radius)
    painter.setBrush(color)
    painter.setPen(QPen(theme.surface, 1.5))
    if turn < 0:
        painter.drawEllipse(QPointF(0, 0), DISC, DISC)
    else:
        painter.rotate(turn / _TURNS * 360)
        painter.drawPolygon(_arrow())


def _arrow() -> QPolygonF:
    """Return a chevron that points to the right."""
    return QPolygonF([QPointF(8.4, 0), QPointF(-5.8, -6.2), QPointF(-2.8, 0), QPointF(-5.8, 6.2)])
