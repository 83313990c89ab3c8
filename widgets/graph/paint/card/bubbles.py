"""Decorations on a card's rim: the gradient bubble, an update's effect, and the memory tag."""

from dataclasses import replace

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter

from gradscribe.playback.graph.marks import SHARED
from gradscribe.playback.graph.reading import CardReading
from gradscribe.widgets.base.theme import Theme, faded
from gradscribe.widgets.graph.paint import shapes
from gradscribe.widgets.graph.paint.card import tints

SUM = "\N{GREEK CAPITAL LETTER SIGMA}"
"""Prefix of a sum that is too long to write out."""
DELTA = "\N{GREEK CAPITAL LETTER DELTA}"
MOVED = "moved by "
"""Beginning of the text of an update of a tensor; short it is a difference."""
FAR_SCALE = 1.25
"""Scale of bubbles and labels at a far zoom."""
OVERHANG = 12.0
"""Distance that a bubble reaches to the right of its card."""
GAP = 6.0
"""Free space between two bubbles, or a bubble and a card."""
_OVERLAP, _FAR_OVERLAP = 7.0, 2.5
"""Distance that a bubble reaches into its card: not as far as the last line of text.

At a far zoom that line is larger.
"""
_BELOW = 7.0
"""Distance below its card of a bubble that avoids a tag."""
_RISE, _LOW_RISE = 13.0, 5.0
_DASHES = (4.0, 3.0)
_ORDER_OVERLAP = 6.0
"""Distance that order and visits reach into their card: not as far as the first line of text."""
_SIGN_WIDTH = 26.0
"""Width of the error sign, with what it sticks out."""


def bubble_band(box: QRectF) -> QRectF:
    """Return the horizontal strip of a card's bubble, as wide as the card."""
    return QRectF(box.left(), box.bottom() - _OVERLAP, box.width(), _OVERLAP + _BELOW + 22)


def bubble_text(reading: CardReading) -> str:
    """Return the text of a card's bubble."""
    return reading.short_gradient or reading.gradient


def fit_bubble(
    box: QRectF, reading: CardReading, room: tuple[float, float], scale: float
) -> CardReading:
    """Return a reading whose bubble sticks out of its card at most by ``room`` (left, right).

    Where the text is too long the bubble moves right as far as it may, else its text is shortened.
    """
    left, right = room[0], max(0.0, room[1] - OVERHANG)
    text, over = "", 0.0
    for text in _forms(reading.gradient):
        over = max(0.0, _width(text, scale) - OVERHANG - box.width() - left)
        if over <= right:
            break
    text = text if text != reading.gradient else ""
    return (
        replace(reading, short_gradient=text, shift=min(over, right)) if text or over else reading
    )


def _forms(text: str) -> tuple[str, ...]:
    """Return the possible texts of a bubble, the most informative first."""
    terms, equals, total = text.partition(" = ")
    if equals:
        return text, f"{SUM} {total}"
    if terms.endswith(" + …"):
        return text, f"{SUM} …"
    return (text, text.partition(" · ")[0]) if " · " in text else (text,)


def _width(text: str, scale: float) -> float:
    return (shapes.text_width(text, 13, 600) + 31) * scale


def bubble_box(
    box: QRectF, text: str, scale: float = 1.0, tag: str = "", shift: float = 0.0
) -> QRectF:
    """Return the box of a card's bubble: over its lower right corner.

    It is lower where it would cover a tag, and ``shift`` farther to the right.
    """
    width, height = _width(text, scale), 22 * scale
    left = box.right() + OVERHANG + shift - width
    crowded = tag and tag_box(box, tag).right() + 2 > left
    overlap = _OVERLAP if scale == 1 else _FAR_OVERLAP
    return QRectF(left, box.bottom() + (_BELOW if crowded else -overlap), width, height)


def update_box(box: QRectF, text: str, scale: float = 1.0) -> QRectF:
    """Return the box of an update's effect: over the upper right corner.

    At a far zoom it grows little and rises less: a module's name, larger there, stands above.
    """
    scale = _damped(scale)
    width, height = (shapes.text_width(text, 12, 600) + 29) * scale, 20 * scale
    rise = _RISE if scale == 1 else _LOW_RISE
    return QRectF(box.right() + 12 - width, box.top() - rise, width, height)


def short_update(text: str) -> str:
    """Return an update's text without words or the number before: ``Δ 0.0014``, ``→ 0.8``."""
    if text.startswith(MOVED):
        return f"{DELTA} {text.removeprefix(MOVED)}"
    before, arrow, after = text.partition(" → ")
    return f"→ {after}" if before and arrow else text


def order_box(box: QRectF, reading: CardReading, scale: float = 1.0) -> QRectF:
    """Return the box of a card's order and visits: over its upper right corner.

    It makes way for the error sign, and for an update.
    """
    scale = _damped(scale)
    width, height = (shapes.text_width(reading.order, 11, 600) + 14) * scale, 17 * scale
    right = box.right() + OVERHANG - (_SIGN_WIDTH if reading.failed else 0.0)
    if reading.update:
        right = min(right, update_box(box, reading.update, scale).left() - 4)
    return QRectF(right - width, box.top() + _ORDER_OVERLAP - height, width, height)


def _damped(scale: float) -> float:
    return 1 + (scale - 1) * 0.4


def tag_box(box: QRectF, text: str) -> QRectF:
    """Return the box of a card's tag: over its lower left corner."""
    width = shapes.text_width(text.removeprefix(SHARED), 11, 600) + 14
    return QRectF(box.left() + 10, box.bottom() - 8.5, width + _sign(text), 17)


