"""What the script printed, and what went wrong."""

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QTextCursor
from PySide6.QtWidgets import QFrame, QHBoxLayout, QPlainTextEdit, QPushButton, QVBoxLayout, QWidget

from engine.tape import Problem
from playback import text as words
from widgets.labels import Heading, Label, sheet
from widgets.theme import Theme

LIMIT = 200_000
"""Characters kept; the oldest go first."""
LINES = 4_000
"""Lines kept, likewise."""
LINE_LIMIT = 4_000
"""Characters shown of one line: laying out a longer one would hold up the window."""


class Console(QWidget):
    """The script's output as plain text, bounded to `LIMIT` characters, and the problem line."""

    line_asked = Signal(int)
    """The user wants to see this source line (of the problem)."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._lines = 0
        self._line_length = 0
        self._cut = False
        self._whole = ""
        self._problem: Problem | None = None
        self.heading = Heading("Output", "", self)
        self.view = QPlainTextEdit(self)
        self.view.setReadOnly(True)
        self.view.setUndoRedoEnabled(False)
        self.view.setLineWrapMode(QPlainTextEdit.LineWrapMode.WidgetWidth)
        self.view.setFrameShape(QPlainTextEdit.Shape.NoFrame)
        self.view.setAccessibleName("Output of the script")
        self.view.setPlaceholderText("Nothing printed")
        self._make_problem()
        column = QVBoxLayout(self)
        column.setContentsMargins(16, 14, 10, 10)
        column.setSpacing(8)
        column.addWidget(self.heading)
        column.addWidget(self.view, 1)
        column.addWidget(self._bar)
        self.set_theme(Theme.load("light"))
        self._count()

    def _make_problem(self) -> None:
        self._bar = QFrame(self)
        self._bar.setProperty("row", "error")
        self._message = Label("error", "", self._bar)
        self._message.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self._hint = Label("words", "", self._bar)
        self._go = QPushButton("", self._bar)
        self._go.setObjectName("problem-link")
        self._go.setProperty("link", True)
        self._go.setCursor(Qt.CursorShape.PointingHandCursor)
        self._go.setToolTip("Go to the line of the problem")
        self._go.clicked.connect(self._ask_line)
        texts = QVBoxLayout()
        texts.setSpacing(2)
        texts.addWidget(self._message)
        texts.addWidget(self._hint)
        row = QHBoxLayout(self._bar)
        row.setContentsMargins(10, 8, 10, 8)
        row.addLayout(texts, 1)
        row.addWidget(self._go, 0, Qt.AlignmentFlag.AlignTop)
        self._bar.hide()

    def set_theme(self, theme: Theme) -> None:
        """Use ``theme``'s colours and fonts."""
        self.setStyleSheet(sheet(theme))

    def set_text(self, text: str) -> None:
        """Show this output and no other; what is shown already stays."""
        if self._whole and text.startswith(self._whole):
            more = text[len(self._whole) :]
        else:
            self.clear()
            more = text
        self.append(more)
        self._whole = text

    def clear(self) -> None:
        """Forget all output; the problem stays."""
        self.view.clear()
        self._whole = ""
        self._lines, self._line_length, self._cut = 0, 0, False
        self._count()

    def append(self, text: str) -> None:
        """Add output; the view follows it unless the user has scrolled up."""
        if not text:
            return
        self._whole = ""
        text = text.replace("\r\n", "\n").replace("\r", "\n").replace("\0", "\N{SYMBOL FOR NULL}")
        open_line = self._line_length > 0
        self._lines += text.count("\n") + (not text.endswith("\n")) - open_line
        last = "\n".join(text[-LIMIT:].rsplit("\n", LINES)[-LINES:])
        self._cut = self._cut or len(text) > len(last)
        text = self._clipped(last)
        bar = self.view.verticalScrollBar()
        at_end = bar.value() >= bar.maximum() - 4
        cursor = QTextCursor(self.view.document())
        cursor.movePosition(QTextCursor.MoveOperation.End)
        cursor.insertText(text)
        self._trim()
        if at_end:
            bar.setValue(bar.maximum())
        self._count()

    def _clipped(self, text: str) -> str:
        """Return ``text`` with every line cut to `LINE_LIMIT`, what was shown of it counted."""
        pieces = []
        for number, line in enumerate(text.split("\n")):
            shown = self._line_length if number == 0 else 0
            room = max(0, LINE_LIMIT - shown)
            cut = len(line) > room and shown <= LINE_LIMIT
            pieces.append(line[:room] + (" …" if cut else ""))
            self._line_length = shown + len(line)
        return "\n".join(pieces)

    def text(self) -> str:
        """Return the output that is kept."""
        return self.view.toPlainText()

    def _trim(self) -> None:
        document = self.view.document()
        length, lines = document.characterCount() - 1, document.blockCount()
        # A quarter more than needed, so that a steady stream does not trim at every print.
        surplus = min(length - LIMIT * 3 // 4, LIMIT) if length > LIMIT else 0
        if lines > LINES + 1:
            kept = document.findBlockByNumber(lines - LINES * 3 // 4)
            surplus = max(surplus, kept.position() - 1)
        if surplus <= 0:
            return
        cursor = QTextCursor(document)
        cursor.setPosition(surplus, QTextCursor.MoveMode.KeepAnchor)
        cursor.movePosition(QTextCursor.MoveOperation.EndOfBlock, QTextCursor.MoveMode.KeepAnchor)
        cursor.removeSelectedText()
        self._cut = True

    def _count(self) -> None:
        note = words.count(self._lines, "line") if self._lines else "what the script prints"
        if self._cut:
            note += ", the earliest left out"
        self.heading.set_text("Output", note)

    def set_problem(self, problem: Problem | None) -> None:
        """Show torch's message, the hint, and a link to the line; None hides them."""
        self._problem = problem
        self._bar.setVisible(problem is not None)
        if problem is None:
            return
        message = problem.message.strip() or "no message"
        self._message.say(f"{problem.type}: {_shorten(message)}")
        self._message.setToolTip(_shorten(message, 4000))
        self._hint.say(problem.hint)
        self._hint.setVisible(bool(problem.hint))
        self._go.setText(f"line {problem.place.line}")
        self._go.setVisible(problem.place.line > 0)
        self._bar.setAccessibleName(f"Problem: {message}")

    def problem_text(self) -> str:
        """Return what the problem line says; empty without a problem."""
        return "" if self._problem is None else f"{self._problem.type}: {self._problem.message}"

    def _ask_line(self) -> None:
        if self._problem is not None:
            self.line_asked.emit(self._problem.place.line)


def _shorten(text: str, limit: int = 400) -> str:
    return text if len(text) <= limit else text[: limit - 1] + "\N{HORIZONTAL ELLIPSIS}"
