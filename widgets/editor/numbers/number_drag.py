"""Numbers in the code that can be dragged, slid or stepped.

All changes are edits of the document; a drag is one undo step.
"""

import math
from decimal import Decimal

from PySide6.QtCore import QObject, QPointF, Qt, Signal
from PySide6.QtGui import QKeyEvent, QMouseEvent, QTextBlock, QTextCursor
from PySide6.QtWidgets import QPlainTextEdit

from gradscribe.widgets.editor import line_layout
from gradscribe.widgets.editor.highlight import column_text, state_before, units
from gradscribe.widgets.editor.numbers import number_literal
from gradscribe.widgets.editor.numbers.number_literal import NumberLiteral
from gradscribe.widgets.editor.source_text import range_cursor

THRESHOLD = 3
"""Pixels of motion before a press becomes a drag; below that it is a click."""
PIXELS = 2.0
INT_PIXELS = 4.0
"""Pixels of motion per step, for floats and for integers."""
MAX_LINE = 20_000


class LiveLiteral:
    """A number that is being changed: all its changes are one undo step.

    It ends (`is_alive` becomes False) as soon as anything else overwrites the number.
    """

    def __init__(self, block: QTextBlock, literal: NumberLiteral) -> None:
        self.literal = literal
        line = block.text()
        self.block_number = block.blockNumber()
        self._document = block.document()
        self._start = block.position() + units(line[: literal.start])
        self._text = line[literal.start : literal.end]
        self._written = False

    @property
    def span(self) -> tuple[int, int]:
        """Current range of the number: positions in the document, end exclusive."""
        return self._start, self._start + len(self._text)

    @property
    def is_alive(self) -> bool:
        """True while the document contains, at this place, the text last written."""
        return self._start + len(self._text) < self._document.characterCount() and (
            self._cursor().selectedText() == self._text
        )

    def move(self, change: Decimal) -> bool:
        """Write the original number plus ``change``; return True if the text changed."""
        text = self.literal.moved(change)
        if text == self._text or not self.is_alive:
            return False
        cursor = self._cursor()
        if self._written:
            cursor.joinPreviousEditBlock()
        else:
            cursor.beginEditBlock()
        try:
            # Removal comes last: Qt would merge text typed after an insertion with it.
            start, end = self.span
            cursor.setPosition(end)
            cursor.insertText(text)
            range_cursor(self._document, start, end).removeSelectedText()
        finally:
            cursor.endEditBlock()
        self._text, self._written = text, True
        return True

    def restore(self) -> bool:
        """Undo all changes; return True if there were any."""
        if not self._written or not self.is_alive:
            return False
        self._written = False
        self._text = self.literal.text
        self._document.undo()
        return True

    def _cursor(self) -> QTextCursor:
        return range_cursor(self._document, *self.span)


def line_literals(block: QTextBlock) -> list[NumberLiteral]:
    """Return the draggable numbers of a line; the document must be highlighted."""
    if block.length() > MAX_LINE:
        return []
    before, around = block.previous(), ""
    while (
        before.isValid() and not around.strip() and block.blockNumber() - before.blockNumber() < 5
    ):
        around, before = before.text(), before.previous()
    return number_literal.find_literals(block.text(), state_before(block), around)


def literal_at(cursor: QTextCursor) -> NumberLiteral | None:
    """Return the number that contains or touches a caret."""
    block = cursor.block()
    column = len(column_text(block.text(), cursor.positionInBlock()))
    return number_literal.literal_covering(line_literals(block), column)


