"""The inspector gets the height that the tables below it do not need."""

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLabel, QWidget

from gradscribe.app.files.settings import Settings
from gradscribe.app.ui.layout import Columns, Panel, tab_widget
from gradscribe.playback.tape.track import VariableRow
from gradscribe.widgets.tables.ledger import Ledger
from gradscribe.widgets.tables.value_table import ValueTable


def rows(count):
    return [VariableRow(f"x{n}", n, "1.0000", "—") for n in range(count)]


@pytest.fixture
def made(qtbot):
    over = QWidget()
    qtbot.addWidget(over)
    over.resize(1500, 900)
    return columns(over)


def columns(over):
    parts = [Panel(QLabel(str(n)), str(n)) for n in range(5)]
    values = ValueTable()
    values.heading.hide()
    tables = tab_widget(("Values", values), ("Ledger", Ledger()))
    found = Columns((parts[0], parts[1]), parts[2], (parts[3], Panel(tables, "t")), parts[4])
    found.share_right(tables, values)
    found.over, found.values, found.tables = over, values, tables
    found.setParent(over)
    found.resize(1416, 740)
    over.show()
    found.show()
    return found


def shares(made):
    QApplication.sendPostedEvents()
    QTest.qWait(0)
    return made.right.sizes()


def test_a_table_of_a_few_rows_takes_no_more_than_they_need(made, qtbot):
    made.values.set_rows(rows(5))
    view = made.values.view

    def free():
        return view.viewport().height() - view.rowViewportPosition(4) - view.rowHeight(4)

    qtbot.waitUntil(lambda: 0 <= free() < view.rowHeight(4))
    assert not view.verticalScrollBar().isVisible()


def test_a_long_table_leaves_two_thirds_to_the_inspector(made, qtbot):
    made.values.set_rows(rows(60))
    qtbot.waitUntil(lambda: made.right.sizes()[1] > 180)
    upper, lower = made.right.sizes()
    assert upper >= 2 * lower
    assert lower >= 0.28 * (upper + lower)


def test_in_a_low_window_two_rows_stay_in_view(made, qtbot):
    made.values.set_rows(rows(60))
    made.resize(976, 466)
    view = made.values.view
    qtbot.waitUntil(lambda: made.right.sizes()[0] > made.right.sizes()[1])
    assert view.viewport().height() >= 2 * view.rowHeight(0)
    assert made.right.sizes()[0] >= 0.6 * sum(made.right.sizes())


def test_a_list_on_another_page_gets_its_part(made, qtbot):
    made.values.set_rows(rows(1))
    qtbot.waitUntil(lambda: made.right.sizes()[1] < 180)
    bar = made.tables.tabBar()
    QTest.mouseClick(bar, Qt.MouseButton.LeftButton, pos=bar.tabRect(1).center())
    qtbot.waitUntil(lambda: made.right.sizes()[1] > 180)


def drag(handle, by):
    at = handle.rect().center()
    QTest.mousePress(handle, Qt.MouseButton.LeftButton, pos=at)
    QTest.mouseMove(handle, at + QPoint(0, by))
    QTest.mouseRelease(handle, Qt.MouseButton.LeftButton, pos=at + QPoint(0, by))


def test_a_gutter_that_the_user_moved_stays_and_is_remembered(made, qtbot):
    made.values.set_rows(rows(3))
    qtbot.waitUntil(lambda: made.right.sizes()[1] < 180)
    drag(made.right.handle(1), -200)
    moved = made.right.sizes()
    assert moved[1] > 300
    made.values.set_rows(rows(30))
    assert shares(made) == moved
    settings = Settings()
    made.remember(settings)
    again = columns(made.over)
    again.recall(settings)
    assert again.right.sizes()[1] == pytest.approx(moved[1], abs=4)
    again.values.set_rows(rows(3))
    assert shares(again)[1] == pytest.approx(moved[1], abs=4)


def test_a_gutter_that_nobody_moved_is_not_remembered(made):
    settings = Settings()
    shares(made)
    made.remember(settings)
    assert settings.shape("tables").isEmpty()
