"""Black screen of a lecture: any key or click ends it."""

from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QKeyEvent, QMouseEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QWidget
from shiboken6 import isValid

from gradscribe.playback.translation import tr


class BlackScreen(QWidget):
    """A black widget over the window, with the keyboard in it."""

    def __init__(self, over: QWidget) -> None:
        super().__init__(over)
        self._over = over
        self._before: QWidget | None = None
        self.setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAccessibleName(tr("Black screen"))
        self.setAccessibleDescription(tr("Any key shows the window again"))
        self.hide()

    def begin(self) -> None:
        """Cover the window."""
        self._before = self._over.focusWidget()
        self.setGeometry(self._over.rect())
        self.show()
        self.raise_()
        self.setFocus()

    def end(self) -> None:
        """Show the window again, with the keyboard where it was."""
        before, self._before = self._before, None
        self.hide()
        if before is not None and isValid(before) and before.isVisible():
            before.setFocus()

    def event(self, happened: QEvent) -> bool:
        """Claim every key before the window's shortcuts, which would act unseen; called by Qt."""
        if happened.type() == QEvent.Type.ShortcutOverride:
            happened.accept()
            return True
        return super().event(happened)

    def paintEvent(self, happened: QPaintEvent) -> None:
        """Paint it black."""
        with QPainter(self) as painter:
            painter.fillRect(happened.rect(), Qt.GlobalColor.black)

    def mousePressEvent(self, happened: QMouseEvent) -> None:
        """End it; the click does nothing else."""
        happened.accept()
        self.end()

    def keyPressEvent(self, happened: QKeyEvent) -> None:
        """End it; the key does nothing else."""
        happened.accept()
        if happened.key() not in _MODIFIERS:
            self.end()


_MODIFIERS = (
    Qt.Key.Key_Shift,
    Qt.Key.Key_Control,
    Qt.Key.Key_Alt,
    Qt.Key.Key_AltGr,
    Qt.Key.Key_Meta,
)
