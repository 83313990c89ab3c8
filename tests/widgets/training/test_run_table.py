"""The table of runs: what each differs by stays in sight."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QColor

from widgets.theme import Theme
from widgets.training.run_table import LEAST_NAME, RunLine, RunTable

LONG = "moons · mlp · adam 0.03 · validate in train mode · keep graphs · softmax first"


def line(run_id, name, differs=""):
    return RunLine(run_id, name, QColor("red"), 12_345, 0.5, 0.25, 0.125, differs)


@pytest.fixture
def table(shown):
    made = shown(RunTable(), 700, 240)
    made.set_theme(Theme.load("light"))
    return made


def right_end(table):
    """Return where what the last column holds would end, in pixels."""
    last = table.columnCount() - 1
    return table.columnViewportPosition(last) + table.sizeHintForColumn(last)


def test_a_long_name_gives_way_to_what_a_run_differs_by(table):
    table.show_lines((line(1, LONG, "lr 0.5, batch 32"), line(2, "my own")))
    inner = table.table
    assert right_end(inner) <= inner.viewport().width()
    assert inner.item(0, 0).toolTip() == LONG
    assert inner.columnWidth(0) < inner.sizeHintForColumn(0)


def test_a_name_is_whole_where_there_is_room(table):
    table.show_lines((line(1, "moons · mlp", "lr 0.5"),))
    assert table.table.columnWidth(0) >= table.table.sizeHintForColumn(0)
    table.show_lines((line(1, LONG, "lr 0.5"),))
    table.resize(1600, 240)
    assert table.table.columnWidth(0) >= table.table.sizeHintForColumn(0)


def test_a_name_keeps_some_room_whatever_else_there_is(table):
    for width in (700, 1000, 1600):
        table.resize(width, 240)
        table.show_lines((line(1, LONG, "lr 0.5, batch 32, " * 40),))
        inner = table.table
        assert inner.columnWidth(0) >= LEAST_NAME
        rest = inner.viewport().width() - sum(inner.columnWidth(i) for i in range(1, 5))
        assert inner.columnWidth(0) >= min(inner.sizeHintForColumn(0), 3 * rest // 5)
        assert not inner.horizontalScrollBar().maximum(), "endless differences are cut"


def test_where_a_run_branched_off_is_read_in_a_name_that_is_cut(table):
    table.show_lines((line(2, LONG + " from 9317", "lr 0.5, batch 32"), line(1, LONG)))
    inner = table.table
    assert inner.textElideMode() == Qt.TextElideMode.ElideMiddle
    assert not inner.wordWrap()


def test_nothing_is_moved_aside_when_a_long_name_comes_after_a_short_one(table):
    for name in ("mlp", LONG, LONG + LONG):
        table.show_lines((line(1, name, "lr 0.5"),))
        assert not table.table.horizontalScrollBar().maximum()
