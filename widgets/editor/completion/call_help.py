"""Opens the signature of the call at the caret, follows its arguments, closes behind it."""

from collections.abc import Callable

from PySide6.QtGui import QTextCursor

from gradscribe.engine.protocol.language import Explain, Explained, KnownName, LanguageRequest
from gradscribe.playback.completion import candidates
from gradscribe.playback.completion.caret import COMMENT, CallAtCaret, call_around
from gradscribe.widgets.editor.completion import masked_text, popup_place
from gradscribe.widgets.editor.completion.call_tip import CallTip
from gradscribe.widgets.editor.completion.knowledge import Knowledge
from gradscribe.widgets.editor.highlight import units
from gradscribe.widgets.editor.source_edit import SourceEdit


class CallHelp:
    """Shows the signature of the innermost call around the caret."""

    def __init__(
        self,
        editor: SourceEdit,
        knowledge: Knowledge,
        ask: Callable[[Callable[[int], LanguageRequest]], int],
    ) -> None:
        self._editor, self._knowledge, self._ask = editor, knowledge, ask
        self.tip = CallTip(editor)
        self._bracket: tuple[int, int] | None = None
        """Line, from 1, and column behind the bracket of the call that is shown or asked about."""
        self._call: CallAtCaret | None = None
        self._known: KnownName | None = None
        self._serial = 0
        self._is_open = False

    @property
    def is_open(self) -> bool:
        """True while a signature is shown."""
        return self._is_open

    @property
    def is_active(self) -> bool:
        """True while a signature is shown or waited for."""
        return self._bracket is not None

    def close(self) -> None:
        """Hide the signature; an answer that arrives later is dropped."""
        self._bracket, self._call, self._known, self._serial = None, None, None, 0
        if self._is_open:
            self._is_open = False
            popup_place.sink(self.tip, self._editor)

    def update(self, *, may_open: bool) -> None:
        """Show the signature of the call at the caret, or close it where there is none."""
        if not may_open and self._bracket is None:
            return
        cursor = self._editor.textCursor()
        before = masked_text.text_before(cursor)
        call = call_around(before)
        if call is None or masked_text.line_before(cursor).endswith(COMMENT):
            self.close()
            return
        bracket = _bracket(cursor, before, call)
        self._call = call
        if bracket != self._bracket:
            self._bracket, self._known, self._serial = bracket, None, 0
            self._find(call, bracket)
        if self._known is not None:
            self._show()

    def _find(self, call: CallAtCaret, bracket: tuple[int, int]) -> None:
        known = candidates.called(call, self._knowledge.known())
        if known is not None and known.signatures:
            self._known = known
            return
        if self._is_open:
            self._is_open = False
            popup_place.sink(self.tip, self._editor)
        source = self._editor.source()
        self._serial = self._ask(lambda serial: Explain(serial, source, *bracket))

    def take(self, reply: Explained) -> None:
        """Show the signature, unless the caret has left the call."""
        if reply.serial == self._serial and self._bracket is not None:
            self._serial, self._known = 0, reply.called
            if reply.called is not None and reply.called.signatures:
                self._show()

    def _show(self) -> None:
        if self._known is None or self._call is None or self._bracket is None:
            return
        if not self._is_open:
            self.tip.set_look(self._editor.look)
        self._is_open = True
        self.tip.show_call(self._known, self._call)
        popup_place.rise(self.tip, self._editor)
        self.reposition()

    def reposition(self) -> None:
        """Move the signature to its bracket, which has moved on the screen."""
        if not self._is_open or self._bracket is None:
            return
        line, column = self._bracket
        block = self._editor.document().findBlockByNumber(line - 1)
        position = block.position() + units(block.text()[:column])
        place = popup_place.text_place(self._editor, position)
        if place is None:
            # A call of many lines may begin above the first visible one.
            place = popup_place.text_place(self._editor, self._editor.textCursor().position())
        if place is None:
            self.close()
        else:
            self.tip.place(place, self._editor.window().rect())


def _bracket(cursor: QTextCursor, before: str, call: CallAtCaret) -> tuple[int, int]:
    """Return line and column behind the opening bracket of a call."""
    head, rest = before[: len(before) - call.opens + 1], before[len(before) - call.opens + 1 :]
    return cursor.blockNumber() + 1 - rest.count("\n"), len(head.rpartition("\n")[2])
