"""The gallery: all examples, by mouse and by keys."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QPushButton, QWidget

from app import examples
from app.gallery import COLUMNS, Gallery


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
    return made


def test_every_example_has_a_tile_with_a_sentence(gallery):
    assert [tile.accessibleName() for tile in gallery.tiles] == [e.title for e in examples.load()]
    assert all(tile.accessibleDescription() for tile in gallery.tiles)


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
