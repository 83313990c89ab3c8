"""The list of names that may complete a word."""

from collections.abc import Sequence

from PySide6.QtCore import (
    QAbstractListModel,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    QPoint,
    QRect,
    QRectF,
    QSize,
    Qt,
    Signal,
)
from PySide6.QtGui import QAccessible, QAccessibleAnnouncementEvent, QPainter, QPen
from PySide6.QtWidgets import (
    QFrame,
    QListView,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QWidget,
)

from gradscribe.engine.protocol.language import NameKind
from gradscribe.playback.completion.candidates import Candidate
from gradscribe.playback.translation import tr
from gradscribe.widgets.base.boxes import vbox
from gradscribe.widgets.base.labels import plain_label
from gradscribe.widgets.base.theme import Theme, mono_font, ui_font
from gradscribe.widgets.editor.style import TEXT_PX, EditorStyle

ROWS = 8
"""Maximum number of rows that are visible at a time."""
WIDTH, ROW = 380, 22
"""Size of the list and height of a row at the usual text size, in pixels."""
LINES_ABOUT = 3
"""Lines of text under the list."""
FRAME = 12
"""Pixels of the frame and the gaps in it."""
_MARKS: dict[NameKind, tuple[str, str]] = {
    "attribute": ("a", "ink2"),
    "class": ("C", "module"),
    "function": ("f", "forward"),
    "keyword": ("k", "ink2"),
    "module": ("M", "module"),
    "package": ("p", "ink2"),
    "parameter": ("=", "data"),
    "tensor": ("T", "parameter"),
    "variable": ("v", "data"),
}
"""Letter and colour of each kind."""
Index = QModelIndex | QPersistentModelIndex


class _Names(QAbstractListModel):
    """The candidates, one a row."""

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self.candidates: Sequence[Candidate] = ()

    def show(self, candidates: Sequence[Candidate]) -> None:
        """Show other candidates."""
        self.beginResetModel()
        self.candidates = candidates
        self.endResetModel()

    def rowCount(self, parent: Index | None = None) -> int:  # noqa: ARG002
        """Return the number of candidates; called by Qt."""
        return len(self.candidates)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        """Return the words of a row; called by Qt."""
        if role not in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.AccessibleTextRole):
            return None
        return spoken(self.candidates[index.row()])


def spoken(candidate: Candidate) -> str:
    """Return name, kind and detail of a candidate in words."""
    return ", ".join(filter(None, (candidate.name, candidate.kind, candidate.detail)))


class _Rows(QStyledItemDelegate):
    """Paints a row: the letter of its kind, the name, the detail at the right."""

    def __init__(self, parent: QWidget, names: _Names) -> None:
        super().__init__(parent)
        self._names = names
        self.set_look(Theme.load("light"), 1.0)

    def set_look(self, theme: Theme, scale: float) -> None:
        """Use these colours and this scale."""
        self._theme, self._scale = theme, scale
        self._name = mono_font(12.5 * scale)
        self._detail = ui_font(11.5 * scale)
        self._letter = ui_font(10.5 * scale, 650)

    def sizeHint(self, _option: QStyleOptionViewItem, _index: Index) -> QSize:
        """Return the size of a row; called by Qt."""
        return QSize(round(100 * self._scale), round(ROW * self._scale))

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        """Paint a row; called by Qt."""
        theme, scale = self._theme, self._scale
        candidate = self._names.candidates[index.row()]
        row: QRect = option.rect
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if option.state & QStyle.StateFlag.State_Selected:
            painter.setPen(QPen(theme.selection, 1))
            painter.setBrush(theme.selection_soft)
            painter.drawRoundedRect(QRectF(row).adjusted(0.5, 0.5, -0.5, -0.5), 5, 5)
        letter, token = _MARKS[candidate.kind]
        mark = QRect(row.left() + round(5 * scale), row.top(), round(18 * scale), row.height())
        painter.setFont(self._letter)
        painter.setPen(theme.color(token))
        painter.drawText(mark, Qt.AlignmentFlag.AlignCenter, letter)
        text = row.adjusted(mark.right() - row.left() + round(6 * scale), 0, -round(8 * scale), 0)
        painter.setFont(self._name)
        painter.setPen(theme.ink)
        metrics = painter.fontMetrics()
        middle = Qt.AlignmentFlag.AlignVCenter
        name = metrics.elidedText(candidate.name, Qt.TextElideMode.ElideRight, text.width())
        painter.drawText(text, middle | Qt.AlignmentFlag.AlignLeft, name)
        rest = text.adjusted(metrics.horizontalAdvance(name) + round(14 * scale), 0, 0, 0)
        if candidate.detail and rest.width() > 20:
            painter.setFont(self._detail)
            painter.setPen(theme.ink2)
            detail = painter.fontMetrics().elidedText(
                candidate.detail, Qt.TextElideMode.ElideRight, rest.width()
            )
            painter.drawText(rest, middle | Qt.AlignmentFlag.AlignRight, detail)
        painter.restore()


