"""A kept picture is made where there is none of its kind, and copied otherwise."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QColor
from PySide6.QtWidgets import QWidget

from gradscribe.widgets.base.painting import pixmap_cache
from gradscribe.widgets.base.painting.pixmap_cache import PixmapCache


class Painted(QWidget):
    """Fills itself with a colour, and counts how often that is worked out."""

    def __init__(self):
        super().__init__()
        self.kept = PixmapCache(self, self.draw)
        self.color, self.side, self.drawn = QColor("#1565c0"), "a", 0

    def draw(self, painter):
        self.drawn += 1
        painter.fillRect(self.rect(), self.color)
        painter.drawText(self.rect(), Qt.AlignmentFlag.AlignCenter, self.side)

    def paintEvent(self, _happened):
        self.kept.paint(self.side)


@pytest.fixture
def painted(qtbot):
    made = Painted()
    qtbot.addWidget(made)
    made.resize(60, 40)
    return made


def center(widget):
    return widget.grab().toImage().pixelColor(5, 5).name()


def test_the_same_picture_is_drawn_once(painted):
    assert [center(painted) for _ in range(4)] == ["#1565c0"] * 4
    assert painted.drawn == 1


def test_another_picture_is_seen_once_it_is_asked_for(painted):
    center(painted)
    painted.color = QColor("#ef6c00")
    painted.kept.refresh()
    assert [center(painted), center(painted)] == ["#ef6c00"] * 2
    assert painted.drawn == 2


def test_another_size_or_what_it_depends_on_has_it_drawn_anew(painted):
    first = painted.grab().toImage()
    painted.side = "b"
    assert painted.grab().toImage() != first
    painted.resize(61, 40)
    assert painted.grab().toImage().size() != first.size()
    assert painted.drawn == 3


def test_between_the_pixels_of_the_screen_it_is_drawn_straight(painted, monkeypatch):
    monkeypatch.setattr(painted, "devicePixelRatioF", lambda: 1.5)
    assert center(painted) == center(painted) == "#1565c0"
    assert painted.drawn == 2


def test_on_a_sharp_screen_it_has_all_of_its_pixels(painted, monkeypatch):
    monkeypatch.setattr(painted, "devicePixelRatioF", lambda: 2.0)
    center(painted)
    assert painted.kept._pixmap.size() == painted.size() * 2


def test_one_that_is_made_beforehand_is_the_one_that_is_painted(painted):
    painted.show()
    painted.kept.prepare("a")
    assert painted.drawn == 1
    painted.resize(80, 50)
    painted.kept.prepare("a")
    assert painted.drawn == 2
    made = painted.grab().toImage()
    assert painted.drawn == 2
    painted.kept.refresh()
    assert painted.grab().toImage() == made


def test_of_a_widget_that_nobody_sees_none_is_made_beforehand(painted):
    painted.hide()
    painted.kept.prepare("a")
    assert painted.drawn == 0


def test_a_dear_one_of_another_size_is_drawn_in_the_turn_after(painted, qtbot, monkeypatch):
    monkeypatch.setattr(pixmap_cache, "SLOW_MS", 0.0)
    with qtbot.waitExposed(painted):
        painted.show()
    qtbot.waitUntil(lambda: painted.drawn == 1)
    painted.resize(80, 50)
    painted.repaint()
    assert painted.drawn == 1
    qtbot.waitUntil(lambda: painted.drawn == 2)
    assert painted.kept._pixmap.size() == painted.size()
    # A picture of it is never that of another size.
    painted.resize(90, 60)
    assert center(painted) == painted.grab().toImage().pixelColor(88, 58).name() == "#1565c0"
    assert painted.drawn == 3


def test_a_dear_one_that_looks_otherwise_is_drawn_at_once(painted, qtbot, monkeypatch):
    monkeypatch.setattr(pixmap_cache, "SLOW_MS", 0.0)
    with qtbot.waitExposed(painted):
        painted.show()
    qtbot.waitUntil(lambda: painted.drawn == 1)
    painted.side = "b"
    painted.resize(80, 50)
    painted.repaint()
    assert painted.drawn == 2
