"""Painting of the graph widget: a cached still layer, the motion above it, and the minimap."""

from collections.abc import Iterable, Iterator

import shiboken6
from PySide6.QtCore import QObject, QPoint, QPointF, QRect, QRectF, QSizeF
from PySide6.QtGui import QPainter
from PySide6.QtWidgets import QWidget

from gradscribe.widgets.base.painting.deferred_paint import resume_paint
from gradscribe.widgets.base.painting.glass import is_covered
from gradscribe.widgets.base.single_shot import single_shot
from gradscribe.widgets.base.time_slices import END_TURN, TimeSlices
from gradscribe.widgets.graph import tooltips
from gradscribe.widgets.graph.animation import GraphAnimation
from gradscribe.widgets.graph.camera import Camera
from gradscribe.widgets.graph.paint import overlay
from gradscribe.widgets.graph.paint.background import PARTLY_STALE_NOTICE, STALE_NOTICE
from gradscribe.widgets.graph.paint.drawing import GraphDrawing
from gradscribe.widgets.graph.paint.layer import HINTS, StaticLayer
from gradscribe.widgets.graph.paint.minimap import Minimap
from gradscribe.widgets.graph.paint.stage import Stage

SHARPEN_MS = 70
"""Delay between the last zoom step and a repaint of the layer, which is shown scaled until then."""
SLICE_MS = 8
"""Time per event loop turn for painting the layer; the old layer is shown until it is complete."""
WIRE_TOLERANCE = 6.0
"""Pixels from a wire within which a point is on it."""


