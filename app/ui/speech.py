"""Sentences for assistive technology about what happens away from the keyboard."""

from PySide6.QtCore import QObject
from PySide6.QtGui import QAccessible, QAccessibleAnnouncementEvent
from PySide6.QtWidgets import QApplication, QWidget

from gradscribe.app.files.settings import Settings
from gradscribe.app.preferences.kinds import ChoiceKind, NumberKind
from gradscribe.app.preferences.rows import BY_KEY, Setting
from gradscribe.playback.translation import tr


def announce(source: QWidget, words: str) -> None:
    """Have words read out after what is being read, if assistive technology listens."""
    if words and QAccessible.isActive():
        spoken = QAccessibleAnnouncementEvent(source, words)
        spoken.setPoliteness(QAccessible.AnnouncementPoliteness.Polite)
        QAccessible.updateAccessibility(spoken)


class SettingsAnnouncer(QObject):
    """Announce a setting that a command changed; the window of the settings speaks for itself."""

    def __init__(self, settings: Settings, source: QWidget) -> None:
        super().__init__(source)
        self._settings, self._source = settings, source
        settings.changed.connect(self._speak)

    def _speak(self, key: str) -> None:
        row = BY_KEY.get(key)
        if row is not None and row.group and QApplication.activeWindow() is self._source.window():
            announce(self._source, f"{row.title}: {value_text(row, self._settings.value(key))}")


def value_text(row: Setting, value: object) -> str:
    """Return the value of a setting as its editor shows it."""
    kind = row.kind
    if isinstance(value, bool):
        return tr("on") if value else tr("off")
    if isinstance(kind, ChoiceKind):
        return str(kind.titles.get(str(value), value))
    if isinstance(kind, NumberKind) and isinstance(value, float):
        return f"{value * kind.factor:.{kind.decimals}f} {kind.unit}".strip()
    return str(value)
