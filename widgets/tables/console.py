"""The script's output, its figures and warnings, and the error that ended it."""

import re

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QResizeEvent, QTextCharFormat, QTextCursor
from PySide6.QtWidgets import QBoxLayout, QFrame, QPlainTextEdit, QWidget

from gradscribe.engine.protocol.figures import Figure
from gradscribe.engine.protocol.tape import Problem
from gradscribe.playback.tape.figure_files import unwritten_files
from gradscribe.playback.translation import ngettext, tr, translated
from gradscribe.widgets.base.boxes import hbox, push_button, vbox
from gradscribe.widgets.base.labels import Heading, Label, sheet, tip
from gradscribe.widgets.base.stylesheet import set_sheet
from gradscribe.widgets.base.theme import Theme
from gradscribe.widgets.tables.inline_figures import (
    InlineFigures,
    OutputText,
    text_without_figures,
)

LIMIT = 200_000
"""Maximum number of characters stored; the oldest are dropped first."""
LINES = 4_000
"""Maximum number of lines stored, likewise."""
LEAST_HEIGHT = 32
HINT_FROM = 190
"""Panel height in pixels from which the hint is shown, at the default text size."""
LINK_FROM = 300
"""Panel width in pixels from which the link stands next to the words, likewise."""
WARNINGS_LIMIT = 20_000
"""Maximum number of characters of warnings; the oldest are dropped first."""
LINE_LIMIT = 4_000
"""Characters shown of a single line: laying out a longer line would block the window."""


