"""The interactive area of a chart: ranges, axes that can be dragged, lines and regions over it.

What does not move with the mouse is painted by the chart once and cached. A `PlotItem` would
bring a dozen menus and frames along.
"""

from collections.abc import Callable

import pyqtgraph as pg
from pyqtgraph.GraphicsScene.mouseEvents import MouseClickEvent, MouseDragEvent
from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QContextMenuEvent,
    QFocusEvent,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
)
from PySide6.QtWidgets import QGraphicsSceneWheelEvent, QPushButton, QSizePolicy, QWidget

from gradscribe.playback.translation import tr
from gradscribe.widgets.base.focus.ring import OWN_FOCUS
from gradscribe.widgets.base.painting.pixmap_cache import PixmapCache
from gradscribe.widgets.base.stylesheet import set_sheet
from gradscribe.widgets.base.theme import Theme
from gradscribe.widgets.plots.key_pointer import KeyPointer
from gradscribe.widgets.plots.plot import ENLARGE_KEYS, KEPT_FOCUS, TABLE_KEY

# At the end of the program nothing is left that its clean-up could find.
pg.setConfigOption("exitCleanup", False)
# Qt merges the moves of the mouse itself; without the last of them a quick drag would be a click.
pg.setConfigOption("mouseRateLimit", -1)

WHEEL = 0.8
"""Factor of a range per notch of the wheel."""
_COMMANDS = (
    Qt.KeyboardModifier.ControlModifier
    | Qt.KeyboardModifier.AltModifier
    | Qt.KeyboardModifier.MetaModifier
)
PAN_KEYS = {
    Qt.Key.Key_Left: (-1, 0),
    Qt.Key.Key_Right: (1, 0),
    Qt.Key.Key_Down: (0, -1),
    Qt.Key.Key_Up: (0, 1),
}
NAVIGATION_KEYS = {
    *PAN_KEYS,
    Qt.Key.Key_Plus,
    Qt.Key.Key_Equal,
    Qt.Key.Key_Minus,
    Qt.Key.Key_Home,
}
"""Keys that change the part in sight."""
CHART_KEYS = NAVIGATION_KEYS | {TABLE_KEY, *ENLARGE_KEYS}
_BY_KEYBOARD = (
    Qt.FocusReason.TabFocusReason,
    Qt.FocusReason.BacktabFocusReason,
    Qt.FocusReason.ShortcutFocusReason,
)


class ChartBox(pg.ViewBox):  # type: ignore[misc]
    """The range in sight: horizontally in numbers, vertically in shares from 0 to 1.

    Numbers from 1e-45 to 3e38 would be too far apart for Qt's transformations.
    """

    seen = Signal(float, float, float, float)
    """The user wishes to see these shares of the present range: left, right, bottom, top."""
    brushed = Signal(float, float, bool)
    """Carries both ends of a stretch, and whether the mouse button was released."""
    clicked = Signal(float)
    framed = Signal(QPointF, QPointF, bool)
    """Carries two corners of a region in shares of the range, and whether the mouse button was
    released."""
    picked = Signal(QPointF)
    """Carries the place of a click, in shares of the range."""
    freed = Signal()
    """The user wishes to see everything."""

    def __init__(self) -> None:
        super().__init__(enableMenu=False)
        self.disableAutoRange()
        self.setDefaultPadding(0)

    def wheelEvent(self, happened: QGraphicsSceneWheelEvent, axis: int | None = None) -> None:
        """Zoom both axes, or the ``axis`` under the mouse; called by pyqtgraph."""
        happened.accept()
        at = self.mapFromScene(happened.scenePos())
        self.zoom_at(WHEEL ** (happened.delta() / 120), at, axis)

    def zoom_at(self, factor: float, at: QPointF, axis: int | None = None) -> None:
        """Zoom by a factor around a point in pixels."""
        wide, high = max(1.0, self.width()), max(1.0, self.height())
        x, y = at.x() / wide, 1 - at.y() / high
        across = (0.0, 1.0) if axis == 1 else (x - x * factor, x + (1 - x) * factor)
        up = (0.0, 1.0) if axis == 0 else (y - y * factor, y + (1 - y) * factor)
        self.seen.emit(*across, *up)

    def mouseDragEvent(self, happened: MouseDragEvent, axis: int | None = None) -> None:
        """Pan, or brush a stretch with Shift; called by pyqtgraph."""
        if happened.button() == Qt.MouseButton.RightButton:
            happened.ignore()
            return
        happened.accept()
        if axis is None and happened.modifiers() & Qt.KeyboardModifier.ShiftModifier:
            ends = [self.mapToView(p).x() for p in (happened.buttonDownPos(), happened.pos())]
            self.brushed.emit(min(ends), max(ends), happened.isFinish())
            corners = self._shares(happened.buttonDownPos()), self._shares(happened.pos())
            self.framed.emit(*corners, happened.isFinish())
            return
        moved = happened.pos() - happened.lastPos()
        x = 0.0 if axis == 1 else -moved.x() / max(1.0, self.width())
        y = 0.0 if axis == 0 else moved.y() / max(1.0, self.height())
        self.seen.emit(x, 1 + x, y, 1 + y)

    def mouseClickEvent(self, happened: MouseClickEvent) -> None:
        """Pick a place, or show everything on a double click; called by pyqtgraph."""
        if happened.button() != Qt.MouseButton.LeftButton:
            happened.ignore()
            return
        happened.accept()
        if happened.double():
            self.freed.emit()
        else:
            self.clicked.emit(self.mapToView(happened.pos()).x())
            self.picked.emit(self._shares(happened.pos()))

    def _shares(self, at: QPointF) -> QPointF:
        return QPointF(at.x() / max(1.0, self.width()), 1 - at.y() / max(1.0, self.height()))

    def keyPressEvent(self, happened: QKeyEvent) -> None:
        """Leave keys to the view; called by Qt."""
        happened.ignore()


