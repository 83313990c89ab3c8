"""Cards: leaf pills, op cards, the loss, folded modules, and the bubble of a gradient."""

from dataclasses import dataclass
from functools import lru_cache

from PySide6.QtCore import QPointF, QRectF
from PySide6.QtGui import QBrush, QColor, QPainter, QPainterPath

from gradscribe.playback.graph.picture import Card
from gradscribe.playback.graph.reading import LEAVES, WAITING, CardReading
from gradscribe.playback.text.formatting import variable
from gradscribe.playback.translation import tr
from gradscribe.widgets.base.theme import Theme, faded, mix, token_names
from gradscribe.widgets.graph.paint import heat, shapes
from gradscribe.widgets.graph.paint.card import bubbles, failed_card, tints
from gradscribe.widgets.graph.paint.card.thumbnail import draw_thumbnail, thumbnail_size

RADIUS = 10.0
MAX_OVERHANG = 20.0
"""Largest distance that shadow, glow, bubble and tag stick out of a card, except wide bubbles."""
STACK_HEIGHT = 7.0
"""Height of the two cards that show behind a folded module."""
STRIPE = 5.5
"""Width of a coloured border."""
LABEL_ZOOM = 0.48
"""Zoom from which bubbles have numbers and wires have labels."""
UNREACHED_OPACITY, UNREACHED_CONTRAST = 0.62, 0.8
"""Opacity of what has not been reached."""


@dataclass(frozen=True)
class Layers:
    """Visibility of values, gradients, shapes, and the order of the backward nodes."""

    values: bool = True
    gradients: bool = True
    shapes: bool = True
    order: bool = False


@dataclass(frozen=True)
class CardStyle:
    """Painting options; ``wipe`` is the share (0 to 1) of a card's numbers that is wiped in."""

    theme: Theme
    layers: Layers = Layers()
    wipe: float = 1.0
    pop: float = 1.0
    """Size of the gradient bubble; above 1 while it bounces."""


@lru_cache(maxsize=8)
def unreached_theme(theme: Theme) -> Theme:
    """Return the theme of unreached parts: colours blended onto the canvas.

    Blended instead of painted translucent, so that no wire shows through and exports stay simple.
    """
    share = UNREACHED_CONTRAST if theme.high_contrast else UNREACHED_OPACITY
    mixed = {name: mix(theme.color(name), theme.canvas, share) for name in token_names()}
    return Theme(
        name=theme.name,
        dark=theme.dark,
        scale=theme.scale,
        high_contrast=theme.high_contrast,
        **mixed,
    )


def extent(box: QRectF, reading: CardReading) -> QRectF:
    """Return the area that painting a card may touch, at any zoom."""
    return box.adjusted(-MAX_OVERHANG, -MAX_OVERHANG, MAX_OVERHANG, MAX_OVERHANG).united(
        bubbles.extent(box, reading)
    )


def paint(
    painter: QPainter, card: Card, box: QRectF, reading: CardReading, style: CardStyle
) -> None:
    """Paint one card in full."""
    waiting = reading.state == "waiting" and card.kind != "loss"
    theme = unreached_theme(style.theme) if waiting else style.theme
    inner = CardStyle(theme, style.layers, style.wipe, style.pop)
    painter.save()
    if reading.active:
        light = active_color(reading, style.theme)
        body = box.adjusted(0, STACK_HEIGHT, 0, 0) if card.kind == "module" else box
        shapes.glow(painter, body, radius(card, body), light)
    if card.kind in LEAVES:
        _leaf(painter, card, box, reading, inner)
    elif card.kind == "module":
        _module(painter, card, box, reading, inner)
    else:
        _op(painter, card, box, reading, inner)
    if reading.tint is not None and tints.has_badge(reading.tint):
        tints.paint_badge(painter, box, reading.tint, style.theme)
    if reading.failed:
        failed_card.paint_sign(painter, box, theme)
    if reading.tag:
        bubbles.paint_tag(painter, box, reading.tag, theme)
    if reading.update and style.layers.values:
        bubbles.paint_update(painter, box, reading, style.theme)
    if reading.order and style.layers.order:
        bubbles.paint_order(painter, box, reading, style.theme)
    if reading.gradient and style.layers.gradients and style.pop > 0:
        bubbles.paint(painter, box, reading, style.theme, style.pop)
    painter.restore()


def radius(card: Card, box: QRectF) -> float:
    """Return the corner radius of a card's body."""
    if card.kind not in LEAVES:
        return RADIUS
    return box.height() / 2 if card.scalar else 14.0


