"""The numbers pane: the chosen slice as a table, and a button to fetch a big tensor."""

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QAbstractTableModel, QModelIndex, QPersistentModelIndex, Qt
from PySide6.QtGui import QFontMetrics, QKeySequence, QResizeEvent, QShortcut
from PySide6.QtWidgets import QAbstractItemView, QApplication, QHeaderView, QTableView, QWidget

from gradscribe.playback.text import formatting as words
from gradscribe.playback.translation import ngettext, tr
from gradscribe.widgets.base.boxes import push_button
from gradscribe.widgets.base.labels import Label
from gradscribe.widgets.base.theme import Theme
from gradscribe.widgets.inspector.panes.page import InspectorPage, as_matrix
from gradscribe.widgets.inspector.panes.pane import Pane

Index = QModelIndex | QPersistentModelIndex
SHOWN_ROWS = 6
COPY_LIMIT = 10_000
"""Maximum number of cells copied at once."""


class NumbersModel(QAbstractTableModel):
    """A matrix as a table model, with indices as headers and numbers in display format."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.matrix: NDArray[np.generic] = np.zeros((0, 0))
        self.color: object = None
        self.vector = False

    def show_matrix(self, numbers: NDArray[np.generic], vector: bool, color: object) -> None:
        """Replace the numbers."""
        same = numbers.shape == self.matrix.shape and vector == self.vector
        if not same:
            self.beginResetModel()
        self.matrix, self.vector, self.color = numbers, vector, color
        if not same:
            self.endResetModel()
        elif numbers.size:
            rows, columns = numbers.shape
            self.dataChanged.emit(self.index(0, 0), self.index(rows - 1, columns - 1))

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        """Return the number of rows."""
        return 0 if parent.isValid() else self.matrix.shape[0]

    def columnCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        """Return the number of columns."""
        return 0 if parent.isValid() else self.matrix.shape[1]

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        """Return a number's text; with all digits for the tooltip."""
        if role == Qt.ItemDataRole.DisplayRole:
            return words.number(self.matrix[index.row(), index.column()].item())
        if role == Qt.ItemDataRole.ToolTipRole:
            return repr(self.matrix[index.row(), index.column()].item())
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return int(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        if role == Qt.ItemDataRole.ForegroundRole:
            return self.color
        return None

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> object:
        """Return the index of a row or column."""
        if role != Qt.ItemDataRole.DisplayRole:
            return None
        if self.vector and orientation == Qt.Orientation.Horizontal:
            return "number"
        return str(section)


class NumbersPane(Pane):
    """All numbers of the chosen slice; for a big tensor a button that fetches them."""

    order = 45
    numbers_only = True

    def __init__(self) -> None:
        super().__init__()
        self._note = Label("caption", "", self)
        tip = tr("Ask the engine for every number of this tensor")
        self.fetch = push_button(tr("Fetch all numbers"), self, self._fetch, tip=tip)
        self.model = NumbersModel(self)
        self.view = QTableView(self)
        self.view.setModel(self.model)
        self.view.setAccessibleName(tr("Numbers"))
        self.view.setFrameShape(QTableView.Shape.NoFrame)
        self.view.setWordWrap(False)
        self.view.setShowGrid(False)
        self.view.setCornerButtonEnabled(False)
        self.view.setTabKeyNavigation(False)
        self.view.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.view.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        for header in (self.view.horizontalHeader(), self.view.verticalHeader()):
            header.setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
            header.setMinimumSectionSize(8)
            header.setHighlightSections(False)
        self._copy = QShortcut(QKeySequence(QKeySequence.StandardKey.Copy), self.view)
        self._copy.setContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
        self._copy.activated.connect(self.copy)
        self._snapshot = -1
        self.column.addWidget(self._note)
        self.column.addWidget(self.fetch, 0, Qt.AlignmentFlag.AlignLeft)
        self.column.addWidget(self.view)

    def show_page(self, page: InspectorPage) -> bool:
        """Show the numbers of the chosen side; hidden for scalars, which the title shows."""
        snapshot, array = page.snapshot(), page.array()
        number = page.snapshot_number(page.side)
        if snapshot is None or number is None or snapshot.numel < 2:
            return False
        self._snapshot = number
        self._offer(page, number, array is None)
        self.view.setVisible(array is not None)
        if array is None:
            return True
        table = as_matrix(array, page.slice_at(array.shape))
        vector = array.ndim == 1
        color = self.theme.backward if page.side == "gradient" else self.theme.ink
        self.model.show_matrix(table.reshape(-1, 1) if vector else table, vector, color)
        self._fit()
        self._note.say("")
        self._note.hide()
        return True

    def _offer(self, page: InspectorPage, number: int, missing: bool) -> None:
        waiting = ("peek", number, 0) in page.waiting
        is_lost = number in page.fetched and page.fetched[number] is None
        snapshot = page.snapshot()
        assert snapshot is not None
        self._note.setVisible(missing)
        self.fetch.setVisible(missing and not is_lost)
        self.fetch.setEnabled(not waiting)
        self.fetch.setText(tr("Fetching…") if waiting else tr("Fetch all numbers"))
        if is_lost:
            self._note.say(tr("The numbers are no longer available, only this summary"))
        else:
            self._note.say(
                tr(
                    "Here is a summary of {numbers}",
                    numbers=ngettext("{count:,} number", "{count:,} numbers", snapshot.numel),
                )
            )

    def _fit(self) -> None:
        metrics = QFontMetrics(self.theme.font(13))
        height = metrics.height() + 6
        rows, columns = self.model.matrix.shape
        widest = max(
            (metrics.horizontalAdvance(text) for text in self._samples()),
            default=metrics.horizontalAdvance("0"),
        )
        across, down = self.view.horizontalHeader(), self.view.verticalHeader()
        across.setDefaultSectionSize(max(widest, metrics.horizontalAdvance(str(columns))) + 26)
        down.setDefaultSectionSize(height)
        down.setFixedWidth(metrics.horizontalAdvance(str(max(0, rows - 1))) + 16)
        self._set_height()

    def _set_height(self) -> None:
        across, down = self.view.horizontalHeader(), self.view.verticalHeader()
        rows, columns = self.model.matrix.shape
        shown = min(rows, SHOWN_ROWS) * down.defaultSectionSize()
        fits = columns * across.defaultSectionSize() + down.width() <= self.width()
        self.view.setFixedHeight(shown + across.sizeHint().height() + (2 if fits else 12))

    def resizeEvent(self, _event: QResizeEvent) -> None:
        """Reserve space for a horizontal scroll bar only if the table needs it."""
        self._set_height()

    def _samples(self) -> list[str]:
        """Return texts to measure column widths: of some hundred numbers and the extremes."""
        flat = self.model.matrix.reshape(-1)
        few = flat[:: max(1, flat.size // 200)][:400]
        texts = [words.number(x.item()) for x in few]
        if flat.dtype.kind == "b":
            texts.append("False")
        if flat.size and flat.dtype.kind in "fiu":
            texts += [words.number(flat[i].item()) for i in (flat.argmin(), flat.argmax())]
        return texts

    def copy(self) -> None:
        """Copy the selected cells as tab-separated text with all digits."""
        cells = self.view.selectionModel().selectedIndexes()[:COPY_LIMIT]
        rows: dict[int, list[tuple[int, str]]] = {}
        for cell in cells:
            exact = repr(self.model.matrix[cell.row(), cell.column()].item())
            rows.setdefault(cell.row(), []).append((cell.column(), exact))
        lines = ["\t".join(text for _, text in sorted(row)) for _, row in sorted(rows.items())]
        QApplication.clipboard().setText("\n".join(lines))

    def set_theme(self, theme: Theme) -> None:
        """Use ``theme``'s colours."""
        super().set_theme(theme)
        self.view.viewport().update()

    def _fetch(self) -> None:
        self.peek_requested.emit(self._snapshot)


ENTRY = NumbersPane
