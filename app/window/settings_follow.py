"""Changed settings of the graph and of playback, given to the session and the clock at once."""

from typing import get_args

from PySide6.QtCore import QObject

from gradscribe.app.document.clock import PlaybackClock
from gradscribe.app.document.session import Session
from gradscribe.app.document.state import Layer
from gradscribe.app.files.settings import Settings
from gradscribe.playback.graph.coloring import MODES

LAYERS: tuple[Layer, ...] = get_args(Layer)


class SettingsFollower(QObject):
    """Follow the settings that commands change together with the view.

    The window of the settings and an import change the setting alone.
    """

    def __init__(
        self, settings: Settings, session: Session, clock: PlaybackClock, parent: QObject
    ) -> None:
        super().__init__(parent)
        self._settings, self._session, self._clock = settings, session, clock
        settings.changed.connect(self._follow)

    def follow_all(self) -> None:
        """Give all of these settings to session and clock."""
        settings, session = self._settings, self._session
        self._clock.set_speed(settings.number("speed"))
        session.show_layers({name: settings.flag(name) for name in LAYERS})
        self._follow("sideways")
        self._follow("coloring")

    def _follow(self, key: str) -> None:
        settings, session = self._settings, self._session
        if key == "speed":
            self._clock.set_speed(settings.number("speed"))
        elif key == "sideways":
            session.set_flow("right" if settings.flag("sideways") else "down")
        elif key == "coloring":
            session.set_coloring(next((m for m in MODES if m == settings.text("coloring")), ""))
        else:
            session.show_layers({name: settings.flag(name) for name in LAYERS if name == key})
