"""The window of the manual: contents and search on the left, the page on the right."""

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtGui import QKeyEvent, QKeySequence, QShortcut
from PySide6.QtWidgets import QLayout, QLineEdit, QTreeWidget, QTreeWidgetItem, QWidget

from gradscribe.app.manual import pages
from gradscribe.app.manual.browser import PageBrowser
from gradscribe.app.manual.pages import Page, PageMatch
from gradscribe.app.ui.theming import Theming
from gradscribe.playback.translation import tr
from gradscribe.widgets.base.boxes import hbox, push_button, vbox
from gradscribe.widgets.base.labels import sheet
from gradscribe.widgets.base.open_windows import bring_to_front, resize_within_screen
from gradscribe.widgets.base.splitter import GripSplitter
from gradscribe.widgets.base.stylesheet import set_sheet
from gradscribe.widgets.base.theme import Theme

SIZE = (1120, 760)
CONTENTS_WIDTH = 270
GUTTER = 12
PLACE = Qt.ItemDataRole.UserRole
"""Holds the page's name and the anchor of a row."""
NOTHING = tr("Nothing in the manual has these words")


class ManualWindow(QWidget):
    """Contents, search and pages of the manual."""

    def __init__(self, owner: QWidget | None = None) -> None:
        super().__init__(owner, Qt.WindowType.Window)
        self.setWindowTitle(tr("Manual"))
        resize_within_screen(self, *SIZE)
        self.query = QLineEdit(self)
        self.query.setPlaceholderText(tr("Search the manual"))
        self.query.setAccessibleName(tr("Search the manual"))
        self.query.setClearButtonEnabled(True)
        self.contents = QTreeWidget(self)
        self.contents.setHeaderHidden(True)
        self.contents.setRootIsDecorated(False)
        self.contents.setAccessibleName(tr("Contents"))
        self.contents.setTextElideMode(Qt.TextElideMode.ElideRight)
        self.browser = PageBrowser(self)
        self._back: list[tuple[str, str]] = []
        self._forward: list[tuple[str, str]] = []
        self._place = ("", "")
        self._lay_out()
        self.query.textChanged.connect(self._search)
        self.query.installEventFilter(self)
        self.contents.itemClicked.connect(self._open_item)
        self.contents.itemActivated.connect(self._open_item)
        self.browser.page_asked.connect(self.show_page)
        self._search("")

    def _lay_out(self) -> None:
        self.back = push_button("←", self, self.go_back, tip=tr("Back (Alt+Left)"))
        self.forward = push_button("→", self, self.go_forward, tip=tr("Forward (Alt+Right)"))
        left = QWidget(self)
        vbox(left, hbox(None, self.back, self.forward, self.query), (self.contents, 1), spacing=8)
        self.split = GripSplitter(Qt.Orientation.Horizontal, GUTTER, self)
        self.split.addWidget(left)
        self.split.addWidget(self.browser)
        self.split.setStretchFactor(1, 1)
        self.split.setSizes([CONTENTS_WIDTH, SIZE[0] - CONTENTS_WIDTH])
        column = vbox(self, (self.split, 1), margins=(12, 12, 12, 12))
        column.setSizeConstraint(QLayout.SizeConstraint.SetNoConstraint)
        for keys, act in (
            ("Alt+Left", self.go_back),
            ("Alt+Right", self.go_forward),
            ("Ctrl+F", self._focus_search),
            ("Esc", self.close),
        ):
            QShortcut(QKeySequence(keys), self, act)

    def set_theme(self, theme: Theme) -> None:
        """Use ``theme``'s colours and fonts."""
        set_sheet(self, sheet(theme))
        self.browser.set_theme(theme)

    def show_page(self, name: str, anchor: str = "") -> None:
        """Show a page, from a heading on; a name that is no page's shows the first."""
        if (name, anchor) == self._place:
            self.browser.scroll_to(anchor)
            return
        if self._place[0]:
            self._back.append(self._place)
            self._forward.clear()
        self._go(name, anchor)

    def go_back(self) -> None:
        """Go to the place shown before."""
        if self._back:
            self._forward.append(self._place)
            self._go(*self._back.pop())

    def go_forward(self) -> None:
        """Undo `go_back`."""
        if self._forward:
            self._back.append(self._place)
            self._go(*self._forward.pop())

    def _go(self, name: str, anchor: str) -> None:
        page = pages.find(name) or pages.load()[0]
        self._place = (page.name, anchor)
        self.browser.show_page(page, anchor)
        self.setWindowTitle(page.title + " · " + tr("Manual"))
        self.back.setEnabled(bool(self._back))
        self.forward.setEnabled(bool(self._forward))
        self._mark_current()

    def _mark_current(self) -> None:
        for item in self._items():
            if item.data(0, PLACE) in (self._place, (self._place[0], "")):
                self.contents.setCurrentItem(item)
                return

    def _items(self) -> list[QTreeWidgetItem]:
        found, item = [], self.contents.topLevelItem(0)
        while item is not None:
            found.append(item)
            item = self.contents.itemBelow(item)
        return found

    # Search

    def _focus_search(self) -> None:
        self.query.setFocus()
        self.query.selectAll()

    def _search(self, words: str) -> None:
        self.contents.clear()
        if words.strip():
            found = pages.search(words)
            for match in found:
                self.contents.addTopLevelItem(_found_row(match))
            if not found:
                self.contents.addTopLevelItem(_quiet_row(NOTHING))
            first = self.contents.topLevelItem(0)
            if first is not None:
                self.contents.setCurrentItem(first)
            return
        part: QTreeWidgetItem | None = None
        for page in pages.load():
            if part is None or part.text(0) != page.part:
                part = _quiet_row(page.part)
                self.contents.addTopLevelItem(part)
                part.setExpanded(True)
            part.addChild(_page_row(page))
        self._mark_current()

    def _open_item(self, item: QTreeWidgetItem) -> None:
        place = item.data(0, PLACE)
        if place is not None:
            self.show_page(*place)

    def eventFilter(self, watched: QObject, happened: QEvent) -> bool:
        """Let the arrow keys and Return in the search line control the list."""
        if (
            watched is self.query
            and isinstance(happened, QKeyEvent)
            and happened.type() == QEvent.Type.KeyPress
            and self._steer(happened.key())
        ):
            return True
        return super().eventFilter(watched, happened)

    def _steer(self, key: int) -> bool:
        item = self.contents.currentItem()
        if key in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and item is not None:
            self._open_item(item)
            return True
        if key not in (Qt.Key.Key_Down, Qt.Key.Key_Up) or item is None:
            return False
        below = key == Qt.Key.Key_Down
        other = self.contents.itemBelow(item) if below else self.contents.itemAbove(item)
        if other is not None:
            self.contents.setCurrentItem(other)
        return True


