"""The scrubber: a slider of labelled segments with a tick per event."""

from bisect import bisect_left, bisect_right
from collections.abc import Sequence

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt
from PySide6.QtGui import (
    QColor,
    QFontMetricsF,
    QHelpEvent,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QResizeEvent,
    QWheelEvent,
)
from PySide6.QtWidgets import QAbstractSlider, QSizePolicy, QToolTip, QWidget

from gradscribe.playback.tape.track import Segment
from gradscribe.widgets.base.theme import Theme
from gradscribe.widgets.transport.track_layout import (
    SegmentSpan,
    TrackSection,
    cut_at,
    cut_at_forward,
    layout_segments,
    position_at,
    section_at,
)

BAR = 8.0
THUMB = 9.0
OVERVIEW = 6.0
MIN_TICK_DISTANCE = 7.0
"""Minimum distance of events in pixels for ticks to be drawn."""
ZOOM_FROM = 8
"""Number of segments above which a track of several stretches shows one at a time."""


class Scrubber(QAbstractSlider):
    """A slider over the events of a tape; position p means that p events have happened.

    ``valueChanged`` is emitted for every change except those by `set_position`.
    """

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = Theme.load("light")
        self._segments: tuple[Segment, ...] = ()
        self._groups: tuple[TrackSection, ...] = ()
        self._group = 0
        self._spans: tuple[SegmentSpan, ...] = ()
        self._bounds: list[int] = []
        self._dragged = ""
        self._wheel = 0
        self.setOrientation(Qt.Orientation.Horizontal)
        self.setRange(0, 0)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setAccessibleName("Position on the tape")
        self.setAccessibleDescription("Left and Right step, Page Up and Page Down change segment")
        self.setCursor(Qt.CursorShape.PointingHandCursor)

    def set_theme(self, theme: Theme) -> None:
        """Use ``theme``'s colours and fonts."""
        self._theme = theme
        self.updateGeometry()
        self.update()

    def set_track(
        self, segments: Sequence[Segment], length: int, starts: Sequence[int] = ()
    ) -> None:
        """Show these segments of a tape of ``length`` events; the position stays if it fits.

        ``starts`` are the positions at which scenes begin; without them the track is cut at every
        forward pass that follows a backward pass.
        """
        self._segments = tuple(segments)
        groups = cut_at(self._segments, starts) if starts else cut_at_forward(self._segments)
        zoomed = len(groups) > 1 and len(self._segments) > ZOOM_FROM
        whole = TrackSection(0, length, self._segments)
        self._groups = groups if zoomed else (whole,)
        self._bounds = sorted({0, length, *(s.start for s in self._segments)})
        self.blockSignals(True)
        self.setRange(0, max(0, length))
        self.blockSignals(False)
        self._update_spans()
        self.updateGeometry()
        self.update()

    def set_position(self, position: int) -> None:
        """Move to ``position`` without emitting signals."""
        self.blockSignals(True)
        self.setValue(position)
        self.blockSignals(False)
        self._update_spans()
        self.update()

    def is_zoomed(self) -> bool:
        """Return whether the strip shows one stretch of several, with an overview below."""
        return len(self._groups) > 1

    _reserves_overview = False

    def reserve_overview(self, steady: bool) -> None:
        """Reserve the overview's height even without one, so that widgets above do not move."""
        self._reserves_overview = steady
        self.updateGeometry()

    def shown(self) -> tuple[int, int]:
        """Return the first and last position of the strip (of one stretch when zoomed)."""
        group = self._groups[self._group] if self._groups else TrackSection(0, self.maximum(), ())
        return group.start, group.stop

    def spans(self) -> tuple[SegmentSpan, ...]:
        """Return the segments on the strip; x counts from `margin`."""
        return self._spans

    def margin(self) -> float:
        """Return the free pixels at either end, so that the thumb is never clipped."""
        return THUMB + 3

    def sizeHint(self) -> QSize:
        """Return the size of labels, strip, and overview if shown."""
        tall = self.is_zoomed() or self._reserves_overview
        return QSize(600, round(self._bar_y() + THUMB + 3 + (24 if tall else 0)))

    def minimumSizeHint(self) -> QSize:
        """Return the smallest size in which the thumb can be dragged."""
        return QSize(160, self.sizeHint().height())

    def sliderChange(self, change: QAbstractSlider.SliderChange) -> None:
        """Update the visible stretch after any change of the value; called by Qt."""
        self._update_spans()
        super().sliderChange(change)

    def _update_spans(self) -> None:
        if not self._groups:
            return
        if self._dragged != "strip":
            self._group = section_at(self._groups, self.value())
        group = self._groups[self._group]
        width = self.width() - 2 * self.margin()
        metrics = QFontMetricsF(self._theme.font(13, 600))
        names = [metrics.horizontalAdvance(segment.phase) for segment in group.segments]
        self._spans = layout_segments(group.segments, width, minimum=max([48.0, *names]))

    def _bar_y(self) -> float:
        return QFontMetricsF(self._theme.font(13)).height() + 6 + THUMB

    def _overview_y(self) -> float:
        return self._bar_y() + THUMB + 10

    def _x_at(self, position: int) -> float:
        for span in self._spans:
            if position <= span.stop:
                return span.x_at(position)
        return self._spans[-1].right if self._spans else 0.0

    # Mouse, wheel and keys.

    def resizeEvent(self, _event: QResizeEvent) -> None:
        """Lay out the segments again."""
        self._update_spans()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Begin a drag on the strip or on the overview, and go there."""
        if event.button() != Qt.MouseButton.LeftButton:
            return
        low = self.is_zoomed() and event.position().y() > self._overview_y() - 6
        self._dragged = "overview" if low else "strip"
        self.setSliderDown(True)
        self._drag(event.position().x())

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Scrub while the button is pressed."""
        if self._dragged:
            self._drag(event.position().x())

    def mouseReleaseEvent(self, _event: QMouseEvent) -> None:
        """End the drag."""
        self._dragged = ""
        self.setSliderDown(False)
        self._update_spans()
        self.update()

    def _drag(self, x: float) -> None:
        x -= self.margin()
        if self._dragged == "overview":
            self.setValue(round(x / self._overview_width() * self.maximum()))
            return
        position = position_at(self._spans, x)
        # The first position of a later stretch still belongs to the previous stretch.
        lowest = self.shown()[0] + (1 if self._group else 0)
        self.setValue(max(lowest, position))

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Step one event per notch; up and right go forward."""
        delta = event.angleDelta()
        self._wheel += delta.y() or delta.x()
        notches, self._wheel = (
            int(self._wheel / 120),
            int(self._wheel % 120 if self._wheel > 0 else -(-self._wheel % 120)),
        )
        if notches:
            self.setValue(self.value() + notches)
        event.accept()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Step with the arrows, jump to the ends and to segment borders."""
        p, key = self.value(), Qt.Key(event.key())
        after = bisect_right(self._bounds, p)
        before = bisect_left(self._bounds, p) - 1
        targets = {
            Qt.Key.Key_Left: p - 1,
            Qt.Key.Key_Down: p - 1,
            Qt.Key.Key_Right: p + 1,
            Qt.Key.Key_Up: p + 1,
            Qt.Key.Key_Home: 0,
            Qt.Key.Key_End: self.maximum(),
            Qt.Key.Key_PageDown: self._bounds[after] if after < len(self._bounds) else p,
            Qt.Key.Key_PageUp: self._bounds[before] if before >= 0 else p,
        }
        if event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier or key not in targets:
            event.ignore()
            return
        self.setValue(targets[key])

    def event(self, e: QEvent) -> bool:
        """Show a tooltip with the position under the mouse."""
        if isinstance(e, QHelpEvent) and e.type() == QEvent.Type.ToolTip and self._spans:
            position = position_at(self._spans, e.pos().x() - self.margin())
            span = next((s for s in self._spans if position <= s.stop), self._spans[-1])
            text = f"{span.phase} · {position - span.start} of {span.stop - span.start}"
            QToolTip.showText(e.globalPos(), text, self)
            return True
        return super().event(e)

    # Painting.

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Draw labels, bars, ticks, thumb and overview."""
        with QPainter(self) as painter:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.translate(self.margin(), 0)
            if not self._spans:
                self._paint_empty(painter)
                return
            for span in self._spans:
                self._paint_span(painter, span)
            self._paint_labels(painter)
            if self.is_zoomed():
                self._paint_overview(painter)
            self._paint_thumb(painter)

    def _colours(self, phase: str) -> tuple[QColor, QColor]:
        theme = self._theme
        return {
            "zero_grad": (theme.ink3, theme.line),
            "Forward": (theme.forward, theme.forward_soft),
            "Loss": (theme.ink, theme.line),
            "Backward": (theme.backward, theme.backward_soft),
            "Update": (theme.parameter, theme.parameter_soft),
        }.get(phase, (theme.ink2, theme.line))

    def _paint_empty(self, painter: QPainter) -> None:
        y = self._bar_y()
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(self._theme.line)
        width = self.width() - 2 * self.margin()
        painter.drawRoundedRect(QRectF(0, y - BAR / 2, width, BAR), BAR / 2, BAR / 2)
        painter.setPen(self._theme.ink3)
        painter.drawText(QPointF(0, y - THUMB - 5), "Nothing recorded yet")

    def _paint_span(self, painter: QPainter, span: SegmentSpan) -> None:
        y, position = self._bar_y(), self.value()
        full, pale = self._colours(span.phase)
        width = span.right - span.left
        radius = min(BAR / 2, width / 2)
        painter.setPen(Qt.PenStyle.NoPen)
        bar = QRectF(span.left, y - BAR / 2, width, BAR)
        painter.setBrush(full if position >= span.stop else pale)
        painter.drawRoundedRect(bar, radius, radius)
        reach = span.x_at(position)
        if span.start < position < span.stop:
            painter.setBrush(full)
            painter.drawRoundedRect(bar.adjusted(0, 0, reach - span.right, 0), radius, radius)
        count = span.stop - span.start
        if count > 1 and width / count >= MIN_TICK_DISTANCE:
            painter.setBrush(self._theme.panel)
            for tick in range(span.start + 1, span.stop):
                painter.drawEllipse(QPointF(span.x_at(tick), y), 1.3, 1.3)

    def _paint_labels(self, painter: QPainter) -> None:
        font = self._theme.font(13, 600)
        painter.setFont(font)
        metrics = QFontMetricsF(font)
        baseline = self._bar_y() - THUMB - 5
        free = 0.0
        for span in self._spans:
            need = metrics.horizontalAdvance(span.phase)
            if span.left < free or need > span.right - span.left:
                continue
            full = self._colours(span.phase)[0]
            reached = self.value() > span.start
            painter.setPen(full if reached else self._theme.ink2)
            painter.drawText(QPointF(span.left, baseline), span.phase)
            free = span.left + need + 8

    def _note(self) -> str:
        return f"Scene {self._group + 1:,} of {len(self._groups):,}"

    def _overview_width(self) -> float:
        """Return the width of the overview, without the space for its note."""
        widest = f"Scene {len(self._groups):,} of {len(self._groups):,}"
        note = QFontMetricsF(self._theme.font(12)).horizontalAdvance(widest) + 14
        whole = self.width() - 2 * self.margin()
        return max(10.0, whole - note if whole > 2 * note else whole)

    def _paint_overview(self, painter: QPainter) -> None:
        theme, length = self._theme, max(1, self.maximum())
        width, y = self._overview_width(), self._overview_y()
        painter.setFont(theme.font(12))
        painter.setPen(theme.ink2)
        beside = QRectF(width + 14, y - 8, self.width() - width, OVERVIEW + 16)
        painter.drawText(beside, Qt.AlignmentFlag.AlignVCenter, self._note())
        scale = width / length
        gap = 1.5 if width / len(self._groups) >= 5 else 0.0
        painter.setPen(Qt.PenStyle.NoPen)
        if not gap:
            painter.setBrush(theme.line)
            painter.drawRoundedRect(QRectF(0, y, width, OVERVIEW), 2, 2)
            painter.setBrush(theme.ink3)
            painter.drawRoundedRect(QRectF(0, y, self.value() * scale, OVERVIEW), 2, 2)
        for index, group in enumerate(self._groups) if gap else ():
            painter.setBrush(theme.ink3 if index < self._group else theme.line)
            box = QRectF(group.start * scale, y, (group.stop - group.start) * scale - gap, OVERVIEW)
            painter.drawRoundedRect(box, 1.5, 1.5)
        start, stop = self.shown()
        left, wide = start * scale, max(6.0, (stop - start) * scale - gap)
        painter.setBrush(theme.selection)
        box = QRectF(min(left, width - wide), y - 2, wide, OVERVIEW + 4)
        painter.drawRoundedRect(box, 2.5, 2.5)

    def _paint_thumb(self, painter: QPainter) -> None:
        position = self.value()
        span = next((s for s in self._spans if position <= s.stop), self._spans[-1])
        centre = QPointF(self._x_at(position), self._bar_y())
        if self.hasFocus():
            halo = QColor(self._theme.selection)
            halo.setAlpha(60)
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(halo)
            painter.drawEllipse(centre, THUMB + 3, THUMB + 3)
        painter.setPen(QPen(self._colours(span.phase)[0], 2.4))
        painter.setBrush(self._theme.panel)
        painter.drawEllipse(centre, THUMB - 1.2, THUMB - 1.2)
