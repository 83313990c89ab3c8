"""Frames of a film of the graph: what the view would show while the tape plays."""

from collections.abc import Callable, Generator
from typing import Protocol

from msgspec import Struct
from PySide6.QtCore import QPointF, QRectF, QSize, QSizeF, Qt
from PySide6.QtGui import QImage, QPainter, QPolygonF

from gradscribe.engine.protocol.tape import Tape
from gradscribe.playback.graph import look
from gradscribe.playback.graph.coloring import Mode
from gradscribe.playback.graph.picture import Flow, Look
from gradscribe.playback.tape import scenes
from gradscribe.playback.tape.scenes import Scene
from gradscribe.playback.tape.tempo import VideoFrame, VideoTiming
from gradscribe.playback.translation import tr
from gradscribe.widgets.base.drive import run_to_end
from gradscribe.widgets.base.theme import Theme
from gradscribe.widgets.graph import viewport
from gradscribe.widgets.graph.camera import MAX_FIT_ZOOM, Camera
from gradscribe.widgets.graph.paint import overlay, shapes
from gradscribe.widgets.graph.paint.card.cards import Layers
from gradscribe.widgets.graph.paint.drawing import GraphDrawing, detail_at
from gradscribe.widgets.graph.paint.layer import HINTS
from gradscribe.widgets.graph.paint.motion import Motion
from gradscribe.widgets.graph.paint.stage import Stage
from gradscribe.widgets.graph.paint.wire.tokens import ease

MAX_SIZE, MIN_SIZE = QSize(1280, 960), QSize(480, 320)
"""Limits of the graph's size in pixels, without the caption bar below it."""
CAPTION_HEIGHT = 44
"""Height of the caption bar in units."""
USUAL_SIZE = QSize(1280, 720)
"""Size from which a film of a given size shows everything larger, not more of it."""
MAX_ASIDE = 0.45
"""Largest share of the width for the column next to the graph."""
GLIDE_MS = 300
ITEMS_PER_STEP = 12
"""Wires, cards and labels painted per step."""
_MARGIN = 30.0
_PHASES = {
    "forward": tr("Forward"),
    "backward": tr("Backward"),
    "update": tr("Update"),
    "": "",
}

PlaceScene = Callable[[Scene], Stage]
"""Function that builds the picture of a scene and lays it out."""


class FilmStyle(Struct, frozen=True):
    """Appearance of a film."""

    theme: Theme
    layers: Layers = Layers()
    mode: Mode = ""
    flow: Flow = "down"
    size: tuple[int, int] | None = None
    """Width and height of the frames in pixels, both even; None for a size that fits the graph."""


class FilmAside(Protocol):
    """A column to the left of the graph, painted in each frame."""

    width: float
    """Wanted width, in units of a frame of the usual size."""

    def paint(self, painter: QPainter, area: QRectF, position: int, shown: Look) -> None:
        """Paint it into ``area`` for a position."""


