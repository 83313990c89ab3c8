"""A strip under the top bar that says one thing at a time and offers what can be done about it."""

from collections.abc import Callable
from dataclasses import replace

from PySide6.QtCore import Qt
from PySide6.QtGui import QAccessible, QAccessibleEvent, QKeyEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QPushButton, QSizePolicy, QWidget

from app.documents import Refused
from app.shell import Notice
from widgets.labels import tip

MARGIN = 12


class Notices(QWidget):
    """The strip, hidden while there is nothing to say. The keyboard stays where it is."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._waiting: list[Notice] = []
        self.card = QFrame()
        self.card.setProperty("notice", True)
        self.text = QLabel()
        self.text.setWordWrap(True)
        self.text.setMinimumWidth(1)
        self.text.setTextFormat(Qt.TextFormat.PlainText)
        self.text.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.text.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Minimum)
        self.count = QLabel()
        self.count.setProperty("role", "caption")
        self.buttons: list[QPushButton] = []
        self.hide_button = QPushButton("✕")
        self.hide_button.setProperty("quiet", True)
        self.hide_button.setToolTip("Hide this")
        self.hide_button.setAccessibleName("Hide this")
        self.hide_button.clicked.connect(self._leave)
        self._row = QHBoxLayout(self.card)
        self._row.setContentsMargins(14, 6, 8, 6)
        self._row.setSpacing(8)
        for part in (self.text, self.count, self.hide_button):
            self._row.addWidget(part, int(part is self.text))
        outer = QHBoxLayout(self)
        outer.setContentsMargins(MARGIN, MARGIN, MARGIN, 0)
        outer.addWidget(self.card)
        self.hide()

    @property
    def notice(self) -> Notice | None:
        """What is said now."""
        return self._waiting[0] if self._waiting else None

    @property
    def waiting(self) -> tuple[Notice, ...]:
        """What is said now and what comes after it."""
        return tuple(self._waiting)

    def tell(self, notice: Notice) -> None:
        """Say this, once what is said already is settled."""
        keys = [one.key for one in self._waiting]
        if notice.key in keys:
            self._waiting[keys.index(notice.key)] = notice
        else:
            self._waiting.append(notice)
        self._show()

    def tell_first(self, notice: Notice) -> None:
        """Say this at once: somebody has just asked for it."""
        self._waiting = [notice, *(one for one in self._waiting if one.key != notice.key)]
        self._show()

    def drop(self, key: str) -> None:
        """Say nothing more about a matter that is settled."""
        self._waiting = [one for one in self._waiting if one.key != key]
        self._show()

    def _leave(self) -> None:
        if self.notice is not None:
            self.drop(self.notice.key)

    def _choose(self, notice: Notice, run: Callable[[], None]) -> None:
        self.drop(notice.key)
        try:
            run()
        except Refused as refusal:
            self.tell_first(replace(notice, text=str(refusal)))

    def _show(self) -> None:
        notice = self.notice
        for button in self.buttons:
            self._row.removeWidget(button)
            button.hide()
            button.deleteLater()
        self.buttons = []
        self.setVisible(notice is not None)
        if notice is None:
            return
        # A path has no spaces to break it at, and must not make the window wider.
        self.text.setText(notice.text.replace("/", "/\N{ZERO WIDTH SPACE}"))
        self.card.setToolTip(tip(notice.more))
        several = len(self._waiting) > 1
        self.count.setText(f"1 of {len(self._waiting)}" if several else "")
        self.count.setVisible(several)
        for index, (label, run) in enumerate(notice.choices):
            button = QPushButton(label)
            button.clicked.connect(lambda _=False, run=run: self._choose(notice, run))
            self._row.insertWidget(1 + index, button)
            self.buttons.append(button)
        if self.accessibleName() != notice.text:
            self.setAccessibleName(notice.text)
            QAccessible.updateAccessibility(QAccessibleEvent(self, QAccessible.Event.Alert))

    def keyPressEvent(self, pressed: QKeyEvent) -> None:
        """Hide on Esc."""
        if pressed.key() == Qt.Key.Key_Escape:
            self._leave()
        else:
            super().keyPressEvent(pressed)
