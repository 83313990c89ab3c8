"""Words for screen readers about the signs that are painted on the line of the caret."""

from collections.abc import Callable

from PySide6.QtCore import QObject
from PySide6.QtGui import QAccessible, QAccessibleAnnouncementEvent
from PySide6.QtWidgets import QPlainTextEdit, QWidget

from gradscribe.playback.translation import ngettext, tr
from gradscribe.widgets.editor.breakpoints import Breakpoints
from gradscribe.widgets.editor.folding import regions
from gradscribe.widgets.editor.folding.folds import Folds


class SpokenLine(QObject):
    """Names the gutter after the caret's line, its fold, breakpoint, value and gradient.

    A fold is announced when it is made or opened, and when the caret comes to one.
    """

    def __init__(
        self,
        editor: QPlainTextEdit,
        gutter: QWidget,
        folds: Folds,
        breakpoints: Breakpoints,
        about: Callable[[int], str],
    ) -> None:
        """Describe lines of ``editor``; ``about`` returns value and gradient of a line."""
        super().__init__(editor)
        self._editor, self._gutter, self._folds = editor, gutter, folds
        self._breakpoints, self._about = breakpoints, about
        self._known: tuple[int, str] = (0, "")
        editor.cursorPositionChanged.connect(self.refresh)
        folds.changed.connect(self.refresh)
        breakpoints.changed.connect(self.refresh)
        self.refresh()

    def refresh(self) -> None:
        """Name the gutter after the caret's line."""
        block = self._editor.textCursor().block()
        line, fold = block.blockNumber() + 1, ""
        if self._folds.is_folded(block):
            fold = tr(
                "{lines} folded",
                lines=ngettext(
                    "{count:,} line", "{count:,} lines", self._folds.hidden_lines(block)
                ),
            )
        elif regions.is_header(block):
            fold = tr("block, unfolded")
        stop = "breakpoint" if line in self._breakpoints.lines() else ""
        self._gutter.setAccessibleName(
            ", ".join(filter(None, (tr("Line {line}", line=line), fold, stop)))
        )
        self._gutter.setAccessibleDescription(self._about(line).replace("\n", ", "))
        before, self._known = self._known, (line, fold)
        is_other = self._known != before and before[0]
        if is_other and fold and (line == before[0] or fold.endswith(" folded")):
            QAccessible.updateAccessibility(QAccessibleAnnouncementEvent(self._editor, fold))
