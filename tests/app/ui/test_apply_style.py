"""Another style sheet widget by widget ends as Qt's own way of setting one does."""

import pytest
from PySide6.QtWidgets import (
    QApplication,
    QFrame,
    QLabel,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from gradscribe.app.ui.apply_style import _seen_first, apply_style
from gradscribe.widgets.base.tabs import CompactTabs
from gradscribe.widgets.base.theme import Theme

pytestmark = pytest.mark.qt_log_ignore("This plugin does not support")


@pytest.fixture
def sheet(qapp):
    before = qapp.styleSheet()
    yield qapp.setStyleSheet
    qapp.setStyleSheet(before)


@pytest.fixture
def card(qtbot):
    """A panel with a title, a caption with a sheet of its own, and buttons, one of them hidden."""
    made = QFrame()
    made.setProperty("panel", True)
    column = QVBoxLayout(made)
    for role in ("title", "caption", "gradient"):
        label = QLabel(f"a {role}")
        label.setProperty("role", role)
        column.addWidget(label)
    column.addWidget(QPushButton("Press"))
    label.setStyleSheet("QLabel { color: #123456; }")
    made.hidden = QPushButton("Later")
    made.hidden.hide()
    column.addWidget(made.hidden)
    qtbot.addWidget(made)
    made.show()
    return made


def seen(card, qtbot):
    card.hidden.show()
    card.adjustSize()
    QApplication.processEvents()
    picture = card.grab().toImage()
    card.hidden.hide()
    return picture


@pytest.mark.parametrize("scale", [1.0, 1.4])
def test_everything_looks_as_if_it_had_been_set_at_once(card, sheet, qtbot, qapp, scale):
    light, dark = Theme.load("light").stylesheet(), Theme.load("dark").stylesheet(scale)
    sheet(dark)
    wanted = seen(card, qtbot)
    sheet(light)
    before = seen(card, qtbot)
    for _ in apply_style(qapp, dark):
        pass
    assert qapp.styleSheet() == dark
    assert seen(card, qtbot) == wanted != before


def test_what_is_seen_comes_first_and_new_widgets_have_it_at_once(card, sheet, qtbot, qapp):
    sheet(Theme.load("light").stylesheet())
    steps = apply_style(qapp, "QPushButton { min-width: 333px; border: none; padding: 0px; }")
    for _ in range(sum(one.isVisible() for one in qapp.allWidgets())):
        next(steps)
    button = next(one for one in card.findChildren(QPushButton) if one is not card.hidden)
    assert button.minimumWidth() == 333
    fresh = QPushButton("new", card)
    fresh.ensurePolished()
    assert fresh.minimumWidth() == 333
    for _ in steps:
        pass
    assert card.hidden.minimumWidth() == 333


def test_a_part_is_styled_after_all_that_it_is_in(card, qtbot):
    """One with a sheet of its own has the old text size otherwise, as the bar of tabs had."""
    tabs = CompactTabs()
    tabs.addTab(QLabel("page"), "Title")
    card.layout().addWidget(tabs)
    parts = [card, *card.findChildren(QWidget)]
    for order in (parts, parts[::-1], sorted(parts, key=id)):
        found = _seen_first(order)
        assert sorted(found, key=id) == sorted(parts, key=id)
        for part in found:
            above = part.parentWidget()
            if above is not None and above.isVisible() == part.isVisible():
                assert found.index(above) < found.index(part)
    shown = [part.isVisible() for part in found]
    assert shown == sorted(shown, reverse=True)


def test_widgets_that_go_meanwhile_do_no_harm(card, sheet, qtbot, qapp):
    steps = apply_style(qapp, Theme.load("dark").stylesheet())
    next(steps)
    card.hidden.deleteLater()
    QApplication.sendPostedEvents(card.hidden, 0)
    del card.hidden
    for _ in steps:
        pass
