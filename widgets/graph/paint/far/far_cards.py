"""Cards at a far zoom: a body, and if there is space name and number, large enough to read."""

from dataclasses import replace

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter

from gradscribe.playback.graph.picture import Card
from gradscribe.playback.graph.reading import LEAVES, CardReading
from gradscribe.playback.text.formatting import variable
from gradscribe.widgets.base.theme import Theme, faded
from gradscribe.widgets.graph.paint import shapes
from gradscribe.widgets.graph.paint.card import bubbles, cards, failed_card, tints
from gradscribe.widgets.graph.paint.card.cards import CardStyle
from gradscribe.widgets.graph.paint.card.thumbnail import draw_thumbnail, thumbnail_size

SMALLEST_PX = 10.5
"""Smallest type size on the screen."""
SMALLEST_NAME_PX = 9.0
"""Smallest type size on the screen of names without anything else."""
LEAST_LETTERS = 2.5
"""Shortest part of a longer name that is worth writing, in heights of its type."""


def paint(
    painter: QPainter,
    card: Card,
    box: QRectF,
    reading: CardReading,
    style: CardStyle,
    zoom: float,
    named: bool,
) -> None:
    """Paint a card at a ``zoom`` too small for `cards.paint`; its texts only if ``named``."""
    waiting = reading.state == "waiting" and card.kind != "loss"
    theme = cards.unreached_theme(style.theme) if waiting else style.theme
    reading, corner = _with_fitting_update(box, reading, style), cards.radius(card, box)
    fill, border, ink = _colors(card.kind, reading, theme, named)
    if reading.failed:
        border = style.theme.error
    if reading.active:
        shapes.glow(painter, box, corner, cards.active_color(reading, style.theme))
    whole = box
    if card.kind == "module":
        back = QRectF(box.left() + 7, box.top(), box.width() - 14, 30)
        shapes.fill(painter, back, corner, fill)
        shapes.outline(painter, back, corner, border, 1.4)
        box = box.adjusted(0, cards.STACK_HEIGHT, 0, 0)
    dashed = card.kind == "constant" or (card.cut and card.kind not in LEAVES)
    tint = reading.tint
    is_range = tint is not None and tint.least is not None
    ground = tints.blend(tint, box, theme, named) if tint and is_range else fill
    shapes.body(painter, box, corner, ground, border, 1.6, (6.0, 4.0) if dashed else ())
    if named:
        cards.paint_tint_stripe(painter, box, corner, reading, style.theme)
    if reading.bad:
        shapes.hatch(painter, shapes.rounded(box, corner), faded(ink, 0.3), 9)
    if named:
        _inside(painter, card, box, reading, CardStyle(theme, style.layers), ink, zoom)
    else:
        _name(painter, card, box, ink, zoom)
    if reading.failed:
        failed_card.paint_sign(painter, whole, style.theme)
    if named and tint is not None and tints.has_badge(tint) and zoom >= cards.LABEL_ZOOM:
        tints.paint_badge(painter, whole, tint, style.theme, bubbles.FAR_SCALE)
    if named and reading.update and style.layers.values:
        bubbles.paint_update(painter, whole, reading, style.theme, bubbles.FAR_SCALE)
    if named and reading.order and style.layers.order and zoom >= cards.LABEL_ZOOM:
        bubbles.paint_order(painter, whole, reading, style.theme, bubbles.FAR_SCALE)
    if reading.gradient and style.layers.gradients:
        if named and zoom >= cards.LABEL_ZOOM:
            bubbles.paint(painter, whole, far_reading(reading), style.theme, bubbles.FAR_SCALE)
        else:
            _gradient_mark(painter, whole, style.theme)


def _name(painter: QPainter, card: Card, box: QRectF, ink: QColor, zoom: float) -> None:
    """Write a card's name alone, as long as it is legible on the screen."""
    px = SMALLEST_NAME_PX / zoom
    row = box.adjusted(5, 0, -5, 0)
    title = variable(card.title) or card.symbol
    whole = shapes.text_width(title, px, 600)
    if card.kind == "module" and whole > row.width():
        # Of "mlp: Sequential" the module's own name says more than "mlp: S…".
        title = title.partition(": ")[0]
        whole = shapes.text_width(title, px, 600)
    if px * 1.1 <= box.height() and min(whole, LEAST_LETTERS * px) <= row.width():
        shapes.write(painter, row, title, ink, px, 600, shapes.CENTER)


