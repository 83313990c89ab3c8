"""Set-up that tables of rows share."""

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QTableView

from gradscribe.widgets.base.columns.widths import ColumnWidths

MIN_COLUMN = 40


def configure_row_view(view: QTableView, name: str, key: str) -> ColumnWidths:
    """Let a table select whole rows, scroll by pixels, and keep the widths that are dragged.

    Args:
        view: the table.
        name: its accessible name.
        key: its name in the settings.
    """
    view.setAccessibleName(name)
    view.setShowGrid(False)
    view.setFrameShape(QTableView.Shape.NoFrame)
    view.setWordWrap(False)
    view.setMouseTracking(True)
    view.setTabKeyNavigation(False)
    view.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
    view.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
    view.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
    view.verticalHeader().hide()
    view.verticalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
    view.setTextElideMode(Qt.TextElideMode.ElideMiddle)
    header = view.horizontalHeader()
    header.setMinimumSectionSize(MIN_COLUMN)
    return ColumnWidths(header, key)
