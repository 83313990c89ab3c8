"""Small widgets of the lesson pane: rich text, a choice, progress dots, the answer field."""

import re
from html import unescape

from PySide6.QtCore import QPointF, QSize, Qt, Signal
from PySide6.QtGui import QKeyEvent, QMouseEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QFrame, QLabel, QSizePolicy, QWidget

from gradscribe.playback.translation import tr
from gradscribe.widgets.base.boxes import hbox, vbox
from gradscribe.widgets.base.theme import Theme, mono_families

_MOODS = {"good": "✓ ", "bad": "✗ ", "told": "", "": ""}
TEXT_PX = 14
"""Running text is a little bigger than labels."""


class RichTextLabel(QLabel):
    """Rich-text label with `code` spans; hidden while it is empty."""

    def __init__(
        self, parent: QWidget | None = None, strong: bool = False, ground: str = "panel2"
    ) -> None:
        super().__init__(parent)
        self._html, self._strong, self._mood, self._ground = "", strong, "", ground
        self._theme = Theme.load("light")
        self.setTextFormat(Qt.TextFormat.RichText)
        self.setWordWrap(True)
        self.setMinimumWidth(1)
        self.setAlignment(Qt.AlignmentFlag.AlignTop | Qt.AlignmentFlag.AlignLeft)
        policy = QSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)
        self.hide()

    def set_theme(self, theme: Theme) -> None:
        """Use ``theme``'s colours and fonts."""
        self._theme = theme
        self._render()

    def set_mood(self, mood: str) -> None:
        """Set colour and prefix sign: ``good``, ``bad`` or neutral."""
        if mood != self._mood:
            self._mood = mood
            self._render()

    def say(self, html: str) -> None:
        """Show this HTML."""
        self.setVisible(bool(html))
        if html != self._html:
            self._html = html
            self._render()

    def said(self) -> str:
        """Return the text without markup."""
        return unescape(re.sub(r"<[^>]+>", " ", self._html)).strip()

    def _render(self) -> None:
        theme = self._theme
        color = {"good": theme.parameter, "bad": theme.data}.get(self._mood, theme.ink)
        size = round(TEXT_PX * theme.scale)
        families = ", ".join(f"'{family}'" for family in mono_families())
        style = (
            f"p {{ margin: 0 0 {size // 2}px 0; line-height: 135%; }}"
            f"ul, ol {{ margin: 0 0 {size // 2}px {size}px; -qt-list-indent: 0; }}"
            f"li {{ margin-bottom: {size // 4}px; line-height: 130%; }}"
            f"code {{ font-family: {families}; font-size: {size - 1}px;"
            f" background-color: {theme.color(self._ground).name()}; }}"
        )
        weight = 600 if self._strong else 400
        body = self._html
        if body and not body.startswith("<"):
            body = f"<p>{body}</p>"
        sign = _MOODS.get(self._mood, "")
        body = body.replace("<p>", f"<p>{sign}", 1)
        self.setText(
            f"<html><head><style>{style}</style></head><body style='font-size: {size}px;"
            f" font-weight: {weight}; color: {color.name()};'>{body}</body></html>"
            if body
            else ""
        )
        self.setAccessibleName(self.said())


class AnswerChoice(QFrame):
    """An answer to choose: its number, its text, and a sign once it has been tried."""

    chosen = Signal(int)
    continue_pressed = Signal()
    """Return was pressed while nothing can be chosen."""

    def __init__(self, at: int, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._at, self._mood, self._live = at, "", False
        self.setObjectName("lesson-choice")
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.sign = QLabel(self)
        self.sign.setFixedWidth(16)
        self.sign.setAlignment(Qt.AlignmentFlag.AlignTop | Qt.AlignmentFlag.AlignHCenter)
        self.words = RichTextLabel(self)
        sign = (self.sign, Qt.AlignmentFlag.AlignTop)
        hbox(self, sign, (vbox(None, self.words), 1), margins=(8, 6, 10, 2), spacing=8)
        self.hide()

    def set_theme(self, theme: Theme) -> None:
        """Use ``theme``'s colours."""
        self.words.set_theme(theme)
        line = {"good": theme.parameter, "bad": theme.data, "told": theme.selection}
        border = line.get(self._mood, theme.line_strong).name()
        self._theme = theme
        self.setStyleSheet(
            f"#lesson-choice {{ background: {theme.surface.name()}; border: 1px solid {border};"
            f" border-radius: 8px; }} #lesson-choice:focus {{ border: 2px solid"
            f" {theme.selection.name()}; }} #lesson-choice:hover {{ background:"
            f" {theme.panel2.name()}; }}"
        )

    _theme = Theme.load("light")

    def show_choice(self, html: str, mood: str, live: bool) -> None:
        """Show text and sign; ``live`` if it can be chosen."""
        self.words.say(html)
        self.sign.setText({"good": "✓", "bad": "✗", "told": "→"}.get(mood, str(self._at + 1)))
        self._live = live
        outcome = {"good": "right", "bad": tr("not right"), "told": tr("the answer")}.get(mood, "")
        self.setAccessibleName(f"{self.words.said()}{', ' + outcome if outcome else ''}")
        if mood != self._mood:
            self._mood = mood
            self.set_theme(self._theme)
        self.setCursor(Qt.CursorShape.PointingHandCursor if live else Qt.CursorShape.ArrowCursor)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """Choose this answer."""
        if event.button() == Qt.MouseButton.LeftButton and self._live and self.underMouse():
            self.chosen.emit(self._at)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Choose it with Return or Space, or move to its neighbour with the arrows."""
        key = event.key()
        if key in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space):
            if self._live:
                self.chosen.emit(self._at)
            elif key != Qt.Key.Key_Space and not event.isAutoRepeat():
                self.continue_pressed.emit()
        elif key == Qt.Key.Key_Down:
            self.focusNextChild()
        elif key == Qt.Key.Key_Up:
            self.focusPreviousChild()
        else:
            event.ignore()


class ProgressDots(QWidget):
    """Progress dots, one per step, filled up to the current step."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = Theme.load("light")
        self._step, self._total = 1, 1
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def set_theme(self, theme: Theme) -> None:
        """Use ``theme``'s colours."""
        self._theme = theme
        self.update()

    def show_step(self, step: int, total: int) -> None:
        """Show ``step`` of ``total`` as the current step."""
        self._step, self._total = step, total
        self.setToolTip(tr("Step {step} of {total}", step=step, total=total))
        self.setAccessibleName(self.toolTip())
        self.update()

    def sizeHint(self) -> QSize:
        """Return the size of one line."""
        return QSize(60, 16)

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Draw the dots."""
        with QPainter(self) as painter:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            gap = min(14.0, (self.width() - 8) / max(1, self._total))
            left = self.width() / 2 - gap * (self._total - 1) / 2
            for at in range(self._total):
                here = at + 1 == self._step
                color = self._theme.selection if at < self._step else self._theme.line_strong
                painter.setPen(Qt.PenStyle.NoPen)
                painter.setBrush(color)
                radius = 4.0 if here else 2.6
                painter.drawEllipse(QPointF(left + at * gap, self.height() / 2), radius, radius)
