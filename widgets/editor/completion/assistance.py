"""Help with typing: completion, signatures and definitions, as one part of an editor.

What is known is shown at once. What the language process adds comes later: `requested` carries the
questions, `take` gets the answers, and those that come too late are dropped.
"""

from collections.abc import Callable

from PySide6.QtCore import QEvent, QObject, Qt, Signal
from PySide6.QtGui import QKeyEvent, QMouseEvent

from gradscribe.engine.protocol.language import (
    Completed,
    Described,
    Explained,
    LanguageReply,
    LanguageRequest,
    Located,
    TorchNames,
)
from gradscribe.playback.translation import tr
from gradscribe.widgets.base.single_shot import single_shot
from gradscribe.widgets.editor.completion.call_help import CallHelp
from gradscribe.widgets.editor.completion.completion import Completion
from gradscribe.widgets.editor.completion.definition import DefinitionJump
from gradscribe.widgets.editor.completion.knowledge import Knowledge
from gradscribe.widgets.editor.source_edit import SourceEdit

_MODIFIERS = (
    Qt.Key.Key_Shift,
    Qt.Key.Key_Control,
    Qt.Key.Key_Alt,
    Qt.Key.Key_AltGr,
    Qt.Key.Key_Meta,
    Qt.Key.Key_CapsLock,
)
_LEAVING = (QEvent.Type.FocusOut, QEvent.Type.Hide, QEvent.Type.Resize)


class TypingAssistance(QObject):
    """Watches the keys of an editor and helps with names; it changes nothing by itself."""

    requested = Signal(object)
    """Carries a `LanguageRequest`."""
    said = Signal(str)
    """Carries a remark for the status line."""
    begun = Signal()
    """The user types for the first time."""

    def __init__(self, editor: SourceEdit) -> None:
        super().__init__(editor)
        self._editor = editor
        self.is_automatic = True
        """True if list and signature open while the user types, else only on demand."""
        self.has_answers = False
        """True if there is a language process that answers."""
        self.knowledge = Knowledge(editor.document())
        self._serial = 0
        self._typed = ""
        """Letters typed since the last turn of the event loop; several if they come fast."""
        self._has_begun = False
        self.completion = Completion(editor, self.knowledge, self._ask)
        self.call_help = CallHelp(editor, self.knowledge, self._ask)
        self.definition = DefinitionJump(editor, self.knowledge, self._ask)
        self.definition.said.connect(self.said)
        # After the letter is painted: typing never waits for the list.
        self._turn = single_shot(self, self._follow)
        editor.edited.connect(self._on_edited)
        editor.cursorPositionChanged.connect(self._on_moved)
        for bar in (editor.verticalScrollBar(), editor.horizontalScrollBar()):
            bar.valueChanged.connect(lambda _: self._reposition())
        editor.installEventFilter(self)
        editor.viewport().installEventFilter(self)

    def complete(self) -> None:
        """Open the list of completions at the caret."""
        self._begin()
        if not self._editor.isReadOnly():
            self.completion.open()

    def explain(self) -> None:
        """Show the signature of the call around the caret."""
        self._begin()
        self.call_help.close()
        self.call_help.update(may_open=True)
        if not self.call_help.is_active:
            self.said.emit(tr("The caret is not among the arguments of a call"))

    def go_to_definition(self) -> None:
        """Go to the definition of the name at the caret."""
        self._begin()
        self.dismiss()
        self.definition.go()

    def dismiss(self) -> None:
        """Close list and signature."""
        self.completion.close()
        self.call_help.close()

    def _reposition(self) -> None:
        self.completion.reposition()
        self.call_help.reposition()

    def take(self, reply: LanguageReply) -> None:
        """Use an answer of the language process."""
        match reply:
            case Completed():
                self.completion.take(reply)
            case Described():
                self.completion.take_about(reply)
            case Explained():
                self.call_help.take(reply)
            case Located():
                self.definition.take(reply)
            case TorchNames(owners):
                self.knowledge.owners = owners
                # A list that the user waits for gets them.
                self.completion.update_open()

    def _ask(self, make: Callable[[int], LanguageRequest]) -> int:
        """Send a request and return its serial number; 0 if there is no process to answer it."""
        if not self.has_answers:
            return 0
        self._serial += 1
        self.requested.emit(make(self._serial))
        return self._serial

    def _begin(self) -> None:
        if not self._has_begun:
            self._has_begun = True
            self.begun.emit()

    def _on_edited(self) -> None:
        self.definition.forget()
        self._turn.start()

    def _on_moved(self) -> None:
        if self.completion.is_open or self.call_help.is_active:
            self._turn.start()

    def _follow(self) -> None:
        """Bring list and signature up to date after typing or a move of the caret."""
        typed, self._typed = self._typed, ""
        if self._editor.isReadOnly():
            return
        self.completion.follow_typing(typed[-1:], is_automatic=self.is_automatic)
        self.call_help.update(may_open=self.is_automatic and ("(" in typed or "," in typed))

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Take the keys of the list, note what is typed, close when the editor is left."""
        kind = event.type()
        if kind == QEvent.Type.ShortcutOverride and isinstance(event, QKeyEvent):
            if self.completion.claims(event):
                event.accept()
                return True
        elif kind == QEvent.Type.KeyPress and isinstance(event, QKeyEvent):
            return self._press_key(event)
        elif kind == QEvent.Type.MouseButtonPress and isinstance(event, QMouseEvent):
            self._typed = ""
            self.dismiss()
            return watched is self._editor.viewport() and self._press_mouse(event)
        elif kind in _LEAVING and watched is self._editor:
            self.dismiss()
        return False

    def _press_key(self, press: QKeyEvent) -> bool:
        if self._turn.isActive() and self.completion.is_open:
            # Keys that came while the window was busy: the list is not yet that of the text.
            self._turn.stop()
            self._follow()
        if self.completion.handle_key(press):
            return True
        if press.key() == Qt.Key.Key_Escape and self.call_help.is_open:
            self.call_help.close()
            return True
        command = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.MetaModifier
        # With AltGr both Control and Alt are reported for letters on some systems.
        is_text = press.text().isprintable() and bool(press.text())
        is_command = bool(press.modifiers() & command) and not (
            press.modifiers() & Qt.KeyboardModifier.AltModifier
        )
        if press.key() == Qt.Key.Key_Backspace and not is_command:
            self._typed += "\b"
        elif is_text and not is_command:
            self._typed += press.text()
        elif press.key() not in _MODIFIERS:
            self._typed = ""
        if self._typed:
            self._begin()
        return False

    def _press_mouse(self, press: QMouseEvent) -> bool:
        is_left = press.button() == Qt.MouseButton.LeftButton
        if not is_left or press.modifiers() != Qt.KeyboardModifier.ControlModifier:
            return False
        if not self.definition.go_from(press.position().toPoint()):
            return False
        self._begin()
        return True
