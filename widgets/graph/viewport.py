"""Camera positions: the first view of a graph, and views that follow what happens."""

from collections.abc import Iterable

from PySide6.QtCore import QPointF, QRectF, QSizeF

from gradscribe.playback.graph.picture import Look
from gradscribe.widgets.graph import keyboard_navigation
from gradscribe.widgets.graph.camera import MAX_FIT_ZOOM, Camera, centered, fitting
from gradscribe.widgets.graph.paint.card.cards import LABEL_ZOOM
from gradscribe.widgets.graph.paint.minimap import Minimap
from gradscribe.widgets.graph.paint.stage import RIM, Stage

READABLE_ZOOM = LABEL_ZOOM
"""Smallest zoom, with numbers legible, at which a graph that fits is shown whole at first."""
NAMED_ZOOM = 0.22
"""Smallest zoom at which cards still have their names."""
CLOSE_ZOOM = 0.85
"""Zoom at which any other graph is shown in part; the view then follows what happens."""
SMALL_TEXT_PX = 11.0
"""Size of the smallest text that cards have for reading, at a zoom of 1."""
_MARGIN = 24.0
_EDGE, _APART = 40.0, 12.0
_BESIDE = 64.0
"""Pixels of empty ground next to a graph that is seen in part: buttons stand there."""
TOOLS_SIZE, FOLD_TOOLS_WIDTH = (160.0, 40.0), 160.0
"""Size in pixels of the buttons in the lower right corner, and their extra width with modules."""
PATH_HEIGHT = 30.0
"""Pixels reserved at the top for the module path, where there are modules."""
NO_KEY = QSizeF()


def whole_view(
    stage: Stage,
    view: QSizeF,
    scale: float = 1.0,
    key: QSizeF = NO_KEY,
    least_zoom: float = 0.0,
) -> Camera:
    """Return the view of the whole graph with its bubbles, in a widget of size ``view``.

    ``scale`` is the text scale: a small graph grows with it. ``key`` is the size of a colour
    mode's key in the upper right corner. A small graph is shown at ``least_zoom`` where it fits.
    """
    left, top, right, bottom = RIM
    bounds, closest = stage.bounds, max(MAX_FIT_ZOOM * scale, least_zoom)
    if not bounds.isEmpty():
        bounds = bounds.adjusted(-left, -top, right, bottom)

    def inset(above: float, below: float) -> Camera:
        """Return the view with ``above`` and ``below`` pixels free at the top and bottom."""
        free = QSizeF(view.width(), max(1.0, view.height() - above - below))
        return fitting(bounds, free, closest, _MARGIN).moved(0.0, above)

    def fits(camera: Camera, instead_of: Camera) -> bool:
        return camera.zoom >= READABLE_ZOOM * scale or instead_of.zoom < READABLE_ZOOM * scale

    widest = inset(0.0, 0.0)
    above, below = PATH_HEIGHT if stage.frames else 0.0, 0.0
    camera = inset(above, below)
    folds = stage.frames or any(card.kind == "module" for card in stage.cards.values())
    wide = (TOOLS_SIZE[0] + (FOLD_TOOLS_WIDTH if folds else 0.0)) * scale
    corner = QRectF(view.width() - wide, view.height() - TOOLS_SIZE[1], wide, TOOLS_SIZE[1])
    if _covered(stage, camera, corner):
        lifted = inset(above, TOOLS_SIZE[1] - _MARGIN / 2)
        if fits(lifted, camera):
            camera, below = lifted, TOOLS_SIZE[1] - _MARGIN / 2
    corner = QRectF(view.width() - key.width(), 0.0, key.width(), key.height())
    if not key.isEmpty() and _covered(stage, camera, corner):
        aside = min(0.0, corner.left() - camera.box_to_view(bounds).right())
        moved, lowered = camera.moved(aside, 0.0), inset(key.height(), below)
        if moved.box_to_view(bounds).left() >= 0.0:
            return moved
        return lowered if fits(lowered, camera) else camera
    # A readable view of the whole graph is worth more than space for the path.
    crowded = camera.zoom < READABLE_ZOOM * scale <= widest.zoom
    return widest if crowded else camera


def _covered(stage: Stage, camera: Camera, corner: QRectF) -> bool:
    """Return whether cards, bubbles or frames lie in a part of the widget."""
    if stage.cards_in(camera.box_to_scene(corner), max(RIM[2], RIM[3])):
        return True
    return any(camera.box_to_view(box).intersects(corner) for box in stage.frame_boxes.values())


def first_view(
    stage: Stage,
    view: QSizeF,
    scale: float = 1.0,
    key: QSizeF = NO_KEY,
    readable: float = READABLE_ZOOM,
    least_zoom: float = 0.0,
) -> tuple[Camera, bool]:
    """Return the first view of a new graph, and whether it shows only a part.

    All of it where its zoom is ``readable`` at this text scale and at least ``least_zoom``, else
    what failed or the loss close up.
    """
    camera = whole_view(stage, view, scale, key, least_zoom)
    near = max(CLOSE_ZOOM * scale, least_zoom)
    if camera.zoom >= max(readable * scale, least_zoom) or not stage.cards:
        return camera, False
    target = stage.boxes[keyboard_navigation.start_card(stage)]
    middle = centered(target, view, near)
    if stage.flows_down:
        camera = Camera(near, middle.x, view.height() * 0.85 - target.bottom() * near)
    else:
        camera = Camera(near, view.width() * 0.85 - target.right() * near, middle.y)
    return _clear_of_map(stage, _filled(stage.bounds, camera, view), target, view), True


