"""Everything that the program shows, opened one after the other, for tests of the keyboard."""

from contextlib import contextmanager

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractSpinBox, QApplication, QComboBox, QWidget

COMMANDS = (
    "file.gallery", "learn.lessons", "help.palette", "help.keys", "help.about", "help.manual",
    "edit.find", "edit.replace", "edit.settings", "lab.open", "view.parameters",
)  # fmt: skip


def label(widget):
    """Return a widget's class with those of what it is in, to be found by a reader."""
    path = []
    while widget is not None and not widget.isWindow():
        path.append(f"{type(widget).__name__} {widget.accessibleName()!r}")
        widget = widget.parentWidget()
    return " in ".join(path[:5])


def focusable(root):
    """Return the widgets under ``root`` that Tab should reach."""
    return [
        widget
        for widget in root.findChildren(QWidget)
        if widget.focusPolicy() & Qt.FocusPolicy.TabFocus
        and widget.isVisible()
        and widget.isEnabled()
        and widget.focusProxy() is None
        # The line of text in a compound control.
        and not isinstance(widget.parent(), QAbstractSpinBox | QComboBox)
    ]


@contextmanager
def opened(window, command):
    """Open a card, bar or window by its command; yield its widget, and close it again."""
    before = {widget for widget in QApplication.allWidgets() if widget.isVisible()}
    window.menus.perform_by(command)
    QApplication.processEvents()
    new = [w for w in QApplication.allWidgets() if w.isVisible() and w not in before]
    fresh = [w for w in new if w.parentWidget() not in new or w.isWindow()]
    assert fresh, f"{command} shows nothing"
    top = next((w for w in fresh if w.isWindow()), None) or max(fresh, key=_area)
    yield top
    for widget in fresh:
        if widget.isWindow():
            widget.close()
    QTest.keyClick(top.window().focusWidget() or top, Qt.Key.Key_Escape)
    for widget in fresh:
        leave = getattr(widget, "leave", widget.close)
        if widget.isVisible():
            leave()
    QApplication.processEvents()


def _area(widget):
    return widget.width() * widget.height()
