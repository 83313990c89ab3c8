"""Set-up that tables of rows share."""

from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QTableView

MIN_COLUMN = 40


def configure_row_view(view: QTableView, name: str) -> None:
    """Let a table select whole rows, scroll by pixels, and size its columns only by code.

    Args:
        view: the table.
        name: its accessible name.
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
    header = view.horizontalHeader()
    header.setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
    header.setMinimumSectionSize(MIN_COLUMN)
