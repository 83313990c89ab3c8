"""Figures of a run among the lines of its output, in the order in which they came.

The output is a plain text view, which shows no pictures. A figure has a paragraph of its own there,
of so many empty lines as it is high, and stands over it as a widget.
"""

import math
from collections.abc import Sequence

from PySide6.QtCore import QEvent, QMimeData, QObject, Signal
from PySide6.QtGui import QTextBlock, QTextCursor
from PySide6.QtWidgets import QPlainTextEdit, QWidget

from gradscribe.engine.protocol.figures import Figure
from gradscribe.widgets.base.open_windows import OpenWindows
from gradscribe.widgets.base.single_shot import single_shot
from gradscribe.widgets.base.theme import Theme
from gradscribe.widgets.tables.figure_window import FigureWindow
from gradscribe.widgets.tables.figures import FigureView, figure_ratio, file_types, save_figure

LEAST_HEIGHT = 84
GAP = 4
"""Pixels above and below a figure."""
_BREAK = "\N{LINE SEPARATOR}"


class OutputText(QPlainTextEdit):
    """A read-only text view with figures; what is copied from it is the text alone."""

    def createMimeDataFromSelection(self) -> QMimeData:
        """Return the selected text without the space of figures; called by Qt."""
        paragraphs = self.textCursor().selectedText().split("\N{PARAGRAPH SEPARATOR}")
        lines = (line for line in paragraphs if not line or line.strip(_BREAK))
        data = QMimeData()
        data.setText("\n".join(lines).replace(_BREAK, "\n"))
        return data


