"""Deferred painting: a widget that changes all over is painted in a separate turn."""

from collections.abc import Iterable, Iterator

from PySide6.QtCore import QCoreApplication, QEvent, QObject, Qt
from PySide6.QtWidgets import QWidget

from gradscribe.widgets.base.single_shot import single_shot

DISABLED = Qt.WidgetAttribute.WA_ForceUpdatesDisabled
"""Set on a widget whose painting was disabled explicitly."""
INHERITED = Qt.WidgetAttribute.WA_UpdatesDisabled
"""Set on such a widget and on everything in it: none of it is painted."""

NO_MORE = object()


class DeferredPaint(QObject):
    """Suspend painting of a widget and all that is in it for some turns."""

    def __init__(self, widget: QWidget) -> None:
        super().__init__(widget)
        self._widget = widget
        self._turn = single_shot(self, self._go_on)
        self._steps: Iterator[object] = iter(())

    def suspend(self, steps: Iterable[object] = ()) -> None:
        """Suspend painting in this turn of the event loop, and resume it in a later turn.

        Each of the ``steps``, which prepare what is to be painted, runs in a turn in between.
        """
        self._steps = iter(steps)
        self._widget.setUpdatesEnabled(False)
        self._turn.start()

    def _go_on(self) -> None:
        if next(self._steps, NO_MORE) is NO_MORE:
            self.resume()
        else:
            self._turn.start()

    def resume(self) -> None:
        """Resume painting now: a grab of the widget needs all of it."""
        self._turn.stop()
        self._steps = iter(())
        resume_paint(self._widget)


def resume_paint(widget: QWidget) -> None:
    """Resume painting of a suspended widget with all that is in it, each part once.

    Qt alone would repaint every part separately, and much of it twice, with what is visible
    through it.
    """
    if not widget.testAttribute(DISABLED):
        return
    hiding: list[QWidget] = []
    _free(widget, hiding)
    widget.setUpdatesEnabled(True)
    # Qt paints a widget's children along with it, except opaque ones.
    for part in hiding:
        part.update()
    if widget.isWindow():
        # An update request from before the suspension was dropped, and Qt posts no other meanwhile.
        QCoreApplication.postEvent(widget, QEvent(QEvent.Type.UpdateRequest))


def _free(widget: QWidget, hiding: list[QWidget]) -> None:
    """Enable painting of a widget's descendants; collect the visible opaque ones in ``hiding``."""
    # Widgets only: children() would create a Python wrapper for every layout and model.
    for child in widget.findChildren(QWidget, options=Qt.FindChildOption.FindDirectChildrenOnly):
        if child.testAttribute(DISABLED) or child.isWindow():
            continue
        if child.isHidden():
            # Qt repaints nothing that is hidden.
            child.setUpdatesEnabled(True)
            continue
        child.setAttribute(INHERITED, False)
        if _hides(child):
            hiding.append(child)
        _free(child, hiding)


def _hides(widget: QWidget) -> bool:
    """Return whether a widget is opaque, by Qt's rule."""
    if widget.testAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent):
        return True
    if widget.autoFillBackground() and widget.palette().brush(widget.backgroundRole()).isOpaque():
        return True
    return widget.isWindow() and widget.palette().window().isOpaque()
