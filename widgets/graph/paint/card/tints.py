"""Colours of the colour modes, and the badge that says the same as text."""

from functools import cache

import numpy as np
from msgspec.structs import replace
from PySide6.QtCore import QRectF
from PySide6.QtGui import QBrush, QColor, QLinearGradient, QPainter

from gradscribe.playback.graph.coloring import Scale, Tint
from gradscribe.playback.translation import tr
from gradscribe.widgets.base.theme import Theme, contrast, faded, mix
from gradscribe.widgets.graph.paint import heat, shapes

_ALARMS = {"↓": tr("↓ vanishing"), "↑": tr("↑ exploding")}
BADGE_OVERLAP = 6.0
"""Distance that a badge reaches into its card: not as far as the first line of text."""
GROUND = 0.26
"""Share of the colour in a card's fill: its text must stay readable."""
LEAST_CONTRAST = 4.5
"""Least contrast of a name with the colour under it."""
_GROUPS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#F0E442", "#7F7F7F")
"""The palette of Okabe and Ito (2008), made for every kind of colour vision; grey for black."""
_HUES = {"gradient": 0.0, "amount": 155.0}
_CHROMA = {False: 0.17, True: 0.13}
_ENDS = {False: (0.965, 0.40), True: (0.27, 0.84)}
"""Lightness at the lower and the upper end of a scale, by whether the theme is dark."""


@cache
def _ramp(scale: Scale, dark: bool) -> heat.Pixels:
    """Return 256 colours of a scale, in even steps of lightness in OKLCH."""
    share = np.linspace(0.0, 1.0, 256)
    first, last = _ENDS[dark]
    chroma, hue = _CHROMA[dark] * share**0.9, np.radians(_HUES[scale])
    return heat.srgb(first + (last - first) * share, chroma * np.cos(hue), chroma * np.sin(hue))


def color(tint: Tint, dark: bool) -> QColor:
    """Return the full colour of a tint."""
    if tint.scale == "groups":
        return group_color(tint.group)
    return color_at(tint.scale, tint.share, dark)


def color_at(scale: Scale, share: float, dark: bool) -> QColor:
    """Return the colour at ``share`` of a scale: -1 to 1 where it is signed, else 0 to 1."""
    if scale == "signed":
        return heat.color(share, 1.0, dark)
    red, green, blue = _ramp(scale, dark)[round(max(0.0, min(1.0, share)) * 255)]
    return QColor(int(red), int(green), int(blue))


def group_color(group: int) -> QColor:
    """Return the colour of a group; colours repeat after the last."""
    return QColor(_GROUPS[group % len(_GROUPS)])


def weakest_color(tint: Tint, dark: bool) -> QColor:
    """Return the colour of the weakest parameter of a folded module, else that of the tint."""
    return color(tint, dark) if tint.least is None else color_at(tint.scale, tint.least, dark)


def card_fill(tint: Tint, theme: Theme) -> QColor:
    """Return a card's fill, pale enough for readable text in ink."""
    return mix(color(tint, theme.dark), theme.surface, GROUND)


def name_color(tint: Tint, theme: Theme) -> QColor:
    """Return the colour of a name that is written on the full colour of a tint.

    On that of a folded module's range the name is in the middle.
    """
    ground = mix(weakest_color(tint, theme.dark), color(tint, theme.dark), 0.5)
    inks = (theme.ink, theme.surface, QColor("black"), QColor("white"))
    legible = (ink for ink in inks if contrast(ink, ground) >= LEAST_CONTRAST)
    return next(legible, max(inks, key=lambda ink: contrast(ink, ground)))


def blend(tint: Tint, box: QRectF, theme: Theme, pale: bool) -> QBrush:
    """Return the fill of a folded module: from its weakest parameter, left, to its strongest."""
    ends = (weakest_color(tint, theme.dark), color(tint, theme.dark))
    across = QLinearGradient(box.topLeft(), box.topRight())
    for place, end in enumerate(ends):
        across.setColorAt(place, mix(end, theme.surface, GROUND) if pale else end)
    return QBrush(across)


def unrepeated(tint: Tint, number: str, gradient: str) -> Tint:
    """Return a tint without words where the card writes their number itself.

    Args:
        tint: of any colour mode.
        number: the value that the card shows; empty for none.
        gradient: the text of its bubble; empty for none.
    """
    if not {"gradient": gradient, "value": number}.get(tint.stated, ""):
        return tint
    arrow = tint.words[:1]
    return replace(tint, words=_ALARMS.get(arrow, "") if tint.alarm else "")


def has_badge(tint: Tint | None) -> bool:
    """Return whether a card has a badge: that of a folded module's range is a line inside."""
    return tint is not None and tint.least is None and bool(tint.words)


def badge_box(box: QRectF, text: str, scale: float = 1.0) -> QRectF:
    """Return the box of a card's badge: over its upper left corner, above its first line."""
    width, height = (shapes.text_width(text, 11, 600) + 27) * scale, 18 * scale
    return QRectF(box.left() + 8, box.top() + BADGE_OVERLAP - height, width, height)


def paint_badge(
    painter: QPainter, box: QRectF, tint: Tint, theme: Theme, scale: float = 1.0
) -> None:
    """Write a tint's text next to a swatch; the rim is strong for an alarm."""
    whole = badge_box(box, tint.words, scale)
    painter.save()
    painter.translate(whole.topLeft())
    painter.scale(scale, scale)
    pill = QRectF(0, 0, whole.width() / scale, whole.height() / scale)
    shapes.fill(painter, pill, 9, theme.surface)
    line, width = (theme.ink, 1.8) if tint.alarm else (theme.line_strong, 1.0)
    shapes.outline(painter, pill, 9, line, width)
    paint_swatch(painter, QRectF(6, 4, 10, 10), color(tint, theme.dark), theme)
    row = pill.adjusted(20, 0, -3, 0)
    shapes.write(painter, row, tint.words, theme.ink, 11, 600)
    painter.restore()


def paint_swatch(painter: QPainter, box: QRectF, filled: QColor, theme: Theme) -> None:
    """Paint a small square of a colour, with a rim that is visible on any background."""
    shapes.fill(painter, box, 3, filled)
    shapes.outline(painter, box, 3, faded(theme.ink, 0.55), 1.0)
