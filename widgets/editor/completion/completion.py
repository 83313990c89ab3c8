"""The completion of a word: opens, narrows and closes the list of names, and inserts one."""

from collections.abc import Callable, Sequence

from PySide6.QtCore import QElapsedTimer, QObject, Qt
from PySide6.QtGui import QKeyEvent, QTextCursor

from gradscribe.engine.protocol.language import (
    Complete,
    Completed,
    Describe,
    Described,
    KnownName,
    LanguageRequest,
)
from gradscribe.engine.protocol.structs import replace
from gradscribe.playback.completion import candidates
from gradscribe.playback.completion.candidates import Candidate, Offer
from gradscribe.playback.completion.caret import Caret, call_around, caret_in
from gradscribe.playback.translation import tr
from gradscribe.widgets.base.single_shot import single_shot
from gradscribe.widgets.editor.completion import masked_text, popup_place
from gradscribe.widgets.editor.completion.knowledge import Knowledge
from gradscribe.widgets.editor.completion.name_list import NameList
from gradscribe.widgets.editor.highlight import units
from gradscribe.widgets.editor.source_edit import SourceEdit

LETTERS = 2
"""Number of letters after which the list opens by itself."""
LATE_MS = 1500
"""Time after which an answer no longer opens a list that nobody asked for."""
DESCRIBE_MS = 120
"""Time that a name is selected before more about it is requested."""
WAITING = tr("Reading names…")
NOTHING = tr("No completions")
_NAVIGATION = {
    Qt.Key.Key_Up: -1,
    Qt.Key.Key_Down: 1,
    Qt.Key.Key_PageUp: -2,
    Qt.Key.Key_PageDown: 2,
}
_ACCEPTING = (Qt.Key.Key_Tab, Qt.Key.Key_Return, Qt.Key.Key_Enter)


