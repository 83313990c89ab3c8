"""Frames: open modules, with a name plate that closes them."""

from PySide6.QtCore import QPointF, QRectF
from PySide6.QtGui import QColor, QPainter

from gradscribe.playback.graph.picture import Frame
from gradscribe.playback.translation import ngettext, tr
from gradscribe.widgets.base.theme import Theme
from gradscribe.widgets.graph.paint import shapes

RADIUS = 14.0
HEAD = 28.0
"""Height of the name plate; a click on it closes the module."""
LIFT = 3.0
"""Distance by which a name plate rises where cards have badges, so that none covers it."""
SMALLEST_PX = 7.5
"""Size on the screen below which a plate is not written: `far_names` takes over."""


def head_box(box: QRectF, room: float = HEAD) -> QRectF:
    """Return the name plate of a frame, or all of the ``room`` (a height) for it."""
    return QRectF(box.left(), box.top(), box.width(), min(max(HEAD, room), box.height()))


def ground(depth: int, theme: Theme) -> QColor:
    """Return the fill of a frame; it alternates with ``depth`` so that nesting shows."""
    return theme.frame_odd if depth % 2 else theme.frame_even


def paint(painter: QPainter, box: QRectF, depth: int, theme: Theme) -> None:
    """Paint a frame without its name plate."""
    shapes.fill(painter, box, RADIUS, ground(depth, theme))
    shapes.outline(painter, box, RADIUS, theme.frame_line, theme.stroke(1.2))


def paint_head(
    painter: QPainter,
    frame: Frame,
    box: QRectF,
    depth: int,
    theme: Theme,
    zoom: float = 1.0,
    room: float = HEAD,
    lift: float = 0.0,
) -> None:
    """Write the name plate, enlarged at a far zoom as far as its ``room`` (a height) allows.

    ``lift`` makes space between it and what sticks out of the cards below.

    Texts stand on a patch of the frame's fill, so that no wire runs through them. Plates too small
    to read are left out.
    """
    if not is_legible(zoom, room):
        return
    grow = _growth(zoom, room - 4 * lift)
    plate = head_box(box)
    painter.save()
    painter.translate(plate.left(), plate.top() - lift)
    painter.scale(grow, grow)
    width = plate.width() / grow
    wide = width - 46
    title = shapes.elided(frame.title, wide, 13, 600)
    used = shapes.text_width(title, 13, 600) + 9
    kind, note = fitting_texts(frame, wide - used - 12)
    taken = shapes.text_width(note, 11, 500)
    patch = ground(depth, theme)
    end = 15 + used + shapes.text_width(kind, 11, 500) + 4
    shapes.fill(painter, QRectF(11, 5, end - 11, 18), 4, patch)
    shapes.fill(painter, QRectF(width - 37 - taken, 5, taken + 31, 18), 4, patch)
    shapes.chevron(painter, QPointF(width - 18, 14.0), 4.2, theme.module, down=True)
    shapes.write(painter, QRectF(15, 0, wide, 28), title, theme.ink, 13, 600)
    shapes.write(painter, QRectF(15 + used, 1, wide - used, 28), kind, theme.ink2, 11, 500)
    notes = QRectF(width - 33 - taken - 1, 1, taken + 1, 28)
    shapes.write(painter, notes, note, theme.ink2, 11, 500)
    painter.restore()


def is_legible(zoom: float, room: float) -> bool:
    """Return whether a name plate is large enough to read at a zoom."""
    return 13 * _growth(zoom, room) * zoom >= SMALLEST_PX


def _growth(zoom: float, room: float) -> float:
    return max(1.0, min(3.0, 0.85 / zoom, room / HEAD))


def fitting_texts(frame: Frame, room: float) -> tuple[str, str]:
    """Return the kind and note that fit next to a title: both, else the kind, else the note.

    Neither is ever truncated: part of a word would be useless.
    """
    kind, note = frame.kind, _note(frame)
    kind_width, note_width = (shapes.text_width(text, 11, 500) for text in (kind, note))
    if kind_width + 8 + note_width <= room:
        return kind, note
    if kind and kind_width <= room:
        return kind, ""
    return ("", note) if note_width <= room else ("", "")


def _note(frame: Frame) -> str:
    repeats = f"×{frame.repeats}" if frame.repeats > 1 else ""
    return " · ".join(part for part in (repeats, frame.note) if part)


def describe(frame: Frame) -> str:
    """Return a frame's text description."""
    opened = (
        tr("open module {title}", title=frame.title)
        if frame.call is not None
        else tr("open {title}", title=frame.title)
    )
    parts = [opened, frame.kind, frame.note]
    if frame.repeats > 1:
        parts.append(ngettext("{count:,} repeat", "{count:,} repeats", frame.repeats))
    return ", ".join(part for part in parts if part)