def far_reading(reading: CardReading) -> CardReading:
    """Return the reading for a far zoom: the gradient without its number of shares."""
    texts = (reading.gradient, reading.short_gradient)
    gradient, fitted = (text.partition(" · ")[0] for text in texts)
    return replace(reading, gradient=gradient, short_gradient=fitted)


def _with_fitting_update(box: QRectF, reading: CardReading, style: CardStyle) -> CardReading:
    """Return the reading with a shorter update where the whole one would cover the picture."""
    if not reading.update or reading.grid is None or not style.layers.values:
        return reading
    pill = bubbles.update_box(box, reading.update, bubbles.FAR_SCALE)
    # Widest for a name of no width.
    picture = box.left() + 9 + thumbnail_size(reading, box).width()
    if pill.left() >= picture:
        return reading
    return replace(reading, update=bubbles.short_update(reading.update))


def _px(zoom: float, most: float) -> float:
    return min(most, max(13.0, SMALLEST_PX / zoom))


def _inside(
    painter: QPainter,
    card: Card,
    box: QRectF,
    reading: CardReading,
    style: CardStyle,
    ink: QColor,
    zoom: float,
) -> None:
    """Paint the thumbnail, the name, and a scalar's number below it where two lines fit."""
    px = _px(zoom, 24)
    row = box.adjusted(12, 0, -10, 0)
    seen = style.layers.values and reading.state == "reached"
    if reading.update and style.layers.values:
        # The name stands below the update, where that leaves enough of the card.
        below = bubbles.update_box(box, reading.update, bubbles.FAR_SCALE).bottom()
        row.setTop(min(below, max(row.top(), row.bottom() - 1.1 * px)))
    if card.kind == "module":
        spot = QPointF(box.left() + 20, box.center().y())
        shapes.chevron(painter, spot, 6.5, style.theme.module, down=False)
        _module(painter, card, row.adjusted(24, 0, 0, 0), reading, style, px)
        return
    if seen and reading.grid is not None:
        size = thumbnail_size(reading, box, shapes.text_width(card.title, px, 600))
        middle = box.center().y()
        heat = QRectF(box.left() + 9, middle - size.height() / 2, size.width(), size.height())
        draw_thumbnail(painter, heat, reading.grid, style.theme)
        row.setLeft(heat.right() + 8)
        _titled(painter, card, row, ink, px)
        return
    title = variable(card.title) or card.symbol
    if card.kind in LEAVES and card.scalar:
        _named_number(painter, row, title, reading.number if seen else "", ink, px)
    elif reading.failed and card.is_failed_call and 2 * px * 1.15 <= box.height():
        _upper_title(painter, card, row, ink, px)
        lower = QRectF(row.left(), row.center().y(), row.width(), row.height() / 2)
        shapes.write(painter, lower, card.failed, style.theme.error, px * 0.92, 500)
    elif seen and reading.number and 2 * px * 1.15 <= box.height():
        lower = QRectF(row)
        lower.setTop(box.center().y() - px * 0.05)
        _upper_title(painter, card, row, ink, px)
        shapes.write_whole(painter, lower, reading.number, ink, px, 700)
    else:
        _titled(painter, card, row, ink, px)


def _named_number(
    painter: QPainter, row: QRectF, title: str, number: str, ink: QColor, px: float
) -> None:
    """Write a leaf's name and number; where both do not fit, the name is cut or stands alone."""
    text = f"{title}  {number}".strip()
    if not number or shapes.text_width(text, px, 600) <= row.width():
        shapes.write(painter, row, text, ink, px, 600, shapes.CENTER)
        return
    space = shapes.text_width("  ", px, 600)
    taken = shapes.text_width(number, px, 600)
    least = min(LEAST_LETTERS * px, shapes.text_width(title, px, 600))
    if title and row.width() - taken - space < least:
        shapes.write(painter, row, title, ink, px, 600, shapes.CENTER)
        return
    shapes.write(painter, row.adjusted(0, 0, -taken - space, 0), title, ink, px, 600)
    shapes.write_whole(painter, row, number, ink, px, 600, shapes.RIGHT)


