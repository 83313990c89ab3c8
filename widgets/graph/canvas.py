"""Painting of the graph widget: a cached still layer, the motion above it, and the minimap."""

from collections.abc import Iterable, Iterator

import shiboken6
from PySide6.QtCore import QElapsedTimer, QEvent, QPoint, QRectF, QSizeF
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QWidget

from gradscribe.widgets.base.deferred_paint import resume_paint
from gradscribe.widgets.base.single_shot import single_shot
from gradscribe.widgets.base.time_slices import END_TURN, TimeSlices
from gradscribe.widgets.graph.camera import Camera
from gradscribe.widgets.graph.export import GraphExport
from gradscribe.widgets.graph.paint import overlay
from gradscribe.widgets.graph.paint.layer import HINTS, StaticLayer
from gradscribe.widgets.graph.paint.minimap import Minimap
from gradscribe.widgets.graph.paint.morph import DURATION_MS, Morph

SHARPEN_MS = 70
"""Delay between the last zoom step and a repaint of the layer, which is shown scaled until then."""
SLICE_MS = 8
"""Time per event loop turn for painting the layer; the old layer is shown until it is complete."""
_ELSEWHERE = (QEvent.Type.Resize, QEvent.Type.Move, QEvent.Type.Show, QEvent.Type.Hide)


class GraphSheet(GraphExport):
    """The part of the graph view that paints: what is in view at once, the margins later."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._layer, self._minimap = StaticLayer(), Minimap()
        self._camera = Camera()
        self._stale = False
        self._renders = 0
        self._on_screen = False
        """True once the widget was painted to the screen at its present place and size."""
        self._morph: Morph | None = None
        self._flight: tuple[Camera, Camera] | None = None
        self._clocks = {name: QElapsedTimer() for name in ("motion", "morph", "flight")}
        self._motion = None
        self._sharpen = single_shot(self, self._sharpen_up, SHARPEN_MS)
        self._later = single_shot(self, self._go_on)
        self._ahead = TimeSlices(SLICE_MS, self)
        # The pause between turns lets new requests and other widgets' painting come first.
        self._ahead.rest_ms = 1

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the still layer and the motion above it."""
        is_seen = self._is_seen()
        if self._ahead.busy and is_seen:
            return
        self._ahead.finish()
        self._on_screen = self._on_screen or is_seen
        painter = QPainter(self)
        try:
            painter.setRenderHints(HINTS)
            painter.setClipRect(event.rect())
            self._paint(painter)
        finally:
            painter.end()

    def _paint(self, painter: QPainter) -> None:
        view, drawing, camera = QRectF(self.rect()), self._drawing, self._camera
        self._minimap.awaited = False
        if self._morph is None:
            self._sharpened()
            painter.fillRect(view, drawing.theme.canvas)
            self._layer.draw(painter, camera)
        else:
            overlay.paint_ground(painter, view, camera, drawing.theme)
        painter.save()
        painter.translate(camera.x, camera.y)
        painter.scale(camera.zoom, camera.zoom)
        area = camera.box_to_scene(view)
        if self._morph is not None:
            share = self._clocks["morph"].elapsed() / DURATION_MS
            self._morph.paint(painter, area, camera.zoom, share, self._flight is None)
        else:
            overlay.paint_marks(painter, drawing, self._hovered, self._selected, camera.zoom, area)
            if self._motion is not None and not self._stale:
                share = self._motion.share(self._clocks["motion"].elapsed())
                self._motion.paint(painter, area, camera.zoom, share)
        painter.restore()
        gliding = self._flight is not None or self._morph is not None
        if not gliding and self._has_map():
            # A new layer and a new map in the same turn would take too long.
            hurried = self._renders != self._layer.renders
            self._minimap.paint(painter, drawing, camera, view.size(), hurried)
        if self._minimap.awaited or self._layer.unfinished:
            self._later.start()
        self._renders = self._layer.renders
        overlay.paint_rim(painter, self, drawing.theme, self._by_keys, self._stale)

    def _has_map(self) -> bool:
        """Return whether the minimap is shown; during a drag in it, it stays whatever it covers."""
        stage, view = self._drawing.stage, QSizeF(self.size())
        if not Minimap.is_needed(stage.bounds, self._camera, view):
            return False
        return self._on_map or Minimap.is_clear(stage, self._camera, view)

    def _sharpened(self) -> None:
        """Repaint the still layer unless it covers the view, or the zoom is just changing."""
        ratio, view = self.devicePixelRatioF(), QSizeF(self.size())
        if self._layer.covers(self._camera, view, ratio):
            self._layer.follow(self._drawing, self._camera)
            return
        zooming = self._sharpen.isActive() or self._flight is not None
        zooming = zooming and self._layer.valid and self._layer.zoom != self._camera.zoom
        if not zooming:
            self._layer.render(self._drawing, self._camera, view, ratio, self._stale)

    def _go_on(self) -> None:
        """Paint one margin, or the minimap, in a separate event loop turn."""
        if self._minimap.awaited:
            self.update()
        elif self._layer.zoom == self._camera.zoom and self._layer.go_on(self._drawing):
            self._later.start()

    def _repaint_all(self) -> None:
        self._ahead.stop()
        self._layer.valid = False
        self._minimap.forget()
        self.update()

    def _refresh(self, areas: Iterable[QRectF]) -> None:
        """Repaint some areas of the layer."""
        if self._layer.begun:
            # The part painted so far shows the old look.
            self._ahead.stop()
        self._layer.refresh(self._drawing, areas)

    def _paint_ahead(self) -> None:
        """Repaint everything, some cards per turn, from the next turn on.

        The old content, if complete, is shown until then. Where pictures follow each other faster
        than that, they are painted at once.
        """
        can_wait = self._can_wait()
        self._repaint_all()
        if can_wait:
            self._ahead.run(self._painting())

    def show_when_painted(self) -> None:
        """Become visible once all that is in view is painted, some cards per turn."""
        self.setUpdatesEnabled(False)
        self._repaint_all()
        self._ahead.run(self._appearing())

    def _appearing(self) -> Iterator[bool | None]:
        try:
            yield from self._painting()
        finally:
            if shiboken6.isValid(self):
                resume_paint(self)

    def _can_wait(self) -> bool:
        moves = self._morph is not None or self._flight is not None
        return not self._ahead.busy and not moves and self._on_screen and self.isVisible()

    def _sharpen_up(self) -> None:
        """Repaint the layer for the zoom reached by now, some cards per turn."""
        if self._can_wait() and self._layer.zoom != self._camera.zoom:
            self._layer.valid = False
            self._ahead.run(self._painting())
        self.update()

    def _painting(self) -> Iterator[bool | None]:
        try:
            # Wait a turn, so that other changes in this turn are painted along.
            yield END_TURN
            view, ratio = QSizeF(self.size()), self.devicePixelRatioF()
            drawing, camera = self._drawing, self._camera
            yield from self._layer.render_steps(drawing, camera, view, ratio, self._stale)
        finally:
            self._layer.begun = False
            if shiboken6.isValid(self):
                self.update()

    def event(self, happened: QEvent) -> bool:
        """Paint at once after the widget was moved, resized, shown or hidden; called by Qt."""
        if happened.type() in _ELSEWHERE:
            self._on_screen = False
            self._ahead.stop()
        return super().event(happened)

    def _is_seen(self) -> bool:
        """Return whether the current paint goes to the screen, not into a screenshot."""
        store = self.backingStore()
        return store is not None and self.redirected(QPoint()) is store.paintDevice()
