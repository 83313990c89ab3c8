"""The start page over the window: a search, and sections of tiles."""

from collections.abc import Iterator, Sequence
from functools import partial

from PySide6.QtCore import QEvent, QObject, Qt, Signal
from PySide6.QtGui import QKeyEvent, QResizeEvent
from PySide6.QtWidgets import QGridLayout, QPushButton, QScrollArea, QSizePolicy, QWidget

from gradscribe.app.ui.popup import PopupCard
from gradscribe.app.ui.start.items import StartAction, StartItem, StartSection
from gradscribe.playback.translation import tr
from gradscribe.widgets.base.boxes import STRETCH, hbox, make_scrollable, push_button, vbox
from gradscribe.widgets.base.flow_layout import FlowLayout
from gradscribe.widgets.base.labels import Label, sheet
from gradscribe.widgets.base.return_edit import ReturnEdit
from gradscribe.widgets.base.stylesheet import set_sheet
from gradscribe.widgets.base.theme import Theme
from gradscribe.widgets.base.time_slices import END_TURN, TimeSlices

SIZE = (1040, 760)
TILE_WIDTH = 270
"""Least width of a tile in pixels, at text scale 1."""
TURN_MS = 12
ROWS = 2
"""Rows of tiles of a section; the whole list is a button away, and the search looks at all."""
ARROWS = (Qt.Key.Key_Left, Qt.Key.Key_Right, Qt.Key.Key_Up, Qt.Key.Key_Down)


class StartTile(QPushButton):
    """A button with picture, title and sentence; arrow keys lead to its neighbours."""

    stepped = Signal(int)
    """An arrow key was pressed; carries the key."""
    typed = Signal(str)

    def __init__(self, item: StartItem, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self.item = item
        self.setAccessibleName(item.title)
        self.setAccessibleDescription(item.about)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Minimum)
        title, about = Label("section", item.title, self), Label("caption", item.about, self)
        title.setEnabled(not item.is_missing)
        column = vbox(None, title, about, spacing=2)
        self.remove: QPushButton | None = None
        if item.is_missing and item.remove is not None:
            self.remove = push_button(tr("Remove"), self, item.remove, "link")
            self.remove.setAccessibleName(tr("Remove {title}", title=item.title))
            column.addLayout(hbox(None, self.remove, STRETCH))
        column.addStretch(1)
        for label in (title, about):
            label.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        row = hbox(self, margins=(10, 8, 12, 8), spacing=10)
        if item.picture is not None:
            row.addWidget(item.picture(theme), 0, Qt.AlignmentFlag.AlignTop)
        row.addLayout(column, 1)

    def heightForWidth(self, width: int) -> int:
        """Return the height that the words need; a push button has none of its own."""
        layout = self.layout()
        return layout.heightForWidth(width) if layout is not None else 0

    def resizeEvent(self, happened: QResizeEvent) -> None:
        """Be as high as the words need at this width."""
        super().resizeEvent(happened)
        layout = self.layout()
        if layout is not None:
            self.setMinimumHeight(
                max(layout.minimumSize().height(), self.heightForWidth(self.width()))
            )

    def keyPressEvent(self, pressed: QKeyEvent) -> None:
        """Open with Return, remove with Delete, search by typing."""
        key = pressed.key()
        if key in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.click()
        elif key in ARROWS:
            self.stepped.emit(int(key))
        elif key == Qt.Key.Key_Delete and self.remove is not None:
            self.remove.click()
        elif pressed.text().isprintable() and pressed.text().strip():
            self.typed.emit(pressed.text())
        else:
            super().keyPressEvent(pressed)