class NameList(QFrame):
    """The list, over the window; the focus stays in the editor, which passes it the keys."""

    picked = Signal()
    """A row was clicked."""
    current_changed = Signal()

    def __init__(self, editor: QWidget) -> None:
        super().__init__(editor)
        self._editor = editor
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setProperty("panel", True)
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self._names = _Names(self)
        self.view = QListView(self)
        self.view.setModel(self._names)
        self.view.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.view.setFrameShape(QFrame.Shape.NoFrame)
        self.view.setUniformItemSizes(True)
        self.view.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.view.setEditTriggers(QListView.EditTrigger.NoEditTriggers)
        self.view.setProperty("bare", True)
        self.view.setAccessibleName(tr("Completions"))
        self._rows = _Rows(self.view, self._names)
        self.view.setItemDelegate(self._rows)
        self.about = plain_label()
        self.about.setWordWrap(True)
        self.about.setMargin(6)
        self.about.setAccessibleName(tr("About the selected name"))
        self.about.setAlignment(Qt.AlignmentFlag.AlignTop)
        vbox(self, self.view, (self.about, 1), margins=(4, 4, 4, 4), spacing=2)
        self.setAccessibleName(tr("Completions"))
        self._scale = 1.0
        self.view.clicked.connect(lambda _: self.picked.emit())
        self.view.selectionModel().currentChanged.connect(lambda *_: self._on_current())
        self.hide()

    def set_look(self, look: EditorStyle) -> None:
        """Use the editor's colours and text size."""
        theme, self._scale = look.theme, look.px / TEXT_PX
        self._rows.set_look(theme, self._scale)
        self.about.setFont(ui_font(11.5 * self._scale))
        self.setStyleSheet(
            f"NameList {{ background: {theme.panel.name()};"
            f" border: 1px solid {theme.line_strong.name()}; border-radius: 8px; }}"
            " QListView { background: transparent; border: none; padding: 0px; outline: none; }"
            f" QLabel {{ color: {theme.ink2.name()}; background: transparent; border: none; }}"
        )

    def current(self) -> Candidate | None:
        """Return the selected candidate, if there is one."""
        row = self.view.currentIndex().row()
        return self._names.candidates[row] if 0 <= row < len(self._names.candidates) else None

    def candidates(self) -> Sequence[Candidate]:
        """Return all candidates, from the top."""
        return self._names.candidates

    def show_names(self, candidates: Sequence[Candidate], stay: str = "") -> None:
        """Show candidates and select the one called ``stay``, else the first."""
        self._names.show(candidates)
        row = next((at for at, one in enumerate(candidates) if one.name == stay), 0)
        self.view.setCurrentIndex(self._names.index(row, 0))

    def move_by(self, rows: int) -> None:
        """Select another row; past an end the other end follows a step, but no page."""
        count, at = len(self._names.candidates), self.view.currentIndex().row()
        to = (at + rows) % count if abs(rows) == 1 else max(0, min(at + rows, count - 1))
        self.view.setCurrentIndex(self._names.index(to, 0))

    def page(self) -> int:
        """Return the number of rows of a page."""
        return max(1, self.view.height() // max(1, round(ROW * self._scale)) - 1)

    def describe(self, words: str) -> None:
        """Show words about the selected name under the list."""
        self.about.setText(words)

    def place(self, line: QRect, over: QRect) -> None:
        """Move below a line, or above it where there is more space, within ``over``.

        ``line`` begins at the first letter of the word; both are in window coordinates.
        """
        rows = min(ROWS, len(self._names.candidates))
        metrics = self.about.fontMetrics()
        width = min(round(WIDTH * self._scale), over.width() - 8)
        about = metrics.lineSpacing() * LINES_ABOUT + 2 * self.about.margin()
        high = rows * round(ROW * self._scale) + about + FRAME
        below, above = over.bottom() - line.bottom() - 6, line.top() - over.top() - 6
        is_below = high <= below or below >= above
        high = min(high, max(below if is_below else above, about + FRAME + ROW))
        self.view.setFixedHeight(min(rows * round(ROW * self._scale), high - about - FRAME))
        left = max(over.left() + 4, min(line.left() - 30, over.right() - width - 4))
        top = line.bottom() + 3 if is_below else line.top() - 3 - high
        self.setGeometry(QRect(QPoint(left, top), QSize(width, high)))

    def _on_current(self) -> None:
        candidate = self.current()
        if candidate is None:
            return
        if self.isVisible():
            at, count = self.view.currentIndex().row() + 1, len(self._names.candidates)
            words = tr("{spoken}, {at} of {count}", spoken=spoken(candidate), at=at, count=count)
            QAccessible.updateAccessibility(QAccessibleAnnouncementEvent(self._editor, words))
        self.current_changed.emit()
