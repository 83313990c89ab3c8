"""Go to the definition of a name."""

import re
from collections.abc import Callable

from PySide6.QtCore import QObject, QPoint, Signal

from gradscribe.engine.protocol.language import LanguageRequest, Locate, Located
from gradscribe.playback.completion.source_names import bindings
from gradscribe.playback.translation import tr
from gradscribe.widgets.base.single_shot import single_shot
from gradscribe.widgets.editor.completion import masked_text
from gradscribe.widgets.editor.completion.knowledge import Knowledge
from gradscribe.widgets.editor.highlight import column_text
from gradscribe.widgets.editor.source_edit import SourceEdit

ANSWER_MS = 3000
"""Time for an answer; after it the text alone is searched."""
_WORD = re.compile(r"[^\W\d]\w*")


class DefinitionJump(QObject):
    """Moves the caret to the line that defines the name at the caret."""

    said = Signal(str)
    """Carries a remark: there is no definition in this text."""

    def __init__(
        self,
        editor: SourceEdit,
        knowledge: Knowledge,
        ask: Callable[[Callable[[int], LanguageRequest]], int],
    ) -> None:
        super().__init__(editor)
        self._editor, self._knowledge, self._ask = editor, knowledge, ask
        self._serial = 0
        self._word = ("", 0, 0)
        """The name, its line from 1, and the column at which it begins."""
        self._limit = single_shot(self, self._search_text, ANSWER_MS)

    def go(self) -> None:
        """Go to the definition of the name at the caret."""
        cursor = self._editor.textCursor()
        line = cursor.blockNumber() + 1
        column = len(column_text(cursor.block().text(), cursor.positionInBlock()))
        word = _word_at(masked_text.masked_block(cursor.block()), column)
        if word is None:
            self.said.emit(tr("There is no name at the caret"))
            return
        self._word = (word.group(), line, word.start())
        source = self._editor.source()
        self._serial = self._ask(lambda serial: Locate(serial, source, line, word.start()))
        if self._serial:
            self._limit.start()
        else:
            self._search_text()

    def go_from(self, at: QPoint) -> bool:
        """Go to the definition of the name at a point of the viewport; False if there is none."""
        block = self._editor.block_at(at.y())
        if block is None:
            return False
        cursor = self._editor.cursorForPosition(at)
        column = len(column_text(block.text(), cursor.positionInBlock()))
        if cursor.block() != block or _word_at(masked_text.masked_block(block), column) is None:
            return False
        self._editor.setTextCursor(cursor)
        self.go()
        return True

    def take(self, reply: Located) -> None:
        """Go to the place of an answer that is still expected."""
        if not self._serial or reply.serial != self._serial:
            return
        if reply.line:
            self._arrive(reply.line, reply.column)
        elif reply.elsewhere:
            self._end()
            self.said.emit(
                tr(
                    "{word} is defined by {elsewhere}, not in this program",
                    word=self._word[0],
                    elsewhere=reply.elsewhere,
                )
            )
        else:
            self._search_text()

    def forget(self) -> None:
        """Drop the answer that is expected: the text has changed."""
        self._end()

    def _search_text(self) -> None:
        name, line, column = self._word
        text = self._editor.document().findBlockByNumber(line - 1).text()
        source = self._knowledge.known().source
        is_member = text[:column].rstrip().endswith(".")
        lines = () if is_member else source.lines.get(name, ())
        if not lines:
            self._end()
            self.said.emit(tr("No definition of {name} in this program", name=name))
            return
        before = [number for number in lines if number < line]
        target = before[-1] if before else lines[0]
        block = self._editor.document().findBlockByNumber(target - 1)
        places = [b.column for b in bindings(masked_text.masked_block(block)) if b.name == name]
        self._arrive(target, places[0] if places else 0)

    def _arrive(self, line: int, column: int) -> None:
        self._end()
        self._editor.go_to_line(line, column)

    def _end(self) -> None:
        self._serial = 0
        self._limit.stop()


def _word_at(masked: str, column: int) -> re.Match[str] | None:
    """Return the name around a column, or the one that ends there."""
    found = (match for match in _WORD.finditer(masked) if match.start() <= column <= match.end())
    return next(found, None)