class StartPage(PopupCard):
    """Choose what to begin with; Esc leaves the window as it is."""

    def __init__(
        self,
        over: QWidget,
        actions: Sequence[StartAction],
        sections: Sequence[StartSection],
        theme: Theme,
    ) -> None:
        super().__init__(over, *SIZE)
        self._theme, self._sections = theme, sections
        self.card.setAccessibleName(tr("Start"))
        set_sheet(self.card, sheet(theme))
        buttons = [
            push_button(a.title, self.card, partial(self._run, a.run), tip=a.tip) for a in actions
        ]
        self.column.addWidget(Label("heading", tr("Start"), self.card))
        self.column.addLayout(FlowLayout(*buttons, spacing=8))
        self.search = ReturnEdit()
        self.search.setPlaceholderText(tr("Search files, examples, lessons and set-ups"))
        self.search.setAccessibleName(tr("Search"))
        self.search.setClearButtonEnabled(True)
        self.search.textChanged.connect(self._search)
        self.search.returnPressed.connect(self._open_first)
        self.search.installEventFilter(self)
        self.column.addWidget(self.search)
        self._area = QScrollArea(self.card)
        self._page = QWidget()
        self._rows = vbox(self._page, margins=(0, 0, 8, 0), spacing=8)
        make_scrollable(self._area, self._page)
        self._page.setAutoFillBackground(False)
        self.column.addWidget(self._area, 1)
        self.nothing = Label("caption", tr("Nothing has all of these words"), self._page)
        self.tiles: list[StartTile] = []
        self._columns = 0
        self.filling = TimeSlices(TURN_MS, self)
        self.setFocusProxy(self.search)

    def open(self) -> None:
        """Open the page; its tiles follow in the next turns."""
        super().open()
        self._search()

    def leave(self) -> None:
        """Close the page, even if it is not complete."""
        self.filling.stop()
        super().leave()

    def replace_sections(self, sections: Sequence[StartSection]) -> None:
        """Show other items."""
        self._sections = sections
        self._search()

    def _run(self, run: object) -> None:
        self.leave()
        assert callable(run)
        run()

    # Tiles

    def _search(self) -> None:
        self.filling.begin(self._fill(self.search.text().casefold().split()))
        self.filling.go_on()

    def _fill(self, words: list[str]) -> Iterator[bool | None]:
        self._clear()
        self._columns = self._columns_now()
        yield END_TURN
        for section in self._sections:
            found = [item for item in section.items if item.fits(words)]
            if found or (section.empty and not words):
                yield from self._add_section(section, found)
        self._rows.addWidget(self.nothing)
        self.nothing.setVisible(not self.tiles and bool(words))
        self._rows.addStretch(1)

    def _clear(self) -> None:
        had_focus = any(tile.hasFocus() for tile in self.tiles)
        if had_focus:
            self.search.setFocus()
        self.tiles = []
        while self._rows.count():
            item = self._rows.takeAt(0)
            widget = item.widget() if item is not None else None
            if widget is not None and widget is not self.nothing:
                widget.hide()
                widget.deleteLater()

    def _add_section(self, section: StartSection, found: list[StartItem]) -> Iterator[bool | None]:
        box = QWidget(self._page)
        head = hbox(None, (Label("section", section.title, box), 1))
        shown = found[: self._columns * ROWS]
        if section.show_all is not None:
            words = tr("All {count}…", count=len(section.items))
            link = push_button(words, box, partial(self._run, section.show_all), "quiet")
            link.setAccessibleName(tr("All: {section}", section=section.title))
            head.addWidget(link)
        grid = QGridLayout()
        grid.setSpacing(8)
        for column in range(self._columns):
            grid.setColumnStretch(column, 1)
        vbox(box, head, grid, spacing=4)
        if not shown:
            grid.addWidget(Label("caption", section.empty, box), 0, 0, 1, self._columns)
        self._rows.addWidget(box)
        for place, item in enumerate(shown):
            tile = self._tile(item, box)
            grid.addWidget(tile, place // self._columns, place % self._columns)
            self.tiles.append(tile)
            yield None

    def _tile(self, item: StartItem, parent: QWidget) -> StartTile:
        tile = StartTile(item, self._theme, parent)
        if not item.is_missing:
            tile.clicked.connect(partial(self._run, item.open))
        tile.stepped.connect(partial(self._walk, tile))
        tile.typed.connect(self._type)
        return tile

    def _columns_now(self) -> int:
        wide = self.card.width() - 60
        return max(1, min(3, wide // round(TILE_WIDTH * self._theme.scale)))

    def resizeEvent(self, happened: QResizeEvent) -> None:
        """Arrange the tiles anew if another number of them fits next to each other."""
        super().resizeEvent(happened)
        if self._columns and self._columns_now() != self._columns:
            self._search()

    # Keyboard

    def _open_first(self) -> None:
        first = next((tile for tile in self.tiles if not tile.item.is_missing), None)
        if self.search.text().strip() and first is not None:
            first.click()

    def _type(self, text: str) -> None:
        self.search.setFocus()
        self.search.insert(text)

    def eventFilter(self, watched: QObject, happened: QEvent) -> bool:
        """Let the down arrow lead from the search to the first tile."""
        if (
            watched is self.search
            and isinstance(happened, QKeyEvent)
            and happened.type() == QEvent.Type.KeyPress
            and happened.key() == Qt.Key.Key_Down
            and self.tiles
        ):
            self._go_to(self.tiles[0])
            return True
        return super().eventFilter(watched, happened)

    def _walk(self, tile: StartTile, key: int) -> None:
        """Go to the next tile in reading order, or to the nearest in the row above or below."""
        if key in (Qt.Key.Key_Left, Qt.Key.Key_Right):
            at = self.tiles.index(tile) + (1 if key == Qt.Key.Key_Right else -1)
            if 0 <= at < len(self.tiles):
                self._go_to(self.tiles[at])
            return
        way = 1 if key == Qt.Key.Key_Down else -1
        here = tile.mapTo(self._page, tile.rect().topLeft())
        places = {other: other.mapTo(self._page, other.rect().topLeft()) for other in self.tiles}
        beyond = [other for other, at in places.items() if (at.y() - here.y()) * way > 0]
        if beyond:
            near = min(abs(places[other].y() - here.y()) for other in beyond)
            row = [other for other in beyond if abs(places[other].y() - here.y()) == near]
            self._go_to(min(row, key=lambda other: abs(places[other].x() - here.x())))
        elif way < 0:
            self.search.setFocus()

    def _go_to(self, tile: StartTile) -> None:
        tile.setFocus(Qt.FocusReason.TabFocusReason)
        self._area.ensureWidgetVisible(tile)