class Console(QWidget):
    """The script's output as plain text, bounded to `LIMIT` characters, and the problem line."""

    line_requested = Signal(int)
    """The user asked to see this source line (of the problem)."""
    files_requested = Signal()
    """Save the files that ``savefig`` did not write."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._lines = 0
        self._line_length = 0
        self._cut = False
        self._last_text = ""
        self._warnings = ""
        self._warned_at: int | None = None
        self._inserted_warnings = ""
        self._problem: Problem | None = None
        self.heading = Heading(tr("Output"), "", self)
        self.view = OutputText(self)
        self.view.setReadOnly(True)
        self.view.setUndoRedoEnabled(False)
        self.view.setLineWrapMode(QPlainTextEdit.LineWrapMode.WidgetWidth)
        self.view.setFrameShape(QPlainTextEdit.Shape.NoFrame)
        self.view.setAccessibleName(tr("Output of the script"))
        self.view.setPlaceholderText(tr("Nothing printed"))
        # In a low panel the problem gets the space first.
        self.view.setMinimumHeight(LEAST_HEIGHT)
        self._build_problem_bar()
        self.figures = InlineFigures(self.view)
        self.figures.resized.connect(self._insert_figures)
        self._skipped = 0
        """Lines before the first that this was given."""
        self.not_written = Label("words", "", self)
        self.save_files = push_button(
            tr("Save…"),
            self,
            self.files_requested,
            "link",
            tip=tr("Choose where savefig's files go"),
        )
        self.save_files.setCursor(Qt.CursorShape.PointingHandCursor)
        self.not_written.hide()
        self.save_files.hide()
        top = Qt.AlignmentFlag.AlignTop
        files = hbox(None, (self.not_written, 1), (self.save_files, top), spacing=8)
        parts = (self.heading, (self.view, 1), files, self._bar)
        vbox(self, *parts, margins=(16, 14, 10, 10), spacing=8)
        self.set_theme(Theme.load("light"))
        self._update_heading()

    def _build_problem_bar(self) -> None:
        self._bar = QFrame(self)
        self._bar.setProperty("row", "error")
        self._message = Label("error", "", self._bar).selectable()
        self._hint = Label("words", "", self._bar)
        tip = tr("Go to the line of the problem")
        self._go = push_button("", self._bar, self._on_link_clicked, "link", tip=tip)
        self._go.setObjectName("problem-link")
        self._go.setCursor(Qt.CursorShape.PointingHandCursor)
        texts = vbox(None, self._message, self._hint, spacing=2)
        go = (self._go, Qt.AlignmentFlag.AlignTop | Qt.AlignmentFlag.AlignLeft)
        self._problem_row = hbox(self._bar, (texts, 1), go, margins=(10, 8, 10, 8))
        self._bar.hide()

    def set_theme(self, theme: Theme) -> None:
        """Use ``theme``'s colours and fonts."""
        self._theme = theme
        set_sheet(self, sheet(theme))
        self.figures.set_theme(theme)
        self._remove_warnings()
        self._insert_warnings()

    def set_text(self, text: str) -> None:
        """Show exactly this output; text that is already shown is not written again."""
        if self._last_text and text.startswith(self._last_text):
            more = text[len(self._last_text) :]
        else:
            self.clear()
            more = text
        self.append(more)
        self._last_text = text

    def set_figures(self, figures: tuple[Figure, ...], skipped: int = 0) -> None:
        """Show these figures among the lines, each after those that were printed before it.

        ``skipped``: number of lines that the program printed before the first of this text.
        """
        if (figures, skipped) == (self.figures.figures(), self._skipped):
            return
        self._remove_warnings()
        self.figures.remove()
        self._skipped = skipped
        self.figures.set_figures(figures)
        self._insert_figures()
        words = unwritten_files(figures)
        self.not_written.setText(words)
        self.not_written.setVisible(bool(words))
        self.save_files.setVisible(bool(words))

    def _insert_figures(self) -> None:
        """Insert the figures, anew if they are there; the place that is read stays in view."""
        if not self.figures.figures():
            self._insert_warnings()
            return
        bar = self.view.verticalScrollBar()
        at, at_end = bar.value(), bar.value() >= bar.maximum() - 4 and bar.maximum() > 0
        self._remove_warnings()
        self.figures.remove()
        shown = self.view.document().blockCount() - (0 if self._is_line_open() else 1)
        self.figures.insert(self._skipped + max(0, self._lines - shown))
        self._insert_warnings()
        bar.setValue(bar.maximum() if at_end else at)

    def _is_line_open(self) -> bool:
        return self._line_length > 0

    def set_warnings(self, text: str) -> None:
        """Show these warnings below the output; each line begins with its place."""
        text = _plain(text).strip()[-WARNINGS_LIMIT:]
        if text != self._warnings:
            self._remove_warnings()
            self._warnings = text
            self._insert_warnings()

    def warnings(self) -> str:
        """Return the warnings shown."""
        return self._warnings

    def _remove_warnings(self) -> None:
        """Remove the warnings, so that output can be appended above them."""
        if self._warned_at is not None:
            cursor = QTextCursor(self.view.document())
            cursor.setPosition(self._warned_at)
            cursor.movePosition(QTextCursor.MoveOperation.End, QTextCursor.MoveMode.KeepAnchor)
            cursor.removeSelectedText()
            self._warned_at = None

    def _insert_warnings(self) -> None:
        """Insert the warnings below the output."""
        if self._warnings and self._warned_at is None:
            cursor = QTextCursor(self.view.document())
            cursor.movePosition(QTextCursor.MoveOperation.End)
            self._warned_at = cursor.position()
            form = QTextCharFormat()
            form.setForeground(self._theme.data)
            gap = "\n" if cursor.positionInBlock() else ""
            self._inserted_warnings = gap + self._warnings
            cursor.insertText(self._inserted_warnings, form)

    def clear(self) -> None:
        """Remove all output; problem and warnings stay."""
        self.view.clear()
        self._warned_at = None
        self._last_text = ""
        self._lines, self._line_length, self._cut = 0, 0, False
        self._insert_figures()
        self._update_heading()

    def append(self, text: str) -> None:
        """Append output; the view scrolls with it unless the user has scrolled up."""
        if not text:
            return
        self._last_text = ""
        text = _plain(text)
        open_line = self._line_length > 0
        self._lines += text.count("\n") + (not text.endswith("\n")) - open_line
        last = "\n".join(text[-LIMIT:].rsplit("\n", LINES)[-LINES:])
        self._cut = self._cut or len(text) > len(last)
        text = self._clipped(last)
        bar = self.view.verticalScrollBar()
        at, at_end = bar.value(), bar.value() >= bar.maximum() - 4
        self._remove_warnings()
        self.figures.remove()
        cursor = QTextCursor(self.view.document())
        cursor.movePosition(QTextCursor.MoveOperation.End)
        cursor.insertText(text, QTextCharFormat())
        self._trim()
        self._insert_figures()
        if at_end or self.figures.views:
            bar.setValue(bar.maximum() if at_end else at)
        self._update_heading()

    def _clipped(self, text: str) -> str:
        """Return ``text`` with lines cut to `LINE_LIMIT`; an unfinished first line is continued."""
        pieces = []
        for number, line in enumerate(text.split("\n")):
            shown = self._line_length if number == 0 else 0
            left = max(0, LINE_LIMIT - shown)
            cut = len(line) > left and shown <= LINE_LIMIT
            pieces.append(line[:left] + (" …" if cut else ""))
            self._line_length = shown + len(line)
        return "\n".join(pieces)

    def text(self) -> str:
        """Return the stored output."""
        text = text_without_figures(self.view)
        return text if self._warned_at is None else text.removesuffix(self._inserted_warnings)

    def _trim(self) -> None:
        document = self.view.document()
        length, lines = document.characterCount() - 1, document.blockCount()
        # Trim a quarter more than needed, so that steady output does not trim at every print.
        surplus = min(length - LIMIT * 3 // 4, LIMIT) if length > LIMIT else 0
        if lines > LINES + 1:
            first = document.findBlockByNumber(lines - LINES * 3 // 4)
            surplus = max(surplus, first.position() - 1)
        if surplus <= 0:
            return
        cursor = QTextCursor(document)
        cursor.setPosition(surplus, QTextCursor.MoveMode.KeepAnchor)
        cursor.movePosition(QTextCursor.MoveOperation.EndOfBlock, QTextCursor.MoveMode.KeepAnchor)
        cursor.removeSelectedText()
        self._cut = True

    def _update_heading(self) -> None:
        note = (
            ngettext("{count:,} line", "{count:,} lines", self._lines)
            if self._lines
            else tr("what the script prints")
        )
        if self._cut:
            note += tr(", the earliest left out")
        self.heading.set_text(tr("Output"), note)

    def set_problem(self, problem: Problem | None) -> None:
        """Show the error message, the hint, and a link to the line; None hides them."""
        self._problem = problem
        self._bar.setVisible(problem is not None)
        if problem is None:
            return
        message = translated(problem.message.strip()) or tr("no message")
        self._message.say(f"{problem.type}: {_shorten(message)}")
        self._message.setToolTip(tip(_shorten(message, 4000)))
        self._hint.say(translated(problem.hint))
        self._show_hint()
        self._go.setText(tr("line {line}", line=problem.place.line))
        self._go.setVisible(problem.place.line > 0)
        self._bar.setAccessibleName(tr("Problem: {message_}", message_=message))

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Hide the hint in a low panel, and put the link below the words in a narrow one.

        The editor shows the hint below the line as well.
        """
        super().resizeEvent(event)
        self._show_hint()
        narrow = self.width() < LINK_FROM * self._theme.scale
        directions = QBoxLayout.Direction
        self._problem_row.setDirection(directions.TopToBottom if narrow else directions.LeftToRight)

    def _show_hint(self) -> None:
        hint = self._problem is not None and bool(self._problem.hint)
        self._hint.setVisible(hint and self.height() >= HINT_FROM * self._theme.scale)

    def problem_text(self) -> str:
        """Return the text of the problem line; empty without a problem."""
        return (
            ""
            if self._problem is None
            else f"{self._problem.type}: {translated(self._problem.message)}"
        )

    def _on_link_clicked(self) -> None:
        if self._problem is not None:
            self.line_requested.emit(self._problem.place.line)


def _plain(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n").replace("\0", "\N{SYMBOL FOR NULL}")


def count_warnings(text: str) -> int:
    """Return the number of warnings in standard error output; any other output counts as 1."""
    return len(re.findall(r"^.*?\b\w*Warning: ", text, re.MULTILINE)) or int(bool(text.strip()))


def _shorten(text: str, limit: int = 400) -> str:
    return text if len(text) <= limit else text[: limit - 1] + "\N{HORIZONTAL ELLIPSIS}"
