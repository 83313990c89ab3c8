"""Pixmap of the still part of the graph, with a margin: panning and tokens repaint nothing."""

from collections.abc import Iterable, Iterator

from PySide6.QtCore import QPointF, QRect, QRectF, QSizeF
from PySide6.QtGui import QPainter, QPainterPath, QPixmap, QRegion

from gradscribe.widgets.graph.camera import Camera
from gradscribe.widgets.graph.paint.background import paint_dots, to_grey
from gradscribe.widgets.graph.paint.drawing import GraphDrawing, detail_at

MARGIN = 240
SCROLL_STEP = 48
"""Pixels of panning after which the pixmap is scrolled and only the exposed strips are painted: a
little in many frames rather than everything in one."""
FRESH_RIM = 12
"""Pixels around a card that keep their colour with it: its marks lie across its edge."""
MAX_BOXES = 40
"""More areas than this are painted in one pass."""
HINTS = (
    QPainter.RenderHint.Antialiasing
    | QPainter.RenderHint.TextAntialiasing
    | QPainter.RenderHint.SmoothPixmapTransform
)


class StaticLayer:
    """A rendered part of the scene, at the camera it was rendered with."""

    def __init__(self) -> None:
        self._pixmap = QPixmap()
        self._camera = Camera()
        self._stale = self._passing = False
        self._margins: list[QRectF] = []
        self.valid = False
        self.begun = False
        """True while some, but not all, of the view is painted."""
        self.renders = 0
        """Number of complete renders, for benchmarks and tests."""

    @property
    def zoom(self) -> float:
        """The zoom it was rendered with."""
        return self._camera.zoom

    def covers(self, camera: Camera, view: QSizeF, ratio: float) -> bool:
        """Return whether the pixmap shows all of ``view`` (pixels) sharply at ``camera``."""
        if not self.valid or self._camera.zoom != camera.zoom:
            return False
        if self._pixmap.devicePixelRatio() != ratio:
            return False
        size = self._pixmap.deviceIndependentSize()
        x, y = camera.x - self._camera.x - MARGIN, camera.y - self._camera.y - MARGIN
        return (
            x <= 0 and y <= 0 and x + size.width() >= view.width()
        ) and y + size.height() >= view.height()

    def follow(self, drawing: GraphDrawing, camera: Camera) -> None:
        """Scroll the pixmap after the view that it covers, and paint the exposed strips."""
        ratio = self._pixmap.devicePixelRatio()
        dx = round((camera.x - self._camera.x) * ratio)
        dy = round((camera.y - self._camera.y) * ratio)
        if camera != self._camera:
            self.finish(drawing)
        if self._stale or max(abs(dx), abs(dy)) < SCROLL_STEP * ratio:
            return
        self._pixmap.scroll(dx, dy, self._pixmap.rect())
        # By whole pixels, so that what stays is where it would be painted.
        self._camera = self._camera.moved(dx / ratio, dy / ratio)
        size = self._pixmap.deviceIndependentSize()
        whole = QRectF(QPointF(), size)
        drawing.tiles.keep(self._camera.moved(MARGIN, MARGIN).box_to_scene(whole))
        boxes = []
        if dx:
            width = abs(dx) / ratio
            boxes.append(QRectF(0 if dx > 0 else size.width() - width, 0, width, size.height()))
        if dy:
            height = abs(dy) / ratio
            boxes.append(QRectF(0, 0 if dy > 0 else size.height() - height, size.width(), height))
        for box in boxes:
            strip = box.toAlignedRect()
            self._paint_region(drawing, QRegion(strip), [QRectF(strip)])

    def render(
        self, drawing: GraphDrawing, camera: Camera, view: QSizeF, ratio: float, stale: bool
    ) -> None:
        """Paint all that is in view; the margins, `MARGIN` pixels wide, are left to `go_on`."""
        for _ in self.render_steps(drawing, camera, view, ratio, stale):
            pass

    def render_steps(
        self, drawing: GraphDrawing, camera: Camera, view: QSizeF, ratio: float, stale: bool
    ) -> Iterator[None]:
        """Paint as `render` does, card by card; the layer must not be drawn before the end."""
        width, height = view.width() + 2 * MARGIN, view.height() + 2 * MARGIN
        wanted = QSizeF(width, height) * ratio
        if self._pixmap.size() != wanted.toSize() or self._pixmap.devicePixelRatio() != ratio:
            self._pixmap = QPixmap(wanted.toSize())
            self._pixmap.setDevicePixelRatio(ratio)
        fresh = not self.valid or self._camera.zoom != camera.zoom
        self._passing = fresh and detail_at(camera.zoom) == "name"
        self._camera, self._stale, self.valid, self.begun = camera, stale, False, True
        self.renders += 1
        drawing.tiles.keep(camera.moved(MARGIN, MARGIN).box_to_scene(QRectF(0, 0, width, height)))
        inner = QRectF(MARGIN, MARGIN, view.width(), view.height())
        self._margins = [
            QRectF(0, 0, width, MARGIN),
            QRectF(0, inner.bottom(), width, MARGIN),
            QRectF(0, MARGIN, MARGIN, view.height()),
            QRectF(inner.right(), MARGIN, MARGIN, view.height()),
        ]
        self._blank(drawing)
        yield
        yield from self._part_steps(drawing, inner)
        self.valid, self.begun = True, False

    @property
    def unfinished(self) -> bool:
        """True while margins are left to `go_on`."""
        return self.valid and bool(self._margins)

    def go_on(self, drawing: GraphDrawing) -> bool:
        """Paint one of the remaining margins; return whether there are more."""
        if not self.unfinished:
            return False
        self._paint_part(drawing, self._margins.pop())
        return bool(self._margins)

    def finish(self, drawing: GraphDrawing) -> None:
        """Paint all remaining margins."""
        while self.go_on(drawing):
            pass

    def _blank(self, drawing: GraphDrawing) -> None:
        """Clear the margins: after zooming out they are visible before they are painted."""
        with QPainter(self._pixmap) as painter:
            for box in self._margins:
                painter.fillRect(box, drawing.theme.canvas)

    def _paint_part(self, drawing: GraphDrawing, box: QRectF) -> None:
        for _ in self._part_steps(drawing, box):
            pass

    def _part_steps(self, drawing: GraphDrawing, box: QRectF) -> Iterator[None]:
        region = QRegion(box.toAlignedRect())
        steps = self._region_steps(drawing, region, [QRectF(region.boundingRect())])
        while True:
            drawing.sprites.is_zooming = self._passing
            try:
                next(steps)
            except StopIteration:
                break
            finally:
                drawing.sprites.is_zooming = False
            yield
        if self._stale:
            self._grey(drawing, box)

    def _grey(self, drawing: GraphDrawing, box: QRectF) -> None:
        """Take the colour out of a part (pixels), except for the cards that are not stale."""
        ratio = self._pixmap.devicePixelRatio()
        part = QRectF(box.topLeft() * ratio, box.size() * ratio).toAlignedRect()
        grey = to_grey(self._pixmap.copy(part))
        shifted = self._camera.moved(MARGIN, MARGIN)
        boxes = (drawing.stage.boxes.get(key) for key in drawing.fresh)
        fresh = [shifted.box_to_view(card) for card in boxes if card is not None]
        with QPainter(self._pixmap) as painter:
            if fresh:
                outside = QPainterPath()
                outside.addRect(box)
                inside = QPainterPath()
                for card in fresh:
                    if card.intersects(box):
                        inside.addRect(card.adjusted(-FRESH_RIM, -FRESH_RIM, FRESH_RIM, FRESH_RIM))
                painter.setClipPath(outside.subtracted(inside.simplified()))
            painter.drawPixmap(QPointF(part.topLeft()) / ratio, grey)

    def refresh(self, drawing: GraphDrawing, areas: Iterable[QRectF]) -> None:
        """Repaint some areas (scene units), or invalidate the whole where that is cheaper."""
        if not self.valid:
            return
        if self._stale:
            self.valid = False
            return
        size = self._pixmap.deviceIndependentSize()
        whole = QRectF(QPointF(), size)
        shifted = self._camera.moved(MARGIN, MARGIN)
        seen = [shifted.box_to_view(area).intersected(whole) for area in areas]
        seen = [box for box in seen if not box.isEmpty()]
        if sum(b.width() * b.height() for b in seen) > 0.7 * size.width() * size.height():
            self.valid = False
            return
        if seen:
            self._paint(drawing, seen)

    def _paint(self, drawing: GraphDrawing, boxes: list[QRectF]) -> None:
        """Paint the boxes (pixels of the pixmap) with the background."""
        regions = [(region, [QRectF(region.boundingRect())]) for region in _united(boxes)]
        if detail_at(self._camera.zoom) == "speck" and regions:
            # Dots in many boxes are found and painted in one pass.
            whole = QRegion()
            for region, _ in regions:
                whole = whole.united(region)
            regions = [(whole, [box for _, parts in regions for box in parts])]
        for region, parts in regions:
            self._paint_region(drawing, region, parts)

    def _paint_region(self, drawing: GraphDrawing, region: QRegion, boxes: list[QRectF]) -> None:
        """Paint a region, which is covered by the ``boxes``."""
        for _ in self._region_steps(drawing, region, boxes):
            pass

    def _region_steps(
        self, drawing: GraphDrawing, region: QRegion, boxes: list[QRectF]
    ) -> Iterator[None]:
        camera = self._camera.moved(MARGIN, MARGIN)
        with QPainter(self._pixmap) as painter:
            painter.setRenderHints(HINTS)
            painter.setClipRegion(region)
            for box in boxes:
                painter.fillRect(box, drawing.theme.canvas)
                paint_dots(painter, box, camera, drawing.theme)
                yield
            painter.translate(camera.x, camera.y)
            painter.scale(camera.zoom, camera.zoom)
            areas = [camera.box_to_scene(box) for box in boxes]
            yield from drawing.area_steps(painter, areas, camera.zoom)

    def draw(self, painter: QPainter, camera: Camera) -> None:
        """Draw the pixmap as seen from ``camera``, scaled if it was rendered at another zoom."""
        if self._pixmap.isNull():
            return
        grow = camera.zoom / self._camera.zoom
        x = camera.x - (self._camera.x + MARGIN) * grow
        y = camera.y - (self._camera.y + MARGIN) * grow
        if grow == 1.0:
            ratio = self._pixmap.devicePixelRatio()
            painter.drawPixmap(
                QPointF(round(x * ratio) / ratio, round(y * ratio) / ratio), self._pixmap
            )
            return
        size = self._pixmap.deviceIndependentSize() * grow
        source = QRectF(self._pixmap.rect())
        painter.drawPixmap(QRectF(QPointF(x, y), size), self._pixmap, source)


def _united(boxes: list[QRectF]) -> list[QRegion]:
    """Return the boxes as regions to be painted separately, with touching boxes united.

    A single region of few distant boxes would cost as much as all that lies between them.
    """
    rects: list[QRect] = []
    for box in boxes:
        rect = box.toAlignedRect()
        while touching := next((other for other in rects if other.intersects(rect)), None):
            rects.remove(touching)
            rect = rect.united(touching)
        rects.append(rect)
    if len(rects) <= MAX_BOXES:
        return [QRegion(rect) for rect in rects]
    whole = QRegion()
    for rect in rects:
        whole = whole.united(rect)
    return [whole]