class ChartAxis(pg.AxisItem):  # type: ignore[misc]
    """The place of an axis, which zooms and pans along it; the chart itself paints the labels."""

    def __init__(self, side: str, box: ChartBox) -> None:
        super().__init__(side, showValues=False, maxTickLength=0)
        self._box = box
        self.enableAutoSIPrefix(False)
        self.linkToView(box)
        self.setCursor(
            Qt.CursorShape.SizeVerCursor if side == "left" else Qt.CursorShape.SizeHorCursor
        )

    def paint(self, *_: object) -> None:
        """Paint nothing; called by Qt."""

    def mouseClickEvent(self, happened: MouseClickEvent) -> None:
        """Show everything on a double click; called by pyqtgraph."""
        if happened.double():
            happened.accept()
            self._box.freed.emit()


class ChartView(pg.GraphicsView):  # type: ignore[misc]
    """Cached picture of the chart, the items that move over it, and what the mouse points at."""

    moved = Signal(QPointF)
    left = Signal()
    refreshed = Signal()
    """Sent when the painted picture has changed."""
    entered = Signal()
    """It has got the focus."""
    asked = Signal(QContextMenuEvent)
    keyed = Signal(QKeyEvent)
    """A key that no view has a use for itself; accepted if the chart has."""

    def __init__(
        self,
        draw: Callable[[QPainter, QRectF], None],
        draw_over: Callable[[QPainter], None],
        parent: QWidget,
    ) -> None:
        super().__init__(parent, background=None)
        self.theme = Theme.load("light")
        self.keys: set[int] = set(CHART_KEYS)
        """The keys that the chart takes although the window has shortcuts of them."""
        self.setAccessibleName(
            tr(
                "Chart: arrows move it, plus and minus zoom, Home shows all, "
                "T opens its numbers, C shows a pointer"
            )
        )
        self._has_focus_frame = False
        self.setProperty(OWN_FOCUS, True)
        self._draw, self._draw_over = draw, draw_over
        self.box = ChartBox()
        self.axes = {side: ChartAxis(side, self.box) for side in ("left", "bottom")}
        for item in (self.box, *self.axes.values()):
            self.scene().addItem(item)
        view = self.viewport()
        self._cache = PixmapCache(view, lambda painter: self._draw(painter, self._area()))
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        set_sheet(self, "QGraphicsView { background: transparent }")
        view.setAutoFillBackground(False)
        view.setMouseTracking(True)
        self.pointer = KeyPointer(view, self)

    def _area(self) -> QRectF:
        return QRectF(self.viewport().rect())

    def place(self, frame: QRectF) -> None:
        """Put box and axes where the chart has painted its curves and labels."""
        if self.box.geometry() != frame:
            area = self._area()
            self.box.setGeometry(frame)
            self.axes["left"].setWidth(frame.left())
            self.axes["bottom"].setHeight(area.bottom() - frame.bottom())
            self.axes["left"].setGeometry(QRectF(0, frame.top(), frame.left(), frame.height()))
            below = QRectF(frame.left(), frame.bottom(), frame.width(), 0)
            below.setBottom(area.bottom())
            self.axes["bottom"].setGeometry(below)

    def add(self, *items: object) -> None:
        """Show items over the curves."""
        for item in items:
            self.box.addItem(item, ignoreBounds=True)

    def add_button(self, name: str, tip: str) -> QPushButton:
        """Return a small button over the chart, hidden for now."""
        button = QPushButton(name, self)
        button.setProperty("crumb", True)
        button.setToolTip(tip)
        button.setCursor(Qt.CursorShape.ArrowCursor)
        button.hide()
        return button

    def refresh(self) -> None:
        """Discard the cached picture and repaint."""
        self._cache.refresh()
        self.refreshed.emit()

    def prepare(self) -> None:
        """Draw the picture ahead of painting."""
        self._cache.prepare()

    def useOpenGL(self, _on: bool = True) -> None:
        """Keep Qt's own viewport; called by pyqtgraph, which would replace it."""

    def sizeHint(self) -> QSize:
        """Return a readable size."""
        return QSize(260, 140)

    def minimumSizeHint(self) -> QSize:
        """Return the least size."""
        return QSize(120, 64)

    def paintEvent(self, happened: QPaintEvent) -> None:
        """Paint the cached picture and the items over it; called by Qt."""
        self._cache.paint()
        super().paintEvent(happened)

    def drawForeground(self, painter: QPainter, _rect: QRectF) -> None:
        """Draw what the mouse points at, in pixels as the scene has them; called by Qt."""
        painter.save()
        try:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            self._draw_over(painter)
            if self._has_focus_frame and self.hasFocus():
                painter.setBrush(Qt.BrushStyle.NoBrush)
                painter.setPen(QPen(self.theme.selection, self.theme.stroke(2)))
                painter.drawRoundedRect(self._area().adjusted(2, 2, -2, -2), 6, 6)
        finally:
            painter.restore()

    def mouseMoveEvent(self, happened: QMouseEvent) -> None:
        """Report the place of the mouse; called by Qt."""
        super().mouseMoveEvent(happened)
        self.moved.emit(happened.position())

    def leaveEvent(self, happened: QEvent) -> None:
        """Report that the mouse has left; called by Qt."""
        super().leaveEvent(happened)
        self.left.emit()

    def contextMenuEvent(self, happened: QContextMenuEvent) -> None:
        """Ask for a menu; called by Qt."""
        self.asked.emit(happened)

    def event(self, happened: QEvent) -> bool:
        """Claim the chart's keys before the window's shortcuts do; called by Qt."""
        if (
            happened.type() == QEvent.Type.ShortcutOverride
            and isinstance(happened, QKeyEvent)
            and (happened.key() in self.keys or self.pointer.takes(happened.key()))
            and not happened.modifiers() & _COMMANDS
        ):
            happened.accept()
            return True
        return bool(super().event(happened))

    def keyPressEvent(self, happened: QKeyEvent) -> None:
        """Offer a key to the chart; called by Qt."""
        happened.setAccepted(False)
        if happened.modifiers() & _COMMANDS:
            return
        if self.pointer.press(happened):
            happened.accept()
        else:
            self.keyed.emit(happened)

    def focusInEvent(self, happened: QFocusEvent) -> None:
        """Show a frame if the keyboard has brought the focus; called by Qt."""
        super().focusInEvent(happened)
        self.entered.emit()
        if happened.reason() not in KEPT_FOCUS:
            self._has_focus_frame = happened.reason() in _BY_KEYBOARD
        self.viewport().update()

    def focusOutEvent(self, happened: QFocusEvent) -> None:
        """Hide the frame and the pointer; called by Qt."""
        super().focusOutEvent(happened)
        if happened.reason() not in KEPT_FOCUS:
            self.pointer.leave()
        self.viewport().update()
