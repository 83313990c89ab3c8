"""Painting put off to a turn of its own: what is changed all over takes a turn by itself."""

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QWidget

from widgets.once import once


class HeldPaint(QObject):
    """Keeps one widget, and all that is in it, from being painted for some turns."""

    def __init__(self, widget: QWidget) -> None:
        super().__init__(widget)
        self._widget = widget
        self._turn = once(self, self._go_on)
        self._left = 0

    def hold(self, turns: int = 1) -> None:
        """Paint nothing of it in this turn of the event loop, and all of it ``turns`` later."""
        self._left = turns
        self._widget.setUpdatesEnabled(False)
        self._turn.start()

    def _go_on(self) -> None:
        self._left -= 1
        if self._left > 0:
            self._turn.start()
        else:
            self.let_go()

    def let_go(self) -> None:
        """Paint it from now on: what asks for its picture asks for all of it."""
        self._turn.stop()
        self._widget.setUpdatesEnabled(True)
