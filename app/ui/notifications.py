"""Notification bar under the top bar: one notice at a time, with buttons for its actions."""

from dataclasses import replace
from functools import partial

import shiboken6
from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QAccessible, QAccessibleEvent, QKeyEvent, QResizeEvent
from PySide6.QtWidgets import (
    QApplication,
    QBoxLayout,
    QFrame,
    QPushButton,
    QSizePolicy,
    QWidget,
)

from gradscribe.app.files.documents import Refused
from gradscribe.app.runtime.notice import Notice
from gradscribe.playback.translation import tr
from gradscribe.widgets.base.boxes import hbox
from gradscribe.widgets.base.broken_text import BREAK, BrokenTextLabel
from gradscribe.widgets.base.labels import plain_label, tip

MARGIN = 12
FIXED_WIDTH = 30
"""Pixels of the margins of the card, and between text and the button that hides it."""
MOST_SHARE = 0.7
"""Most of the width that choices take next to the text."""


class NotificationBar(QWidget):
    """The bar, hidden while there is no notice. It never takes the focus by itself.

    When it hides with the focus in it, the focus goes back to where it was before.
    """

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._waiting: list[Notice] = []
        self._shown: Notice | None = None
        self._before: QWidget | None = None
        """The widget that had the focus before the bar."""
        self.card = QFrame()
        self.card.setProperty("notice", True)
        self.text = BrokenTextLabel()
        self.text.setWordWrap(True)
        self.text.setMinimumWidth(1)
        self.text.setTextFormat(Qt.TextFormat.PlainText)
        self.text.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.text.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Minimum)
        self.count = plain_label(role="caption")
        self._made: list[QPushButton] = []
        """Buttons for choices, reused; those that the notice does not need are hidden."""
        self.hide_button = QPushButton("✕")
        self.hide_button.setProperty("quiet", True)
        self.hide_button.setToolTip(tr("Hide this"))
        self.hide_button.setAccessibleName(tr("Hide this"))
        self.hide_button.clicked.connect(self._leave)
        self._choices, self._inside = hbox(None, spacing=8), hbox(None, spacing=8)
        self._inside.addWidget(self.text, 1)
        self._inside.addLayout(self._choices)
        row = hbox(self.card, margins=(14, 6, 8, 6), spacing=8)
        row.addLayout(self._inside, 1)
        for part in (self.count, self.hide_button):
            row.addWidget(part)
        outer = hbox(self, margins=(MARGIN, MARGIN, MARGIN, 0))
        outer.addWidget(self.card)
        self.hide()
        app = QApplication.instance()
        if isinstance(app, QApplication):
            app.focusChanged.connect(self._remember)

    @property
    def notice(self) -> Notice | None:
        """The notice that is shown; None if there is none."""
        return self._waiting[0] if self._waiting else None

    @property
    def waiting(self) -> tuple[Notice, ...]:
        """The notice that is shown and those queued after it."""
        return tuple(self._waiting)

    @property
    def buttons(self) -> list[QPushButton]:
        """The buttons of the shown notice, one for each choice."""
        return self._made[: len(self.notice.choices)] if self.notice is not None else []

    def post(self, notice: Notice) -> None:
        """Queue a notice, or replace the one with the same key."""
        keys = [waiting.key for waiting in self._waiting]
        if notice.key in keys:
            self._waiting[keys.index(notice.key)] = notice
        else:
            self._waiting.append(notice)
        self._show()

    def show_now(self, notice: Notice) -> None:
        """Show a notice at once, because it answers an action of the user."""
        self._waiting = [notice, *(old for old in self._waiting if old.key != notice.key)]
        self._show()

    def drop(self, key: str) -> None:
        """Remove the notice with that key."""
        self._waiting = [notice for notice in self._waiting if notice.key != key]
        self._show()

    def _leave(self) -> None:
        if self.notice is not None:
            self.drop(self.notice.key)

    def _choose(self, index: int, _on: bool = False) -> None:
        notice = self.notice
        if notice is None:
            return
        self.drop(notice.key)
        try:
            notice.choices[index][1]()
        except Refused as refusal:
            self.show_now(replace(notice, text=str(refusal)))

    def _show(self) -> None:
        notice = self.notice
        if notice is None:
            self._shown = None
            self._hide()
            return
        several = len(self._waiting) > 1
        self.count.setText(
            tr("1 of {waiting_count}", waiting_count=len(self._waiting)) if several else ""
        )
        self.count.setVisible(several)
        if notice is not self._shown:
            self._shown = notice
            self._fill(notice)
        # Shown last: a change of a visible bar would lay out everything below it again.
        self.show()
        self._speak(notice)

    def _remember(self, old: QWidget | None, now: QWidget | None) -> None:
        if now is not None and self.isAncestorOf(now) and old and not self.isAncestorOf(old):
            self._before = old

    def _hide(self) -> None:
        focused, before = self.window().focusWidget(), self._before
        had_focus = focused is not None and self.isAncestorOf(focused)
        self.hide()
        # Qt would go on to the next widget of the tab order: a button of the top bar.
        if had_focus and before is not None and shiboken6.isValid(before) and before.isVisible():
            before.setFocus()

    def _fill(self, notice: Notice) -> None:
        # A path has no spaces to wrap at, and must not make the window wider.
        self.text.show_broken(notice.text, notice.text.replace("/", f"/{BREAK}"))
        self.card.setToolTip(tip(notice.more))
        while len(self._made) < len(notice.choices):
            button = QPushButton(self.card)
            button.clicked.connect(partial(self._choose, len(self._made)))
            self._choices.addWidget(button)
            self._made.append(button)
        for button in self._made:
            # Hide even if shown again below, so that focus does not stay on a relabelled button.
            button.hide()
        for button, (label, _) in zip(self._made, notice.choices, strict=False):
            button.setText(label)
            button.show()
        self._arrange()

    def _arrange(self) -> None:
        """Put the choices below the text, and below each other, if there is no space next to it."""
        widths = [button.sizeHint().width() + self._choices.spacing() for button in self.buttons]
        room = self.width() - 2 * MARGIN - FIXED_WIDTH - self.hide_button.sizeHint().width()
        flat, stacked = QBoxLayout.Direction.LeftToRight, QBoxLayout.Direction.TopToBottom
        self._inside.setDirection(stacked if sum(widths) > MOST_SHARE * room else flat)
        self._choices.setDirection(stacked if sum(widths) > room else flat)

    def resizeEvent(self, happened: QResizeEvent) -> None:
        """Arrange the choices for another width; called by Qt."""
        super().resizeEvent(happened)
        self._arrange()

    def changeEvent(self, happened: QEvent) -> None:
        """Arrange the choices for another size of text; called by Qt."""
        super().changeEvent(happened)
        if happened.type() in (QEvent.Type.StyleChange, QEvent.Type.FontChange):
            self._arrange()

    def _speak(self, notice: Notice) -> None:
        if self.accessibleName() != notice.text:
            self.setAccessibleName(notice.text)
            QAccessible.updateAccessibility(QAccessibleEvent(self, QAccessible.Event.Alert))

    def keyPressEvent(self, pressed: QKeyEvent) -> None:
        """Hide on Esc."""
        if pressed.key() == Qt.Key.Key_Escape:
            self._leave()
        else:
            super().keyPressEvent(pressed)