def active_color(reading: CardReading, theme: Theme) -> QColor:
    """Return the highlight colour of an active card."""
    if reading.failed:
        return theme.error
    if reading.active == "backward":
        return theme.backward
    return theme.parameter if reading.active == "update" else theme.forward


def _border(painter: QPainter, card: Card, box: QRectF, reading: CardReading, theme: Theme) -> None:
    """Stroke a card's border in its role's colour, dashed where no gradient passes."""
    color = {
        "parameter": mix(theme.parameter, theme.canvas, 0.78),
        "data": mix(theme.data, theme.canvas, 0.78),
        "constant": mix(theme.constant, theme.canvas, 0.78),
        "loss": theme.ink,
    }.get(card.kind, theme.line_strong)
    width = 2.0 if card.kind == "loss" else 1.2
    if reading.failed:
        color, width = theme.error, 2.0
    if reading.bad:
        width = 2.0
    if reading.tint is not None and reading.tint.alarm and reading.tint.least is not None:
        color, width = theme.ink, 2.0
    dashes = (5.0, 3.5) if card.kind == "constant" or (card.cut and card.kind not in LEAVES) else ()
    shapes.outline(painter, box, radius(card, box), color, theme.stroke(width), dashes)


def _leaf(
    painter: QPainter, card: Card, box: QRectF, reading: CardReading, style: CardStyle
) -> None:
    theme = style.theme
    soft = theme.color(f"{card.kind}_soft")
    corner = radius(card, box)
    shapes.shadow(painter, box, corner, theme)
    shapes.fill(painter, box, corner, _ground(reading, mix(soft, theme.surface, 0.75), theme))
    if reading.bad:
        shapes.hatch(painter, shapes.rounded(box, corner), faded(theme.ink3, 0.32))
    _border(painter, card, box, reading, theme)
    if not card.scalar:
        _tensor(painter, card, box, reading, style)
        return
    middle = box.center().y()
    shapes.role_sign(painter, card.kind, QPointF(box.left() + 18, middle), theme)
    value = _value_words(reading, style, tr("not yet"))
    px, ink = (14.0, theme.ink) if reading.state == "reached" else (11.0, theme.ink2)
    room = shapes.text_width(value, px, 500) if value else 0.0
    left, right = box.left() + 30, box.right() - 15
    room = min(room, right - left)
    label = QRectF(left, box.top(), right - room - 7 - left, box.height())
    shapes.write(painter, label, variable(card.title), theme.ink, 14, 600)
    values = QRectF(right - room - 1, box.top(), room + 1, box.height())
    shapes.write_whole(painter, values, value, ink, px, 500, shapes.RIGHT)


def _ground(reading: CardReading, usual: QColor, theme: Theme) -> QColor:
    """Return the fill of a card: by the colour mode if there is one, else by role."""
    if not reading.tinted:
        return usual
    return theme.surface if reading.tint is None else tints.card_fill(reading.tint, theme)


def _module_ground(reading: CardReading, body: QRectF, theme: Theme) -> QColor | QBrush:
    """Return the fill of a folded module: of two colours where its parameters have a range."""
    if reading.tint is not None and reading.tint.least is not None:
        return tints.blend(reading.tint, body, theme, pale=True)
    return _ground(reading, theme.module_soft, theme)


def _value_words(reading: CardReading, style: CardStyle, waiting: str = WAITING) -> str:
    if reading.state == "waiting":
        return waiting
    return reading.number if style.layers.values else ""


def _op(painter: QPainter, card: Card, box: QRectF, reading: CardReading, style: CardStyle) -> None:
    theme = style.theme
    filled = _is_filled(card, reading)
    ground = theme.ink if filled else _ground(reading, theme.surface, theme)
    shapes.shadow(painter, box, RADIUS, theme)
    shapes.fill(painter, box, RADIUS, ground)
    if reading.bad:
        hatch = faded(theme.surface, 0.35) if filled else faded(theme.ink3, 0.32)
        shapes.hatch(painter, shapes.rounded(box, RADIUS), hatch)
    elif (
        card.scalar
        and not filled
        and not reading.tinted
        and reading.share is not None
        and style.layers.values
    ):
        _stripe(painter, box, RADIUS, heat.color(reading.share, 1.0, theme.dark))
    paint_tint_stripe(painter, box, RADIUS, reading, theme)
    _border(painter, card, box, reading, theme)
    if card.is_failed_call:
        failed_card.paint_inside(painter, card, box, reading, theme)
    elif card.scalar:
        _scalar(painter, card, box, reading, style)
    else:
        _tensor(painter, card, box, reading, style)


def _is_filled(card: Card, reading: CardReading) -> bool:
    """Return whether a card is the loss in inverted colours; colour modes need its fill."""
    return card.kind == "loss" and reading.state == "reached" and not reading.tinted


