"""Announcements to assistive technology that a window makes by itself."""

from PySide6.QtWidgets import QWidget

from gradscribe.app.document.announcer import PlaybackAnnouncer
from gradscribe.app.document.session import Session
from gradscribe.app.files.settings import Settings
from gradscribe.app.ui.speech import SettingsAnnouncer


def start_announcers(session: Session, settings: Settings, graph: QWidget, line: QWidget) -> None:
    """Announce playback as events of ``graph``, settings as those of ``line``."""
    PlaybackAnnouncer(session, graph)
    SettingsAnnouncer(settings, line)
