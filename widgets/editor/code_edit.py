"""The program editor: Python source with the values and gradients of each line next to it."""

from collections.abc import Mapping, Sequence

from PySide6.QtCore import QElapsedTimer, QEvent, QPoint, QPointF, QRect, QRectF, Qt, Signal
from PySide6.QtGui import (
    QContextMenuEvent,
    QHelpEvent,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QResizeEvent,
    QTextCharFormat,
    QTextCursor,
)
from PySide6.QtWidgets import QTextEdit, QToolTip, QWidget

from gradscribe.engine.protocol.tape import Problem
from gradscribe.playback.code.lines import LineMark
from gradscribe.playback.translation import tr
from gradscribe.widgets.base.labels import tip
from gradscribe.widgets.base.theme import Theme, faded, mix
from gradscribe.widgets.editor import brackets, line_layout, source_text
from gradscribe.widgets.editor.breakpoints import Breakpoints
from gradscribe.widgets.editor.completion.assistance import TypingAssistance
from gradscribe.widgets.editor.edit_history import EditStep
from gradscribe.widgets.editor.find.match_marks import MatchMarks
from gradscribe.widgets.editor.finding_underlines import FindingMarks
from gradscribe.widgets.editor.folding.folds import Folds
from gradscribe.widgets.editor.gutter import Gutter
from gradscribe.widgets.editor.highlight import units
from gradscribe.widgets.editor.line_layout import VisibleRow
from gradscribe.widgets.editor.line_marks import LineMarks, PlacedMark
from gradscribe.widgets.editor.numbers.number_drag import NumberDrag, key_steps
from gradscribe.widgets.editor.numbers.number_hover import NumberHover
from gradscribe.widgets.editor.problems.strip import ProblemStrip, problem_text
from gradscribe.widgets.editor.source_edit import SourceEdit
from gradscribe.widgets.editor.spoken_line import SpokenLine
from gradscribe.widgets.editor.style import Band, Phase

QUIET_MS = 2000
"""Time after typing during which the view does not scroll to the playing line."""
STRIP_SHARE = 0.55
"""Largest share of the height for an error; a higher one is shortened."""
MOST_MEASURED = 300
"""Maximum number of marked lines measured to find the columns of the marks."""


