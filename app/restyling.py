"""Another style sheet for everything that is there, widget by widget.

`QApplication.setStyleSheet` works out every widget once for each widget around it: half a second
for the whole window. Here each is worked out once, and the event loop may turn in between.
"""

from collections.abc import Iterable, Iterator

import shiboken6
from PySide6.QtCore import QCoreApplication, QEvent
from PySide6.QtWidgets import QApplication, QWidget


def restyled(app: QApplication, sheet: str) -> Iterator[None]:
    """Give ``app`` another style sheet, a widget at each turn; those that are seen come first.

    From the first turn on the sheet holds for every widget that is made.
    """
    # With what it knows of widgets forgotten, the style does not go through all of them at once.
    app.style().unpolish(app)
    app.setStyleSheet(sheet)
    for widget in _seen_first(app.allWidgets()):
        if shiboken6.isValid(widget):
            _restyle(widget)
        yield


def _seen_first(widgets: Iterable[QWidget]) -> list[QWidget]:
    return sorted(widgets, key=lambda one: not one.isVisible())


def _restyle(widget: QWidget) -> None:
    style = widget.style()
    style.unpolish(widget)
    style.polish(widget)
    QCoreApplication.sendEvent(widget, QEvent(QEvent.Type.StyleChange))
    widget.updateGeometry()
    widget.update()
