"""The table of runs: what each differs by stays in sight."""

from dataclasses import replace

import pytest
from PySide6.QtCore import QRect, Qt
from PySide6.QtGui import QColor

from widgets.theme import Theme
from widgets.training.run_table import LEAST_NAME, RunLine, RunTable, _Table

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


def widths(table):
    return [table.table.columnWidth(column) for column in range(table.table.columnCount())]


def test_only_what_changes_of_a_run_is_set_and_measured(table, monkeypatch):
    table.show_lines((line(2, "now", "lr 0.5"), line(1, "before")))
    set_, measured, hint = [], [], _Table.sizeHintForColumn
    model = table.table.model()
    monkeypatch.setattr(
        _Table, "sizeHintForColumn", lambda inner, at: (measured.append(at), hint(inner, at))[1]
    )
    model.dataChanged.connect(lambda first, _last: set_.append((first.row(), first.column())))
    moved = replace(line(2, "now", "lr 0.5"), steps=1_234_567, loss=0.375)
    table.show_lines((moved, line(1, "before")))
    assert set(set_) == {(0, 1), (0, 2)}
    assert set(measured) == {1, 2}
    assert table.table.item(0, 1).text() == "1,234,567"


def test_a_table_that_is_followed_looks_like_one_that_is_made(shown, table):
    ways = [
        (line(1, "one"),),
        (replace(line(1, "one"), steps=1_234_567, current=True),),
        (replace(line(2, LONG, "lr 0.5"), current=True), line(1, "one")),
        (replace(line(2, LONG, "lr 0.5"), shown=False), replace(line(1, "one"), current=True)),
        (line(3, "three"), replace(line(1, "one"), alive=False, color=QColor("blue"))),
        (replace(line(1, "one"), loss=float("nan")),),
    ]
    for lines in ways:
        table.show_lines(lines)
        made = shown(RunTable(), 700, 240)
        made.set_theme(Theme.load("light"))
        made.show_lines(lines)
        assert widths(table) == widths(made)
        rows = QRect(0, 0, table.table.viewport().width(), 120)
        seen, wanted = (one.table.viewport().grab(rows).toImage() for one in (table, made))
        assert seen == wanted
