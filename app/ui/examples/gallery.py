"""The gallery of examples: picture, title and a sentence each, over the window, with a search."""

from collections.abc import Iterator, Sequence
from functools import partial
from typing import NamedTuple, Protocol

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import (
    QGridLayout,
    QPushButton,
    QSizePolicy,
    QWidget,
)

from gradscribe.app.document import example_pictures
from gradscribe.app.document.examples import Example
from gradscribe.app.ui.examples.thumbnail import ExampleThumbnail
from gradscribe.app.ui.layout import scroll_area
from gradscribe.app.ui.popup import PopupCard
from gradscribe.playback.translation import pgettext, tr
from gradscribe.widgets.base.boxes import hbox, vbox
from gradscribe.widgets.base.flow_layout import FlowLayout
from gradscribe.widgets.base.labels import plain_label
from gradscribe.widgets.base.painting.deferred_paint import resume_paint
from gradscribe.widgets.base.return_edit import ReturnEdit
from gradscribe.widgets.base.theme import Theme
from gradscribe.widgets.base.time_slices import END_TURN, TimeSlices

COLUMNS = 2
TURN_MS = 12
"""Time slice for creating tiles before control returns to the event loop."""
STEPS: dict[int, int] = {
    Qt.Key.Key_Right: 1,
    Qt.Key.Key_Left: -1,
    Qt.Key.Key_Down: COLUMNS,
    Qt.Key.Key_Up: -COLUMNS,
}


class GalleryItem(Protocol):
    """An example or preset with a title and a description."""

    @property
    def title(self) -> str:
        """Its name."""

    @property
    def about(self) -> str:
        """A sentence on what to look for."""


class GalleryWords(NamedTuple):
    """The texts of a gallery: heading, sentence below it, search field, an empty result."""

    title: str
    about: str
    search: str
    nothing: str


PROGRAMS = GalleryWords(
    pgettext("programs", "Examples"),
    tr("Short programs to start from; change anything and watch"),
    tr("Search: attention, loop, mask, ..."),
    tr("No example has all of these words"),
)
SETUPS = GalleryWords(
    tr("Set-ups"),
    tr("Set-ups to start from; change anything while they train"),
    tr("Search: spiral, sigmoids, regression, ..."),
    tr("No set-up has all of these words"),
)


class _Tile(QPushButton):
    """A button that also reacts to Return, and forwards the arrow keys."""

    stepped = Signal(int)
    typed = Signal(str)

    def __init__(self, item: GalleryItem) -> None:
        super().__init__()
        self.item = item

    def keyPressEvent(self, happened: QKeyEvent) -> None:
        if happened.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.click()
        elif happened.key() in STEPS:
            self.stepped.emit(STEPS[happened.key()])
        elif happened.text().isprintable() and happened.text().strip():
            self.typed.emit(happened.text())
        else:
            super().keyPressEvent(happened)