class GraphCanvas(QObject):
    """A drawing seen by a camera, painted on a widget: what is in view at once, margins later."""

    def __init__(self, widget: QWidget, drawing: GraphDrawing, animation: GraphAnimation) -> None:
        super().__init__(widget)
        self._widget, self._animation = widget, animation
        self.drawing = drawing
        self.camera = Camera()
        self.hovered = self.selected = ""
        """Keys of the marked cards or wires; empty for none."""
        self.stale = False
        """True to paint in grey."""
        self.focused = False
        """True to paint a strong focus ring."""
        self.shows_map = True
        """False to show no minimap, however large the graph."""
        self.map_dragged = False
        """True during a drag in the minimap."""
        self.layer, self.minimap = StaticLayer(), Minimap()
        self._renders = 0
        self._on_screen = False
        """True once the widget was painted to the screen at its present place and size."""
        self._sharpen = single_shot(self, self._sharpen_up, SHARPEN_MS)
        self._later = single_shot(self, self._go_on)
        self._ahead = TimeSlices(SLICE_MS, self)
        # The pause between turns lets new requests and other widgets' painting come first.
        self._ahead.rest_ms = 1

    # Geometry.

    @property
    def stage(self) -> Stage:
        """The placed picture that is shown."""
        return self.drawing.stage

    @property
    def size(self) -> QSizeF:
        """The size of the widget."""
        return QSizeF(self._widget.size())

    def set_camera(self, camera: Camera) -> None:
        """Look from ``camera``, and sharpen the layer once the zoom no longer changes."""
        if camera.zoom != self.camera.zoom:
            self._sharpen.start()
        self.camera = camera
        self.drawing.set_zoom(camera.zoom)

    def key_at(self, point: QPointF) -> str:
        """Return the key of the card, else of the wire, at a widget point; empty for none."""
        at = self.camera.to_scene(point)
        return self.stage.card_at(at) or self.stage.wire_at(at, WIRE_TOLERANCE / self.camera.zoom)

    def toggle_at(self, point: QPointF, chevron_only: bool) -> str:
        """Return the key of the module card or name plate at a widget point; empty for none."""
        at, stage = self.camera.to_scene(point), self.stage
        card = stage.card_at(at)
        if card:
            on_chevron = at.x() < stage.boxes[card].left() + 40
            folded = stage.cards[card].kind == "module"
            return card if folded and (on_chevron or not chevron_only) else ""
        head = stage.head_at(at)
        if head and chevron_only and at.x() < stage.frame_boxes[head].right() - 36:
            return ""
        return head

    def tip_at(self, point: QPointF) -> str:
        """Return the tool tip for a point of the widget."""
        at = self.camera.to_scene(point)
        key = tooltips.key_at(self.drawing, at.x(), at.y()) or self.key_at(point)
        return tooltips.tip(self.drawing, key or self.stage.head_at(at))

    def has_map(self) -> bool:
        """Return whether the minimap is shown; during a drag in it, it stays whatever it covers."""
        if not self.shows_map or not Minimap.is_needed(self.stage.bounds, self.camera, self.size):
            return False
        return self.map_dragged or Minimap.is_clear(self.stage, self.camera, self.size)

    def map_point(self, point: QPointF) -> QPointF | None:
        """Return the scene point at a point of the minimap; None where the minimap is not."""
        bounds, size = self.stage.bounds, self.size
        if not self.has_map():
            return None
        inside = Minimap.box(bounds, size).contains(point)
        return Minimap.to_scene(bounds, size, point) if inside or self.map_dragged else None

    # Painting.

    def paint(self, clip: QRect) -> None:
        """Paint the still layer and the motion above it, unless the layer is painted in turns."""
        is_seen = self._is_seen()
        if self._ahead.busy and is_seen and not is_covered(self._widget):
            return
        self._ahead.finish()
        self._on_screen = self._on_screen or is_seen
        with QPainter(self._widget) as painter:
            painter.setRenderHints(HINTS)
            painter.setClipRect(clip)
            self._paint(painter)

    def _paint(self, painter: QPainter) -> None:
        drawing, camera, moving = self.drawing, self.camera, self._animation
        view = QRectF(self._widget.rect())
        self.minimap.awaited = False
        if moving.morph is None:
            self._sharpened()
            painter.fillRect(view, drawing.theme.canvas)
            self.layer.draw(painter, camera)
        else:
            overlay.paint_ground(painter, view, camera, drawing.theme)
        painter.save()
        painter.translate(camera.x, camera.y)
        painter.scale(camera.zoom, camera.zoom)
        area = camera.box_to_scene(view)
        if moving.morph is not None:
            share, sprites = moving.morph_share(), moving.flight is None
            moving.morph.paint(painter, area, camera.zoom, share, sprites)
        else:
            overlay.paint_marks(painter, drawing, self.hovered, self.selected, camera.zoom, area)
            if moving.motion is not None and not self.stale:
                moving.motion.paint(painter, area, camera.zoom, moving.motion_share())
        painter.restore()
        if not moving.gliding and self.has_map():
            # A new layer and a new map in the same turn would take too long.
            hurried = self._renders != self.layer.renders
            self.minimap.paint(painter, drawing, camera, view.size(), hurried)
        if self.minimap.awaited or self.layer.unfinished:
            self._later.start()
        self._renders = self.layer.renders
        notice = PARTLY_STALE_NOTICE if drawing.fresh else STALE_NOTICE
        overlay.paint_rim(
            painter, self._widget, drawing.theme, self.focused, notice if self.stale else ""
        )

    def prepare(self) -> None:
        """Paint the still layer now: a turn that paints a whole window has no time to spare."""
        if self._widget.isVisible() and not self._animation.gliding:
            self._ahead.stop()
            self._sharpen.stop()
            self._sharpened()

    def _sharpened(self) -> None:
        """Repaint the still layer unless it covers the view, or the zoom is just changing."""
        ratio, size, layer = self._widget.devicePixelRatioF(), self.size, self.layer
        if layer.covers(self.camera, size, ratio):
            layer.follow(self.drawing, self.camera)
            return
        zooming = self._sharpen.isActive() or self._animation.flight is not None
        if not (zooming and layer.valid and layer.zoom != self.camera.zoom):
            layer.render(self.drawing, self.camera, size, ratio, self.stale)

    def _go_on(self) -> None:
        """Paint one margin, or the minimap, in a separate event loop turn."""
        if self.minimap.awaited:
            self._widget.update()
        elif self.layer.zoom == self.camera.zoom and self.layer.go_on(self.drawing):
            self._later.start()

    def repaint_all(self) -> None:
        """Discard all that is cached, and repaint."""
        self._ahead.stop()
        self.layer.valid = False
        self.minimap.forget()
        self._widget.update()

    def refresh(self, areas: Iterable[QRectF]) -> None:
        """Repaint some areas of the layer."""
        if self.layer.begun:
            # The part painted so far shows the old look.
            self._ahead.stop()
        self.layer.refresh(self.drawing, areas)

    def paint_ahead(self) -> None:
        """Repaint everything, some cards per turn, from the next turn on.

        The old content, if complete, is shown until then. Where pictures follow each other faster
        than that, they are painted at once.
        """
        can_wait = self._can_wait()
        self.repaint_all()
        if can_wait:
            self._ahead.run(self._painting())

    def show_when_painted(self) -> None:
        """Make the widget visible once all that is in view is painted, some cards per turn."""
        self._widget.setUpdatesEnabled(False)
        self.repaint_all()
        self._ahead.run(self._appearing())

    def _appearing(self) -> Iterator[bool | None]:
        try:
            yield from self._painting()
        finally:
            if shiboken6.isValid(self._widget):
                resume_paint(self._widget)

    def _can_wait(self) -> bool:
        still = not self._ahead.busy and not self._animation.gliding
        is_kept = self._on_screen and not is_covered(self._widget)
        return still and is_kept and self._widget.isVisible()

    def _sharpen_up(self) -> None:
        """Repaint the layer for the zoom reached by now, some cards per turn."""
        if self._can_wait() and self.layer.zoom != self.camera.zoom:
            self.layer.valid = False
            self._ahead.run(self._painting())
        self._widget.update()

    def _painting(self) -> Iterator[bool | None]:
        try:
            # Wait a turn, so that other changes in this turn are painted along.
            yield END_TURN
            ratio = self._widget.devicePixelRatioF()
            yield from self.layer.render_steps(
                self.drawing, self.camera, self.size, ratio, self.stale
            )
        finally:
            self.layer.begun = False
            if shiboken6.isValid(self._widget):
                self._widget.update()

    def leave_screen(self) -> None:
        """Paint at once next time: the widget was moved, resized, shown or hidden."""
        self._on_screen = False
        self._ahead.stop()

    def _is_seen(self) -> bool:
        """Return whether the current paint goes to the screen, not into a screenshot."""
        store = self._widget.backingStore()
        return store is not None and self._widget.redirected(QPoint()) is store.paintDevice()
