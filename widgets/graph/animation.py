"""Clocks of what moves in the graph: tokens, cards on their way to new places, and the camera."""

from collections.abc import Callable
from typing import Literal

from PySide6.QtCore import QElapsedTimer, QObject, Qt, QTimer

from gradscribe.widgets.graph.camera import Camera
from gradscribe.widgets.graph.paint.morph import DURATION_MS, Morph
from gradscribe.widgets.graph.paint.motion import Motion
from gradscribe.widgets.graph.paint.wire.tokens import ease

FRAME_MS = 16
FIT_MS = 300


class GraphAnimation:
    """Everything that moves, each with the time since it started; ``tick`` is called per frame."""

    def __init__(self, owner: QObject, tick: Callable[[], None]) -> None:
        self.motion: Motion | None = None
        self.morph: Morph | None = None
        self.flight: tuple[Camera, Camera] | None = None
        """Start and end of a flight of the camera."""
        self._clocks = {name: QElapsedTimer() for name in ("motion", "morph", "flight")}
        self.ticks = QTimer(owner)
        self.ticks.setTimerType(Qt.TimerType.PreciseTimer)
        self.ticks.setInterval(FRAME_MS)
        self.ticks.timeout.connect(tick)

    @property
    def gliding(self) -> bool:
        """True while the camera flies or cards glide to new places."""
        return self.flight is not None or self.morph is not None

    def start(self, clock: Literal["motion", "morph", "flight"]) -> None:
        """Restart the clock of what was just set."""
        self._clocks[clock].start()
        self.ticks.start()

    def motion_share(self) -> float:
        """Return how far the motion is, from 0 to 2; see `Motion`."""
        return self.motion.share(self._clocks["motion"].elapsed()) if self.motion else 2.0

    def morph_share(self) -> float:
        """Return how far the cards have glided, from 0 to 1."""
        return self._clocks["morph"].elapsed() / DURATION_MS

    def fly(self) -> Camera | None:
        """Return the camera on its flight, which ends on arrival; None while it rests."""
        if self.flight is None:
            return None
        start, end = self.flight
        share = self._clocks["flight"].elapsed() / FIT_MS
        if share >= 1:
            self.flight = None
        return start.interpolated(end, ease(share))