class Gallery(PopupCard):
    """Choose an example to start from."""

    chosen = Signal(object)

    def __init__(
        self,
        over: QWidget,
        examples: Sequence[GalleryItem],
        theme: Theme | None = None,
        words: GalleryWords = PROGRAMS,
    ) -> None:
        super().__init__(over, 760, 560)
        self._theme = theme or Theme.load("light")
        self.column.addWidget(plain_label(words.title, "heading"))
        self.column.addWidget(plain_label(words.about, "caption"))
        self.search = ReturnEdit()
        self.search.setPlaceholderText(words.search)
        self.search.setAccessibleName(tr("Search {lower}", lower=words.title.lower()))
        self.search.setClearButtonEnabled(True)
        self.search.textChanged.connect(self._arrange)
        self.search.returnPressed.connect(self._open_first)
        self.column.addWidget(self.search)
        self.nothing = plain_label(words.nothing, "caption")
        self.nothing.hide()
        self.column.addWidget(self.nothing)
        # Given its final parent at once: reparenting would style and measure it again.
        self._area = scroll_area(QWidget(self.card))
        self._area.setAccessibleName(words.title)
        self.column.addWidget(self._area, 1)
        self.tiles: list[_Tile] = []
        self._grid: QGridLayout | None = None
        self.card.setAccessibleName(words.title)
        # Adding a tile would repaint everything around it, including the window below the card.
        self._area.setUpdatesEnabled(False)
        self.filling = TimeSlices(TURN_MS, self)
        self.filling.begin(self._fill(examples))

    def _fill(self, examples: Sequence[GalleryItem]) -> Iterator[bool | None]:
        # Yield to the event loop once, so that the card appears before the tiles.
        yield END_TURN
        grid = self._grid = QGridLayout(self._area.widget())
        grid.setContentsMargins(0, 0, 8, 0)
        grid.setSpacing(10)
        for example in examples:
            tile = self._tile(example)
            place = len(self.shown())
            self.tiles.append(tile)
            if self._is_found(tile):
                grid.addWidget(tile, place // COLUMNS, place % COLUMNS)
            else:
                tile.setParent(self._area.widget())
                tile.hide()
            yield None
        grid.setRowStretch(grid.rowCount(), 1)
        yield END_TURN
        resume_paint(self._area)

    def open(self) -> None:
        """Open the card; once its tiles are created, focus the first."""
        super().open()
        self.filling.ended.connect(self._go_to_first)
        self.filling.go_on()

    def leave(self) -> None:
        """Close the card, even if it is not complete."""
        self.filling.stop()
        super().leave()

    def shown(self) -> list[_Tile]:
        """Return the tiles that the search leaves."""
        return [tile for tile in self.tiles if self._is_found(tile)]

    def _is_found(self, tile: _Tile) -> bool:
        words = self.search.text().casefold().split()
        tags = getattr(tile.item, "tags", ())
        text = " ".join((tile.item.title, tile.item.about, *tags)).casefold()
        return all(word in text for word in words)

    def _arrange(self) -> None:
        """Show only the tiles with all words of the search."""
        if self._grid is None:
            return
        for tile in self.tiles:
            self._grid.removeWidget(tile)
        shown = self.shown()
        for place, tile in enumerate(shown):
            self._grid.addWidget(tile, place // COLUMNS, place % COLUMNS)
        for tile in self.tiles:
            tile.setVisible(tile in shown)
        self.nothing.setVisible(not shown and bool(self.tiles))
        self._area.verticalScrollBar().setValue(0)

    def _open_first(self) -> None:
        if self.search.text().strip() and (shown := self.shown()):
            self._choose(shown[0].item)

    def _type(self, text: str) -> None:
        self.search.setFocus()
        self.search.insert(text)

    def _go_to_first(self) -> None:
        if self.tiles and not self.search.hasFocus():
            self.tiles[0].setFocus()

    def _tile(self, example: GalleryItem) -> _Tile:
        tile = _Tile(example)
        tile.stepped.connect(self._walk)
        tile.typed.connect(self._type)
        tile.setAccessibleName(example.title)
        tile.setAccessibleDescription(example.about)
        tile.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Minimum)
        tile.setMinimumHeight(108 if isinstance(example, Example) else 86)
        row = hbox(tile, margins=(10, 8, 14, 8), spacing=10)
        pictures = example_pictures.load()
        # A set-up may have the name of a program.
        if isinstance(example, Example) and (picture := pictures.get(example.name)) is not None:
            row.addWidget(ExampleThumbnail(picture, self._theme))
        column = vbox(None)
        row.addLayout(column, 1)
        title, about = plain_label(example.title, "title"), plain_label(example.about, "caption")
        title.setWordWrap(True)
        about.setWordWrap(True)
        for label in (title, about):
            label.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
            column.addWidget(label)
        column.addStretch(1)
        if isinstance(example, Example):
            column.addLayout(self._variants(example))
        tile.clicked.connect(lambda: self._choose(example))
        return tile

    def _variants(self, example: Example) -> FlowLayout:
        """Return the links to the example's variants at its limits and with a mistake."""
        row = FlowLayout(spacing=14)
        for words, variant in ((tr("At its edge"), example.edge), (tr("Break it"), example.broken)):
            if variant is not None:
                link = QPushButton(words)
                link.setProperty("link", True)
                link.setCursor(Qt.CursorShape.PointingHandCursor)
                link.setToolTip(f"{variant.title}: {variant.about}")
                link.setAccessibleName(f"{words}: {variant.title}")
                link.clicked.connect(partial(self._choose, variant))
                row.addWidget(link)
        return row

    def _choose(self, example: GalleryItem, _on: bool = False) -> None:
        self.leave()
        self.chosen.emit(example)

    def _walk(self, step: int) -> None:
        shown = self.shown()
        at = next((i for i, tile in enumerate(shown) if tile.hasFocus()), 0) + step
        if 0 <= at < len(shown):
            shown[at].setFocus()
            self._area.ensureWidgetVisible(shown[at])
