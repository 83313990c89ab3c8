"""The transport: scrubber and step strip at the bottom, and the buttons of the top bar."""

from collections.abc import Callable, Sequence

from PySide6.QtCore import Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QWidget

from gradscribe.playback.tape.loops.steps import StepMarks, Steps
from gradscribe.playback.tape.track import Segment
from gradscribe.widgets.base.boxes import vbox
from gradscribe.widgets.base.theme import Theme
from gradscribe.widgets.transport.buttons import TransportButtons
from gradscribe.widgets.transport.scrubber import Scrubber
from gradscribe.widgets.transport.step_strip import StepStrip

SIDE = 6
"""Pixels left and right of the scrubber and the strip."""


class Transport(QWidget):
    """The scrubber and the step strip, with the `buttons` as a separate widget.

    The window puts the buttons into its top bar; until then they have no parent. Their signals are
    forwarded by the transport.
    """

    moved = Signal(int)
    """The user moved to a position by mouse, wheel or keys."""
    play_pressed = Signal()
    step_pressed = Signal()
    back_pressed = Signal()
    reset_pressed = Signal()
    speed_changed = Signal(float)
    step_picked = Signal(int)
    """The user chose a step of the loop, from 1 on."""
    pace_picked = Signal(str)
    """The user chose to play by ``event``, ``line`` or ``step``."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.buttons = TransportButtons()
        self.scrubber = Scrubber(self)
        self.strip = StepStrip(self)
        vbox(self, self.scrubber, self.strip, margins=(SIDE, 8, SIDE, 6), spacing=4)
        self.strip.picked.connect(self.step_picked)
        self.strip.pace_picked.connect(self.pace_picked)
        self.scrubber.valueChanged.connect(self.moved)
        self.buttons.play_pressed.connect(self.play_pressed)
        self.buttons.step_pressed.connect(self.step_pressed)
        self.buttons.back_pressed.connect(self.back_pressed)
        self.buttons.reset_pressed.connect(self.reset_pressed)
        self.buttons.speed_changed.connect(self.speed_changed)
        self.scrubber.valueChanged.connect(self._refresh)
        self._refresh()

    def resizeEvent(self, happened: QResizeEvent) -> None:
        """Fit the strip's height, also while it is hidden and its height reserved; called by Qt."""
        super().resizeEvent(happened)
        self.strip.fit_height(self.width() - 2 * SIDE)

    def set_theme(self, theme: Theme) -> None:
        """Use ``theme`` for scrubber, strip and buttons."""
        self.scrubber.set_theme(theme)
        self.strip.set_theme(theme)
        self.buttons.set_theme(theme)

    def set_track(
        self, segments: Sequence[Segment], length: int, starts: Sequence[int] = ()
    ) -> None:
        """Show the segments of a tape of ``length`` events; emits nothing.

        ``starts`` are the positions at which the tape's scenes begin, if they are known.
        """
        self.scrubber.set_track(segments, length, starts)
        self._refresh()

    def set_steps(
        self, steps: Steps, marks: StepMarks, describe: Callable[[int], str] | None = None
    ) -> None:
        """Show the steps of the tape; ``describe`` is the text of a position's tooltip."""
        self.strip.set_steps(steps, marks)
        self.scrubber.turns_steps = len(steps) > 0
        self.scrubber.describe = describe

    def reserve_strip(self, reserved: bool) -> None:
        """Reserve the height of the strip even without steps, so that nothing above moves."""
        policy = self.strip.sizePolicy()
        policy.setRetainSizeWhenHidden(reserved)
        self.strip.setSizePolicy(policy)

    def set_position(self, position: int) -> None:
        """Go to ``position``, clamped to the tape; emits nothing."""
        self.scrubber.set_position(position)
        self.strip.set_position(position)
        self._refresh()

    def position(self) -> int:
        """Return how many events have happened."""
        return self.scrubber.value()

    def set_playing(self, playing: bool) -> None:
        """Show Pause while the tape plays, else Play."""
        self.buttons.set_playing(playing)

    def set_pace(self, pace: str) -> None:
        """Show the pace of playing; emits nothing."""
        self.strip.set_pace(pace)

    def set_speed(self, speed: float) -> None:
        """Show ``speed`` (0.25 to 8) on the slider; emits nothing."""
        self.buttons.set_speed(speed)

    def _refresh(self) -> None:
        self.buttons.update_enabled(self.position(), self.scrubber.maximum())
