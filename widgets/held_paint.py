"""Painting put off to a turn of its own: what is changed all over takes a turn by itself."""

from collections.abc import Iterable, Iterator

from PySide6.QtCore import QCoreApplication, QEvent, QObject, Qt
from PySide6.QtWidgets import QWidget

from widgets.once import once

HELD = Qt.WidgetAttribute.WA_ForceUpdatesDisabled
"""Nothing of this widget is painted, because somebody asked for that."""
WAITS = Qt.WidgetAttribute.WA_UpdatesDisabled
"""Nothing of it is painted, because it is in one of those, or is one."""

OVER = object()


class HeldPaint(QObject):
    """Keeps one widget, and all that is in it, from being painted for some turns."""

    def __init__(self, widget: QWidget) -> None:
        super().__init__(widget)
        self._widget = widget
        self._turn = once(self, self._go_on)
        self._steps: Iterator[object] = iter(())

    def hold(self, steps: Iterable[object] = ()) -> None:
        """Paint nothing of it in this turn of the event loop, and all of it in one to come.

        Between them each of the ``steps``, which make ready what is to be painted, has its own.
        """
        self._steps = iter(steps)
        self._widget.setUpdatesEnabled(False)
        self._turn.start()

    def _go_on(self) -> None:
        if next(self._steps, OVER) is OVER:
            self.let_go()
        else:
            self._turn.start()

    def let_go(self) -> None:
        """Paint it from now on: what asks for its picture asks for all of it."""
        self._turn.stop()
        self._steps = iter(())
        let_paint(self._widget)


def let_paint(widget: QWidget) -> None:
    """Have a held widget painted again with all that is in it, each part once.

    Qt alone would call for every part by itself, and paint much of it a second time, with what is
    seen through around it.
    """
    if not widget.testAttribute(HELD):
        return
    hiding: list[QWidget] = []
    _free(widget, hiding)
    widget.setUpdatesEnabled(True)
    # With a widget Qt paints what is in it, but for those that hide what is under them.
    for part in hiding:
        part.update()
    if widget.isWindow():
        # One asked for before it was held came to nothing, and Qt asks for no other meanwhile.
        QCoreApplication.postEvent(widget, QEvent(QEvent.Type.UpdateRequest))


def _free(widget: QWidget, hiding: list[QWidget]) -> None:
    """Let what is in a widget be painted; note those in sight that hide what is under them."""
    # Of the widgets alone: to Python every layout and model is an object made for its asking.
    for child in widget.findChildren(QWidget, options=Qt.FindChildOption.FindDirectChildrenOnly):
        if child.testAttribute(HELD) or child.isWindow():
            continue
        if child.isHidden():
            # Qt calls for nothing that is not seen.
            child.setUpdatesEnabled(True)
            continue
        child.setAttribute(WAITS, False)
        if _hides(child):
            hiding.append(child)
        _free(child, hiding)


def _hides(widget: QWidget) -> bool:
    """Tell whether nothing is seen through a widget, by Qt's own rule."""
    if widget.testAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent):
        return True
    if widget.autoFillBackground() and widget.palette().brush(widget.backgroundRole()).isOpaque():
        return True
    return widget.isWindow() and widget.palette().window().isOpaque()
