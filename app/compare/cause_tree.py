"""Causes of the differences between two runs as a tree: below each cause what follows from it."""

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QTreeWidget, QTreeWidgetItem

from gradscribe.playback.compare.differences import Cause, Difference, Kind
from gradscribe.playback.text import formatting
from gradscribe.playback.translation import tr
from gradscribe.widgets.base import menus

MAX_LISTED = 500
"""Most rows of a level that are listed, the first ones."""
KIND_TITLES: dict[Kind, str] = {
    "value": tr("Value"),
    "gradient": tr("Gradient"),
    "op": tr("Another op"),
    "setting": tr("Setting"),
    "left": tr("Only left"),
    "right": tr("Only right"),
    "left fails": tr("Left fails"),
    "right fails": tr("Right fails"),
}
_DIFFERENCES = Qt.ItemDataRole.UserRole
"""Role of the differences that a row stands for, as a tuple; the first is shown."""


class CauseTree(QTreeWidget):
    """A row per cause in order of execution; what follows is listed once it is opened."""

    chosen = Signal(object)
    """Carries the `Difference` of the current row."""

    def __init__(self, causes: Sequence[Cause]) -> None:
        super().__init__()
        self.setHeaderHidden(True)
        self.setUniformRowHeights(True)
        self.setAccessibleName(tr("What differs"))
        for cause in causes[:MAX_LISTED]:
            self.addTopLevelItem(_cause_row(cause))
        if more := len(causes) - MAX_LISTED:
            self._add_more(self.invisibleRootItem(), more)
        self.itemExpanded.connect(self._fill)
        self.currentItemChanged.connect(self._choose)
        menus.offer_copies(self)
        first = self.topLevelItem(0)
        if first is not None:
            first.setExpanded(True)

    def select_first(self) -> None:
        """Make the first cause the current row, if there is one."""
        first = self.topLevelItem(0)
        if first is not None:
            self.setCurrentItem(first)

    def difference(self) -> Difference | None:
        """Return the difference of the current row; None for none."""
        return _first(self.currentItem())

    def select(self, difference: Difference) -> bool:
        """Make the row of a difference the current one; return False if it is not listed."""
        for cause in _children(self.invisibleRootItem()):
            if _first(cause) == difference:
                self.setCurrentItem(cause)
                return True
            for group in _children(cause):
                if difference in (group.data(0, _DIFFERENCES) or ()):
                    self._reveal(group, difference)
                    return True
        return False

    def _reveal(self, group: QTreeWidgetItem, difference: Difference) -> None:
        """Open a group and make the row of its difference the current one, if it is listed."""
        if (cause := group.parent()) is not None:
            cause.setExpanded(True)
        group.setExpanded(True)
        rows = _children(group)
        self.setCurrentItem(next((row for row in rows if _first(row) == difference), group))

    def _fill(self, item: QTreeWidgetItem) -> None:
        """List the differences of a group that is opened for the first time."""
        differences = item.data(0, _DIFFERENCES) or ()
        if item.parent() is None or item.childCount() or len(differences) == 1:
            return
        for difference in differences[:MAX_LISTED]:
            row = _row(_text(difference))
            row.setData(0, _DIFFERENCES, (difference,))
            item.addChild(row)
        if more := len(differences) - MAX_LISTED:
            self._add_more(item, more)

    def _add_more(self, item: QTreeWidgetItem, more: int) -> None:
        """Append the number of rows that are not listed."""
        if more > 0:
            last = QTreeWidgetItem(
                [tr("… and {more:,} more; the cards are marked all the same", more=more)]
            )
            last.setFlags(Qt.ItemFlag.NoItemFlags)
            item.addChild(last)

    def _choose(self, current: QTreeWidgetItem | None) -> None:
        difference = _first(current)
        if difference is not None:
            self.chosen.emit(difference)


def _cause_row(cause: Cause) -> QTreeWidgetItem:
    """Return the row of a cause with its groups, which are filled later."""
    title = cause.title()
    row = _row(title[0].upper() + title[1:])
    row.setData(0, _DIFFERENCES, cause.differences)
    font = row.font(0)
    font.setBold(True)
    row.setFont(0, font)
    groups = [(group.text(), group.differences) for group in cause.groups()]
    if cause.times > 1:
        places = formatting.count(cause.times, "place")
        groups.append((tr("All {count}", count=places), cause.differences))
    elif (number := len(cause.differences)) > 1:
        own = formatting.count(number, "difference")
        groups.insert(0, (tr("The change itself: {count}", count=own), cause.differences))
    for text, differences in groups:
        group = _row(text[0].upper() + text[1:])
        group.setData(0, _DIFFERENCES, differences)
        if len(differences) > 1:
            group.setChildIndicatorPolicy(QTreeWidgetItem.ChildIndicatorPolicy.ShowIndicator)
        row.addChild(group)
    return row


def _row(text: str) -> QTreeWidgetItem:
    """Return a row whose tool tip has the text that is cut in a narrow window."""
    row = QTreeWidgetItem([text])
    row.setToolTip(0, text)
    return row


def _children(item: QTreeWidgetItem) -> list[QTreeWidgetItem]:
    found = (item.child(n) for n in range(item.childCount()))
    return [child for child in found if child is not None]


def _text(difference: Difference) -> str:
    texts = (KIND_TITLES[difference.kind], difference.name, difference.words)
    return "   ".join(filter(None, texts))


def _first(item: QTreeWidgetItem | None) -> Difference | None:
    differences = item.data(0, _DIFFERENCES) if item is not None else None
    return differences[0] if differences else None
