"""Handles by which panels are dragged while the window is being arranged."""

from PySide6.QtCore import QEvent, QObject, QPoint, QRect, Qt, Signal
from PySide6.QtGui import QMouseEvent
from PySide6.QtWidgets import QApplication, QFrame, QHBoxLayout, QToolButton, QWidget

from gradscribe.playback.translation import tr
from gradscribe.widgets.base.labels import elided_label

HEIGHT = 30
"""Least height of a handle in pixels."""


class PanelHandle(QFrame):
    """A strip over the top of a panel: it is dragged, and its button opens the panel's menu."""

    torn = Signal(QPoint, QPoint)
    """The mouse drags the panel: the point that was pressed, and where the mouse is globally."""
    menu_requested = Signal(object)

    def __init__(self, content: QWidget, title: str) -> None:
        super().__init__(content)
        self._content = content
        self._pressed: QPoint | None = None
        self.setProperty("notice", True)
        self.setAccessibleName(tr("Handle of {panel}", panel=title))
        self.setToolTip(tr("Drag to another place, out of the window, or use its menu"))
        self.setCursor(Qt.CursorShape.OpenHandCursor)
        self.menu = QToolButton()
        self.menu.setProperty("quiet", True)
        self.menu.setProperty("slim", True)
        self.menu.setText("⋯")
        self.menu.setToolTip(tr("Move {panel}", panel=title))
        self.menu.setAccessibleName(tr("Move {panel}", panel=title))
        self.menu.clicked.connect(lambda: self.menu_requested.emit(self.menu))
        row = QHBoxLayout(self)
        row.setContentsMargins(10, 2, 4, 2)
        label = elided_label(f"⠿ {title}", role="title")
        label.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        row.addWidget(label, 1)
        row.addWidget(self.menu)
        content.installEventFilter(self)
        self._settle()
        self.show()
        self.raise_()

    def eventFilter(self, _watched: QObject, happened: QEvent) -> bool:
        """Follow the size of the panel; called by Qt."""
        if happened.type() in (QEvent.Type.Resize, QEvent.Type.Show):
            self._settle()
            self.raise_()
        return False

    def mousePressEvent(self, pressed: QMouseEvent) -> None:
        """Note where a drag may begin; called by Qt."""
        if pressed.button() == Qt.MouseButton.LeftButton:
            self._pressed = pressed.position().toPoint()

    def mouseMoveEvent(self, moved: QMouseEvent) -> None:
        """Tear the panel out once the mouse has moved far enough; called by Qt."""
        if self._pressed is None:
            return
        way = moved.position().toPoint() - self._pressed
        if way.manhattanLength() >= QApplication.startDragDistance():
            pressed, self._pressed = self._pressed, None
            self.torn.emit(pressed, moved.globalPosition().toPoint())

    def mouseReleaseEvent(self, _released: QMouseEvent) -> None:
        """Forget the press; called by Qt."""
        self._pressed = None

    def _settle(self) -> None:
        height = max(HEIGHT, self.sizeHint().height())
        self.setGeometry(QRect(0, 0, self._content.width(), height))