class Manual(QObject):
    """Own the manual's window, made when first shown."""

    def __init__(self, owner: QWidget, look: Theming) -> None:
        super().__init__(owner)
        self._owner, self._look = owner, look
        self.window: ManualWindow | None = None

    def show(self, name: str = "", anchor: str = "") -> None:
        """Show a page, or without a name the page that was shown last."""
        if self.window is None:
            self.window = ManualWindow(self._owner)
            self._look.add(self.window)
        if name or self.window.browser.page is None:
            self.window.show_page(name or pages.FIRST, anchor)
        self.window.show()
        bring_to_front(self.window)


def _page_row(page: Page) -> QTreeWidgetItem:
    row = QTreeWidgetItem([page.title])
    row.setData(0, PLACE, (page.name, ""))
    return row


def _found_row(match: PageMatch) -> QTreeWidgetItem:
    title = match.page.title
    if match.heading.title != title:
        title = f"{title} › {match.heading.title}"
    row = QTreeWidgetItem([title])
    row.setToolTip(0, f"{title}\n{match.excerpt}")
    anchor = "" if match.heading is match.page.headings[0] else match.heading.anchor
    row.setData(0, PLACE, (match.page.name, anchor))
    return row


def _quiet_row(text: str) -> QTreeWidgetItem:
    row = QTreeWidgetItem([text])
    row.setFlags(Qt.ItemFlag.ItemIsEnabled)
    font = row.font(0)
    font.setBold(True)
    row.setFont(0, font)
    return row