class NumberDrag(QObject):
    """Mouse handling for the numbers of an editor, which forwards its mouse events."""

    changed = Signal()
    """A number was rewritten, by a drag or by cancelling it."""
    hover_changed = Signal()
    """The number under the mouse changed; see `hovered`."""

    def __init__(self, edit: QPlainTextEdit) -> None:
        super().__init__(edit)
        self._edit = edit
        self.hovered: tuple[int, NumberLiteral] | None = None
        """Block number and literal under the mouse, while no button is pressed."""
        self.live: LiveLiteral | None = None
        """The number being dragged."""
        self._pressed: LiveLiteral | None = None
        self._press_at = QPointF()
        self._last_x = 0.0
        self._travel = 0.0
        self._settled = Decimal(0)
        self._factor = Decimal(1)

    def hover(self, block: QTextBlock | None, x: float) -> None:
        """Update `hovered` to the number at ``x`` in ``block``; None if the mouse is on no line."""
        found = None
        if block is not None:
            column = line_layout.column_at(self._edit, block, x)
            if column is not None:
                found = next(
                    (
                        literal
                        for literal in line_literals(block)
                        if literal.start <= column < literal.end
                    ),
                    None,
                )
        hovered = None if found is None or block is None else (block.blockNumber(), found)
        if hovered != self.hovered:
            self.hovered = hovered
            self.hover_changed.emit()

    def press(self, press: QMouseEvent, block: QTextBlock | None) -> None:
        """Prepare a drag if ``press`` is on a number; the editor handles the press as well."""
        self._pressed = self.live = None
        if press.button() != Qt.MouseButton.LeftButton or block is None:
            return
        self.hover(block, press.position().x())
        if self.hovered is not None and not self._edit.isReadOnly():
            self._pressed = LiveLiteral(block, self.hovered[1])
            self._press_at = press.position()

    def move(self, motion: QMouseEvent) -> bool:
        """Drag; return True if the motion belongs to a number and was consumed."""
        pressed = self._pressed
        if pressed is None or not motion.buttons() & Qt.MouseButton.LeftButton:
            return False
        if self.live is None:
            way = motion.position() - self._press_at
            if max(abs(way.x()), abs(way.y())) < THRESHOLD:
                return True
            if abs(way.y()) > abs(way.x()):
                self._pressed = None
                return False
            self._begin(pressed)
        self._drag(motion)
        return True

    def _begin(self, pressed: LiveLiteral) -> None:
        self.live = pressed
        self._last_x = self._press_at.x()
        self._travel, self._settled, self._factor = 0.0, Decimal(0), Decimal(1)
        caret = self._edit.textCursor()
        caret.setPosition(pressed.span[1])
        self._edit.setTextCursor(caret)
        self._edit.viewport().update()

    def _drag(self, motion: QMouseEvent) -> None:
        live = self.live
        assert live is not None
        factor = _factor(motion.modifiers())
        if factor != self._factor:
            self._settled, self._travel, self._factor = self._change(live), 0.0, factor
        self._travel += motion.position().x() - self._last_x
        self._last_x = motion.position().x()
        self.write(live, self._change(live))

    def _change(self, live: LiveLiteral) -> Decimal:
        pixels = INT_PIXELS if live.literal.is_int else PIXELS
        if live.literal.is_int and self._factor < 1:
            pixels, factor = pixels * 10, Decimal(1)
        else:
            factor = self._factor
        return self._settled + math.trunc(self._travel / pixels) * live.literal.step * factor

    def release(self) -> bool:
        """End the press; return True if it was a drag."""
        dragged = self.live is not None
        self._pressed = self.live = None
        if dragged:
            self._edit.viewport().update()
        return dragged

    def cancel(self) -> bool:
        """Cancel the drag and restore the old number; return True if there was a drag."""
        live, self.live = self.live, None
        self._pressed = None
        if live is None:
            return False
        if live.restore():
            self.changed.emit()
        self._edit.viewport().update()
        return True

    def step(self, steps: int) -> bool:
        """Change the number at the caret by ``steps``; return False without a number."""
        caret = self._edit.textCursor()
        literal = literal_at(caret)
        if literal is None or self._edit.isReadOnly():
            return False
        live = LiveLiteral(caret.block(), literal)
        self.write(live, literal.step * steps)
        caret.setPosition(live.span[1])
        self._edit.setTextCursor(caret)
        return True

    def write(self, live: LiveLiteral, change: Decimal) -> None:
        """Write ``live`` plus ``change``; emit `changed` if the text differs."""
        if live.move(change):
            self.changed.emit()


def key_steps(press: QKeyEvent) -> int | None:
    """Return the steps by which a key changes a number, 0 to open its slider, else None."""
    modifiers = press.modifiers() & ~Qt.KeyboardModifier.KeypadModifier
    control, shift = Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.ShiftModifier
    if modifiers == control and press.key() == Qt.Key.Key_Period:
        return 0
    if press.key() not in (Qt.Key.Key_Up, Qt.Key.Key_Down) or modifiers & ~shift != control:
        return None
    way = 1 if press.key() == Qt.Key.Key_Up else -1
    return way * (10 if modifiers & shift else 1)


def _factor(modifiers: Qt.KeyboardModifier) -> Decimal:
    if modifiers & Qt.KeyboardModifier.ShiftModifier:
        return Decimal(10)
    if modifiers & Qt.KeyboardModifier.AltModifier:
        return Decimal("0.1")
    return Decimal(1)
