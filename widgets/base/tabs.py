"""Tabs that fit a narrow column, and tabs whose pages can stand elsewhere for a while."""

from collections.abc import Mapping
from dataclasses import dataclass

from PySide6.QtCore import QEvent, Qt, Signal
from PySide6.QtGui import QFont, QFontMetricsF, QResizeEvent
from PySide6.QtWidgets import QMenu, QTabWidget, QToolButton, QWidget

from gradscribe.playback.translation import tr
from gradscribe.widgets.base.single_shot import single_shot
from gradscribe.widgets.base.stylesheet import TAB_LEFT

TAB_EDGE = 8
"""Pixels of the frame and the margins of a title."""
TAB_LOOSE, TAB_TIGHT = 12, 3
"""Pixels next to a title in a wide and in a narrow widget."""


class CompactTabs(QTabWidget):
    """A tab widget that reduces the padding of its titles before eliding them.

    If even that is not enough, as with big fonts, only the current tab is shown, and a menu lists
    the others.
    """

    def __init__(self) -> None:
        super().__init__()
        self._refit = single_shot(self, self._fit_titles)
        """After a change of the text size the bar has its new font only in the next turn."""
        self.setAccessibleName(tr("Pages"))
        self.setDocumentMode(True)
        # Qt's scroll buttons would hide one of the titles. A title that is too long even alone is
        # elided in the middle, since it may end with a count.
        self.setUsesScrollButtons(False)
        self.setElideMode(Qt.TextElideMode.ElideMiddle)
        self._padding = 0
        # The bar's place is in the window's style sheet: a sheet of these tabs would style all that
        # is in their pages once more.
        self.setProperty("compact", True)
        self._short: dict[str, str] = {}
        self._crowded = False
        self.others = self._build_others()
        self.currentChanged.connect(self._show_current)
        self._fit_titles()

    def _build_others(self) -> QToolButton:
        """Return the button that lists all titles in a menu."""
        button = QToolButton()
        button.setProperty("quiet", True)
        button.setText(tr("More"))
        button.setArrowType(Qt.ArrowType.DownArrow)
        button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        button.setAccessibleName(tr("All pages"))
        button.setToolTip(tr("All pages"))
        self.pages = QMenu(button)
        # Not setMenu: that would run a nested event loop while the menu is open.
        button.clicked.connect(self._open_menu)
        self.setCornerWidget(button, Qt.Corner.TopRightCorner)
        button.hide()
        return button

    def _open_menu(self) -> None:
        menu = self.pages
        menu.clear()
        for index in range(self.count()):
            choice = menu.addAction(self.full_text(index))
            choice.setCheckable(True)
            choice.setChecked(index == self.currentIndex())
            choice.triggered.connect(lambda _=False, to=index: self.setCurrentIndex(to))
        menu.popup(self.others.mapToGlobal(self.others.rect().bottomLeft()))

    def _show_current(self) -> None:
        """Show all tabs, or only the current tab if they would be elided to nothing."""
        current = self.currentIndex()
        # The current tab first: if it were hidden for a moment, Qt would select another.
        for index in sorted(range(self.count()), key=lambda index: index != current):
            self.setTabVisible(index, index == current or not self._crowded)
        self.others.setVisible(self._crowded)

    def shorten(self, titles: Mapping[str, str]) -> None:
        """Set short titles, used if the full ones do not fit; tooltips then show the full ones."""
        self._short = dict(titles)
        self._fit_titles()

    def full_text(self, index: int) -> str:
        """Return a tab's full title, even if the short one is shown."""
        shown = self.tabText(index)
        return next((full for full, short in self._short.items() if short == shown), shown)

    def _choose_titles(self, metrics: QFontMetricsF) -> None:
        titles = [self.full_text(i) for i in range(self.count())]
        each = TAB_EDGE + 2 * TAB_TIGHT
        wide = TAB_LEFT + sum(metrics.horizontalAdvance(title) + each for title in titles)
        for index, title in enumerate(titles):
            short = self._short.get(title, title) if wide > self.width() else title
            if short != self.tabText(index):
                super().setTabText(index, short)
                self.setTabToolTip(index, "" if short == title else title)

    def setTabText(self, index: int, text: str) -> None:
        """Rename a tab."""
        if text != self.tabText(index):
            super().setTabText(index, text)
            self._fit_titles()

    def tabInserted(self, index: int) -> None:
        """Adapt the titles to one more tab; called by Qt."""
        super().tabInserted(index)
        self._fit_titles()
        self._show_current()

    def tabRemoved(self, index: int) -> None:
        """Adapt the titles to one tab fewer; called by Qt."""
        super().tabRemoved(index)
        self._fit_titles()
        self._show_current()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Adapt the padding of the titles."""
        super().resizeEvent(event)
        self._fit_titles()

    def changeEvent(self, happened: QEvent) -> None:
        """Adapt the titles to another text size; called by Qt."""
        super().changeEvent(happened)
        if happened.type() in (QEvent.Type.StyleChange, QEvent.Type.FontChange):
            self._refit.start()

    def _fit_titles(self) -> None:
        bar = self.tabBar()
        font = QFont(bar.font())
        font.setWeight(QFont.Weight.Medium)
        metrics = QFontMetricsF(font)
        if self._short:
            self._choose_titles(metrics)
        titles = [bar.tabText(i) for i in range(bar.count())]
        taken = sum(metrics.horizontalAdvance(title) + TAB_EDGE for title in titles)
        free = (self.width() - TAB_LEFT - taken) / (2 * max(len(titles), 1))
        if self._crowded != (crowded := len(titles) > 1 and free < TAB_TIGHT):
            self._crowded = crowded
            self._show_current()
        if crowded:
            free = TAB_LOOSE
        padding = max(TAB_TIGHT, min(TAB_LOOSE, int(free)))
        if padding != self._padding:
            self._padding = padding
            # Only on the bar: else all pages would be styled again at each pixel of width.
            bar.setStyleSheet(
                f"QTabBar {{ margin-top: 6px; }} QTabBar::tab {{ padding: 5px {padding}px; }}"
            )


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
