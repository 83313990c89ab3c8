"""Theming of the application: theme, fonts, text scale and motion, applied to all widgets."""

from collections.abc import Iterator
from typing import Protocol, runtime_checkable

import shiboken6
from PySide6.QtCore import QObject, QTimer, Signal
from PySide6.QtWidgets import QApplication, QWidget

from gradscribe.app.files.settings import Settings
from gradscribe.app.ui.apply_style import apply_style
from gradscribe.app.ui.system_wishes import SystemWishes
from gradscribe.widgets.base import motion, stylesheet
from gradscribe.widgets.base.painting.deferred_paint import resume_paint
from gradscribe.widgets.base.theme import Theme, choose_families, ui_font
from gradscribe.widgets.base.time_slices import END_TURN, TimeSlices

TEXT_PX = 13
MOST_TEXT = 3.0
"""Largest text, where both sizes of it are multiplied: nothing fits beyond."""
LOOKS = ("theme", "contrast", "text", "ui_font", "code_font", "presenting", "presenting_text")
"""Settings that change how every widget looks."""
TURN_MS = 12
"""Time slice for applying a theme before control returns to the event loop."""


class Themed(Protocol):
    """A widget that paints with a theme."""

    def set_theme(self, theme: Theme) -> None:
        """Use this theme from now on."""


@runtime_checkable
class IncrementallyThemed(Protocol):
    """A widget that takes a theme part by part."""

    def apply_theme_in_steps(self, theme: Theme) -> Iterator[None]:
        """Apply a theme in steps."""


@runtime_checkable
class Preparable(Protocol):
    """A widget with expensive painting that can be prepared in advance."""

    def prepare(self) -> None:
        """Prepare painting of the visible part."""


