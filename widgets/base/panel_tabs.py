"""Tabs whose pages can stand elsewhere for a while."""

from dataclasses import dataclass

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from gradscribe.widgets.base.tabs import CompactTabs


@dataclass
class _Outside:
    """Title and tip of a page that was taken out, and whether it is in view there."""

    title: str
    tip: str
    is_shown: bool = False


class PanelTabs(CompactTabs):
    """Tabs whose pages can be taken out, and be put back in their order.

    A page that is out has an index after those of the tabs: whoever names a page, brings it to the
    front or removes it need not know where it stands.
    """

    page_added = Signal(object)
    page_removed = Signal(object)
    """The page does not belong to these tabs any more."""
    page_named = Signal(object)
    """A page that is out has another title or tip."""
    page_wanted = Signal(object)
    """A page that is out is to come to the front."""

    def __init__(self) -> None:
        self._order: list[QWidget] = []
        """All pages, those that are out among them."""
        self._out: dict[QWidget, _Outside] = {}
        self._names: dict[QWidget, str] = {}
        super().__init__()

    def addTab(self, page: QWidget, title: str) -> int:  # type: ignore[override]
        """Append a page."""
        return self.insertTab(self.count(), page, title)

    def insertTab(self, index: int, page: QWidget, title: str) -> int:  # type: ignore[override]
        """Insert a page at an index of the tabs."""
        following = super().widget(index)
        at = self._order.index(following) if following is not None else len(self._order)
        self._order.insert(at, page)
        self._names[page] = title
        found = super().insertTab(index, page, title)
        self.page_added.emit(page)
        return found

    def removeTab(self, index: int) -> None:
        """Remove a page, also one that is out."""
        page = self.widget(index)
        if page is None:
            return
        self._order.remove(page)
        if self._out.pop(page, None) is None:
            super().removeTab(index)
        self.page_removed.emit(page)

    def take_out(self, page: QWidget) -> None:
        """Leave the page to another place; its title and its place in the order stay."""
        at = super().indexOf(page)
        self._out[page] = _Outside(self.full_text(at), self.tabToolTip(at))
        super().removeTab(at)

    def put_back(self, page: QWidget) -> None:
        """Show a page that was taken out as a tab again."""
        outside = self._out.pop(page)
        before = self._order[: self._order.index(page)]
        at = sum(1 for other in before if other not in self._out)
        super().insertTab(at, page, outside.title)
        self.setTabToolTip(at, outside.tip)

    def set_shown(self, page: QWidget, shown: bool) -> None:
        """Note whether a page that is out is in view."""
        outside = self._out.get(page)
        if outside is not None and outside.is_shown != shown:
            outside.is_shown = shown
            # Owners fill a page once it is in view.
            self.currentChanged.emit(self.currentIndex())

    def is_out(self, page: QWidget) -> bool:
        """Return whether a page stands elsewhere."""
        return page in self._out

    def is_open(self, page: QWidget) -> bool:
        """Return whether a page is in view: the current tab, or shown elsewhere."""
        outside = self._out.get(page)
        return outside.is_shown if outside is not None else self.currentWidget() is page

    def pages_in_order(self) -> list[QWidget]:
        """Return all pages, those that are out among them."""
        return list(self._order)

    def title_of(self, page: QWidget) -> str:
        """Return the full title of a page, wherever it stands."""
        outside = self._out.get(page)
        return outside.title if outside is not None else self.full_text(super().indexOf(page))

    def name_of(self, page: QWidget) -> str:
        """Return the title that a page was added with, before counts were appended to it."""
        return self._names[page]

    def indexOf(self, page: QWidget) -> int:
        """Return the index of a page; that of one that is out follows those of the tabs."""
        if page in self._out:
            return self.count() + list(self._out).index(page)
        return super().indexOf(page)

    def widget(self, index: int) -> QWidget | None:
        """Return the page at an index, see `indexOf`."""
        return self._page_out(index) or super().widget(index)

    def setCurrentWidget(self, page: QWidget) -> None:
        """Bring a page to the front, wherever it stands."""
        if page in self._out:
            self.page_wanted.emit(page)
        else:
            super().setCurrentWidget(page)

    def setTabText(self, index: int, text: str) -> None:
        """Rename a page."""
        page = self._page_out(index)
        if page is None:
            super().setTabText(index, text)
        elif self._out[page].title != text:
            self._out[page].title = text
            self.page_named.emit(page)

    def setTabToolTip(self, index: int, tip: str) -> None:
        """Set the tip of a page's title."""
        page = self._page_out(index)
        if page is None:
            super().setTabToolTip(index, tip)
        else:
            self._out[page].tip = tip
            self.page_named.emit(page)

    def _page_out(self, index: int) -> QWidget | None:
        out, place = list(self._out), index - self.count()
        return out[place] if 0 <= place < len(out) else None