class GraphFilm:
    """Painter of the frames of one tape, in order; a big graph is followed, not shrunk.

    ``span`` are the first and the last position of the film; None for those of the tape.
    """

    def __init__(
        self,
        tape: Tape,
        placed: PlaceScene,
        style: FilmStyle,
        span: tuple[int, int] | None = None,
        aside: FilmAside | None = None,
    ) -> None:
        self.tape, self.style = tape, style
        self._placed, self._aside = placed, aside
        self._span = span or (0, len(tape.events))
        self._scenes = scenes.scenes(tape)
        self._number = -1
        self._enter(largest_scene(self._scenes, self._span))
        self._unit = frame_unit(style.size)
        """Pixels per unit: texts and cards of a large film grow with it."""
        self._aside_width = self._width_of_aside()
        self.size = self._frame_size()

    def _enter(self, number: int) -> None:
        """Go to a scene, with nothing in it reached yet."""
        if number == self._number:
            return
        self._number = number
        self._scene = self._scenes[number]
        stage = self._placed(self._scene)
        self._picture = stage.picture
        self._drawing = GraphDrawing(stage, self.style.theme, self.style.layers)
        self._drawing.set_coloring(self.style.mode)
        self._at, self._motion = -1, Motion(self._drawing, self._drawing.look, 0)
        self._camera: Camera | None = None
        self._flight: tuple[Camera, Camera] | None = None
        self._flown = 0.0

    def _width_of_aside(self) -> float:
        """Return the units that the column takes of a frame."""
        if self._aside is None:
            return 0.0
        size = self.style.size
        whole = MAX_SIZE.width() if size is None else size[0] / self._unit
        return float(round(min(self._aside.width, MAX_ASIDE * whole)))

    def _frame_size(self) -> QSize:
        """Return the pixels of all frames; both sides are even, as video encoders require."""
        if self.style.size is not None:
            return QSize(*self.style.size)
        bounds, aside = self._drawing.stage.bounds, round(self._aside_width)
        most = QSize(MAX_SIZE.width() - aside, MAX_SIZE.height())
        wanted = bounds.size() * 1.0 + QSizeF(2 * _MARGIN, 2 * _MARGIN)
        grow = min(
            MAX_FIT_ZOOM,
            most.width() / max(1.0, wanted.width()),
            most.height() / max(1.0, wanted.height()),
        )
        if grow < viewport.READABLE_ZOOM:
            size = most
        else:
            size = (wanted * grow).toSize().expandedTo(MIN_SIZE).boundedTo(most)
        return QSize((size.width() + aside) // 2 * 2, (size.height() + CAPTION_HEIGHT) // 2 * 2)

    def frame(self, take: VideoFrame, ms: float) -> QImage:
        """Return one frame; ``ms`` have passed since the previous frame."""
        return run_to_end(self.frame_steps(take, ms))

    def frame_steps(self, take: VideoFrame, ms: float) -> Generator[None, None, QImage]:
        """Paint one frame in steps, and return it as `frame` does."""
        self._enter(scenes.scene_index_at(self._scenes, take.position))
        self._move_to(take)
        share = take.elapsed_ms / take.duration_ms if take.duration_ms else 2.0
        full = detail_at(self._sight(ms).zoom) == "full"
        self._drawing.hidden = frozenset(self._motion.old if full and share < 1 else ())
        image = QImage(self.size, QImage.Format.Format_RGB32)
        image.setDevicePixelRatio(self._unit)
        with QPainter(image) as painter:
            painter.setRenderHints(HINTS)
            yield from self._paint(painter, share)
            self._paint_aside(painter)
            self._paint_line(painter, take)
        return image

    def _move_to(self, take: VideoFrame) -> None:
        if take.position == self._at:
            return
        drawing = self._drawing
        if self._at < 0 and take.duration_ms:
            drawing.set_look(self._look(take.before))
        self._at = take.position
        old = drawing.look
        drawing.set_look(self._look(take.position))
        self._motion = Motion(drawing, old, take.duration_ms)
        self._aim()

    def _look(self, position: int) -> Look:
        return look.look_at(self.tape, self._picture, self._scene, position)

    # Camera

    def _whole(self) -> QSizeF:
        """Return the size of a frame in units."""
        return QSizeF(self.size) / self._unit

    def _view(self) -> QSizeF:
        """Return the size of the graph in units."""
        whole = self._whole()
        return QSizeF(whole.width() - self._aside_width, whole.height() - CAPTION_HEIGHT)

    def _aim(self) -> None:
        """Move the camera to the active card where only a part of the graph is in view."""
        stage, view = self._drawing.stage, self._view()
        if self._camera is None:
            self._camera, self._follows = viewport.first_view(stage, view)
            self._drawing.set_zoom(self._camera.zoom)
        if self._follows:
            there = self._flight[1] if self._flight else self._camera
            camera = viewport.following_view(stage, self._drawing.look, there, view)
            if camera is not None:
                self._flight, self._flown = (self._camera, camera), 0.0

    def _sight(self, ms: float) -> Camera:
        assert self._camera is not None
        if self._flight is not None:
            self._flown += ms
            start, end = self._flight
            self._camera = start.interpolated(end, ease(self._flown / GLIDE_MS))
            self._flight = self._flight if self._flown < GLIDE_MS else None
        return self._camera

    # Painting

    def _paint(self, painter: QPainter, share: float) -> Generator[None, None, None]:
        drawing, camera = self._drawing, self._camera
        assert camera is not None
        view = QRectF(QPointF(), self._view())
        painter.save()
        try:
            painter.translate(self._aside_width, 0)
            painter.setClipRect(view)
            overlay.paint_ground(painter, view, camera, drawing.theme)
            painter.translate(camera.x, camera.y)
            painter.scale(camera.zoom, camera.zoom)
            area = camera.box_to_scene(view)
            drawing.tiles.keep(area)
            for count, _ in enumerate(drawing.steps(painter, area, camera.zoom), 1):
                if count % ITEMS_PER_STEP == 0:
                    yield
            self._motion.paint(painter, area, camera.zoom, share)
        finally:
            # A film that is cancelled ends here, too.
            painter.restore()

    def _paint_aside(self, painter: QPainter) -> None:
        if self._aside is None:
            return
        area = QRectF(0, 0, self._aside_width, self._view().height())
        self._aside.paint(painter, area, self._at, self._drawing.look)
        painter.fillRect(QRectF(area.right() - 1, 0, 1, area.height()), self.style.theme.line)

    def _paint_line(self, painter: QPainter, take: VideoFrame) -> None:
        """Paint the caption bar: what happens, and how far the film has run."""
        theme, shown = self.style.theme, self._drawing.look
        row = QRectF(0, self._view().height(), self._whole().width(), CAPTION_HEIGHT)
        painter.fillRect(row, theme.panel)
        painter.fillRect(QRectF(0, row.top(), row.width(), 1), theme.line)
        color = {"backward": theme.backward, "update": theme.parameter}.get(
            shown.phase, theme.forward
        )
        first, stop = self._span
        done = (take.position - first) / max(1, stop - first)
        painter.fillRect(QRectF(0, row.bottom() - 4, row.width() * done, 4), color)
        left, middle = 18.0, row.center().y() - 2
        phase = _PHASES[shown.phase]
        if phase:
            _paint_sign(painter, QPointF(left + 5, middle), shown.phase, color)
            width = shapes.text_width(phase, 13, 650)
            name = QRectF(left + 17, row.top(), width + 4, CAPTION_HEIGHT - 4)
            shapes.write(painter, name, phase, color, 13, 650)
            left += width + 32
        title = self._scene.title
        aside = shapes.text_width(title, 13, 500) + 36 if title else 18
        room = QRectF(left, row.top(), row.width() - left - aside, CAPTION_HEIGHT - 4)
        shapes.write(painter, room, shown.caption, theme.ink, 13, 500)
        rest = QRectF(row.right() - aside, row.top(), aside - 18, CAPTION_HEIGHT - 4)
        shapes.write(painter, rest, title, theme.ink2, 13, 500, shapes.RIGHT)


def largest_scene(all_scenes: tuple[Scene, ...], span: tuple[int, int] | None = None) -> int:
    """Return the index of the scene with the most ops, which sets the size of all frames.

    ``span``: consider the scenes from one position to another alone.
    """
    low = scenes.scene_index_at(all_scenes, span[0]) if span else 0
    high = scenes.scene_index_at(all_scenes, span[1]) if span else len(all_scenes) - 1
    return max(range(low, high + 1), key=lambda n: all_scenes[n].ops[1] - all_scenes[n].ops[0])


def frame_unit(size: tuple[int, int] | None) -> float:
    """Return the pixels per unit of a film of that size: more than 1 in a large one."""
    if size is None:
        return 1.0
    return max(1.0, min(size[0] / USUAL_SIZE.width(), size[1] / USUAL_SIZE.height()))


def _paint_sign(painter: QPainter, at: QPointF, phase: str, color: object) -> None:
    """Paint the symbol of a phase: a disc, a triangle pointing up, or a parameter's diamond."""
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(color)
    if phase == "forward":
        painter.drawEllipse(at, 5.0, 5.0)
        return
    sign: QPolygonF = shapes.diamond(at, 5.5)
    if phase == "backward":
        sign = shapes.up_triangle(at, 5.0)
    painter.drawPolygon(sign)


def sample_takes(tempo: VideoTiming, count: int) -> list[VideoFrame]:
    """Return ``count`` takes of a film, spread evenly over it."""
    takes = list(tempo.frames())
    return [takes[round(n * (len(takes) - 1) / max(1, count - 1))] for n in range(count)]
