"""Widths of columns that the user has chosen, by the name of their table."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QHeaderView

LEAST, MOST = 24, 4000
"""Bounds of a width in pixels."""
MOST_TABLES, MOST_COLUMNS = 100, 200

Widths = dict[str, dict[int, int]]
"""Table -> column -> width in pixels."""
_chosen: Widths = {}


def chosen() -> Widths:
    """Return the widths that were chosen in any table."""
    return {name: dict(widths) for name, widths in _chosen.items() if widths}


def choose(widths: Mapping[str, Mapping[int, int]]) -> None:
    """Use these widths in tables that are made from now on; what is out of range is left out."""
    _chosen.clear()
    for name, columns in list(widths.items())[:MOST_TABLES]:
        _chosen[name] = {
            column: width
            for column, width in columns.items()
            if 0 <= column < MOST_COLUMNS and LEAST <= width <= MOST
        }


class ColumnWidths(QObject):
    """Let the user drag the borders of columns; a double click lets the table choose again.

    A table sets widths by `fit`, which leaves alone those that the user has chosen.
    """

    reset = Signal()
    """A column is to have the width again that the table chooses."""

    def __init__(self, header: QHeaderView, name: str) -> None:
        """Follow a header; ``name`` is that of the table in the settings."""
        super().__init__(header)
        self._header, self.name = header, name
        self._is_fitting = False
        header.setSectionResizeMode(QHeaderView.ResizeMode.Interactive)
        header.sectionResized.connect(self._note)
        header.sectionHandleDoubleClicked.connect(self._forget)

    @property
    def chosen(self) -> dict[int, int]:
        """The widths that the user has chosen, by column."""
        return _chosen.setdefault(self.name, {})

    @contextmanager
    def fitting(self) -> Iterator[Callable[[int, int], None]]:
        """Return what sets the width of a column, unless the user has chosen it."""
        before, self._is_fitting = self._is_fitting, True

        def fit(column: int, width: int) -> None:
            self._header.resizeSection(column, self.chosen.get(column, width))

        try:
            yield fit
        finally:
            self._is_fitting = before

    def _note(self, column: int, before: int, width: int) -> None:
        # Before it is shown, and to a section that is stretched, a header gives widths by itself.
        last = self._header.logicalIndex(self._header.count() - 1)
        if self._header.stretchLastSection() and column == last:
            return
        if not self._is_fitting and before and width and self._header.isVisible():
            self.chosen[column] = max(LEAST, min(MOST, width))

    def _forget(self, column: int) -> None:
        self.chosen.pop(column, None)
        self.reset.emit()
