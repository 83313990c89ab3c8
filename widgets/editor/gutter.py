"""The strip with line numbers, left of the code."""

from collections.abc import Callable, Mapping

from PySide6.QtCore import QEvent, QPointF, QRectF, Qt, Signal
from PySide6.QtGui import (
    QEnterEvent,
    QHelpEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QWheelEvent,
)
from PySide6.QtWidgets import QAbstractScrollArea, QApplication, QToolTip, QWidget

from gradscribe.playback.translation import tr
from gradscribe.widgets.base.theme import Theme
from gradscribe.widgets.editor.breakpoints import SPACE, Breakpoints, paint_breakpoint
from gradscribe.widgets.editor.finding_underlines import paint_ring
from gradscribe.widgets.editor.line_layout import VisibleRow
from gradscribe.widgets.editor.style import BAR, Band, EditorStyle

LEFT = SPACE
"""Space left of the numbers, in which breakpoints stand."""
RIGHT = 18
"""Space right of the numbers, in which the fold signs stand."""
MIN_DIGITS = 2
FOLD, UNFOLD = tr("Fold this block (Ctrl+Shift+[)"), tr("Unfold this block (Ctrl+Shift+])")


class Gutter(QWidget):
    """Paints a line number per row; a click emits `picked` with the line, from 1."""

    picked = Signal(int)
    fold_requested = Signal(int)
    """The fold sign of a line was clicked."""

    breakpoint_requested = Signal(int)
    """The margin left of the number of a line was clicked."""

    def __init__(
        self, editor: QAbstractScrollArea, about: Callable[[int], str], breakpoints: Breakpoints
    ) -> None:
        """Create the gutter of ``editor``; ``about`` returns the tooltip of a line.

        Wheel events are forwarded to the editor's viewport.
        """
        super().__init__(editor)
        self._editor = editor
        self._about = about
        self._breakpoints = breakpoints
        self._stops: tuple[frozenset[int], frozenset[int]] = (frozenset(), frozenset())
        """Lines with a breakpoint, and those of them that something was recorded on."""
        self._pointed = 0
        """The line whose margin the mouse is in; 0 for none."""
        self._rows: tuple[VisibleRow, ...] = ()
        self._style: EditorStyle | None = None
        self._bands: dict[int, Band] = {}
        self._current = 0
        self._faulty = 0
        self._noticed: frozenset[int] = frozenset()
        self._folds: dict[int, bool] = {}
        self._is_hovered = False
        self.setMouseTracking(True)
        self.setCursor(Qt.CursorShape.PointingHandCursor)

    def width_for(self, style: EditorStyle, lines: int) -> int:
        """Return the width in pixels for line numbers up to ``lines``."""
        digits = max(MIN_DIGITS, len(str(lines)))
        return LEFT + RIGHT + round(style.number_metrics.horizontalAdvance("0" * digits))

    def show_rows(
        self,
        style: EditorStyle,
        rows: tuple[VisibleRow, ...],
        bands: dict[int, Band],
        current: int,
        faulty: int,
    ) -> None:
        """Show ``rows`` with the caret in line ``current`` and an error in ``faulty`` (0: none)."""
        wanted = (style, rows, bands, current, faulty)
        if wanted != (self._style, self._rows, self._bands, self._current, self._faulty):
            self._style, self._rows, self._bands, self._current, self._faulty = wanted
            self.update()

    def show_findings(self, lines: frozenset[int]) -> None:
        """Draw a ring next to the numbers of these lines (lines with findings)."""
        if lines != self._noticed:
            self._noticed = lines
            self.update()

    def show_breakpoints(self, lines: frozenset[int], reached: frozenset[int]) -> None:
        """Draw breakpoints at ``lines``, hollow where they are not among ``reached``."""
        if (lines, reached) != self._stops:
            self._stops = lines, reached
            self.update()

    def show_folds(self, folds: Mapping[int, bool]) -> None:
        """Draw a sign next to lines that begin a block: folded (True) or open."""
        if folds != self._folds:
            self._folds = dict(folds)
            self.update()

    def paintEvent(self, _: QPaintEvent) -> None:
        """Paint the visible numbers; called by Qt."""
        if self._style is None:
            return
        with QPainter(self) as painter:
            # One pixel more: at fractional screen scales the edge lies between two pixels.
            painter.fillRect(self.rect().adjusted(0, 0, 1, 1), self._style.theme.panel)
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            for row in self._rows:
                self._paint_row(painter, self._style, row)

    def _paint_row(self, painter: QPainter, style: EditorStyle, row: VisibleRow) -> None:
        theme = style.theme
        band = self._bands.get(row.line)
        if band is not None:
            painter.fillRect(QRectF(0, row.top, self.width() + 1, row.height), band.fill)
            painter.fillRect(QRectF(0, row.top, BAR, row.height), band.bar)
        faulty = row.line == self._faulty
        if faulty:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(style.error)
            painter.drawEllipse(QPointF(BAR + 4.0, row.middle), 2.5, 2.5)
        elif row.line in self._noticed:
            paint_ring(painter, row, style)
        lines, reached = self._stops
        if row.line in lines or row.line == self._pointed:
            paint_breakpoint(painter, row, style, row.line in lines, row.line in reached)
        strong = row.line == self._current or (band is not None and band.phase != "")
        painter.setFont(style.number_font)
        painter.setPen(style.error if faulty else theme.ink if strong else theme.ink3)
        place = QRectF(0, row.top, self.width() - RIGHT, row.height)
        painter.drawText(place, _RIGHT, str(row.line))
        folded = self._folds.get(row.line)
        if folded or (folded is False and self._is_hovered):
            paint_fold_sign(painter, QPointF(self.width() - RIGHT / 2, row.middle), folded, theme)

    def mousePressEvent(self, press: QMouseEvent) -> None:
        """Pick the line that was pressed; called by Qt."""
        line = self._line_at(press.position().y())
        if not line or press.button() != Qt.MouseButton.LeftButton:
            return
        if line in self._folds and press.position().x() >= self.width() - RIGHT:
            self.fold_requested.emit(line)
        elif press.position().x() < LEFT:
            self.breakpoint_requested.emit(line)
        else:
            self.picked.emit(line)

    def mouseReleaseEvent(self, release: QMouseEvent) -> None:
        """Consume the release, so that the editor does not see it; called by Qt."""
        release.accept()

    def event(self, event: QEvent) -> bool:
        """Show a line's tooltip; called by Qt."""
        if isinstance(event, QHelpEvent) and event.type() == QEvent.Type.ToolTip:
            line = self._line_at(event.pos().y())
            text = self._about(line)
            if line in self._folds and event.pos().x() >= self.width() - RIGHT:
                text = UNFOLD if self._folds[line] else FOLD
            elif line and event.pos().x() < LEFT:
                text = self._breakpoints.about(line)
            QToolTip.showText(event.globalPos(), text, self)
            return True
        return super().event(event)

    def enterEvent(self, _: QEnterEvent) -> None:
        """Show the signs of open blocks; called by Qt."""
        self._is_hovered = True
        self.update()

    def leaveEvent(self, _: QEvent) -> None:
        """Hide the signs of open blocks; called by Qt."""
        self._is_hovered = False
        self._pointed = 0
        self.update()

    def mouseMoveEvent(self, motion: QMouseEvent) -> None:
        """Show where a click would set a breakpoint; called by Qt."""
        at = motion.position()
        pointed = self._line_at(at.y()) if at.x() < LEFT else 0
        if pointed != self._pointed:
            self._pointed = pointed
            self.update()

    def _line_at(self, y: float) -> int:
        return next((row.line for row in self._rows if row.top <= y < row.bottom), 0)

    def wheelEvent(self, wheel: QWheelEvent) -> None:
        """Scroll the code; called by Qt."""
        QApplication.sendEvent(self._editor.viewport(), wheel)


def paint_fold_sign(painter: QPainter, at: QPointF, folded: bool, theme: Theme) -> None:
    """Paint a chevron: to the right for a folded block, down for an open one."""
    painter.setPen(QPen(theme.ink if folded else theme.ink2, 1.6))
    painter.setBrush(Qt.BrushStyle.NoBrush)
    points = [QPointF(-1.5, -3.5), QPointF(2, 0), QPointF(-1.5, 3.5)]
    if not folded:
        points = [QPointF(-3.5, -1.5), QPointF(0, 2), QPointF(3.5, -1.5)]
    painter.drawPolyline([at + point for point in points])


_RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
