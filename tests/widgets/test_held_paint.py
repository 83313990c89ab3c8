"""Painting that is put off comes in a turn of its own, and comes whole."""

import pytest
from PySide6.QtCore import QCoreApplication
from PySide6.QtGui import QColor
from PySide6.QtWidgets import QWidget

from widgets.held_paint import HeldPaint


class Page(QWidget):
    """Notes in which order pages are painted."""

    def __init__(self, parent, painted, name):
        super().__init__(parent)
        self.painted, self.name = painted, name
        self.setGeometry(0, 0, 40, 40)
        self.setAutoFillBackground(True)
        palette = self.palette()
        palette.setColor(self.backgroundRole(), QColor("#c2185b"))
        self.setPalette(palette)

    def paintEvent(self, _happened):
        self.painted.append(self.name)


@pytest.fixture
def over(qtbot):
    made = QWidget()
    qtbot.addWidget(made)
    made.resize(100, 100)
    with qtbot.waitExposed(made):
        made.show()
    QCoreApplication.sendPostedEvents()
    return made


def test_nothing_of_it_is_painted_in_the_turn_that_holds_it(over, qtbot):
    painted = []
    page = Page(over, painted, "page")
    Page(page, painted, "inside").resize(20, 20)
    HeldPaint(page).hold()
    page.show()
    QCoreApplication.sendPostedEvents()
    assert painted == []
    qtbot.waitUntil(lambda: painted == ["page", "inside"])


def test_one_held_for_longer_is_painted_after_another(over, qtbot):
    painted = []
    first, second = Page(over, painted, "first"), Page(over, painted, "second")
    second.move(50, 0)
    HeldPaint(second).hold(2)
    HeldPaint(first).hold()
    for page in (first, second):
        page.show()
    qtbot.waitUntil(lambda: len(painted) == 2)
    assert painted == ["first", "second"]


def test_a_picture_of_it_has_all_that_is_in_it_once_it_is_let_go(over):
    page = QWidget(over)
    inside = Page(page, [], "inside")
    page.show()
    held = HeldPaint(page)
    held.hold()
    held.let_go()
    assert page.grab().toImage().pixelColor(5, 5) == inside.palette().color(inside.backgroundRole())
    assert page.updatesEnabled()