class CodeEdit(SourceEdit):
    """The program, with line numbers, marks, the playing line, errors and draggable numbers.

    `edited` is emitted for every change by the user; while a number is dragged, slid or stepped,
    `number_changed` follows each of them, for listeners that run the program at once.
    """

    number_changed = Signal(str)
    line_picked = Signal(int)
    menu_requested = Signal(int, QPoint)
    """Open the menu of a line (0: below the text) at a global point."""
    """A line number or mark was clicked, or the caret set in another line with the mouse."""
    fix_requested = Signal()
    """Apply the edit that is shown with the error."""

    def __init__(self, theme: Theme | None = None, parent: QWidget | None = None) -> None:
        theme = theme or Theme.load("light")
        self._ready = False
        super().__init__(theme, parent)
        self._marks = LineMarks(self.look)
        self._text_end: float | None = None
        self._placed: list[PlacedMark] = []
        self._playing: tuple[int, Phase] = (0, "")
        self._playing_was_seen = False
        """True if the playing line was in view when the editor was painted last."""
        self._problem: Problem | None = None
        self._problem_cursors: list[QTextCursor] = []
        self.findings = FindingMarks(self)
        self.found = MatchMarks(self)
        self.folds = Folds(self)
        self._typed = QElapsedTimer()
        self.breakpoints = Breakpoints(self)
        self._gutter = Gutter(self, self._line_tooltip, self.breakpoints)
        self._spoken = SpokenLine(
            self, self._gutter, self.folds, self.breakpoints, self._marks.about
        )
        self._strip = ProblemStrip(self)
        self._drag = NumberDrag(self)
        self._hover = NumberHover(self, self._drag)
        self.assistance = TypingAssistance(self)
        self._ready = True
        self.viewport().setMouseTracking(True)
        self._gutter.picked.connect(self.line_picked)
        self._gutter.fold_requested.connect(self.folds.toggle)
        self._gutter.breakpoint_requested.connect(self.breakpoints.toggle)
        self.folds.refused.connect(self.refused)
        self._strip.picked.connect(self._go_to_problem)
        self._strip.fix_requested.connect(self.fix_requested)
        self._drag.changed.connect(lambda: self.number_changed.emit(self.source()))
        self._drag.hover_changed.connect(self.viewport().update)
        self.lines_moved.connect(self._on_lines_moved)
        self.textChanged.connect(self._invalidate_marks)
        self.edited.connect(lambda _: self._typed.start())
        self.cursorPositionChanged.connect(self._highlight_brackets)
        self.blockCountChanged.connect(self._arrange)
        self.apply_look()

    def apply_look(self) -> None:
        """Apply colours and sizes after they changed."""
        super().apply_look()
        if self._ready:
            self._marks.set_style(self.look)
            self._strip.set_style(self.look)
            self._hover.set_style(self.look)
            self._hover.dismiss()
            self.assistance.dismiss()
            self._invalidate_marks()
            self._highlight_brackets()
            self._arrange()

    def set_marks(self, marks: Mapping[int, LineMark]) -> None:
        """Show values and gradients next to the lines, keys from 1; missing lines are ignored."""
        self._marks.set_marks(marks)
        self._invalidate_marks()
        self._spoken.refresh()

    def set_playing_line(self, line: int, phase: Phase) -> None:
        """Highlight ``line`` (from 1; 0 for none) in the colour of ``phase`` and scroll to it.

        The view stays where it is while the user types.
        """
        if (line, phase) == self._playing:
            return
        self._playing = (line, phase)
        self._reveal_needed()
        self._show_playing()
        self.viewport().update()

    def _show_playing(self) -> None:
        """Scroll to the playing line, unless the user is typing."""
        line, _ = self._playing
        typing = self.hasFocus() and self._typed.isValid() and self._typed.elapsed() < QUIET_MS
        if 0 < line <= self.blockCount() and not typing:
            self._show_line(line)

    def set_text_size(self, px: int) -> None:
        """Set the font size in pixels; a playing line that was in view stays in view."""
        super().set_text_size(px)
        if self._playing_was_seen:
            self._show_playing()

    def set_problem(self, problem: Problem | None) -> None:
        """Underline an error at its place and show it under the code; None removes it.

        An error that is already shown stays at its text, which may have moved since.
        """
        if problem == self._problem and (problem is None or self.problem_ranges()):
            return
        self._problem = problem
        self._problem_cursors = []
        if problem is not None:
            lines = self.source().split("\n")
            for number, start, end in source_text.underline_ranges(problem.place, lines):
                block = self.document().findBlockByNumber(number)
                at, text = block.position(), block.text()
                start, end = at + units(text[:start]), at + units(text[:end])
                self._problem_cursors.append(source_text.range_cursor(self.document(), start, end))
        self._reveal_needed()
        self.setAccessibleDescription("" if problem is None else problem_text(problem))
        self._strip.set_problem(problem)
        self._highlight_brackets()
        self._arrange()
        self.viewport().update()

    def show_fix(self, rows: Sequence[str]) -> None:
        """Offer an edit for the error: the lines it removes (``- ``) and adds (``+ ``)."""
        self._strip.set_edit(rows)
        self._arrange()

    def problem(self) -> Problem | None:
        """Return the error shown, if any."""
        return self._problem

    def _reveal_needed(self) -> None:
        """Open the folds that hide the playing line or the error."""
        needed = (self._playing[0], tr("the line that plays is in it"))
        self.folds.needed = (needed, (self._problem_line(), tr("an error is in it")))
        for line, _ in self.folds.needed:
            self.folds.reveal(line)

    def problem_ranges(self) -> list[tuple[int, int, int]]:
        """Return the underlined ranges: line (from 1), start and end column in characters.

        Underlines move with their text, and disappear with it.
        """
        return source_text.selected_ranges(self._problem_cursors)

    def set_stale(self, stale: bool, then: Mapping[int, LineMark] | None = None) -> None:
        """Dim the marks while they belong to an earlier text.

        ``then``: the marks where the current text departs; what is the same there is not dimmed.
        """
        if stale or stale != self._marks.stale:
            self._marks.stale = stale
            self._marks.set_fresh(then or {})
            self.viewport().update()

    def open_slider(self) -> bool:
        """Open and focus the slider of the number at the caret; False where there is none."""
        return self._hover.open_at_caret()

    def bands(self) -> dict[int, Band]:
        """Return the highlighted lines, each with its band."""
        bands = {}
        if self._problem_line():
            bands[self._problem_line()] = self.look.error_band()
        line, phase = self._playing
        if line:
            bands[line] = self.look.band(phase)
        return bands

    def placed_marks(self) -> list[PlacedMark]:
        """Return the visible marks with their places in the viewport, as last painted."""
        return list(self._placed)

    def _problem_line(self) -> int:
        if not self._problem_cursors:
            return 0
        return (
            self.document().findBlock(self._problem_cursors[0].selectionStart()).blockNumber() + 1
        )

    def _go_to_problem(self) -> None:
        if self._problem_cursors:
            cursor = QTextCursor(self._problem_cursors[0])
            cursor.setPosition(cursor.selectionStart())
            self.setTextCursor(cursor)
            self.ensureCursorVisible()
            self.setFocus(Qt.FocusReason.OtherFocusReason)

    def _show_line(self, line: int) -> None:
        bar, inside = self.verticalScrollBar(), self._lines_inside(self.rows())
        if inside and not inside[0] <= line <= inside[-1]:
            block = self.document().findBlockByNumber(line - 1)
            bar.setValue(max(0, block.firstLineNumber() - len(inside) // 3))

    def _lines_inside(self, rows: Sequence[VisibleRow]) -> list[int]:
        """Return the lines of the rows that are in view whole."""
        return [row.line for row in rows if row.bottom <= self.viewport().height()]

    def _on_lines_moved(self, first: int, change: int) -> None:
        self._marks.shift(first, change)
        line, phase = self._playing
        if line >= first:
            self._playing = (line + change if line + change >= first else 0, phase)
            self._reveal_needed()

    def _invalidate_marks(self) -> None:
        self._text_end = None
        self.viewport().update()

    def _line_end(self) -> float:
        """Return the x where the longest marked line ends, rounded up so that typing is steady."""
        if self._text_end is None:
            width = 0.0
            for line in self._marks.lines()[:MOST_MEASURED]:
                block = self.document().findBlockByNumber(line - 1)
                if block.isValid() and block.isVisible():
                    size = self.blockBoundingRect(block)
                    width = max(width, block.layout().lineAt(0).naturalTextWidth() if size else 0)
            step = self.look.metrics.horizontalAdvance(" ") * 4
            self._text_end = self.document().documentMargin() + -(-width // step) * step
        return self._text_end

    def _highlight_brackets(self) -> None:
        """Highlight the pair of brackets at the caret."""
        theme, box = self.look.theme, QTextCharFormat()
        box.setBackground(mix(theme.selection, theme.panel, 0.22))
        found = []
        for position in brackets.matching_pair(self.textCursor()) or ():
            selection = QTextEdit.ExtraSelection()
            selection.cursor = source_text.range_cursor(self.document(), position, position + 1)
            selection.format = box
            found.append(selection)
        self.setExtraSelections(found)

    def _arrange(self) -> None:
        """Place gutter and problem strip around the viewport."""
        gutter = self._gutter.width_for(self.look, self.blockCount())
        # The same with and without the scroll bar, else showing and hiding it would loop forever.
        bar = self.verticalScrollBar().sizeHint().width()
        most = round(self.contentsRect().height() * STRIP_SHARE)
        strip = self._strip.height_for(self.contentsRect().width() - bar, most)
        margins = self.viewportMargins()
        if (margins.left(), margins.bottom()) != (gutter, strip):
            self.setViewportMargins(gutter, 0, 0, strip)
            if self.hasFocus():
                # A strip that appears must not cover the line that is being typed.
                self.ensureCursorVisible()
        view = self.viewport().geometry()
        self._gutter.setGeometry(view.left() - gutter, view.top(), gutter, view.height())
        left = view.left() - gutter
        self._strip.setGeometry(QRect(left, view.bottom() + 1, gutter + view.width(), strip))

    def compact_history(self) -> None:
        """Rebuild the document's history if it has grown too big; folds and breakpoints stay."""
        folded = self.folds.lines()
        super().compact_history()
        self.folds.fold_lines(folded)

    def restore(self, source: str, steps: Sequence[EditStep], done: int) -> None:
        """Replace the text and the history; breakpoints stay at their lines."""
        kept = self.breakpoints.lines()
        self.breakpoints.blockSignals(True)
        super().restore(source, steps, done)
        self.breakpoints.set_lines(kept)
        self.breakpoints.blockSignals(False)

    def resizeEvent(self, resize: QResizeEvent) -> None:
        """Lay out gutter and problem strip; called by Qt."""
        super().resizeEvent(resize)
        if self._ready:
            self._hover.dismiss()
            self._arrange()
            if self._playing_was_seen:
                self._show_playing()

    def paintEvent(self, paint: QPaintEvent) -> None:
        """Paint highlighted rows, the code, then underlines and marks over it; called by Qt."""
        rows, bands = self.rows(), self.bands()
        self._playing_was_seen = self._playing[0] in self._lines_inside(rows)
        with QPainter(self.viewport()) as painter:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            self._paint_bands(painter, rows, bands)
            self.found.paint(painter, rows, self.look)
        super().paintEvent(paint)
        with QPainter(self.viewport()) as painter:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            self._paint_number(painter, rows)
            self._paint_error_underline(painter, rows)
            self.findings.paint(painter, rows, self.look)
            rows = self.folds.widened(rows, self.look)
            self.folds.paint(painter, self.look)
            self._placed = self._marks.place(rows, self.viewport().width(), self._line_end())
            self._marks.paint(painter, self._placed, bands)
            if self.document().isEmpty():
                line_layout.paint_placeholder(
                    painter, self, rows[0], tr("Type PyTorch here"), self.look
                )
        current = self.textCursor().blockNumber() + 1 if self.hasFocus() else 0
        self._gutter.show_findings(self.findings.lines())
        self._gutter.show_folds(self.folds.headers(rows))
        self._gutter.show_breakpoints(*self.breakpoints.shown())
        self._gutter.show_rows(self.look, rows, bands, current, self._problem_line())

    def _paint_bands(
        self, painter: QPainter, rows: tuple[VisibleRow, ...], bands: dict[int, Band]
    ) -> None:
        painter.setPen(Qt.PenStyle.NoPen)
        for row in rows:
            if row.line in bands:
                painter.setBrush(bands[row.line].fill)
                width = self.viewport().width() + 6 - 3
                painter.drawRoundedRect(QRectF(-6, row.top, width, row.height), 5, 5)

    def _paint_error_underline(self, painter: QPainter, rows: tuple[VisibleRow, ...]) -> None:
        tops = {row.line: row for row in rows}
        for line, start, end in self.problem_ranges():
            if line in tops:
                block = self.document().findBlockByNumber(line - 1)
                left, right = line_layout.span_x(self, block, start, end)
                y = self._underline(tops[line])
                line_layout.paint_wave(
                    painter, max(left, -8), min(right, self.width()), y, self.look
                )

    def _underline(self, row: VisibleRow) -> float:
        return row.middle + self.look.metrics.ascent() * 0.5 + 2

    def _paint_number(self, painter: QPainter, rows: tuple[VisibleRow, ...]) -> None:
        live, theme = self._drag.live or self._hover.slider.live, self.look.theme
        if live is not None and live.is_alive:
            block = self.document().findBlock(live.span[0])
            start, end = (at - block.position() for at in live.span)
        elif self._drag.hovered is not None:
            block = self.document().findBlockByNumber(self._drag.hovered[0])
            start, end = self._drag.hovered[1].start, self._drag.hovered[1].end
        else:
            return
        row = next((row for row in rows if row.line == block.blockNumber() + 1), None)
        if row is None:
            return
        left, right = line_layout.span_x(self, block, start, end)
        y = self._underline(row)
        painter.setPen(QPen(theme.selection if live else faded(theme.data, 0.55), 1.6))
        painter.drawLine(QPointF(left, y), QPointF(right, y))

    def viewportEvent(self, event: QEvent) -> bool:
        """Show tooltips and forget the mouse when it leaves; called by Qt."""
        if event.type() == QEvent.Type.Leave:
            self._drag.hover(None, 0)
        elif isinstance(event, QHelpEvent) and event.type() == QEvent.Type.ToolTip:
            QToolTip.showText(event.globalPos(), self.tip_at(event.pos()), self.viewport())
            return True
        return super().viewportEvent(event)

    def tip_at(self, at: QPoint) -> str:
        """Return the tooltip of a place in the viewport: of a mark or an error, else empty."""
        line = self._marked_at(QPointF(at))
        if line:
            return tip(self._marks.about(line))
        here = self.cursorForPosition(at)
        ends = ((c.selectionStart(), c.selectionEnd()) for c in self._problem_cursors)
        if any(start <= here.position() <= end for start, end in ends):
            return self._strip.toolTip()
        return tip(self.findings.about(here.blockNumber() + 1))

    def _line_tooltip(self, line: int) -> str:
        if line == self._problem_line():
            return self._strip.toolTip()
        return tip(self.findings.about(line) or self._marks.about(line))

    def _marked_at(self, at: QPointF) -> int:
        return next((mark.line for mark in self._placed if mark.area.contains(at)), 0)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """Request the menu of the line under the mouse, or by keyboard of the caret's line."""
        by_key = event.reason() == QContextMenuEvent.Reason.Keyboard
        block = self.textCursor().block() if by_key else self.block_at(event.pos().y())
        line = block.blockNumber() + 1 if block is not None and block.isValid() else 0
        at = event.globalPos()
        if line and not self.textCursor().hasSelection() and line != self.caret_line():
            # The commands of the menu work on the caret's line.
            self.setTextCursor(self.cursorForPosition(event.pos()))
        if by_key:
            at = self.viewport().mapToGlobal(self.cursorRect().bottomLeft())
        self.menu_requested.emit(line, at)
        event.accept()

    def caret_line(self) -> int:
        """Return the line of the caret, from 1."""
        return self.textCursor().blockNumber() + 1

    def mousePressEvent(self, press: QMouseEvent) -> None:
        """Pick a mark, get ready to drag a number, set the caret; called by Qt."""
        self._hover.dismiss()
        is_left = press.button() == Qt.MouseButton.LeftButton
        folded = self.folds.chip_at(press.position()) if is_left else 0
        if folded:
            self.folds.toggle(folded)
            return
        marked = self._marked_at(press.position()) if is_left else 0
        if marked:
            self.line_picked.emit(marked)
            return
        self._drag.press(press, self.block_at(press.position().y()))
        before = self.textCursor().blockNumber()
        super().mousePressEvent(self.snapped(press))
        after = self.textCursor().blockNumber()
        if is_left and before != after:
            self.line_picked.emit(after + 1)

    def mouseMoveEvent(self, motion: QMouseEvent) -> None:
        """Drag a number, select text, or update the hovered number; called by Qt."""
        if self._drag.move(motion):
            return
        if not motion.buttons():
            at = motion.position()
            self._drag.hover(None if self._marked_at(at) else self.block_at(at.y()), at.x())
            self._show_cursor(at)
        super().mouseMoveEvent(self.snapped(motion))

    def mouseReleaseEvent(self, release: QMouseEvent) -> None:
        """End a drag or a selection; called by Qt."""
        self._drag.release()
        super().mouseReleaseEvent(self.snapped(release))

    def mouseDoubleClickEvent(self, click: QMouseEvent) -> None:
        """Select a word; called by Qt."""
        self._drag.release()
        super().mouseDoubleClickEvent(self.snapped(click))

    def _show_cursor(self, at: QPointF) -> None:
        shape = Qt.CursorShape.IBeamCursor
        if self._drag.hovered is not None:
            shape = Qt.CursorShape.SizeHorCursor
        elif self._marked_at(at) or self.folds.chip_at(at):
            shape = Qt.CursorShape.PointingHandCursor
        self.viewport().setCursor(shape)

    def claims_key(self, press: QKeyEvent) -> bool:
        """Return whether ``press`` is an editor key that Qt does not recognise as such."""
        if press.key() == Qt.Key.Key_Escape:
            return self._drag.live is not None or self._hover.slider.live is not None
        return super().claims_key(press) or key_steps(press) is not None

    def keyPressEvent(self, press: QKeyEvent) -> None:
        """Step a number, open its slider, cancel a drag, or edit; called by Qt."""
        if press.key() == Qt.Key.Key_Escape and self._drag.cancel():
            return
        steps = key_steps(press)
        if steps is None:
            self._hover.dismiss()
            if not self.folds.step_over(press):
                super().keyPressEvent(press)
        elif steps:
            self._drag.step(steps)
        else:
            self.open_slider()
