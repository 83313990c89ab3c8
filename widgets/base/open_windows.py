"""Windows of their own that are open: asked for again they are raised, not opened twice."""

from collections.abc import Callable
from typing import Generic, TypeVar

from PySide6.QtCore import QSize
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QWidget

SCREENLESS = ("offscreen", "minimal")
"""Platforms without a screen: there is no window above another, and Qt warns."""
TITLE_PX = 32
"""Height of a title bar; no system tells that of a window before it is shown."""
K = TypeVar("K")
W = TypeVar("W", bound=QWidget)


class OpenWindows(Generic[K, W]):
    """The open windows, by what they show; keys are compared by equality."""

    def __init__(self) -> None:
        self._open: list[tuple[K, W]] = []

    def show(self, key: K, make: Callable[[], W]) -> tuple[W, bool]:
        """Raise the window that shows ``key``, or show a new one; return it, and True if new.

        ``make`` returns a window that is deleted once it is closed.
        """
        for other, window in self._open:
            if other == key and not window.isHidden():
                bring_to_front(window)
                return window, False
        window = make()
        entry = key, window
        self._open.append(entry)
        window.destroyed.connect(lambda: self._open.remove(entry))
        window.show()
        return window, True


def fit_to_screen(size: QSize, available: QSize) -> QSize:
    """Return a window size that fits on a screen including the title bar, in pixels."""
    return size.boundedTo(available - QSize(0, TITLE_PX))


def resize_within_screen(window: QWidget, width: int, height: int) -> None:
    """Give a new window a size in pixels, or as much of it as its screen has."""
    window.resize(fit_to_screen(QSize(width, height), window.screen().availableSize()))


def bring_to_front(window: QWidget) -> None:
    """Show a window above all others, with the keyboard in it."""
    if window.isMinimized():
        window.showNormal()
    if QGuiApplication.platformName() not in SCREENLESS:
        window.raise_()
    window.activateWindow()