def _module(
    painter: QPainter, card: Card, row: QRectF, reading: CardReading, style: CardStyle, px: float
) -> None:
    """Write a folded module's title and output shape, next to a thumbnail of the output."""
    seen = style.layers.values and reading.state == "reached"
    repeats = f" ×{card.repeats}" if card.repeats > 1 else ""
    title = card.title + repeats
    tint = reading.tint
    is_range = tint is not None and tint.least is not None
    if seen and reading.grid is not None and not is_range:
        size = thumbnail_size(reading, row, row.width() - 60)
        free = row.width() - size.width() - 8
        if shapes.text_width(title, px, 600) <= free:
            corner = QPointF(row.right() - size.width(), row.center().y() - size.height() / 2)
            draw_thumbnail(painter, QRectF(corner, size), reading.grid, style.theme)
            row = QRectF(row.left(), row.top(), free, row.height())
    shaped = style.layers.shapes and bool(reading.shape)
    below = reading.shape if shaped else card.note or (reading.number if seen else "")
    if tint is not None and is_range:
        below = tint.words
    if not below or 2 * px * 1.15 > row.height():
        shapes.write(painter, row, title, style.theme.ink, px, 600)
        return
    upper, lower = QRectF(row), QRectF(row)
    upper.setHeight(row.height() / 2 + px * 0.05)
    lower.setTop(row.center().y() - px * 0.05)
    shapes.write(painter, upper, title, style.theme.ink, px, 600)
    shapes.write_whole(painter, lower, below, style.theme.ink2, px * 0.92, 500)


def _titled(
    painter: QPainter, card: Card, row: QRectF, ink: QColor, px: float, weight: int = 600
) -> None:
    """Write a card's title, and its variable's name at the right where both fit."""
    title = variable(card.title) or card.symbol
    shapes.write(painter, row, title, ink, px, weight)
    name = "" if card.kind in LEAVES or card.name == card.title else variable(card.name)
    free = row.width() - shapes.text_width(title, px, weight) - 10
    if name and shapes.text_width(name, px, 500) <= free:
        shapes.write(painter, row, name, ink, px, 500, shapes.RIGHT)


def _upper_title(painter: QPainter, card: Card, row: QRectF, ink: QColor, px: float) -> None:
    """Write a card's title into the upper half of a row."""
    upper = QRectF(row)
    upper.setHeight(row.height() / 2 + px * 0.05)
    _titled(painter, card, upper, ink, px, 500)


def _gradient_mark(painter: QPainter, box: QRectF, theme: Theme) -> None:
    """Mark that a card has a gradient; the triangle shows it without colour."""
    pill = QRectF(box.right() - 26, box.bottom() - 9, 36, 18)
    shapes.fill(painter, pill, 9, theme.backward)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(theme.backward_soft)
    painter.drawPolygon(shapes.up_triangle(QPointF(pill.center()), 5.5))


def _colors(
    kind: str, reading: CardReading, theme: Theme, named: bool
) -> tuple[QColor, QColor, QColor]:
    """Return fill, border and ink; a colour mode's fill is pale only where text is written."""
    if reading.tinted:
        tint = reading.tint
        fill = theme.surface
        if tint is not None:
            fill = tints.card_fill(tint, theme) if named else tints.color(tint, theme.dark)
        border = theme.color(kind) if kind in LEAVES else theme.line_strong
        ink = tints.name_color(tint, theme) if tint is not None and not named else theme.ink
        return fill, theme.ink if tint is not None and tint.alarm else border, ink
    if kind in LEAVES:
        return theme.color(f"{kind}_soft"), theme.color(kind), theme.ink
    if kind == "loss" and reading.state == "reached":
        return theme.ink, theme.ink, theme.surface
    if kind == "module":
        return theme.module_soft, theme.line_strong, theme.ink
    return theme.surface, theme.ink if kind == "loss" else theme.line_strong, theme.ink