def _sign(text: str) -> float:
    return 12.0 if text.startswith(SHARED) else 0.0


def extent(box: QRectF, reading: CardReading, scale: float = FAR_SCALE) -> QRectF:
    """Return the area that bubble, update, tag and badge of a card may touch."""
    touched = QRectF(box)
    if reading.gradient:
        bubble = bubble_box(box, bubble_text(reading), scale, reading.tag, reading.shift)
        touched = touched.united(bubble.adjusted(-9, -9, 9, 9))
    if reading.update:
        touched = touched.united(update_box(box, reading.update, scale).adjusted(-9, -9, 9, 9))
    if reading.order:
        touched = touched.united(order_box(box, reading, scale).adjusted(-2, -2, 2, 2))
    if reading.tag:
        touched = touched.united(tag_box(box, reading.tag).adjusted(-2, -2, 2, 2))
    if reading.tint is not None and tints.has_badge(reading.tint):
        touched = touched.united(tints.badge_box(box, reading.tint.words, scale))
    return touched


def paint(
    painter: QPainter, box: QRectF, reading: CardReading, theme: Theme, scale: float = 1.0
) -> None:
    """Paint the gradient a card received, with an upward triangle: it came against the arrows.

    ``box`` is the card's; the bubble grows by ``scale`` about its own middle's height. A sum that
    is still being accumulated, a gradient that was reset and that of an earlier pass are hollow;
    the rim is dashed for an unfinished sum and for None.
    """
    text = bubble_text(reading)
    whole = bubble_box(box, text, scale, reading.tag, reading.shift)
    halo = theme.backward if reading.active == "backward" else None
    pill = _begin_pill(painter, whole, scale, 11, halo)
    hollow = reading.pending or reading.reset != "" or reading.past
    ink = theme.ink2 if reading.reset == "none" or reading.past else theme.backward
    shapes.fill(painter, pill, 11, theme.surface if hollow else theme.backward_soft)
    if reading.bad_gradient:
        shapes.hatch(painter, shapes.rounded(pill, 11), faded(theme.backward, 0.35), 5)
    dashes = _DASHES if reading.pending or reading.reset == "none" else ()
    shapes.outline(painter, pill, 11, ink, theme.stroke(1.3), dashes)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(ink)
    painter.drawPolygon(shapes.up_triangle(QPointF(pill.left() + 13, pill.center().y()), 4.2))
    inner = pill.adjusted(21, 0, -6, 0)
    shapes.write(painter, inner, text, ink, 13, 600)
    painter.restore()


def paint_update(
    painter: QPainter, box: QRectF, reading: CardReading, theme: Theme, scale: float = 1.0
) -> None:
    """Paint an update's effect on a leaf: its number before and after."""
    whole, scale = update_box(box, reading.update, scale), _damped(scale)
    halo = theme.parameter if reading.active == "update" else None
    pill = _begin_pill(painter, whole, scale, 10, halo)
    shapes.fill(painter, pill, 10, theme.parameter)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(theme.surface)
    painter.drawPolygon(shapes.diamond(QPointF(pill.left() + 12, pill.center().y()), 4.4))
    inner = pill.adjusted(20, 0, -4, 0)
    shapes.write(painter, inner, reading.update, theme.surface, 12, 600)
    painter.restore()


def _begin_pill(
    painter: QPainter, whole: QRectF, scale: float, radius: float, halo: QColor | None
) -> QRectF:
    """Save the painter, scale it to ``whole``, paint a halo, and return the pill to paint."""
    painter.save()
    painter.translate(whole.topLeft())
    painter.scale(scale, scale)
    pill = QRectF(0, 0, whole.width() / scale, whole.height() / scale)
    if halo is not None:
        for grow in (6.0, 3.0):
            ring = pill.adjusted(-grow, -grow, grow, grow)
            shapes.fill(painter, ring, radius + grow, faded(halo, 0.14))
    return pill


def paint_order(
    painter: QPainter, box: QRectF, reading: CardReading, theme: Theme, scale: float = 1.0
) -> None:
    """Write a card's place in the order of its pass, and its visits."""
    ink = theme.ink2 if reading.past else theme.ink
    pill = _begin_pill(painter, order_box(box, reading, scale), _damped(scale), 8.5, None)
    shapes.fill(painter, pill, 8.5, theme.surface)
    shapes.outline(painter, pill, 8.5, theme.backward, 1.0)
    shapes.write(painter, pill, reading.order, ink, 11, 600, shapes.CENTER)
    painter.restore()


def paint_tag(painter: QPainter, box: QRectF, text: str, theme: Theme) -> None:
    """Paint a card's tag; memory that several cards share has a symbol of two sheets."""
    pill = tag_box(box, text)
    shapes.fill(painter, pill, 8.5, theme.surface)
    shapes.outline(painter, pill, 8.5, theme.line_strong, 1.0)
    if text.startswith(SHARED):
        middle = QPointF(pill.left() + 12, pill.center().y())
        painter.setPen(shapes.pen(theme.ink2, 1.2))
        painter.setBrush(theme.surface)
        for shift in (1.6, -1.6):
            sheet = QRectF(middle.x() - 3.2 + shift, middle.y() - 3.2 - shift, 6.4, 6.4)
            painter.drawRoundedRect(sheet, 1.2, 1.2)
    row = pill.adjusted(_sign(text), 0, 0, 0)
    shapes.write(painter, row, text.removeprefix(SHARED), theme.ink2, 11, 600, shapes.CENTER)
