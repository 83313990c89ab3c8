"""Slider over the steps of a run, at the bottom: the current step, and rewinding by dragging."""

from PySide6.QtCore import QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QFontMetricsF, QKeyEvent, QMouseEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy, QWidget

from gradscribe.playback.translation import tr
from gradscribe.widgets.base.theme import Theme
from gradscribe.widgets.plots.drawing.axes import Axis

EDGE = 18.0
TRACK = 8.0
BELOW = 22
"""Pixels from the track's top to the bottom: for the handle, whatever the text size."""


class StepSlider(QWidget):
    """A track from step 0 to the furthest step; a drag picks its last step.

    After a rewind the furthest step stays until the run takes other steps.
    """

    picked = Signal(int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = Theme.load("light")
        self._step, self._furthest = 0, 0
        self._epoch = ""
        self._held: int | None = None
        self._start = 0
        self._forks: tuple[int, ...] = ()
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setAccessibleName(tr("Steps"))
        self.setToolTip(tr("Drag to go back to an earlier step; everything is as it was then"))

    def sizeHint(self) -> QSize:
        """Return the size for the track and its numbers."""
        return QSize(400, round(34 + 16 * self._theme.scale))

    minimumSizeHint = sizeHint

    def set_theme(self, theme: Theme) -> None:
        """Use the colours and fonts of ``theme``."""
        self._theme = theme
        self.updateGeometry()
        self.update()

    def set_steps(
        self, step: int, furthest: int, forks: tuple[int, ...] = (), epoch: float | None = None
    ) -> None:
        """Show the current step, the furthest step, and the steps of forks.

        ``epoch``: passes over the data, which are shown if they differ from the step.
        """
        self._step, self._furthest, self._forks = step, max(step, furthest), forks
        self._epoch = (
            tr("epoch {epoch:,.1f}", epoch=epoch) if epoch is not None and epoch != step else ""
        )
        epochs = f", {self._epoch}" if self._epoch else ""
        self.setAccessibleDescription(
            tr(
                "Step {step} of {furthest}{epochs}",
                step=step,
                furthest=self._furthest,
                epochs=epochs,
            )
        )
        self.update()

    @property
    def step(self) -> int:
        """The step under the handle."""
        return self._step if self._held is None else self._held

    def _track(self) -> QRectF:
        return QRectF(EDGE, self.height() - BELOW, self.width() - 2 * EDGE, TRACK)

    def _x(self, step: float) -> float:
        track = self._track()
        return track.left() + track.width() * step / max(1, self._furthest)

    def _step_at(self, x: float) -> int:
        track = self._track()
        share = (x - track.left()) / max(1.0, track.width())
        return max(0, min(self._furthest, round(share * self._furthest)))

    def paintEvent(self, _happened: QPaintEvent) -> None:
        """Draw track, numbers, forks and the handle."""
        with QPainter(self) as painter:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            self._draw(painter)

    def _draw(self, painter: QPainter) -> None:
        theme, track = self._theme, self._track()
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(theme.forward_soft)
        painter.drawRoundedRect(track, TRACK / 2, TRACK / 2)
        here = self._x(self.step)
        painter.setBrush(theme.forward)
        painter.drawRoundedRect(
            QRectF(track.left(), track.top(), max(TRACK, here - track.left()), TRACK),
            TRACK / 2,
            TRACK / 2,
        )
        painter.setFont(theme.font(12, 600))
        metrics = QFontMetricsF(painter.font())
        line = track.top() - 10
        painter.setPen(theme.forward)
        painter.drawText(QPointF(EDGE, line), tr("Step {step:,}", step=self.step))
        taken = EDGE + metrics.horizontalAdvance(tr("Step {step:,}", step=self.step)) + 16
        painter.setFont(theme.font(11, 500))
        painter.setPen(theme.ink2)
        metrics = QFontMetricsF(painter.font())
        if self._epoch and self._held is None:
            painter.drawText(QPointF(taken - 8, line), self._epoch)
            taken += metrics.horizontalAdvance(self._epoch) + 8
        for number, label in Axis(0, max(1, self._furthest)).ticks(max(2, self.width() // 120)):
            x = self._x(number) - metrics.horizontalAdvance(label) / 2
            x = min(x, self.width() - EDGE - metrics.horizontalAdvance(label))
            if number == round(number) and x > taken:
                painter.drawText(QPointF(x, line), label.removesuffix(".0"))
        painter.setPen(QPen(theme.parameter, theme.stroke(2)))
        for fork in self._forks:
            x = self._x(fork)
            painter.drawLine(QPointF(x, track.top() - 5), QPointF(x, track.bottom() + 5))
        painter.setPen(QPen(theme.forward, theme.stroke(4 if self.hasFocus() else 2.5)))
        painter.setBrush(theme.panel)
        painter.drawEllipse(QPointF(here, track.center().y()), 8, 8)

    # Mouse and keyboard

    def mousePressEvent(self, happened: QMouseEvent) -> None:
        """Start dragging the handle."""
        if happened.button() == Qt.MouseButton.LeftButton and self._furthest:
            self._start = self._step
            self._hold(happened.position().x())

    def mouseMoveEvent(self, happened: QMouseEvent) -> None:
        """Drag the handle."""
        if self._held is not None:
            self._hold(happened.position().x())

    def mouseReleaseEvent(self, happened: QMouseEvent) -> None:
        """End the drag, and pick its step."""
        held, self._held = self._held, None
        if held is not None and happened.button() == Qt.MouseButton.LeftButton:
            self._step = held
            self.picked.emit(held)
            self.update()

    def _hold(self, x: float) -> None:
        step = self._step_at(x)
        if step != self._held:
            self._held = step
            self.update()

    def keyPressEvent(self, happened: QKeyEvent) -> None:
        """Move by a twentieth with Page Up and Page Down; leave other keys to the window."""
        leap = max(1, self._furthest // 20)
        by = {Qt.Key.Key_PageUp: -leap, Qt.Key.Key_PageDown: leap}.get(Qt.Key(happened.key()))
        if by is None:
            super().keyPressEvent(happened)
            return
        self._step = max(0, min(self._furthest, self._step + by))
        self.picked.emit(self._step)
        self.update()
