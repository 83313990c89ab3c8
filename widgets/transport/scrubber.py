"""The scrubber: a slider of labelled segments with a tick per event."""

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence

from PySide6.QtCore import QEvent, QPoint, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QContextMenuEvent,
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

from gradscribe.engine.protocol.structs import replace
from gradscribe.playback.tape.track import PHASE_TITLES, Segment
from gradscribe.playback.translation import tr
from gradscribe.widgets.base import menus
from gradscribe.widgets.base.labels import tip
from gradscribe.widgets.base.theme import Theme
from gradscribe.widgets.transport.track_layout import (
    LABEL_GAP,
    SegmentSpan,
    TrackSection,
    cut_at,
    cut_at_forward,
    layout_segments,
    place_labels,
    position_at,
    section_at,
)

BAR = 8.0
THUMB = 9.0
MIN_TICK_DISTANCE = 7.0
"""Minimum distance of events in pixels for ticks to be drawn."""
ZOOM_FROM = 8
"""Number of segments above which a track of several stretches shows one at a time."""


class Scrubber(QAbstractSlider):
    """A slider over the events of a tape; position p means that p events have happened.

    ``valueChanged`` is emitted for every change except those by `set_position`.
    """

    menu_requested = Signal(int, QPoint, list)
    """Open the menu of a position at a global point, with these actions first."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = Theme.load("light")
        self._segments: tuple[Segment, ...] = ()
        self._groups: tuple[TrackSection, ...] = ()
        self._group = 0
        self._spans: tuple[SegmentSpan, ...] = ()
        self._widths: dict[str, float] = {}
        """Phase -> pixels of its label."""
        self._bounds: list[int] = []
        self._is_dragged = False
        self._wheel = 0
        self.turns_steps = False
        """True to leave Page Up and Page Down to the window, which goes to another step."""
        self.describe: Callable[[int], str] | None = None
        """Text for the tooltip of a position."""
        self.setOrientation(Qt.Orientation.Horizontal)
        self.setRange(0, 0)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setAccessibleName(tr("Position on the tape"))
        self.setAccessibleDescription(
            tr("Left and Right move by an event, Page Up and Page Down by a step or a phase")
        )
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
        """Return whether the strip shows one stretch of several."""
        return len(self._groups) > 1

    def shown(self) -> tuple[int, int]:
        """Return the first and last position of the strip (of one stretch when zoomed)."""
        group = self._groups[self._group] if self._groups else TrackSection(0, self.maximum(), ())
        return group.start, group.stop

    def spans(self) -> tuple[SegmentSpan, ...]:
        """Return the segments on the strip; x counts from `margin`."""
        return self._spans

    def labels(self) -> tuple[tuple[SegmentSpan, float], ...]:
        """Return the segments that are labelled, each with the x of its label."""
        return place_labels(self._spans, self.width() - 2 * self.margin(), self._widths)

    def label_width(self, title: str) -> float:
        """Return the pixels of a label."""
        return self._widths[title]

    def margin(self) -> float:
        """Return the free pixels at either end, so that the thumb is never clipped."""
        return THUMB + 3

    def sizeHint(self) -> QSize:
        """Return the size of labels and strip."""
        return QSize(600, round(self._bar_y() + THUMB + 3))

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
        if not self._is_dragged:
            self._group = section_at(self._groups, self.value())
        group = self._groups[self._group]
        width = self.width() - 2 * self.margin()
        metrics = QFontMetricsF(self._theme.font(13, 600))
        segments = group.segments
        titles = {
            title
            for one in segments
            for title in (one.title, PHASE_TITLES.get(one.phase, one.phase))
        }
        self._widths = {title: metrics.horizontalAdvance(title) for title in titles}
        named, plain = (
            max((self._widths[text] for text in texts), default=0.0) + LABEL_GAP
            for texts in (
                [s.title for s in segments],
                [PHASE_TITLES.get(s.phase, s.phase) for s in segments],
            )
        )
        least = named if len(segments) * (named + LABEL_GAP) <= width else plain
        spans = layout_segments(segments, width, minimum=max(48.0, least))
        # A name for which there is no space gives way to the phase.
        self._spans = tuple(
            span if self._widths[span.title] <= span.right - span.left else replace(span, name="")
            for span in spans
        )

    def _bar_y(self) -> float:
        return QFontMetricsF(self._theme.font(13)).height() + 6 + THUMB

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
        """Begin a drag, and go there."""
        if event.button() != Qt.MouseButton.LeftButton:
            return
        self._is_dragged = True
        self.setSliderDown(True)
        self._drag(event.position().x())

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Scrub while the button is pressed."""
        if self._is_dragged:
            self._drag(event.position().x())

    def mouseReleaseEvent(self, _event: QMouseEvent) -> None:
        """End the drag."""
        self._is_dragged = False
        self.setSliderDown(False)
        self._update_spans()
        self.update()

    def _drag(self, x: float) -> None:
        self.setValue(self._pointed(x))

    def _pointed(self, x: float) -> int:
        """Return the position at a pixel of the shown stretch."""
        # The first position of a later stretch still belongs to the previous stretch.
        lowest = self.shown()[0] + (1 if self._group else 0)
        return max(lowest, position_at(self._spans, x - self.margin()))

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """Request the menu of the position under the mouse, or by keyboard of the current one."""
        if not self._spans:
            return
        position, at = self.value(), event.globalPos()
        if event.reason() == QContextMenuEvent.Reason.Keyboard:
            thumb = QPointF(self.margin() + self._x_at(position), self._bar_y())
            at = self.mapToGlobal(thumb.toPoint())
        else:
            position = self._pointed(event.pos().x())
        first = menus.actions(
            self,
            (tr("Go to event {position:,}", position=position), lambda: self.setValue(position)),
            (tr("Copy the event number"), lambda: menus.copy_text(str(position))),
        )
        self.menu_requested.emit(position, at, first)
        event.accept()

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
        """Move with the arrows, jump to the ends and, without steps, to segment borders."""
        p, key = self.value(), Qt.Key(event.key())
        if self.turns_steps and key in (Qt.Key.Key_PageDown, Qt.Key.Key_PageUp):
            event.ignore()
            return
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
            QToolTip.showText(e.globalPos(), tip(self.text_at(position)), self)
            return True
        return super().event(e)

    def text_at(self, position: int) -> str:
        """Return the tooltip of a position on the shown stretch."""
        span = next((s for s in self._spans if position <= s.stop), self._spans[-1])
        text = (
            self.describe(position)
            if self.describe is not None
            else tr("Event {position:,}", position=position)
        )
        return f"{PHASE_TITLES.get(span.phase, span.phase)} · {text}"

    # Painting.

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Draw labels, bars, ticks and thumb."""
        with QPainter(self) as painter:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.translate(self.margin(), 0)
            if not self._spans:
                self._paint_empty(painter)
                return
            for span in self._spans:
                self._paint_span(painter, span)
            self._paint_labels(painter)
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
        painter.drawText(QPointF(0, y - THUMB - 5), tr("Nothing recorded yet"))

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
        painter.setFont(self._theme.font(13, 600))
        baseline = self._bar_y() - THUMB - 5
        for span, left in self.labels():
            full = self._colours(span.phase)[0]
            reached = self.value() > span.start
            painter.setPen(full if reached else self._theme.ink2)
            painter.drawText(QPointF(left, baseline), span.title)

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
        painter.setPen(QPen(self._colours(span.phase)[0], self._theme.stroke(2.4)))
        painter.setBrush(self._theme.panel)
        painter.drawEllipse(centre, THUMB - 1.2, THUMB - 1.2)
