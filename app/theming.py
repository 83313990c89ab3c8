"""The look of the application: which theme holds now, and how big the text is."""

from collections.abc import Iterator
from typing import Protocol, runtime_checkable

import shiboken6
from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtWidgets import QApplication, QWidget

from app.restyling import restyled
from app.settings import Settings
from widgets.held_paint import let_paint
from widgets.slices import LAST, Slices
from widgets.theme import Theme, ui_font

TEXT_PX = 13
LECTURE_TEXT = 1.35
"""In lecture mode all text is so many times bigger."""
TURN_MS = 12
"""Another look is put on for so long at a time; then the interface has its turn."""


class Themed(Protocol):
    """A widget that paints with the tokens of a theme."""

    def set_theme(self, theme: Theme) -> None:
        """Use this theme from now on."""


@runtime_checkable
class Composed(Protocol):
    """A widget that takes a theme part by part."""

    def dressing(self, theme: Theme) -> Iterator[None]:
        """Use this theme from now on; each turn is a part of the work."""


@runtime_checkable
class Prepared(Protocol):
    """A widget whose painting takes a turn of its own."""

    def prepare(self) -> None:
        """Have ready what is in sight."""


class Look(QObject):
    """Follows the settings and the system, and tells every themed widget."""

    changed = Signal(object)

    def __init__(self, settings: Settings, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._settings = settings
        self._themed: list[Themed] = []
        self._steps = Slices(TURN_MS, self)
        self._held: list[QWidget] = []
        """Windows that are not painted before they have the new look everywhere."""
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
        """Paint everything in the theme that holds now, before this returns."""
        self._begin()
        self.finish()

    def finish(self) -> None:
        """Put on at once what is left of a look that is on its way."""
        self._steps.finish()

    def prepare(self) -> Iterator[bool]:
        """Make ready what is to be painted of all that is in sight, one widget at each step."""
        for widget in self._themed:
            if isinstance(widget, Prepared):
                widget.prepare()
                yield LAST

    def _follow(self, key: str) -> None:
        if key in ("theme", "text", "lecture"):
            self._begin()
            self._steps.go_on()

    def _begin(self) -> None:
        """Begin anew where another change was on its way."""
        self._steps.begin(self._dress(self.theme()))

    def _dress(self, theme: Theme) -> Iterator[bool | None]:
        try:
            yield from self._dressed(theme)
        except Exception:
            self._let_go()
            raise

    def _dressed(self, theme: Theme) -> Iterator[bool | None]:
        app = QApplication.instance()
        assert isinstance(app, QApplication)
        self._hold(app)
        app.setPalette(theme.palette())
        app.setFont(ui_font(TEXT_PX * self.scale()))
        sheet = theme.stylesheet(self.scale())
        hidden: Iterator[None] = iter(())
        if sheet != app.styleSheet():
            hidden = restyled(app, sheet)
            for _ in range(sum(one.isVisible() for one in app.allWidgets())):
                next(hidden)
                yield None
        # Those that are hidden, too: one may turn to them before the last widget is dressed.
        for widget in self._themed:
            if isinstance(widget, Composed):
                yield from widget.dressing(theme)
            else:
                widget.set_theme(theme)
                yield None
        self.changed.emit(theme)
        # Larger text gives everything another place, once the event loop has had its turn.
        yield LAST
        yield from self.prepare()
        self._let_go()
        yield LAST
        yield from hidden

    def _hold(self, app: QApplication) -> None:
        for window in app.topLevelWidgets():
            if window.isVisible() and window.updatesEnabled():
                window.setUpdatesEnabled(False)
                self._held.append(window)

    def _let_go(self) -> None:
        held, self._held = self._held, []
        for window in held:
            if shiboken6.isValid(window):
                let_paint(window)

    def _system_changed(self) -> None:
        if self._settings.text("theme") == "system":
            self._follow("theme")

    def close(self) -> None:
        """Stop listening to the system, and put nothing more on."""
        self._steps.stop()
        self._let_go()
        QApplication.styleHints().colorSchemeChanged.disconnect(self._system_changed)
