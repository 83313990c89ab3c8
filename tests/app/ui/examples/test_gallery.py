"""The gallery: all examples, by mouse and by keys."""

from collections import Counter

import pytest
from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtWidgets import QLabel, QPushButton, QWidget

from gradscribe.app.document import examples
from gradscribe.app.training.setup import presets
from gradscribe.app.ui.examples import gallery as gallery_module
from gradscribe.app.ui.examples.gallery import COLUMNS, SETUPS, Gallery
from gradscribe.app.ui.examples.thumbnail import ExampleThumbnail


@pytest.fixture
def gallery(qtbot):
    over = QWidget()
    qtbot.addWidget(over)
    over.resize(1000, 700)
    with qtbot.waitExposed(over):
        over.show()
    made = Gallery(over, examples.load())
    made.open()
    made.over = over
    qtbot.waitUntil(lambda: not made.filling.busy)
    return made


def test_every_example_has_a_tile_with_a_sentence(gallery):
    assert [tile.accessibleName() for tile in gallery.tiles] == [e.title for e in examples.load()]
    assert all(tile.accessibleDescription() for tile in gallery.tiles)


def test_set_ups_have_no_pictures_of_programs_of_the_same_name(gallery, qtbot):
    names = {preset.name for preset in presets.load()} & {e.name for e in examples.load()}
    assert names
    gallery.leave()
    made = Gallery(gallery.over, presets.load(), words=SETUPS)
    made.open()
    qtbot.waitUntil(lambda: len(made.tiles) == len(presets.load()))
    assert not made.findChildren(ExampleThumbnail)
    qtbot.keyClicks(made.tiles[0], "vanish")
    assert made.search.text() == "vanish"
    with qtbot.waitSignal(made.chosen) as heard:
        qtbot.keyClick(made.search, Qt.Key.Key_Return)
    assert heard.args[0].title == "Vanishing gradients"


@pytest.fixture
def open_slow(qtbot, monkeypatch):
    """Open one that makes a tile in each turn of the event loop."""
    monkeypatch.setattr(gallery_module, "TURN_MS", 0)
    over = QWidget()
    qtbot.addWidget(over)
    over.show()

    def open_slow():
        made = Gallery(over, examples.load())
        made.open()
        made.over = over
        return made

    return open_slow


def test_its_tiles_are_made_bit_by_bit(open_slow, qtbot):
    slow, counts = open_slow(), []
    assert not slow.tiles, "none in the turn that opens it"
    slow.filling._turn.timeout.connect(lambda: counts.append(len(slow.tiles)))
    qtbot.waitUntil(lambda: len(slow.tiles) == len(examples.load()))
    assert max(b - a for a, b in zip([0, *counts], counts, strict=False)) == 1
    qtbot.waitUntil(lambda: slow.over.focusWidget() is slow.tiles[0])


def test_one_that_is_closed_at_once_makes_no_more_tiles(open_slow, qtbot):
    slow, seen = open_slow(), []

    def leave():
        if slow.tiles and not seen:
            seen.append(len(slow.tiles))
            qtbot.keyClick(slow, Qt.Key.Key_Escape)
            seen.extend((slow.isVisible(), slow.filling.busy))

    slow.filling._turn.timeout.connect(leave)
    qtbot.waitUntil(lambda: len(seen) == 3)
    assert seen == [1, False, False]
    assert len(slow.tiles) == 1


@pytest.mark.checklist(23, 28, 244)
def test_each_example_can_be_had_at_its_edge_and_broken(gallery, qtbot):
    first = examples.load()[0]
    links = [b for b in gallery.tiles[0].findChildren(QPushButton) if b.text() == "Break it"]
    with qtbot.waitSignal(gallery.chosen) as told:
        qtbot.mouseClick(links[0], Qt.MouseButton.LeftButton)
    assert told.args[0] == first.broken
    assert not gallery.isVisible()


def test_a_click_chooses_and_closes(gallery, qtbot):
    with qtbot.waitSignal(gallery.chosen) as told:
        gallery.tiles[2].click()
    assert told.args[0] == examples.load()[2]
    assert not gallery.isVisible()


def test_arrows_walk_and_return_chooses(gallery, qtbot):
    qtbot.keyClick(gallery.tiles[0], Qt.Key.Key_Up)
    gallery.tiles[0].stepped.emit(-1)
    qtbot.waitUntil(lambda: gallery.over.focusWidget() is gallery.tiles[0])
    qtbot.keyClick(gallery.tiles[0], Qt.Key.Key_Down)
    assert gallery.over.focusWidget() is gallery.tiles[COLUMNS]
    with qtbot.waitSignal(gallery.chosen) as told:
        qtbot.keyClick(gallery.tiles[COLUMNS], Qt.Key.Key_Return)
    assert told.args[0].title == gallery.tiles[COLUMNS].accessibleName()


class Styled(QObject):
    """Counts how often each widget is styled; whatever is styled is measured anew, too."""

    def __init__(self):
        super().__init__()
        self.counts = Counter()

    def eventFilter(self, watched, happened):
        if happened.type() == QEvent.Type.StyleChange:
            self.counts[watched] += 1
        return False


def test_nothing_changes_places_once_it_is_in_a_tile(qtbot, qapp):
    over, styled = QWidget(), Styled()
    qtbot.addWidget(over)
    # Qt styles what changes places where the application has a style sheet.
    before = qapp.styleSheet()
    qapp.setStyleSheet("QLabel { color: #123456; }")
    qapp.installEventFilter(styled)
    try:
        made = Gallery(over, examples.load())
        made.filling.finish()
    finally:
        qapp.removeEventFilter(styled)
        qapp.setStyleSheet(before)
    parts = [part for tile in made.tiles for part in tile.findChildren(QWidget)]
    assert parts
    assert max(styled.counts[part] for part in parts) <= 2, "where it is made, and in its tile"


def test_the_search_finds_titles_sentences_and_tags(gallery, qtbot):
    qtbot.keyClicks(gallery.search, "MASK attention")
    assert [tile.item.name for tile in gallery.shown()] == ["causal_mask"]
    assert [tile for tile in gallery.tiles if tile.isVisible()] == gallery.shown()
    gallery.search.clear()
    assert all(tile.isVisible() for tile in gallery.tiles)
    qtbot.keyClicks(gallery.search, "nowhere to be found")
    assert gallery.nothing.isVisible()
    assert not gallery.shown()


def test_typing_on_a_tile_searches_and_return_opens_the_first(gallery, qtbot):
    qtbot.waitUntil(gallery.tiles[0].hasFocus)
    qtbot.keyClick(gallery.tiles[0], "g")
    assert gallery.search.text() == "g"
    assert gallery.search.hasFocus()
    qtbot.keyClicks(gallery.search, "an")
    with qtbot.waitSignal(gallery.chosen) as told:
        qtbot.keyClick(gallery.search, Qt.Key.Key_Return)
    assert "gan" in f"{told.args[0].title} {told.args[0].about} {told.args[0].tags}".casefold()


def test_arrows_walk_through_what_was_found(gallery, qtbot):
    gallery.search.setText("attention")
    first, second = gallery.shown()[:2]
    first.setFocus()
    qtbot.keyClick(first, Qt.Key.Key_Right)
    assert second.hasFocus()


def test_titles_are_whole(gallery):
    labels = [
        label
        for tile in gallery.tiles
        for label in tile.findChildren(QLabel)
        if label.text() == tile.item.title
    ]
    assert len(labels) == len(gallery.tiles)
    assert all(label.heightForWidth(label.width()) <= label.height() for label in labels)
