"""A splitter whose handles are seen, and moved by mouse or by keyboard."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QFocusEvent, QKeyEvent, QPainter, QPaintEvent, QPalette, QPen, QShowEvent
from PySide6.QtWidgets import QSplitter, QSplitterHandle, QWidget

from gradscribe.playback.translation import tr

GRIP_LENGTH, GRIP_WIDTH = 28.0, 4.0
"""Pixels of the grip in the middle of a handle."""
KEY_STEP = 20
"""Pixels that an arrow key moves a handle."""


class GripSplitter(QSplitter):
    """A splitter with a grip in the middle of each handle; no part collapses."""

    def __init__(
        self, direction: Qt.Orientation, gutter: int, parent: QWidget | None = None
    ) -> None:
        """``gutter``: pixels between two parts."""
        super().__init__(direction, parent)
        self.setHandleWidth(gutter)
        self.setChildrenCollapsible(False)

        self._parts: list[QWidget] = []

    def addWidget(self, part: QWidget) -> None:
        """Append a part."""
        self.insertWidget(self.count(), part)

    def insertWidget(self, index: int, part: QWidget) -> None:
        """Insert a part, or move it here."""
        super().insertWidget(index, part)
        if part not in self._parts:
            self._parts.append(part)

    def names_around(self, index: int) -> list[str]:
        """Return the accessible names of the parts that the handle ``index`` separates."""
        # A part that moved to another splitter has the index -1.
        placed = sorted((self.indexOf(part), part.accessibleName()) for part in self._parts)
        shown = {self.indexOf(part) for part in self._parts if not part.isHidden()}
        before = [name for place, name in placed if place in shown and place < index][-1:]
        after = [name for place, name in placed if place == index]
        return [name for name in (*before, *after) if name]

    def createHandle(self) -> QSplitterHandle:
        """Return a handle with a grip; called by Qt."""
        return _GripHandle(self.orientation(), self)


class _GripHandle(QSplitterHandle):
    def __init__(self, direction: Qt.Orientation, splitter: GripSplitter) -> None:
        super().__init__(direction, splitter)
        # Not splitter(): PySide makes what that returns the owner of widgets that move elsewhere.
        self._owner = splitter
        self.setToolTip(tr("Drag to share the space, or use the arrow keys"))
        # A click leaves the focus where it is: whoever drags goes on typing.
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)

    def showEvent(self, happened: QShowEvent) -> None:
        """Name the handle after the parts that it separates; called by Qt."""
        super().showEvent(happened)
        named = tr(" and ").join(self._owner.names_around(self._owner.indexOf(self)))
        self.setAccessibleName(tr("Border between {named}", named=named) if named else tr("Border"))
        self.setAccessibleDescription(tr("The arrow keys, Home and End move it"))

    def keyPressEvent(self, pressed: QKeyEvent) -> None:
        """Move the handle by the arrow keys of its direction, Home and End; called by Qt."""
        is_upright = self.orientation() == Qt.Orientation.Horizontal
        back, on = (
            (Qt.Key.Key_Left, Qt.Key.Key_Right) if is_upright else (Qt.Key.Key_Up, Qt.Key.Key_Down)
        )
        here = self.x() if is_upright else self.y()
        low, high = self._range()
        targets = {
            back: here - KEY_STEP,
            on: here + KEY_STEP,
            Qt.Key.Key_Home: low,
            Qt.Key.Key_End: high,
        }
        key = Qt.Key(pressed.key())
        if pressed.modifiers() & ~Qt.KeyboardModifier.KeypadModifier or key not in targets:
            pressed.ignore()
            return
        self.moveSplitter(min(high, max(low, targets[key])))

    def _range(self) -> tuple[int, int]:
        """Return the least and the greatest place of the handle, in pixels of the splitter."""
        found: object = self._owner.getRange(self._owner.indexOf(self))
        assert isinstance(found, tuple)
        low, high = found
        return int(low), int(high)

    def focusInEvent(self, happened: QFocusEvent) -> None:
        """Paint the focus; called by Qt."""
        super().focusInEvent(happened)
        self.update()

    def focusOutEvent(self, happened: QFocusEvent) -> None:
        """Paint the handle without focus; called by Qt."""
        super().focusOutEvent(happened)
        self.update()

    def paintEvent(self, happened: QPaintEvent) -> None:
        """Draw the grip over the background; called by Qt."""
        super().paintEvent(happened)
        is_upright = self.orientation() == Qt.Orientation.Horizontal
        wide, high = (GRIP_WIDTH, GRIP_LENGTH) if is_upright else (GRIP_LENGTH, GRIP_WIDTH)
        grip = QRectF(0, 0, min(wide, self.width() - 4), min(high, self.height() - 4))
        grip.moveCenter(QPointF(self.width() / 2, self.height() / 2))
        role = QPalette.ColorRole.PlaceholderText if self.underMouse() else QPalette.ColorRole.Dark
        if self.hasFocus():
            role = QPalette.ColorRole.Highlight
        color = self.palette().color(role)
        with QPainter(self) as painter:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(color)
            painter.drawRoundedRect(grip, GRIP_WIDTH / 2, GRIP_WIDTH / 2)
            if self.hasFocus():
                painter.setPen(QPen(color, 1.6))
                painter.setBrush(Qt.BrushStyle.NoBrush)
                painter.drawRoundedRect(QRectF(self.rect()).adjusted(1, 1, -1, -1), 4, 4)
