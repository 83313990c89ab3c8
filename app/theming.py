"""The look of the application: which theme holds now, and how big the text is."""

from typing import Protocol

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtWidgets import QApplication

from app.settings import Settings
from widgets.theme import Theme, ui_font

TEXT_PX = 13
LECTURE_TEXT = 1.35
"""In lecture mode all text is so many times bigger."""


class Themed(Protocol):
    """A widget that paints with the tokens of a theme."""

    def set_theme(self, theme: Theme) -> None:
        """Use this theme from now on."""


class Look(QObject):
    """Follows the settings and the system, and tells every themed widget."""

    changed = Signal(object)

    def __init__(self, settings: Settings, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._settings = settings
        self._themed: list[Themed] = []
        settings.changed.connect(self._follow)
        QApplication.styleHints().colorSchemeChanged.connect(self._system_changed)

    def add(self, *widgets: Themed) -> None:
        """Tell these widgets of the theme that holds now, and of every other from now on."""
        self._themed.extend(widgets)
        for widget in widgets:
            widget.set_theme(self.theme())

    def theme(self) -> Theme:
        """Return the theme that holds now."""
        name = self._settings.text("theme")
        if name == "system":
            dark = QApplication.styleHints().colorScheme() == Qt.ColorScheme.Dark
            name = "dark" if dark else "light"
        return Theme.load(name).scaled(self.scale())

    def scale(self) -> float:
        """Return how many times bigger than usual the text is."""
        lecture = LECTURE_TEXT if self._settings.flag("lecture") else 1.0
        return self._settings.number("text") * lecture

    def apply(self) -> None:
        """Paint everything in the theme that holds now."""
        theme = self.theme()
        app = QApplication.instance()
        assert isinstance(app, QApplication)
        app.setPalette(theme.palette())
        app.setFont(ui_font(TEXT_PX * self.scale()))
        style = theme.stylesheet(self.scale())
        if style != app.styleSheet():
            app.setStyleSheet(style)
        for widget in self._themed:
            widget.set_theme(theme)
        self.changed.emit(theme)

    def _follow(self, key: str) -> None:
        if key in ("theme", "text", "lecture"):
            self.apply()

    def _system_changed(self) -> None:
        if self._settings.text("theme") == "system":
            self.apply()

    def close(self) -> None:
        """Stop listening to the system."""
        QApplication.styleHints().colorSchemeChanged.disconnect(self._system_changed)
