"""The graph widget: shows a tape, a placed picture and a look, and moves between them.

`GraphCanvas` paints it, `GraphInput` handles mouse and keys, `GraphAnimation` runs the clocks of
what moves.
"""

from collections.abc import Iterable

from PySide6.QtCore import (
    QEvent,
    QMetaMethod,
    QPoint,
    QPointF,
    QRectF,
    QSize,
    QSizeF,
    Qt,
    Signal,
)
from PySide6.QtGui import QContextMenuEvent, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QWidget

from gradscribe.engine.protocol.tape import Tape
from gradscribe.playback.graph.coloring import ColorLegend, Mode, Tinter
from gradscribe.playback.graph.picture import Look, Picture, Placement
from gradscribe.playback.translation import tr
from gradscribe.widgets.base import menus
from gradscribe.widgets.base.focus.ring import OWN_FOCUS
from gradscribe.widgets.base.motion import is_reduced
from gradscribe.widgets.base.theme import Theme
from gradscribe.widgets.graph import viewport
from gradscribe.widgets.graph.accessible import text as accessible_text
from gradscribe.widgets.graph.accessible.events import GraphReporter
from gradscribe.widgets.graph.accessible.interfaces import (
    AccessibleGraph,
    GraphActions,
    install_factory,
)
from gradscribe.widgets.graph.animation import GraphAnimation
from gradscribe.widgets.graph.camera import Camera, centered, fitting
from gradscribe.widgets.graph.canvas import GraphCanvas
from gradscribe.widgets.graph.following import CameraFollower, Follows
from gradscribe.widgets.graph.input import GraphInput
from gradscribe.widgets.graph.paint.card.cards import Layers
from gradscribe.widgets.graph.paint.drawing import FADED, GraphDrawing, detail_at
from gradscribe.widgets.graph.paint.morph import Morph
from gradscribe.widgets.graph.paint.motion import Motion
from gradscribe.widgets.graph.paint.stage import Stage
from gradscribe.widgets.graph.picture_menu import picture_entries
from gradscribe.widgets.graph.snapshot import GraphSnapshot

_EMPTY = Picture(cards=(), wires=())
_NOWHERE = Placement(cards={}, frames={}, routes={}, width=0, height=0)
_ELSEWHERE = (QEvent.Type.Resize, QEvent.Type.Move, QEvent.Type.Show, QEvent.Type.Hide)


