"""Apply a style sheet incrementally, widget by widget.

`QApplication.setStyleSheet` restyles every widget once for each of its ancestors: half a second
for the whole window. Here each is restyled once, and the event loop may run in between.
"""

from collections.abc import Iterable, Iterator

import shiboken6
from PySide6.QtCore import QCoreApplication, QEvent
from PySide6.QtWidgets import QApplication, QWidget


def apply_style(app: QApplication, sheet: str) -> Iterator[None]:
    """Set the style sheet of ``app``, restyling a widget at each step, visible ones first.

    From the first step on the sheet applies to every new widget.
    """
    # Unpolishing clears the style's cache of widgets, so that it does not restyle all at once.
    app.style().unpolish(app)
    app.setStyleSheet(sheet)
    for widget in _seen_first(app.allWidgets()):
        if shiboken6.isValid(widget):
            _restyle(widget)
        yield


def _seen_first(widgets: Iterable[QWidget]) -> list[QWidget]:
    """Sort widgets: visible ones first, and each after the widgets that it is in.

    A part with a sheet of its own that is styled before them would have their old font.
    """
    depths: dict[QWidget, int] = {}

    def depth(widget: QWidget) -> int:
        if widget not in depths:
            above = widget.parentWidget()
            depths[widget] = 0 if above is None else depth(above) + 1
        return depths[widget]

    return sorted(widgets, key=lambda widget: (not widget.isVisible(), depth(widget)))


def _restyle(widget: QWidget) -> None:
    style = widget.style()
    style.unpolish(widget)
    style.polish(widget)
    QCoreApplication.sendEvent(widget, QEvent(QEvent.Type.StyleChange))
    widget.updateGeometry()
    widget.update()