def surrounding_box(stage: Stage, key: str) -> QRectF:
    """Return the bounding box around a card, wire or frame; empty for an unknown key.

    A card's box includes its neighbours, a wire's both its ends, a frame's all of it.
    """
    if key in stage.frame_boxes:
        return stage.frame_boxes[key]
    wires = [key] if key in stage.wires else [*stage.into.get(key, ()), *stage.out_of.get(key, ())]
    box = QRectF(stage.boxes.get(key, QRectF()))
    for wire in wires:
        for end in (stage.wires[wire].source, stage.wires[wire].target):
            box = box.united(stage.boxes[end])
    left, top, right, bottom = RIM
    return box if box.isEmpty() else box.adjusted(-left, -top, right, bottom)


def zoom_for_text(px: float) -> float:
    """Return the zoom at which the text of cards is ``px`` pixels high or larger."""
    return px / SMALL_TEXT_PX


def active_boxes(stage: Stage, look: Look) -> tuple[QRectF, QRectF]:
    """Return the box of the active card, and that with all it exchanges values with right now.

    Both are empty where nothing is active.
    """
    key = next((key for key, card in look.cards.items() if card.active), "")
    if key not in stage.boxes:
        return QRectF(), QRectF()
    around = QRectF(stage.boxes[key])
    for name in (*stage.into.get(key, ()), *stage.out_of.get(key, ())):
        shown = look.wires.get(name)
        if shown is not None and shown.active:
            wire = stage.wires[name]
            around = around.united(stage.boxes[wire.source]).united(stage.boxes[wire.target])
    return QRectF(stage.boxes[key]), around


def following_view(stage: Stage, look: Look, camera: Camera, view: QSizeF) -> Camera | None:
    """Return the view that brings the active card into view; None where it already is."""
    return view_with(stage.bounds, active_boxes(stage, look), camera, view)


def view_with(
    bounds: QRectF, boxes: tuple[QRectF, QRectF], camera: Camera, view: QSizeF
) -> Camera | None:
    """Return the view moved to the larger of two boxes (`active_boxes`) that fits.

    None where that is in view, and where both are empty.
    """
    room = QRectF(QPointF(), view).adjusted(_EDGE, _EDGE, -_EDGE, -_EDGE)
    box, around = boxes
    seen = camera.box_to_view(around)
    if seen.width() <= room.width() and seen.height() <= room.height():
        box = around
    if box.isEmpty() or room.contains(camera.box_to_view(box)):
        return None
    return _filled(bounds, centered(box, view, camera.zoom), view)


def view_of(stage: Stage, keys: Iterable[str], camera: Camera, view: QSizeF) -> Camera | None:
    """Return a view with all of these cards, no closer than now; None where they are in sight."""
    box = QRectF()
    for key in keys:
        box = box.united(stage.boxes.get(key, QRectF()))
    room = QRectF(QPointF(), view).adjusted(_EDGE, _EDGE, -_EDGE, -_EDGE)
    if box.isEmpty() or room.isEmpty() or room.contains(camera.box_to_view(box)):
        return None
    zoom = min(camera.zoom, room.width() / box.width(), room.height() / box.height())
    return centered(box, view, zoom)


def _filled(bounds: QRectF, camera: Camera, view: QSizeF) -> Camera:
    """Return the view moved so that it shows as little empty ground as possible.

    In a direction in which the graph fits, it is centred.
    """
    seen = camera.box_to_view(bounds)

    def away(low: float, high: float, room: float) -> float:
        if high - low < room - 2 * _BESIDE:
            return (room - low - high) / 2
        return min(0.0, _BESIDE - low) + max(0.0, room - _BESIDE - high)

    across = away(seen.left(), seen.right(), view.width())
    return camera.moved(across, away(seen.top(), seen.bottom(), view.height()))


def _clear_of_map(stage: Stage, camera: Camera, target: QRectF, view: QSizeF) -> Camera:
    """Return the view moved so that the minimap does not cover ``target``, where possible."""
    seen, small = camera.box_to_view(target), Minimap.box(stage.bounds, view)
    away = small.right() + _APART - seen.left()
    covered = Minimap.is_needed(stage.bounds, camera, view) and small.intersects(seen)
    return camera.moved(away, 0) if covered and seen.right() + away <= view.width() else camera


def toggle_shift(old: Stage, new: Stage) -> QPointF | None:
    """Return the move of the corner of the module that opened or closed between two pictures.

    None unless exactly one module did.
    """
    opened = [key for key in old.cards if key in new.frames]
    closed = [key for key in old.frames if key in new.cards]
    if len(opened) + len(closed) != 1:
        return None
    key = (opened + closed)[0]
    before = (old.boxes if opened else old.frame_boxes)[key].topLeft()
    after = (new.frame_boxes if opened else new.boxes)[key].topLeft()
    return after - before