class InlineFigures(QObject):
    """The figures in an `OutputText`, each as wide as the text where it is high enough."""

    opened = Signal(object)
    """Carries the `FigureWindow` that shows a figure large."""
    resized = Signal()
    """The figures need another number of lines: remove them, and insert them again."""

    def __init__(self, text: OutputText) -> None:
        super().__init__(text)
        self._text = text
        self._theme = Theme.load("light")
        self._figures: tuple[Figure, ...] = ()
        self.views: list[FigureView] = []
        self._large = OpenWindows[Figure, FigureWindow]()
        self._lines: list[int] = []
        """Lines of the paragraph of each figure, as inserted."""
        self._later = single_shot(self, self._compare_sizes)
        text.updateRequest.connect(lambda _area, _dy: self._place())
        text.viewport().installEventFilter(self)

    def set_theme(self, theme: Theme) -> None:
        """Use ``theme``'s colours and fonts."""
        self._theme = theme
        for view in self.views:
            view.set_theme(theme)
        self._later.start()

    def set_figures(self, figures: tuple[Figure, ...]) -> None:
        """Replace the figures; they are in the text once they are inserted."""
        self._figures = figures
        while self.views:
            self.views.pop().deleteLater()
        previous: QWidget = self._text
        for figure in figures:
            view = FigureView(figure, self._theme, self._text.viewport())
            view.clicked.connect(lambda _on=False, figure=figure: self.open(figure))
            view.installEventFilter(self)
            view.move(0, -self._text.height() - 2 * LEAST_HEIGHT)
            view.show()
            QWidget.setTabOrder(previous, view)
            self.views.append(view)
            previous = view

    def figures(self) -> tuple[Figure, ...]:
        """Return the figures."""
        return self._figures

    def insert(self, first: int) -> None:
        """Insert the paragraphs of all figures; ``first``: number of the first line in the text.

        Earlier lines were left out; their figures stand at the top.
        """
        document = self._text.document()
        self._lines = [self._line_count(figure) for figure in self._figures]
        for above, place in enumerate(self._order()):
            figure, lines = self._figures[place], self._lines[place]
            at = document.blockCount() if figure.after < 0 else max(0, figure.after - first) + above
            cursor = QTextCursor(document)
            if at < document.blockCount():
                cursor.setPosition(document.findBlockByNumber(at).position())
                cursor.insertText(_BREAK * (lines - 1) + "\n")
                block = cursor.block().previous()
            else:
                cursor.movePosition(QTextCursor.MoveOperation.End)
                cursor.insertText("\n" + _BREAK * (lines - 1))
                block = cursor.block()
            block.setUserState(place + 1)
        self._place()

    def _order(self) -> Sequence[int]:
        """Return the indices of the figures from the top to the bottom."""
        after = [math.inf if f.after < 0 else f.after for f in self._figures]
        return sorted(range(len(self._figures)), key=lambda at: (after[at], at))

    def remove(self) -> None:
        """Remove the paragraphs of all figures from the text."""
        document = self._text.document()
        # By number: two paragraphs that become a single one may be a new block to Qt.
        for number in reversed(range(document.blockCount())) if self._lines else ():
            block = document.findBlockByNumber(number)
            if block.userState() > 0:
                _remove(block)
        self._lines = []

    def _line_count(self, figure: Figure) -> int:
        spacing = self._text.fontMetrics().lineSpacing()
        return max(2, math.ceil((self._height(figure) + 2 * GAP) / spacing))

    def _width(self) -> int:
        """Return the width of the text, whether or not there is a scroll bar at present."""
        bar = self._text.verticalScrollBar().sizeHint().width()
        margin = round(self._text.document().documentMargin())
        frame = self._text.width() - self._text.viewport().width()
        shown = (
            self._text.verticalScrollBar().width()
            if self._text.verticalScrollBar().isVisible()
            else 0
        )
        return max(LEAST_HEIGHT, self._text.width() - (frame - shown) - bar - 2 * margin)

    def _height(self, figure: Figure) -> int:
        """Return a height at which the whole figure is in view."""
        most = max(LEAST_HEIGHT, self._text.viewport().height() - 2 * GAP)
        return min(most, round(self._width() / figure_ratio(figure)))

    def _compare_sizes(self) -> None:
        if [self._line_count(figure) for figure in self._figures] != self._lines:
            self.resized.emit()
        self._place()

    def _place(self) -> None:
        """Move each figure over its paragraph, or out of sight."""
        if not self.views:
            return
        text = self._text
        seen: dict[int, tuple[int, int]] = {}
        block = text.firstVisibleBlock()
        while block.isValid():
            box = text.blockBoundingGeometry(block).translated(text.contentOffset())
            if box.top() > text.viewport().height():
                break
            if block.userState() > 0:
                seen[block.userState() - 1] = round(box.top()), round(box.height())
            block = block.next()
        left, width = round(text.document().documentMargin()), self._width()
        for place, view in enumerate(self.views):
            top, height = seen.get(place, (-10_000, LEAST_HEIGHT))
            high = max(1, min(height - 2 * GAP, self._height(view.figure)))
            view.setGeometry(left, top + GAP, width, high)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Adapt the figures to a resized view, and scroll to one that gets the focus."""
        if event.type() == QEvent.Type.Resize and watched is self._text.viewport():
            self._later.start()
        elif event.type() == QEvent.Type.FocusIn and watched in self.views:
            self._show(self.views.index(watched))
        return False

    def _show(self, place: int) -> None:
        view = self.views[place]
        if view.y() >= 0 and view.geometry().bottom() <= self._text.viewport().height():
            return
        block = self._text.document().begin()
        while block.isValid() and block.userState() != place + 1:
            block = block.next()
        if block.isValid():
            self._text.verticalScrollBar().setValue(block.firstLineNumber())

    def open(self, figure: Figure) -> FigureWindow:
        """Show a figure large, or raise its window if it is open; return the window."""

        def make() -> FigureWindow:
            kinds = file_types(figure)
            return FigureWindow(figure, self._theme, self._text.window(), save_figure, kinds)

        large, is_new = self._large.show(figure, make)
        if is_new:
            self.opened.emit(large)
        return large


def _remove(block: QTextBlock) -> None:
    """Remove a paragraph with its end, or the last with the end of the one before."""
    cursor, state = QTextCursor(block), -1
    block.setUserState(-1)
    if block.next().isValid():
        cursor.movePosition(QTextCursor.MoveOperation.NextBlock, QTextCursor.MoveMode.KeepAnchor)
    else:
        state = block.previous().userState()
        cursor.setPosition(block.previous().position() + block.previous().length() - 1)
        cursor.movePosition(QTextCursor.MoveOperation.End, QTextCursor.MoveMode.KeepAnchor)
    cursor.removeSelectedText()
    # Of two paragraphs that become a single one, that of the second remains.
    cursor.block().setUserState(state)


def text_without_figures(text: QPlainTextEdit) -> str:
    """Return the text of a view, without the paragraphs of figures."""
    lines = []
    block = text.document().begin()
    while block.isValid():
        if block.userState() <= 0:
            lines.append(block.text().replace(_BREAK, "\n"))
        block = block.next()
    return "\n".join(lines)
