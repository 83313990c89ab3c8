"""Glass: translucent widgets over a window, which leave mouse and keyboard to what is below."""

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QWidget

_COVERED = "covered"


def make_glass(widget: QWidget) -> None:
    """Let mouse and keyboard pass through ``widget``, and paint no ground below it."""
    widget.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
    widget.setAttribute(Qt.WidgetAttribute.WA_NoSystemBackground)
    widget.setFocusPolicy(Qt.FocusPolicy.NoFocus)


def set_covered(window: QWidget, covered: bool) -> None:
    """Note whether glass that moves lies over the window."""
    window.setProperty(_COVERED, covered)


def is_covered(widget: QWidget) -> bool:
    """Return whether glass that moves lies over the window of ``widget``.

    Then its paint event has to paint: what is on the screen has the glass in it.
    """
    return bool(widget.window().property(_COVERED))