class GraphView(QWidget):
    """View of a picture, with pan and zoom.

    ``picked`` carries the key of the card or wire clicked, empty for the ground; ``toggled`` the
    key of a module's card or frame that is to be opened or closed.
    """

    picked = Signal(str)
    toggled = Signal(str)
    menu_requested = Signal(str, QPoint)
    """Open a menu at a global point: of the selected *card*, *wire* or *module*, or the *graph*."""
    camera_changed = Signal()
    """Emitted when the camera has moved; see `camera`."""
    following_changed = Signal()
    """Emitted when `can_follow_on` may have changed."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        # Qt sends events while the parts are made.
        self._input: GraphInput | None = None
        stage = Stage(Tape(), _EMPTY, _NOWHERE)
        drawing = GraphDrawing(stage, Theme.load("light"), Layers())
        self._animation = GraphAnimation(self, self._tick)
        self.canvas = GraphCanvas(self, drawing, self._animation)
        self._input = GraphInput(self, self.canvas)
        self._input.picked.connect(self._pick)
        self._input.reached.connect(self._reach)
        self._input.toggled.connect(self.toggled)
        self._input.camera_requested.connect(self.set_camera)
        self._input.close_up_requested.connect(self.center_on)
        self._input.fit_requested.connect(self.fit)
        self._mode: Mode = ""
        self._fitted, self._partial, self._wants_whole = True, False, False
        self._began_in_part = False
        self.picks_for_menu, self.menu_key = True, ""
        """True if a right click is a pick, too; the key that the last menu is about."""
        self._following = CameraFollower()
        self._least_zoom = 0.0
        self._key_corner = viewport.NO_KEY
        self._reduced = False
        self.readable_zoom = viewport.READABLE_ZOOM
        """Smallest zoom at which a new graph is shown whole."""
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setMouseTracking(True)
        self.setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)
        self.setAccessibleName(tr("Computation graph"))
        self.setProperty(OWN_FOCUS, True)
        actions = GraphActions(self._reach, self.toggle, self.open_menu)
        self.accessible = AccessibleGraph(self, self.canvas, actions)
        """The cards and wires as children for assistive technology."""
        self._reporter = GraphReporter(self.accessible, self)
        install_factory()
        self._describe()

    def _pick(self, key: str) -> None:
        self.select(key)
        self.picked.emit(key)

    def _reach(self, key: str) -> None:
        self.select(key)
        self.reveal(key)
        self.picked.emit(key)

    def toggle(self, key: str) -> None:
        """Request to open a folded module, or to close the module around another card."""
        card = self.stage().cards.get(key)
        opener = key if card is None or card.kind == "module" else card.frame
        if opener:
            self.toggled.emit(opener)

    def open_menu(self, key: str) -> None:
        """Select a card or wire, and request its menu."""
        self._reach(key)
        self._request_menu(key, self._place_of(key))

    # Content.

    def set_theme(self, theme: Theme) -> None:
        """Show everything in the colours of ``theme``."""
        before = self.canvas.drawing.theme.scale
        self.canvas.drawing.set_theme(theme)
        if theme.scale != before and self._fitted:
            self._look_again()
        self.canvas.repaint_all()

    def prepare(self) -> None:
        """Paint the still layer ahead of painting the whole window."""
        self.canvas.prepare()

    def show_when_painted(self) -> None:
        """Become visible once all that is in view is painted, some cards per turn."""
        self.canvas.show_when_painted()

    def set_layers(self, values: bool, gradients: bool, shapes: bool, order: bool = False) -> None:
        """Show or hide numbers, gradients, shapes, and the order of the backward nodes."""
        layers, drawing = Layers(values, gradients, shapes, order), self.canvas.drawing
        if layers == drawing.layers:
            # Called again with every selection.
            return
        drawing.set_layers(layers)
        if self._animation.motion is not None:
            self._animation.motion = Motion(drawing, drawing.look, 0)
        self.canvas.repaint_all()

    def set_coloring(self, mode: Mode) -> None:
        """Colour the cards by a mode; the empty mode colours them by kind."""
        if mode != self._mode:
            self._mode = mode
            self.canvas.drawing.set_coloring(mode)
            self.canvas.repaint_all()

    def set_marks(self, tinter: Tinter | None) -> None:
        """Colour the cards of the current picture by ``tinter`` in place of any mode."""
        self.canvas.drawing.set_tinter(tinter)
        self.canvas.repaint_all()

    def set_focus(self, focus: frozenset[str] | None, hides: bool = False) -> None:
        """Fade, or hide, all cards of this picture but some; None shows all."""
        drawing, rest = self.canvas.drawing, 0.0 if hides else FADED
        if (focus, rest) != (drawing.focus, drawing.rest):
            drawing.set_focus(focus, rest)
            self.canvas.repaint_all()

    def focus(self) -> frozenset[str] | None:
        """Return the keys of the cards that are not faded; None if none is."""
        return self.canvas.drawing.focus

    def color_key(self) -> ColorLegend | None:
        """Return the key of the colours; None while cards are coloured by kind."""
        coloring = self.canvas.drawing.coloring
        return None if coloring is None else coloring.key()

    def set_reduced_motion(self, reduced: bool) -> None:
        """Jump instead of animating, from now on."""
        self._reduced = reduced
        if reduced:
            self.finish_motion()

    @property
    def _is_still(self) -> bool:
        return self._reduced or is_reduced()

    def set_stale(self, stale: bool, fresh: frozenset[str] = frozenset()) -> None:
        """Grey the graph and label it as the last good one, while a newer one fails.

        ``fresh``: keys of the cards that the newer one has, too; they keep their colours.
        """
        drawing = self.canvas.drawing
        fresh = fresh if stale else frozenset()
        if stale != self.canvas.stale or fresh != drawing.fresh:
            self.canvas.stale, drawing.fresh = stale, fresh
            self.canvas.repaint_all()

    def set_scene(
        self, tape: Tape, picture: Picture, placement: Placement, animate: bool = True
    ) -> None:
        """Show a picture; see `set_stage`."""
        self.set_stage(Stage(tape, picture, placement), animate)

    def set_stage(self, stage: Stage, animate: bool = True, by_hand: bool = True) -> None:
        """Show a placed picture; nothing in it is reached until `set_look`.

        A picture similar to the one before keeps the view and the selection, and its cards glide to
        their new places; any other is fitted. A module that opened or closed keeps its header in
        place, unless it did so by itself (not ``by_hand``) in a view that is fitted.
        """
        canvas, moving, old = self.canvas, self._animation, self.canvas.drawing
        moving.motion = moving.morph = None
        self._following.forget()
        canvas.drawing = GraphDrawing(stage, old.theme, old.layers)
        canvas.drawing.set_coloring(self._mode)
        canvas.drawing.set_zoom(canvas.camera.zoom)
        similar = stage.resembles(old.stage)
        if canvas.selected not in stage.cards and canvas.selected not in stage.wires:
            canvas.selected = ""
        canvas.hovered = ""
        canvas.minimap.forget()
        moves = animate and not self._is_still and self.isVisible()
        shift = self._hold(old.stage) if by_hand or not self._fitted else None
        if moves and Morph.is_worthwhile(old, canvas.drawing):
            moving.morph = Morph(old, canvas.drawing, shift)
            moving.start("morph")
        turned = stage.flows_down != old.stage.flows_down
        if shift is None and (turned or not similar):
            self._fitted, self._wants_whole, self._following.is_paused = True, False, False
        if self._fitted:
            self._first_look(moves and similar)
            self._began_in_part = self._partial
        canvas.paint_ahead()
        self._describe()
        self.following_changed.emit()

    def set_look(self, look: Look, duration_ms: int = 0) -> None:
        """Show a position; with a duration, animate the tokens that run there and their effects."""
        drawing, moving = self.canvas.drawing, self._animation
        old = drawing.look
        if look == old and not duration_ms:
            return
        unsettled = moving.motion.old if moving.motion else {}
        areas = drawing.set_look(look)
        self._following.forget()
        areas += [drawing.card_area(key) for key in unsettled]
        duration_ms = 0 if self._is_still or not self.isVisible() else duration_ms
        moving.motion = Motion(drawing, old, duration_ms)
        full = detail_at(self.camera().zoom) == "full"
        drawing.hidden = frozenset(moving.motion.old if full else ())
        if duration_ms:
            moving.start("motion")
        self.canvas.refresh(areas)
        if self.follows:
            self._follow()
        self._describe()
        self.update()
        self.following_changed.emit()

    def look(self) -> Look:
        """Return the look that is shown."""
        return self.canvas.drawing.look

    def stage(self) -> Stage:
        """Return the placed picture that is shown, for geometry and hit tests."""
        return self.canvas.stage

    def select(self, key: str | None) -> None:
        """Select a card or wire, without a signal; None or an unknown key selects nothing."""
        stage = self.stage()
        before = self.canvas.selected
        self.canvas.selected = key if key and (key in stage.cards or key in stage.wires) else ""
        self._describe()
        if self.canvas.selected != before:
            self._reporter.report_selection()
        self.update()

    def selected(self) -> str:
        """Return the key of the selected card or wire, empty for none."""
        return self.canvas.selected

    def snapshot(self) -> GraphSnapshot:
        """Return a snapshot of what is shown now, to be painted elsewhere."""
        return GraphSnapshot(self.canvas.drawing, self.canvas.selected)

    # Camera.

    def camera(self) -> Camera:
        """Return the current view."""
        return self.canvas.camera

    def set_camera(self, camera: Camera) -> None:
        """Move the view to ``camera``; later pictures keep the view until `fit`."""
        # Who zooms wants to see closely what plays; who moves the view, something else.
        is_moved = camera.zoom == self.camera().zoom or camera.zoom < self._least_zoom
        self._fitted = self._partial = False
        self._following.is_paused = self._following.is_paused or is_moved
        self._look_at(camera, False)

    @property
    def shows_whole(self) -> bool:
        """True while the whole graph stays in view."""
        return self._fitted and not self._partial

    def fit(self) -> None:
        """Show the whole graph."""
        self._fitted, self._wants_whole, self._following.is_paused = True, True, False
        self._began_in_part = False
        self._first_look(True)

    def set_least_zoom(self, zoom: float) -> None:
        """Show graphs at this zoom or a larger one from now on, in part if necessary; 0: as usual.

        The whole graph can still be seen on request.
        """
        if zoom == self._least_zoom:
            return
        is_switched = not zoom or not self._least_zoom
        self._least_zoom = zoom
        # Where cards are this large, it would cover much of one.
        self.canvas.shows_map = not zoom
        if is_switched:
            self._fitted, self._wants_whole, self._following.is_paused = True, False, False
        if self._fitted:
            self._look_again()

    # Following what plays.

    def set_following(self, follows: Follows) -> None:
        """Bring into view what plays: never, always, or in the first view of a large graph.

        In the first view it ends as soon as the camera is moved by hand. Otherwise a move by hand
        pauses it until `follow_on`; another zoom does not.
        """
        self._following.mode, self._following.is_paused = follows, False
        self.following_changed.emit()
        if self.follows:
            self._follow()

    @property
    def follows(self) -> bool:
        """True while the camera follows what plays."""
        return self._following.is_on(self._fitted and self._partial)

    @property
    def can_follow_on(self) -> bool:
        """True while following is paused and what plays is out of view."""
        is_paused = self._following.mode == "on" and self._following.is_paused
        return is_paused and self._following_view(self.camera()) is not None

    def follow_on(self) -> None:
        """Follow what plays again, if that is on, at a readable size."""
        if self._following.mode != "on":
            return
        self._following.is_paused = False
        if self._destination().zoom < self._least_zoom:
            self._show_readably()
        else:
            self._follow()
        self.following_changed.emit()

    def _show_readably(self) -> None:
        look, size = self.look(), self.canvas.size
        near = self._following.close_view(self.stage(), look, self._least_zoom, size)
        self._fitted, self._wants_whole = near is None, False
        if near is None:
            self._first_look(True)
        else:
            self._partial = False
            self._look_at(near, True)

    def _following_view(self, camera: Camera) -> Camera | None:
        return self._following.view(self.stage(), self.look(), camera, self.canvas.size)

    def _destination(self) -> Camera:
        """Return the camera at the end of its flight."""
        flight = self._animation.flight
        return flight[1] if flight else self.camera()

    def _follow(self, glide: bool = True) -> None:
        """Bring the active card into view, where only a part of the graph is seen."""
        target = self._following_view(self._destination())
        if target is not None:
            self._look_at(target, glide)

    def _look_again(self) -> None:
        """Take the first view again, in another size of text or widget, and follow from there."""
        self._first_look()
        if self.follows:
            self._follow(False)

    def reserve_corner(self, corner: QSizeF) -> None:
        """Reserve a corner of this size at the upper right where the whole graph is shown."""
        if corner != self._key_corner:
            self._key_corner = corner
            if self.shows_whole:
                self._look_at(self._whole(), True)

    def zoom_by(self, factor: float, about: QPointF | None = None) -> None:
        """Zoom about a point of the widget, its middle by default."""
        about = about if about is not None else QPointF(self.width() / 2, self.height() / 2)
        self.set_camera(self.camera().zoomed(factor, about))

    def center_on(self, key: str, zoom: float | None = None) -> None:
        """Center the view on a card, at ``zoom`` if that is given."""
        box = self.stage().boxes.get(key)
        if box is not None:
            self.glide_to(centered(box, self.canvas.size, zoom or self.camera().zoom))

    def zoom_to(self, key: str) -> None:
        """Show a card with its neighbours, a wire with both its ends, or a whole frame."""
        box = viewport.surrounding_box(self.stage(), key)
        if not box.isEmpty():
            self.glide_to(fitting(box, self.canvas.size))

    def reveal(self, key: str) -> None:
        """Scroll a card, or the source of a wire, into view if it is not."""
        key = self.stage().wires[key].source if key in self.stage().wires else key
        box = self.stage().boxes.get(key)
        inside = QRectF(QPointF(), self.canvas.size).adjusted(16, 16, -16, -16)
        if box is not None and not inside.contains(self.camera().box_to_view(box)):
            self.center_on(key)

    def reveal_all(self, keys: Iterable[str]) -> None:
        """Glide to a view with all of these cards, unless they are in sight."""
        target = viewport.view_of(self.stage(), keys, self.camera(), self.canvas.size)
        if target is not None:
            self.glide_to(target)

    def _first_look(self, glide: bool = False) -> None:
        """Move to the first view of a picture in this size of the widget, or to all of it."""
        if self._wants_whole:
            camera, self._partial = self._whole(), False
        else:
            camera, self._partial = viewport.first_view(
                self.stage(),
                self.canvas.size,
                self.canvas.drawing.theme.scale,
                self._key_corner,
                self.readable_zoom,
                self._least_zoom,
            )
        self._look_at(camera, glide)

    def _whole(self) -> Camera:
        stage, scale = self.stage(), self.canvas.drawing.theme.scale
        size, least = self.canvas.size, self._least_zoom
        return viewport.whole_view(stage, size, scale, self._key_corner, least)

    def glide_to(self, camera: Camera) -> None:
        """Move to ``camera``, keep that view, and follow nothing for a while."""
        self._fitted = self._partial = False
        self._following.is_paused = True
        self._look_at(camera, True)

    def _hold(self, old: Stage) -> QPointF | None:
        """Keep the header of the module that opened or closed in place on the screen."""
        shift = viewport.toggle_shift(old, self.stage())
        if shift is not None:
            away = shift * self.camera().zoom
            self._animation.flight, self._fitted = None, False
            self._set_zoomed(self.camera().moved(-away.x(), -away.y()))
        return shift

    def _look_at(self, camera: Camera, glide: bool) -> None:
        if glide and not self._is_still and self.isVisible() and camera != self.camera():
            self._animation.flight = (self.camera(), camera)
            self._animation.start("flight")
        else:
            self._animation.flight = None
            self._set_zoomed(camera)
        self.update()

    def _set_zoomed(self, camera: Camera) -> None:
        self.canvas.set_camera(camera)
        self.camera_changed.emit()
        if self._following.is_paused:
            self.following_changed.emit()

    # Motion.

    def finish_motion(self) -> None:
        """End all motion at once."""
        moving = self._animation
        moving.morph = None
        if moving.flight is not None:
            self._set_zoomed(moving.flight[1])
            moving.flight = None
        if moving.motion is not None:
            moving.motion.duration_ms = 0
            self._end_motion()
        moving.ticks.stop()
        self.update()

    def _tick(self) -> None:
        moving = self._animation
        camera = moving.fly()
        if camera is not None:
            self._set_zoomed(camera)
        if moving.morph_share() >= 1:
            moving.morph = None
        share = moving.motion_share()
        if share >= 1:
            self._end_motion()
        if share >= 2 and not moving.gliding:
            moving.ticks.stop()
        self.update()

    def _end_motion(self) -> None:
        """Paint the cards that were moving into the still layer."""
        motion, drawing = self._animation.motion, self.canvas.drawing
        if motion is not None and motion.old:
            drawing.hidden = frozenset()
            areas = [drawing.card_area(key) for key in motion.old]
            motion.old = {}
            self.canvas.refresh(areas)

    # Events and descriptions.

    def sizeHint(self) -> QSize:
        """Return a size that shows a small graph at 100 %."""
        return QSize(760, 640)

    def minimumSizeHint(self) -> QSize:
        """Return the smallest useful size."""
        return QSize(220, 180)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Keep the whole graph in view if it was at first; else take the first view again."""
        super().resizeEvent(event)
        if self._fitted and (self._began_in_part or self._least_zoom):
            self._look_again()
        elif self._fitted:
            self._look_at(self._whole(), False)
        elif self.follows:
            self._follow(False)
        self.update()

    def event(self, happened: QEvent) -> bool:
        """Offer input to `GraphInput` first; called by Qt."""
        if happened.type() in _ELSEWHERE:
            self.canvas.leave_screen()
        is_consumed = self._input is not None and self._input.handle(happened)
        is_consumed = is_consumed or super().event(happened)
        if happened.type() == QEvent.Type.FocusIn and self.selected():
            self._reporter.report_selection()
        return is_consumed

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint the graph."""
        self.canvas.paint(event.rect())

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """Request the menu of what is under the mouse, or by keyboard of what is selected."""
        if not self.isSignalConnected(QMetaMethod.fromSignal(self.menu_requested)):
            menus.pop_up(self, event.globalPos(), picture_entries(self))
            return
        stage = self.stage()
        if event.reason() == QContextMenuEvent.Reason.Keyboard:
            key = self.selected()
            at = self._place_of(key)
        else:
            at = QPointF(event.pos())
            key = self.canvas.key_at(at) or stage.head_at(self.camera().to_scene(at))
            if key and key != self.selected():
                self.select(key)
                if self.picks_for_menu:
                    self.picked.emit(key)
        self._request_menu(key, at)
        event.accept()

    def _request_menu(self, key: str, at: QPointF) -> None:
        self.menu_key = key
        inside = QPoint(
            min(max(round(at.x()), 0), self.width()), min(max(round(at.y()), 0), self.height())
        )
        self.menu_requested.emit(self._kind_of(key), self.mapToGlobal(inside))

    def _place_of(self, key: str) -> QPointF:
        """Return the middle of a card, frame or wire in the widget; else that of the widget."""
        place = self._middle_of(key)
        return QPointF(self.rect().center()) if place is None else self.camera().to_view(place)

    def _middle_of(self, key: str) -> QPointF | None:
        """Return the scene point in the middle of a card, a frame or a wire; None for none."""
        stage = self.stage()
        box = stage.boxes.get(key) or stage.frame_boxes.get(key)
        if box is not None:
            return box.center()
        if key not in stage.wires:
            return None
        x, y, _ = stage.track(key).at(0.5)
        return QPointF(x, y)

    def _kind_of(self, key: str) -> str:
        """Return what a key stands for; the graph for none."""
        stage = self.stage()
        if key in stage.cards:
            return "module" if stage.cards[key].kind == "module" else "card"
        if key in stage.frame_boxes:
            return "module"
        return "wire" if key else "graph"

    def _describe(self) -> None:
        """Update the accessible description: the selection, or the whole graph."""
        self.setAccessibleDescription(self.words(self.selected()))
        self._reporter.report_content()

    def words(self, key: str) -> str:
        """Return a text description of a card or wire; for an empty key, of the whole graph."""
        return accessible_text.describe(self.canvas.drawing, key)