class Completion(QObject):
    """Completes the word at the caret of an editor.

    ``ask`` sends a request, of which it makes the serial number, and returns that; 0 if there is no
    process to ask.
    """

    def __init__(
        self,
        editor: SourceEdit,
        knowledge: Knowledge,
        ask: Callable[[Callable[[int], LanguageRequest]], int],
    ) -> None:
        super().__init__(editor)
        self._editor, self._knowledge, self._ask = editor, knowledge, ask
        self.list = NameList(editor)
        self.list.picked.connect(self.accept)
        self.list.current_changed.connect(self._on_current)
        self._soon = single_shot(self, self._request_about, DESCRIBE_MS)
        self._asked_at = QElapsedTimer()
        self._caret: Caret | None = None
        self._offer = Offer()
        self._start = 0
        """Position in the document at which the word begins."""
        self._serial = self._about_serial = 0
        self._asked_prefix: str | None = None
        """The prefix that the language process was asked about; None: not asked for this word."""
        self._names: Sequence[KnownName] = ()
        self._about: dict[str, KnownName] = {}
        self._is_wanted = False
        """True if the user asked for the list."""
        self._is_open = False
        self._refused: int | None = None
        """Position of the word for which the user closed the list."""

    @property
    def is_open(self) -> bool:
        """True while the list is shown."""
        return self._is_open

    def close(self) -> None:
        """Hide the list; answers that arrive later are dropped."""
        self._serial = self._about_serial = 0
        self._asked_prefix, self._caret, self._is_wanted = None, None, False
        self._names, self._about = (), {}
        self._soon.stop()
        if self._is_open:
            self._is_open = False
            popup_place.sink(self.list, self._editor)

    def open(self) -> None:
        """Open the list because the user asked for it."""
        self.close()
        self._is_wanted, self._refused = True, None
        self.update(may_open=True)

    def follow_typing(self, typed: str, *, is_automatic: bool) -> None:
        """Open, narrow or close the list after ``typed`` was typed; empty: the caret moved."""
        if typed and not (typed.isalnum() or typed in "_.\b"):
            self.close()
        elif typed == ".":
            self.close()
            self.update(may_open=is_automatic)
        else:
            self.update(may_open=is_automatic and typed not in ("", "\b"))

    def update(self, *, may_open: bool) -> None:
        """Show the candidates for the word at the caret, or close the list."""
        cursor = self._editor.textCursor()
        caret = None if cursor.hasSelection() else caret_in(masked_text.line_before(cursor))
        if caret is None or (caret.is_new and not self._is_wanted):
            self.close()
            return
        start = cursor.position() - units(caret.prefix)
        if start != self._refused:
            self._refused = None
        if self._caret is not None and start != self._start:
            wanted = self._is_wanted
            self.close()
            may_open = may_open and not wanted
        is_long = len(caret.prefix) >= LETTERS or caret.is_member
        if not (self._is_open or self._caret is not None):
            if not (self._is_wanted or (may_open and is_long and self._refused is None)):
                return
        elif not self._is_wanted and not caret.prefix and not caret.is_member:
            self.close()
            return
        self._caret, self._start = caret, start
        call = call_around(masked_text.text_before(cursor))
        self._offer = candidates.offer(caret, self._knowledge.known(), call)
        self._request(cursor)
        self._show()

    def update_open(self) -> None:
        """Show what has become known since the list was opened, if it is open."""
        if self._is_open:
            self.update(may_open=False)

    def _request(self, cursor: QTextCursor) -> None:
        caret = self._caret
        if caret is None or self._offer.is_whole:
            return
        if self._asked_prefix is not None and caret.prefix.startswith(self._asked_prefix):
            return
        self._asked_prefix = caret.prefix
        source, line = self._editor.source(), cursor.blockNumber() + 1
        column = len(masked_text.line_before(cursor))
        self._asked_at.start()
        self._serial = self._ask(lambda serial: Complete(serial, source, line, column))

    def take(self, reply: Completed) -> None:
        """Add the names that the language process knows, unless they come too late."""
        if reply.serial != self._serial or self._caret is None:
            return
        if not self._is_open and not self._is_wanted and self._asked_at.elapsed() > LATE_MS:
            self.close()
            return
        self._serial, self._names = 0, reply.names
        self._show()

    def _show(self) -> None:
        caret = self._caret
        if caret is None:
            return
        # There is no guess before the answer.
        mine = replace(self._offer, guesses=()) if self._serial else self._offer
        found = candidates.matching(
            candidates.merged(caret, mine, self._names),
            caret.prefix,
            self._knowledge.words() - {caret.prefix},
        )
        if not found and not self._is_wanted:
            # The word stays, since an answer may bring names.
            if self._is_open:
                self._is_open = False
                popup_place.sink(self.list, self._editor)
            return
        selected = self.list.current() if self._is_open else None
        if not self._is_open:
            self.list.set_look(self._editor.look)
        self._is_open = True
        first = self.list.candidates()[:1] if selected is not None else ()
        moved = selected is not None and tuple(first) != (selected,)
        self.list.show_names(found, selected.name if selected is not None and moved else "")
        popup_place.rise(self.list, self._editor)
        self.reposition()
        self._on_current()

    def reposition(self) -> None:
        """Move the list to its word, which has moved on the screen; close it if that is hidden."""
        if not self._is_open:
            return
        place = popup_place.text_place(self._editor, self._start)
        if place is None:
            self.close()
        else:
            self.list.place(place, self._editor.window().rect())

    def handle_key(self, press: QKeyEvent) -> bool:
        """Move in the list, accept a name or close; return whether the key is used up."""
        key = press.key()
        modifiers = press.modifiers() & ~Qt.KeyboardModifier.KeypadModifier
        if not self._is_open or modifiers != Qt.KeyboardModifier.NoModifier:
            return False
        if key == Qt.Key.Key_Escape:
            self._refused = self._start
            self.close()
            return True
        if key in _NAVIGATION:
            step = _NAVIGATION[Qt.Key(key)]
            self.list.move_by(step if abs(step) == 1 else step // 2 * self.list.page())
            return True
        if key in _ACCEPTING:
            current = self.list.current()
            is_typed = current is None or current.name == self._prefix()
            if is_typed and key != Qt.Key.Key_Tab:
                # A whole word followed by Return begins a new line.
                self.close()
                return False
            self.accept()
            return True
        return False

    def claims(self, press: QKeyEvent) -> bool:
        """Return whether a key is for the list rather than for a shortcut of the window."""
        is_plain = not press.modifiers() & ~Qt.KeyboardModifier.KeypadModifier
        keys = (Qt.Key.Key_Escape, *_NAVIGATION, *_ACCEPTING)
        return self._is_open and is_plain and press.key() in keys

    def accept(self) -> None:
        """Insert the selected name in place of the typed part, as one undo step."""
        current, editor = self.list.current(), self._editor
        start, prefix = self._start, self._prefix()
        self.close()
        if current is None or current.name == prefix or editor.isReadOnly():
            return
        cursor = editor.textCursor()
        cursor.beginEditBlock()
        cursor.setPosition(start, QTextCursor.MoveMode.KeepAnchor)
        cursor.insertText(current.name)
        cursor.endEditBlock()
        editor.setTextCursor(cursor)
        editor.ensureCursorVisible()

    def _prefix(self) -> str:
        return self._caret.prefix if self._caret is not None else ""

    # About the selected name

    def _on_current(self) -> None:
        current = self.list.current()
        if current is None:
            is_waiting = self._serial or not self._knowledge.owners
            self.list.describe(WAITING if is_waiting else NOTHING)
            return
        self.list.describe(_about(current, self._about.get(current.name)))
        is_known = bool(current.signatures or current.summary or current.kind == "keyword")
        if not is_known and current.name not in self._about:
            self._soon.start()

    def _request_about(self) -> None:
        current = self.list.current()
        if (
            self._is_open
            and current is not None
            and any(one.name == current.name for one in self._names)
        ):
            name = current.name
            self._about_serial = self._ask(lambda serial: Describe(serial, name))

    def take_about(self, reply: Described) -> None:
        """Show more about the selected name."""
        if reply.serial == self._about_serial and reply.known is not None and self._is_open:
            self._about[reply.known.name] = reply.known
            self._on_current()


def _about(current: Candidate, more: KnownName | None) -> str:
    """Return what is shown under the list: the first signature, the detail, a sentence."""
    texts = current.signatures or (more.signatures if more is not None else ())
    summary = current.summary or (more.summary if more is not None else "")
    first = f"{current.name}{texts[0]}" if texts else ""
    others = tr("  (and {value} more)", value=len(texts) - 1) if len(texts) > 1 else ""
    what = ", ".join(filter(None, (current.kind, current.detail)))
    head = first + others if first else f"{current.name}: {what}"
    return "\n".join(filter(None, (head, summary)))
