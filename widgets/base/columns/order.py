"""The column that the rows of a table are sorted by, chosen by clicks on its head."""

import re
from collections.abc import Callable, Sequence
from typing import TypeVar

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtWidgets import QHeaderView

R = TypeVar("R")
_DIGITS = re.compile(r"(\d+)")


class ColumnOrder(QObject):
    """Sort by a column upwards, by the next click downwards, then as the rows came."""

    changed = Signal()

    def __init__(self, header: QHeaderView) -> None:
        super().__init__(header)
        self._header = header
        self._column: int | None = None
        self._order = Qt.SortOrder.AscendingOrder
        header.setSectionsClickable(True)
        header.setSortIndicatorShown(False)
        header.sectionClicked.connect(self._click)

    def _click(self, column: int) -> None:
        up, down = Qt.SortOrder.AscendingOrder, Qt.SortOrder.DescendingOrder
        if self._column != column:
            self._column, self._order = column, up
        elif self._order == up:
            self._order = down
        else:
            self._column = None
        self._header.setSortIndicatorShown(self._column is not None)
        if self._column is not None:
            self._header.setSortIndicator(self._column, self._order)
        self.changed.emit()

    def sorted(self, rows: Sequence[R], texts: Callable[[R], Sequence[str]]) -> list[R]:
        """Return the rows in the chosen order; ``texts`` returns the texts of a row's cells."""
        column = self._column
        if column is None:
            return list(rows)
        is_down = self._order == Qt.SortOrder.DescendingOrder
        return sorted(rows, key=lambda row: sort_key(texts(row)[column]), reverse=is_down)


def sort_key(text: str) -> tuple[bool, float, tuple[tuple[bool, int, str], ...]]:
    """Return a key: numbers by their size, then texts, with numbers in these by their size."""
    try:
        return False, float(text.replace("\N{MINUS SIGN}", "-").replace(",", "")), ()
    except ValueError:
        parts = _DIGITS.split(text.casefold())
        # `isdigit` alone is true of superscripts, which `int` refuses.
        made = ((part.isdecimal(), int(part) if part.isdecimal() else 0, part) for part in parts)
        return True, 0.0, tuple(made)
