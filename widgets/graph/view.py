"""The graph widget: a still layer cached as a pixmap, and what moves on top.

Everything shown is a function of a tape, a placed picture, and a look. Painters are in
`widgets.graph.paint`; mouse and keys are handled in `widgets.graph.input`.
"""

from PySide6.QtCore import QPointF, QRectF, QSize, QSizeF, Qt, QTimer, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QWidget

from gradscribe.engine.protocol.tape import Tape
from gradscribe.playback.graph.picture import Look, Picture, Placement
from gradscribe.widgets.base.theme import Theme
from gradscribe.widgets.graph import accessible_text, tooltips, viewport
from gradscribe.widgets.graph.camera import Camera, centered, fitting
from gradscribe.widgets.graph.colors import GraphColors
from gradscribe.widgets.graph.paint.cards import Layers
from gradscribe.widgets.graph.paint.drawing import GraphDrawing, detail_at
from gradscribe.widgets.graph.paint.morph import DURATION_MS, Morph
from gradscribe.widgets.graph.paint.motion import Motion
from gradscribe.widgets.graph.paint.stage import Stage
from gradscribe.widgets.graph.paint.tokens import ease

FRAME_MS = 16
FIT_MS = 300

_EMPTY = Picture(cards=(), wires=())
_NOWHERE = Placement(cards={}, frames={}, routes={}, width=0, height=0)


