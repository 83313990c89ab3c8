"""The signature of the call at the caret, with the current argument bold."""

from html import escape

from PySide6.QtCore import QRect, Qt
from PySide6.QtGui import QAccessible, QAccessibleAnnouncementEvent
from PySide6.QtWidgets import QFrame, QLabel, QWidget

from gradscribe.engine.protocol.language import KnownName
from gradscribe.playback.completion.caret import CallAtCaret
from gradscribe.playback.completion.signature import (
    Signature,
    best_signature,
    current_parameter,
    parse,
)
from gradscribe.playback.translation import tr
from gradscribe.widgets.base.boxes import vbox
from gradscribe.widgets.base.theme import mono_families, ui_font
from gradscribe.widgets.editor.style import TEXT_PX, EditorStyle

WIDTH = 560
"""Maximum width at the usual text size, in pixels."""
PAD = 8
MAX_SHOWN = 3
"""Maximum number of signatures shown."""


class CallTip(QFrame):
    """Shows the signatures of a call over the window, above the line of its bracket."""

    def __init__(self, editor: QWidget) -> None:
        super().__init__(editor)
        self._editor = editor
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.setAccessibleName(tr("Signature"))
        self._text = QLabel(self)
        self._text.setTextFormat(Qt.TextFormat.RichText)
        self._text.setWordWrap(True)
        vbox(self, self._text, margins=(PAD, PAD, PAD, PAD))
        self._look: EditorStyle | None = None
        self._known: KnownName | None = None
        self._spoken = ""
        self.hide()

    def set_look(self, look: EditorStyle) -> None:
        """Use the editor's colours and text size."""
        self._look = look
        theme = look.theme
        self._text.setFont(ui_font(12 * look.px / TEXT_PX))
        self.setStyleSheet(
            f"CallTip {{ background: {theme.panel.name()};"
            f" border: 1px solid {theme.line_strong.name()}; border-radius: 8px; }}"
            f" QLabel {{ color: {theme.ink2.name()}; background: transparent; border: none; }}"
        )

    def text(self) -> str:
        """Return what is shown, as rich text."""
        return self._text.text()

    def show_call(self, known: KnownName, call: CallAtCaret) -> None:
        """Show the signatures of what is called; the parameter of the argument is bold."""
        signatures = [parse(text) for text in known.signatures]
        best = best_signature(signatures, call)
        order = [best, *(at for at in range(len(signatures)) if at != best)]
        shown = [
            self._line(known.name, signatures[at], call, is_best=at == best)
            for at in order[:MAX_SHOWN]
        ]
        if len(order) > MAX_SHOWN:
            shown.append(tr("and {value} more", value=len(order) - MAX_SHOWN))
        if known.summary:
            shown.append(escape(known.summary))
        self._text.setText("<br>".join(shown))
        self._announce(known, signatures[best] if signatures else Signature(()), call)

    def _line(self, name: str, signature: Signature, call: CallAtCaret, *, is_best: bool) -> str:
        current = current_parameter(signature, call) if is_best else None
        ink = self._look.theme.ink.name() if self._look is not None else "#000000"
        parts = [
            f'<b style="color: {ink}">{escape(parameter)}</b>'
            if at == current
            else escape(parameter)
            for at, parameter in enumerate(signature.parameters)
        ]
        result = f" → {escape(signature.result)}" if signature.result else ""
        size = round(12 * (self._look.px / TEXT_PX if self._look is not None else 1))
        families = ", ".join(f"'{family}'" for family in mono_families())
        return (
            f'<span style="font-family: {families}; font-size: {size}px">'
            f"{escape(name)}({', '.join(parts)}){result}</span>"
        )

    def _announce(self, known: KnownName, signature: Signature, call: CallAtCaret) -> None:
        at = current_parameter(signature, call)
        words = f"{known.name}, {signature.parameters[at]}" if at is not None else known.name
        self.setAccessibleDescription(words)
        if words != self._spoken:
            self._spoken = words
            QAccessible.updateAccessibility(QAccessibleAnnouncementEvent(self._editor, words))

    def place(self, line: QRect, over: QRect) -> None:
        """Move above a line, or below it if there is no space; both are in window coordinates."""
        scale = self._look.px / TEXT_PX if self._look is not None else 1.0
        most = min(round(WIDTH * scale), over.width() - 8) - 2 * PAD
        # The size hint of a wrapped text is a guess; that of the same text on one line is exact.
        self._text.setWordWrap(False)
        width = min(most, self._text.sizeHint().width() + 2)
        self._text.setWordWrap(True)
        high = self._text.heightForWidth(width) + 2 * PAD
        left = max(over.left() + 4, min(line.left(), over.right() - width - 2 * PAD - 4))
        top = line.top() - high - 4
        if top < over.top() + 2:
            top = min(line.bottom() + 4, over.bottom() - high - 2)
        self.setGeometry(left, top, width + 2 * PAD, high)
