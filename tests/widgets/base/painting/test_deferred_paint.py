"""Painting that is put off comes in a turn of its own, and comes whole."""

import pytest
from PySide6.QtCore import QCoreApplication, QTimer
from PySide6.QtGui import QColor
from PySide6.QtWidgets import QVBoxLayout, QWidget

from gradscribe.widgets.base.painting.deferred_paint import DeferredPaint, resume_paint


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
    DeferredPaint(page).suspend()
    page.show()
    QCoreApplication.sendPostedEvents()
    assert painted == []
    qtbot.waitUntil(lambda: painted == ["page", "inside"])


def test_it_is_painted_once_all_is_ready_and_each_part_has_a_turn_of_its_own(over, qtbot):
    happened = []
    page, beside = Page(over, happened, "page"), QTimer(over)
    beside.timeout.connect(lambda: happened.append("turn"))

    def steps():
        for name in ("first", "second"):
            happened.append(name)
            yield

    DeferredPaint(page).suspend(steps())
    page.show()
    beside.start(0)
    qtbot.waitUntil(lambda: "page" in happened)
    beside.stop()
    told = [name for name in happened if name != "turn"]
    assert told == ["first", "second", "page"]
    assert "turn" in happened[happened.index("first") : happened.index("second")]


def test_a_picture_of_it_has_all_that_is_in_it_once_it_is_let_go(over):
    page = QWidget(over)
    inside = Page(page, [], "inside")
    page.show()
    held = DeferredPaint(page)
    held.suspend()
    held.resume()
    assert page.grab().toImage().pixelColor(5, 5) == inside.palette().color(inside.backgroundRole())
    assert page.updatesEnabled()


class Pane(Page):
    """A page through which one sees."""

    def __init__(self, parent, painted, name):
        super().__init__(parent, painted, name)
        self.setAutoFillBackground(False)


@pytest.fixture(params=[Page, Pane])
def nested(request, over):
    """Pages one in the other, of both kinds, and the list of those that were painted."""
    painted = []
    kinds = (Page, Pane, Page, Pane)
    outer = request.param(over, painted, "outer")
    outer.resize(90, 90)
    for column, kind in enumerate(kinds):
        within = kind(outer, painted, f"{column}")
        within.setGeometry(20 * column, 0, 20, 80)
        for row, inner in enumerate(kinds):
            Pane(within, painted, f"{column}{row}").setGeometry(0, 20 * row, 20, 20)
            inner(within, painted, f"{column}{row}x").setGeometry(0, 20 * row, 9, 9)
    outer.show()
    QCoreApplication.sendPostedEvents()
    yield outer, painted
    outer.hide()


def names_in(widget):
    return sorted([widget.name, *(one.name for one in widget.findChildren(Page))])


def test_each_part_of_it_is_painted_once(nested, qtbot):
    page, painted = nested
    held = DeferredPaint(page)
    held.suspend()
    for part in (page, *page.findChildren(Page)):
        part.update()
    painted.clear()
    QCoreApplication.sendPostedEvents()
    assert painted == []
    held.resume()
    qtbot.waitUntil(lambda: bool(painted))
    assert sorted(painted) == names_in(page)
    assert all(part.updatesEnabled() for part in page.findChildren(Page))


def test_what_is_held_or_hidden_in_it_stays_so(nested, qtbot):
    page, painted = nested
    kept, hidden = (next(p for p in page.findChildren(Page) if p.name == n) for n in ("0", "2"))
    hidden.hide()
    held, inner = DeferredPaint(page), DeferredPaint(kept)
    held.suspend()
    kept.setUpdatesEnabled(False)
    painted.clear()
    held.resume()
    qtbot.waitUntil(lambda: bool(painted))
    assert set(painted) == set(names_in(page)) - set(names_in(kept)) - set(names_in(hidden))
    painted.clear()
    inner.resume()
    qtbot.waitUntil(lambda: set(names_in(kept)) <= set(painted))
    hidden.show()
    qtbot.waitUntil(lambda: set(names_in(hidden)) <= set(painted))


def test_a_window_is_painted_though_it_was_asked_to_be_just_before_it_was_held(qtbot):
    painted = []
    window = Page(None, painted, "window")
    qtbot.addWidget(window)
    inside = Pane(window, painted, "inside")
    inside.setGeometry(5, 5, 20, 20)
    with qtbot.waitExposed(window):
        window.show()
    qtbot.waitUntil(lambda: "inside" in painted)
    for asked in (inside, window):
        asked.update()
        window.setUpdatesEnabled(False)
        painted.clear()
        with qtbot.waitCallback() as later:
            QTimer.singleShot(50, later)
        assert painted == []
        resume_paint(window)
        qtbot.waitUntil(lambda: {"window", "inside"} <= set(painted))


class Childless(QWidget):
    """Class whose content is no business of Python's, as far as it is no widget."""

    def children(self):
        raise AssertionError("layouts and models were made into objects")


def test_only_widgets_are_asked_whether_they_are_to_be_painted(over):
    host = Childless(over)
    rows, inside = QVBoxLayout(host), QWidget()
    rows.addWidget(inside)
    host.show()
    host.setUpdatesEnabled(False)
    assert not inside.updatesEnabled()
    resume_paint(host)
    assert inside.updatesEnabled()