def _stripe(
    painter: QPainter, box: QRectF, radius: float, color: QColor, right: bool = False
) -> None:
    """Colour the left border, or the right."""
    body = shapes.rounded(box.adjusted(0.6, 0.6, -0.6, -0.6), radius - 0.6)
    strip = QPainterPath()
    left = box.right() - STRIPE if right else box.left()
    strip.addRect(QRectF(left, box.top(), STRIPE, box.height()))
    shapes.fill_inside(painter, body, strip, color)


def paint_tint_stripe(
    painter: QPainter, box: QRectF, radius: float, reading: CardReading, theme: Theme
) -> None:
    """Colour the left border in the full colour of the tint, of which the fill is a pale shade.

    Of a folded module it is that of the weakest parameter, and the right that of the strongest.
    """
    tint = reading.tint
    if tint is not None:
        _stripe(painter, box, radius, tints.weakest_color(tint, theme.dark))
        if tint.least is not None:
            _stripe(painter, box, radius, tints.color(tint, theme.dark), right=True)


def _inks(card: Card, reading: CardReading, theme: Theme) -> tuple[QColor, QColor, QColor, QColor]:
    """Return the colours of big text, small text, the chip's fill and its symbol."""
    if _is_filled(card, reading):
        return (
            theme.surface,
            mix(theme.surface, theme.ink, 0.72),
            mix(theme.surface, theme.ink, 0.22),
            theme.surface,
        )
    ground = mix(theme.ink, theme.surface, 0.08) if theme.dark else theme.panel2
    return theme.ink, theme.ink2, ground, theme.ink


def _scalar(
    painter: QPainter, card: Card, box: QRectF, reading: CardReading, style: CardStyle
) -> None:
    ink, ink2, ground, symbol = _inks(card, reading, style.theme)
    middle = box.center().y()
    spot = QRectF(box.left() + 15, middle - 14, 28, 28)
    shapes.chip(painter, spot, card.symbol or card.title[:1], ground, symbol)
    left, right = box.left() + 52, box.right() - 12
    _heading(painter, card, QRectF(left, middle - 21, right - left, 16), ink2, ink2, 11, 500)
    row = QRectF(left, middle - 3, right - left, 22)
    if reading.state == "waiting":
        shapes.write(painter, row, WAITING, ink2, 11, 500)
    elif style.layers.values:
        px = 17.0 if shapes.text_width(reading.number, 17, 600) <= row.width() else 14.0
        shapes.write_whole(painter, row, reading.number, ink, px, 600)
    else:
        shapes.write(painter, row, card.note, ink2, 11, 500)


def _heading(
    painter: QPainter, card: Card, row: QRectF, ink: QColor, ink2: QColor, px: float, weight: int
) -> None:
    """Write a card's title at the left of a row and its variable's name at the right."""
    # A parameter's path ends in its title, and the frame around it shows the rest.
    name = "" if card.kind in LEAVES or card.name == card.title else card.name
    written = variable(card.title) if card.kind in LEAVES else card.title
    title = shapes.text_width(written, px, weight)
    least = 0.0 if card.kind == "module" else row.width() * 0.3
    room = max(least, row.width() - title - 8) if name else 0.0
    name = shapes.elided(variable(name), room, 11, 500)
    name = "" if name == "…" else name
    taken = shapes.text_width(name, 11, 500) + 8 if name else 0.0
    shapes.write(painter, row.adjusted(0, 0, -taken, 0), written, ink, px, weight)
    shapes.write(painter, row, name, ink2, 11, 500, shapes.RIGHT)


def _tensor(
    painter: QPainter, card: Card, box: QRectF, reading: CardReading, style: CardStyle
) -> None:
    theme = style.theme
    ink, ink2, ground, symbol = _inks(card, reading, theme)
    sign = 15.0 if card.kind in LEAVES else 0.0
    title = shapes.text_width(card.title, 13, 600) + sign
    below = shapes.text_width(reading.shape, 11, 500, mono=True)
    size = thumbnail_size(reading, box, max(title, below))
    spot = QRectF(box.left() + 9, box.center().y() - size.height() / 2, size.width(), size.height())
    if reading.grid is not None and style.layers.values:
        draw_thumbnail(painter, spot, reading.grid, theme, style.wipe)
    elif card.kind in LEAVES:
        shapes.role_sign(painter, card.kind, spot.center(), theme)
    else:
        middle = spot.center()
        square = QRectF(middle.x() - 14, middle.y() - 14, 28, 28)
        shapes.chip(painter, square, card.symbol or card.title[:1], ground, symbol)
    left, right = spot.right() + 11, box.right() - 10
    rows = _tensor_rows(card, reading, style, box.height())
    height = 15.0
    top = box.center().y() - height * (len(rows) + 1) / 2 - 0.5
    head = QRectF(left, top - 1, right - left, height + 1)
    if card.kind in LEAVES and reading.grid is not None and style.layers.values:
        shapes.role_sign(painter, card.kind, QPointF(left + 5, head.center().y()), theme)
        head.setLeft(left + 15)
    _heading(painter, card, head, ink, ink2, 13, 600)
    for n, (text, mono) in enumerate(rows, start=1):
        row = QRectF(left, top + n * height, right - left, height)
        shapes.write_whole(painter, row, text, ink2, 11, 500, mono=mono)