class GraphView(GraphColors):
    """View of a picture, with pan and zoom.

    ``picked`` carries the key of the card or wire clicked, empty for the ground; ``toggled`` the
    key of a module's card or frame that is to be opened or closed.
    """

    picked = Signal(str)
    toggled = Signal(str)
    camera_changed = Signal()
    """Emitted when the camera has moved; see `camera`."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._layers = Layers()
        stage = Stage(Tape(), _EMPTY, _NOWHERE)
        self._drawing = GraphDrawing(stage, Theme.load("light"), self._layers)
        self._fitted, self._following = True, False
        self._key_room = viewport.NO_KEY
        self._selected = self._hovered = ""
        self._reduced = False
        self._ticks = QTimer(self)
        self._ticks.setTimerType(Qt.TimerType.PreciseTimer)
        self._ticks.setInterval(FRAME_MS)
        self._ticks.timeout.connect(self._tick)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setMouseTracking(True)
        self.setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)
        self.setAccessibleName("Computation graph")
        self._describe()

    # Content.

    def set_theme(self, theme: Theme) -> None:
        """Show everything in the colours of ``theme``."""
        before = self._drawing.theme.scale
        self._drawing.set_theme(theme)
        if theme.scale != before and self._fitted:
            self._first_look()
        self._repaint_all()

    def prepare(self) -> None:
        """Paint the still layer now: a turn that paints a whole window has no time to spare."""
        if self.isVisible() and self._morph is None and self._flight is None:
            self._ahead.stop()
            self._sharpen.stop()
            self._sharpened()

    def set_layers(self, values: bool, gradients: bool, shapes: bool) -> None:
        """Show or hide numbers, gradients and shapes."""
        layers = Layers(values, gradients, shapes)
        if layers == self._layers:
            # Called again with every selection.
            return
        self._layers = layers
        self._drawing.set_layers(self._layers)
        if self._motion is not None:
            self._motion = Motion(self._drawing, self._drawing.look, 0)
        self._repaint_all()

    def set_reduced_motion(self, reduced: bool) -> None:
        """Jump instead of animating, from now on."""
        self._reduced = reduced
        if reduced:
            self.finish_motion()

    def set_stale(self, stale: bool) -> None:
        """Grey the graph and label it as the last good one, while a newer one fails."""
        if stale != self._stale:
            self._stale = stale
            self._repaint_all()

    def is_stale(self) -> bool:
        """Return whether the graph is marked as out of date."""
        return self._stale

    def set_scene(
        self, tape: Tape, picture: Picture, placement: Placement, animate: bool = True
    ) -> None:
        """Show a picture; see `set_stage`."""
        self.set_stage(Stage(tape, picture, placement), animate)

    def set_stage(self, stage: Stage, animate: bool = True) -> None:
        """Show a placed picture; nothing in it is reached until `set_look`.

        A picture similar to the one before keeps the view and the selection, and its cards glide to
        their new places; any other is fitted.
        """
        old = self._drawing
        self._motion = self._morph = None
        self._drawing = GraphDrawing(stage, old.theme, self._layers)
        self._drawing.set_coloring(self._mode)
        self._drawing.set_zoom(self._camera.zoom)
        similar = stage.resembles(old.stage)
        if self._selected not in stage.cards and self._selected not in stage.wires:
            self._selected = ""
        self._hovered = ""
        self._minimap.forget()
        moves = animate and not self._reduced and self.isVisible()
        shift = self._hold(old.stage)
        if moves and Morph.is_worthwhile(old, self._drawing):
            self._morph = Morph(old, self._drawing, shift)
            self._start("morph")
        turned = stage.flows_down != old.stage.flows_down
        if shift is None and (turned or not similar):
            self._fitted = True
        if self._fitted:
            self._first_look(moves and similar)
        self._paint_ahead()
        self._describe()

    def set_look(self, look: Look, duration_ms: int = 0) -> None:
        """Show a position; with a duration, animate the tokens that run there and their effects."""
        old = self._drawing.look
        if look == old and not duration_ms:
            return
        moving = self._motion.old if self._motion else {}
        areas = self._drawing.set_look(look)
        areas += [self._drawing.card_area(key) for key in moving]
        duration_ms = 0 if self._reduced or not self.isVisible() else duration_ms
        self._motion = Motion(self._drawing, old, duration_ms)
        full = detail_at(self._camera.zoom) == "full"
        self._drawing.hidden = frozenset(self._motion.old if full else ())
        if duration_ms:
            self._start("motion")
        self._refresh(areas)
        if self._following:
            self._follow()
        self._describe()
        self.update()

    def look(self) -> Look:
        """Return the look that is shown."""
        return self._drawing.look

    def stage(self) -> Stage:
        """Return the placed picture that is shown, for geometry and hit tests."""
        return self._drawing.stage

    def select(self, key: str | None) -> None:
        """Select a card or wire, without a signal; None or an unknown key selects nothing."""
        stage = self._drawing.stage
        self._selected = key if key and (key in stage.cards or key in stage.wires) else ""
        self._describe()
        self.update()

    def selected(self) -> str:
        """Return the key of the selected card or wire, empty for none."""
        return self._selected

    # Camera.

    def camera(self) -> Camera:
        """Return the current view."""
        return self._camera

    def set_camera(self, camera: Camera) -> None:
        """Move the view to ``camera``; later pictures keep the view until `fit`."""
        self._fitted = self._following = False
        self._look_at(camera, False)

    def fit(self) -> None:
        """Show the whole graph."""
        self._fitted, self._following = True, False
        self._look_at(self._whole(), True)

    def reserve_corner(self, corner: QSizeF) -> None:
        """Reserve a corner of this size at the upper right where the whole graph is shown."""
        if corner != self._key_room:
            self._key_room = corner
            if self._fitted and not self._following:
                self._look_at(self._whole(), True)

    def zoom_by(self, factor: float, about: QPointF | None = None) -> None:
        """Zoom about a point of the widget, its middle by default."""
        about = about if about is not None else QPointF(self.width() / 2, self.height() / 2)
        self.set_camera(self._camera.zoomed(factor, about))

    def center_on(self, key: str, zoom: float | None = None) -> None:
        """Center the view on a card, at ``zoom`` if that is given."""
        box = self._drawing.stage.boxes.get(key)
        if box is not None:
            self._fitted = self._following = False
            self._look_at(centered(box, self._view(), zoom or self._camera.zoom), True)

    def zoom_to(self, key: str) -> None:
        """Show a card with its neighbours, a wire with both its ends, or a whole frame."""
        box = viewport.surrounding_box(self._drawing.stage, key)
        if not box.isEmpty():
            self._fitted = self._following = False
            self._look_at(fitting(box, self._view()), True)

    def reveal(self, key: str) -> None:
        """Scroll a card into view if it is not."""
        box = self._drawing.stage.boxes.get(key)
        inside = QRectF(QPointF(), self._view()).adjusted(16, 16, -16, -16)
        if box is not None and not inside.contains(self._camera.box_to_view(box)):
            self.center_on(key)

    def _first_look(self, glide: bool = False) -> None:
        """Move to the first view of a new picture, or of the same one in a new widget size."""
        stage, scale = self._drawing.stage, self._drawing.theme.scale
        camera, self._following = viewport.first_view(stage, self._view(), scale, self._key_room)
        self._look_at(camera, glide)

    def _whole(self) -> Camera:
        stage, scale = self._drawing.stage, self._drawing.theme.scale
        return viewport.whole_view(stage, self._view(), scale, self._key_room)

    def _follow(self) -> None:
        """Bring the active card into view, where only a part of the graph is seen."""
        camera = self._flight[1] if self._flight else self._camera
        drawing = self._drawing
        target = viewport.following_view(drawing.stage, drawing.look, camera, self._view())
        if target is not None:
            self._look_at(target, True)

    def _hold(self, old: Stage) -> QPointF | None:
        """Keep the header of the module that opened or closed in place on the screen."""
        shift = viewport.toggle_shift(old, self._drawing.stage)
        if shift is not None:
            away = shift * self._camera.zoom
            self._flight, self._fitted = None, False
            self._set_zoomed(self._camera.moved(-away.x(), -away.y()))
        return shift

    def _look_at(self, camera: Camera, glide: bool) -> None:
        if glide and not self._reduced and self.isVisible() and camera != self._camera:
            self._flight = (self._camera, camera)
            self._start("flight")
        else:
            self._flight = None
            self._set_zoomed(camera)
        self.update()

    def _set_zoomed(self, camera: Camera) -> None:
        if camera.zoom != self._camera.zoom:
            self._sharpen.start()
        self._camera = camera
        self._drawing.set_zoom(camera.zoom)
        self.camera_changed.emit()

    def _view(self) -> QSizeF:
        return QSizeF(self.size())

    def is_moving(self) -> bool:
        """Return whether anything is still in motion."""
        return self._ticks.isActive()

    def finish_motion(self) -> None:
        """End all motion at once."""
        self._morph = None
        if self._flight is not None:
            self._set_zoomed(self._flight[1])
            self._flight = None
        if self._motion is not None:
            self._motion.duration_ms = 0
            self._end_motion()
        self._ticks.stop()
        self.update()

    def _start(self, clock: str) -> None:
        self._clocks[clock].start()
        self._ticks.start()

    def _tick(self) -> None:
        if self._flight is not None:
            share = self._clocks["flight"].elapsed() / FIT_MS
            start, end = self._flight
            self._set_zoomed(start.interpolated(end, ease(share)))
            self._flight = self._flight if share < 1 else None
        if self._morph is not None and self._clocks["morph"].elapsed() >= DURATION_MS:
            self._morph = None
        share = self._motion.share(self._clocks["motion"].elapsed()) if self._motion else 2.0
        if share >= 1:
            self._end_motion()
        if share >= 2 and self._flight is None and self._morph is None:
            self._ticks.stop()
        self.update()

    def _end_motion(self) -> None:
        """Paint the cards that were moving into the still layer."""
        motion = self._motion
        if motion is not None and motion.old:
            self._drawing.hidden = frozenset()
            areas = [self._drawing.card_area(key) for key in motion.old]
            motion.old = {}
            self._refresh(areas)

    def sizeHint(self) -> QSize:
        """Return a size that shows a small graph at 100 %."""
        return QSize(760, 640)

    def minimumSizeHint(self) -> QSize:
        """Return the smallest useful size."""
        return QSize(220, 180)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Keep the whole graph in view if it was."""
        super().resizeEvent(event)
        if self._fitted and self._following:
            self._first_look()
        elif self._fitted:
            self._look_at(self._whole(), False)
        self.update()

    def _describe(self) -> None:
        """Update the accessible description: the selection, or the whole graph."""
        self.setAccessibleDescription(self.words(self._selected))

    def words(self, key: str) -> str:
        """Return a text description of a card or wire; for an empty key, of the whole graph."""
        return accessible_text.describe(self._drawing, key)

    def tip_at(self, point: QPointF) -> str:
        """Return the tool tip for a point of the widget."""
        at, stage = self._camera.to_scene(point), self._drawing.stage
        key = tooltips.key_at(self._drawing, at.x(), at.y()) or self.key_at(point)
        return tooltips.tip(self._drawing, key or stage.head_at(at))
