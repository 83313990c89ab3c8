"""Opening and closing of a number's slider: after hovering for a while, or by key."""

from PySide6.QtCore import QObject, QPointF, QRectF, Qt, QTimer, Signal
from PySide6.QtWidgets import QPlainTextEdit

from gradscribe.widgets.editor import line_layout
from gradscribe.widgets.editor.numbers.number_drag import (
    LiveLiteral,
    NumberDrag,
    line_literals,
    literal_at,
)
from gradscribe.widgets.editor.numbers.number_literal import NumberLiteral
from gradscribe.widgets.editor.numbers.number_slider import NumberSlider
from gradscribe.widgets.editor.style import EditorStyle

REST_MS = 400
LEAVE_MS = 300


class NumberHover(QObject):
    """Opens a `NumberSlider` over an editor for the number hovered in its `NumberDrag`."""

    opened = Signal()

    def __init__(self, edit: QPlainTextEdit, drag: NumberDrag) -> None:
        super().__init__(edit)
        self._edit, self._drag = edit, drag
        # Not a child of the viewport, which moves its children when it scrolls.
        self.slider = NumberSlider(edit)
        self.slider.slid.connect(self._on_slid)
        self.slider.closed.connect(self._stop_timers)
        self._is_writing = False
        self._is_by_key = False
        self._open_timer = QTimer(self, singleShot=True, interval=REST_MS)
        self._open_timer.timeout.connect(self._open_hovered)
        self._close_timer = QTimer(self, singleShot=True, interval=LEAVE_MS)
        self._close_timer.timeout.connect(self._close_if_left)
        drag.hover_changed.connect(self._on_hover_changed)
        edit.textChanged.connect(self._on_text_changed)
        edit.verticalScrollBar().valueChanged.connect(self.dismiss)
        edit.horizontalScrollBar().valueChanged.connect(self.dismiss)

    def set_style(self, style: EditorStyle) -> None:
        """Set the colours of the editor."""
        self.slider.set_style(style)

    def open_at_caret(self) -> bool:
        """Open the slider for the number at the caret, else the next in its line, and focus it.

        Return False if the line has none.
        """
        caret = self._edit.textCursor()
        literal = literal_at(caret)
        if literal is None:
            column = caret.positionInBlock()
            literal = next((x for x in line_literals(caret.block()) if x.start >= column), None)
        if literal is None or self._edit.isReadOnly():
            return False
        self._open(caret.blockNumber(), literal)
        self._is_by_key = True
        self.slider.slider.setFocus(Qt.FocusReason.ShortcutFocusReason)
        return True

    def dismiss(self) -> None:
        """Close the slider and stop all timers."""
        self._open_timer.stop()
        self._close_timer.stop()
        self.slider.dismiss()

    def _on_hover_changed(self) -> None:
        if self._drag.hovered is None:
            self._open_timer.stop()
            if self.slider.live is not None:
                self._close_timer.start()
        elif self._drag.live is None and not self._edit.isReadOnly():
            self._open_timer.start()

    def _open_hovered(self) -> None:
        if self._drag.hovered is not None and self._drag.live is None:
            live = self.slider.live
            number, literal = self._drag.hovered
            if live is None or not self._is_over(live):
                self._open(number, literal)

    def _open(self, number: int, literal: NumberLiteral) -> None:
        edit = self._edit
        block = edit.document().findBlockByNumber(number)
        left, right = line_layout.span_x(edit, block, literal.start, literal.end)
        top = edit.blockBoundingGeometry(block).translated(edit.contentOffset())
        line = block.layout().lineAt(0)
        origin = QPointF(edit.viewport().pos())
        place = QRectF(left, top.top() + line.y() - 2, right - left, line.height() + 4)
        self.slider.dismiss()
        bounds = QRectF(edit.viewport().rect()).translated(origin)
        self._is_by_key = False
        self.slider.open_at(LiveLiteral(block, literal), place.translated(origin), bounds)
        self.opened.emit()

    def _on_slid(self, change: object) -> None:
        live = self.slider.live
        if live is None:
            return
        self._is_writing = True
        try:
            self._drag.write(live, change)  # type: ignore[arg-type]  # signals carry objects
        finally:
            self._is_writing = False

    def _on_text_changed(self) -> None:
        if not self._is_writing:
            self.dismiss()

    def _is_over(self, live: LiveLiteral) -> bool:
        hovered = self._drag.hovered
        if hovered is None or hovered[0] != live.block_number:
            return False
        block = self._edit.document().findBlockByNumber(hovered[0])
        start = block.position() + hovered[1].start
        return live.span[0] - 1 <= start <= live.span[1]

    def _close_if_left(self) -> None:
        live = self.slider.live
        if live is None or self._is_by_key:
            return
        is_down = self.slider.slider.isSliderDown()
        if is_down or self.slider.is_under_mouse() or self._is_over(live):
            self._close_timer.start()
        else:
            self.dismiss()

    def _stop_timers(self) -> None:
        self._open_timer.stop()
        self._close_timer.stop()