class Theming(QObject):
    """Follow the settings and the system's wishes, and update every themed widget."""

    settled = Signal()
    """Emitted when every widget has the theme and its layout."""
    changed = Signal(object)

    def __init__(self, settings: Settings, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._settings = settings
        self._themed: list[Themed] = []
        self._steps = TimeSlices(TURN_MS, self)
        self._held: list[QWidget] = []
        """Windows whose updates are disabled until the new theme is applied everywhere."""
        self._applied: Theme | None = None
        self.wishes = SystemWishes(self)
        self.wishes.changed.connect(self._system_changed)
        settings.changed.connect(self._follow)
        self._choose_fonts()
        self._choose_motion()

    def add(self, *widgets: Themed) -> None:
        """Apply the current theme to these widgets, and every later one."""
        self._themed.extend(widgets)
        for widget in widgets:
            widget.set_theme(self.theme())

    def theme(self) -> Theme:
        """Return the current theme."""
        name, contrast = self._settings.text("theme"), self._settings.text("contrast")
        if name == "system":
            name = "dark" if self.wishes.is_dark else "light"
        if contrast == "high" or (contrast == "system" and self.wishes.has_high_contrast):
            name = f"contrast-{name}"
        return Theme.load(name).scaled(self.scale())

    def scale(self) -> float:
        """Return the text scale, 1 is normal."""
        usual = self._settings.number("text")
        if not self._settings.flag("presenting"):
            return usual
        return min(MOST_TEXT, usual * self._settings.number("presenting_text"))

    def apply(self) -> None:
        """Apply the current theme everywhere, synchronously."""
        self._begin()
        self.finish()

    def suspend_style_sheet(self) -> None:
        """Set palette and font; take the style sheet off while a window makes its widgets.

        With it, a widget that is placed in another is restyled with all that it contains, hence
        each widget once for each of its ancestors: three quarters of the time of making a window.
        Sheets of single widgets wait, too: they took a third of the rest.
        A window that is shown already keeps its sheet. Call it before the window is made: the font
        of a window is that of the application at the time.
        """
        app = QApplication.instance()
        assert isinstance(app, QApplication)
        self._applied = self.theme()
        app.setPalette(self._applied.palette())
        app.setFont(ui_font(TEXT_PX * self.scale()))
        if not any(one.isVisible() for one in app.topLevelWidgets()):
            if app.styleSheet():
                app.setStyleSheet("")
            stylesheet.defer_sheets()
            # Also if making the window fails.
            QTimer.singleShot(0, stylesheet.set_deferred_sheets)

    def restore_style_sheet(self) -> None:
        """Set the style sheet, which restyles each widget once, and then those that wait."""
        app = QApplication.instance()
        assert isinstance(app, QApplication)
        sheet = self.theme().stylesheet(self.scale())
        if sheet != app.styleSheet():
            app.setStyleSheet(sheet)
        stylesheet.set_deferred_sheets()

    def finish(self) -> None:
        """Complete a theme change in progress, synchronously."""
        self._steps.finish()

    def prepare(self) -> Iterator[bool]:
        """Prepare the painting of all visible widgets, one at each step."""
        for widget in self._themed:
            if isinstance(widget, Preparable):
                widget.prepare()
                yield END_TURN

    def _follow(self, key: str) -> None:
        if key == "motion":
            self._choose_motion()
        if key in ("ui_font", "code_font"):
            self._choose_fonts()
        if key in LOOKS:
            # Presenting shows and hides panels: the visible ones are known once it has.
            self._begin(waits=key == "presenting")
            self._steps.go_on()

    def _begin(self, waits: bool = False) -> None:
        """Start applying the current theme; restart if a change is in progress.

        ``waits``: from the next turn of the event loop on.
        """
        self._applied = self.theme()
        self._steps.begin(self._dress(self._applied, waits))

    def _dress(self, theme: Theme, waits: bool) -> Iterator[bool | None]:
        try:
            yield from self._dressed(theme, waits)
        except Exception:
            self._resume_updates()
            raise

    def _dressed(self, theme: Theme, waits: bool) -> Iterator[bool | None]:
        app = QApplication.instance()
        assert isinstance(app, QApplication)
        self._pause_updates(app)
        if waits:
            yield END_TURN
        app.setPalette(theme.palette())
        app.setFont(ui_font(TEXT_PX * self.scale()))
        sheet = theme.stylesheet(self.scale())
        hidden: Iterator[None] = iter(())
        if sheet != app.styleSheet():
            hidden = apply_style(app, sheet)
            for _ in range(sum(widget.isVisible() for widget in app.allWidgets())):
                next(hidden)
                yield None
        # Hidden widgets, too: they may be shown before the last widget is done.
        for widget in self._themed:
            if isinstance(widget, IncrementallyThemed):
                yield from widget.apply_theme_in_steps(theme)
            else:
                widget.set_theme(theme)
                yield None
        self.changed.emit(theme)
        # Larger text changes layouts, which happens in the event loop.
        yield END_TURN
        yield from self.prepare()
        self._resume_updates()
        yield END_TURN
        yield from hidden
        yield END_TURN
        self.settled.emit()

    def _pause_updates(self, app: QApplication) -> None:
        for window in app.topLevelWidgets():
            if window.isVisible() and window.updatesEnabled():
                window.setUpdatesEnabled(False)
                self._held.append(window)

    def _resume_updates(self) -> None:
        held, self._held = self._held, []
        for window in held:
            if shiboken6.isValid(window):
                resume_paint(window)

    def _choose_fonts(self) -> None:
        choose_families(self._settings.text("ui_font"), self._settings.text("code_font"))

    def _choose_motion(self) -> None:
        chosen = self._settings.text("motion")
        is_asked = chosen == "system" and self.wishes.has_reduced_motion
        motion.set_reduced(chosen == "reduced" or is_asked)

    def _system_changed(self) -> None:
        self._choose_motion()
        if self.theme() is not self._applied:
            self._follow("theme")

    def close(self) -> None:
        """Stop following the system, and stop applying themes."""
        self._steps.stop()
        self._resume_updates()
        self.wishes.changed.disconnect(self._system_changed)