def _tensor_rows(
    card: Card, reading: CardReading, style: CardStyle, height: float
) -> list[tuple[str, bool]]:
    """Return the small text lines of a tensor card ``height`` high, and which are monospaced."""
    rows: list[tuple[str, bool]] = []
    if reading.shape and style.layers.shapes:
        rows.append((reading.shape, True))
    if reading.bad:
        rows.append((reading.bad, False))
    elif reading.state == "waiting" and card.kind not in LEAVES:
        rows.append((WAITING, False))
    elif card.note:
        rows.append((card.note, False))
    if len(rows) == 2 and height < 52:
        shape, rest = rows[0][0], rows[1][0]
        return [(f"{shape} · {rest}", False)] if reading.bad else rows[:1]
    return rows


def _module(
    painter: QPainter, card: Card, box: QRectF, reading: CardReading, style: CardStyle
) -> None:
    theme = style.theme
    body = box.adjusted(0, STACK_HEIGHT, 0, 0)
    border = theme.line_strong
    for inset in (9.0, 4.5):
        back = QRectF(
            box.left() + inset,
            box.top() + (STACK_HEIGHT - inset * STACK_HEIGHT / 9),
            box.width() - 2 * inset,
            30,
        )
        shapes.fill(painter, back, RADIUS, theme.module_soft)
        shapes.outline(painter, back, RADIUS, mix(border, theme.canvas, 0.8), 1.0)
    shapes.shadow(painter, body, RADIUS, theme)
    shapes.fill(painter, body, RADIUS, _module_ground(reading, body, theme))
    if reading.bad:
        shapes.hatch(painter, shapes.rounded(body, RADIUS), faded(theme.ink3, 0.32))
    paint_tint_stripe(painter, body, RADIUS, reading, theme)
    _border(painter, card, body, reading, theme)
    middle = body.center().y()
    spot = QRectF(body.left() + 11, middle - 11, 22, 22)
    shapes.fill(painter, spot, 6, mix(theme.module, theme.module_soft, 0.22))
    shapes.chevron(painter, spot.center(), 4.2, theme.module, down=False)
    left, right = spot.right() + 11, body.right() - 10
    if reading.grid is not None and style.layers.values:
        size = thumbnail_size(reading, body, body.width() - 80)
        size.setWidth(min(size.width(), 48.0))
        corner = QPointF(body.right() - 11 - size.width(), middle - size.height() / 2)
        draw_thumbnail(painter, QRectF(corner, size), reading.grid, theme, style.wipe)
        right = corner.x() - 8
    rows = _module_rows(card, reading, style, body.height())
    top = middle - 7.5 * (len(rows) + 1) - 1
    _heading(painter, card, QRectF(left, top, right - left, 17), theme.ink, theme.ink2, 13, 600)
    for n, (text, mono) in enumerate(rows, start=1):
        row = QRectF(left, top + n * 15 + 1, right - left, 15)
        shapes.write_whole(painter, row, text, theme.ink2, 11, 500, mono=mono)


def _module_rows(
    card: Card, reading: CardReading, style: CardStyle, height: float
) -> list[tuple[str, bool]]:
    """Return the small text lines of a folded module: its note, and its output."""
    ranged = reading.tint is not None and reading.tint.least is not None
    note = reading.tint.words if ranged and reading.tint is not None else card.note
    what = " · ".join(text for text in (note, reading.bad) if text)
    rows = [(what, False)] if what else []
    if reading.shape and style.layers.shapes:
        rows.append((reading.shape, True))
    elif reading.number and style.layers.values:
        rows.append((reading.number, False))
    return rows if height >= 60 else rows[:1]


def body_path(card: Card, box: QRectF) -> QPainterPath:
    """Return the outline of a card's body, for selection and hover."""
    body = box.adjusted(0, STACK_HEIGHT, 0, 0) if card.kind == "module" else box
    return shapes.rounded(body, radius(card, body))
