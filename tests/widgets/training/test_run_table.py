"""The table of runs: what each differs by stays in sight."""

from dataclasses import replace

import pytest
from PySide6.QtCore import QRect, Qt
from PySide6.QtGui import QColor

from gradscribe.widgets.base.theme import Theme
from gradscribe.widgets.training.run_table import (
    LEAST_NAME,
    SHORT_NAME,
    RunTable,
    RunTableRow,
    _Table,
)

LONG = "moons · mlp · adam 0.03 · validate in train mode · keep graphs · softmax first"


def line(run_id, name, differs=""):
    return RunTableRow(run_id, name, QColor("red"), 12_345, 0.5, 0.25, 0.125, differs)


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
    table.show_runs((line(1, LONG, "lr 0.5, batch 32"), line(2, "my own")))
    inner = table.table
    assert right_end(inner) <= inner.viewport().width()
    assert inner.item(0, 0).toolTip().startswith(LONG)
    assert inner.columnWidth(0) < inner.sizeHintForColumn(0)


def test_a_name_that_looks_like_marks_loads_no_picture(table):
    table.show_runs([line(1, "<img src='file:///a.png'>")])
    assert "&lt;img src" in table.table.item(0, 0).toolTip()


def test_a_name_is_whole_where_there_is_room(table):
    table.show_runs((line(1, "moons · mlp", "lr 0.5"),))
    assert table.table.columnWidth(0) >= table.table.sizeHintForColumn(0)
    table.show_runs((line(1, LONG, "lr 0.5"),))
    table.resize(1600, 240)
    assert table.table.columnWidth(0) >= table.table.sizeHintForColumn(0)


def test_a_name_keeps_some_room_whatever_else_there_is(table):
    for width in (700, 1000, 1600):
        table.resize(width, 240)
        table.show_runs((line(1, LONG, "lr 0.5, batch 32, " * 40),))
        inner = table.table
        assert inner.columnWidth(0) >= LEAST_NAME
        rest = inner.viewport().width() - sum(inner.columnWidth(i) for i in range(1, 5))
        assert inner.columnWidth(0) >= min(inner.sizeHintForColumn(0), 3 * rest // 5)
        assert not inner.horizontalScrollBar().maximum(), "endless differences are cut"


def test_where_a_run_branched_off_is_read_in_a_name_that_is_cut(table):
    table.show_runs((line(2, LONG + " from 9317", "lr 0.5, batch 32"), line(1, LONG)))
    inner = table.table
    assert inner.textElideMode() == Qt.TextElideMode.ElideMiddle
    assert not inner.wordWrap()


def test_nothing_is_moved_aside_when_a_long_name_comes_after_a_short_one(table):
    for name in ("mlp", LONG, LONG + LONG):
        table.show_runs((line(1, name, "lr 0.5"),))
        assert not table.table.horizontalScrollBar().maximum()


def test_in_a_narrow_panel_names_have_the_space_of_the_differences(table, qtbot):
    """The panel is as wide as that of a window of 1440 pixels."""
    table.show_runs((line(2, LONG + " from step 151", "lr 0.5"), line(1, LONG)))
    inner, header = table.table, table.table.horizontalHeader()
    numbers = sum(inner.columnWidth(column) for column in range(1, 5))
    title = header.sectionSizeHint(5)
    spare = table.width() - inner.viewport().width()
    for name in (SHORT_NAME, SHORT_NAME + 30, LEAST_NAME - 1):
        table.resize(numbers + title + name + spare, 240)
        qtbot.waitUntil(lambda: not inner.horizontalScrollBar().maximum())
        assert inner.isColumnHidden(5)
        assert inner.columnWidth(0) == title + name
    assert "Differs by lr 0.5" in inner.item(0, 0).toolTip()
    table.resize(numbers + title + LEAST_NAME + spare, 240)
    assert not inner.isColumnHidden(5)
    assert inner.columnWidth(5) >= max(title, inner.sizeHintForColumn(5))
    table.resize(numbers + SHORT_NAME + spare - 40, 240)
    assert inner.columnWidth(0) == SHORT_NAME
    qtbot.waitUntil(lambda: inner.horizontalScrollBar().maximum() > 0)


def test_short_names_leave_the_differences_where_they_are(table):
    table.show_runs((line(2, "b", "lr 0.5"), line(1, "a")))
    inner = table.table
    spare = table.width() - inner.viewport().width()
    needed = sum(inner.columnWidth(column) for column in range(1, 5))
    title = inner.horizontalHeader().sectionSizeHint(5)
    table.resize(needed + title + inner.sizeHintForColumn(0) + spare, 240)
    assert not inner.isColumnHidden(5)


def widths(table):
    return [table.table.columnWidth(column) for column in range(table.table.columnCount())]


def watched(monkeypatch):
    """Return where the cells are noted that are measured from now on."""
    measured, hint = [], _Table.sizeHintForIndex

    def note(inner, index):
        measured.append((index.row(), index.column()))
        return hint(inner, index)

    monkeypatch.setattr(_Table, "sizeHintForIndex", note)
    return measured


def holds(table):
    """Return how wide Qt finds what each column holds, with its head."""
    header = table.table.horizontalHeader()
    return [
        max(table.table.sizeHintForColumn(at), header.sectionSizeHint(at))
        for at in range(table.table.columnCount())
    ]


def test_of_many_runs_only_what_is_new_is_measured(table, monkeypatch):
    old = [line(number, f"run {number}", "lr 0.5") for number in range(200, 0, -1)]
    now = replace(line(201, "now"), current=True)
    table.show_runs((now, *old))
    measured, columns = watched(monkeypatch), table.table.columnCount()

    def cells(*rows):
        return {(row, column) for row in rows for column in range(columns)}

    another = replace(line(202, "another"), current=True)
    table.show_runs((another, replace(now, current=False), *old))
    assert set(measured) == cells(0, 1), "the new one, and the one that is no longer shown thick"
    measured.clear()
    gone = (another, replace(now, current=False), *old[:99], *old[100:])
    table.show_runs(gone)
    assert not measured, "a run that is forgotten leaves the others as they are"
    assert [table.table.item(row, 0).text() for row in range(201)] == [one.name for one in gone]
    table.set_theme(Theme.load("dark"))
    assert not measured, "another colour is as wide"
    table.set_theme(Theme.load("dark").scaled(1.6))
    assert set(measured) == cells(*range(201))


def test_columns_are_as_wide_as_qt_finds_what_is_in_them(table):
    table.resize(1600, 240)
    names = ("b", "a much longer name", "c")
    runs = [replace(line(n, name), steps=10**n) for n, name in enumerate(names, 1)]
    for lines in (runs, runs[1:], runs[:1], runs[::-1], [replace(runs[1], current=True)], runs):
        table.show_runs(lines)
        assert widths(table)[:-1] == holds(table)[:-1]
    before = widths(table)
    table.set_theme(Theme.load("dark").scaled(1.6))
    assert widths(table)[:-1] == holds(table)[:-1]
    assert widths(table)[0] > before[0]


def test_only_what_changes_of_a_run_is_set_and_measured(table, monkeypatch):
    table.show_runs((line(2, "now", "lr 0.5"), line(1, "before")))
    set_, measured = [], watched(monkeypatch)
    model = table.table.model()
    model.dataChanged.connect(lambda first, _last: set_.append((first.row(), first.column())))
    moved = replace(line(2, "now", "lr 0.5"), steps=1_234_567, loss=0.375)
    table.show_runs((moved, line(1, "before")))
    assert set(set_) == {(0, 1), (0, 2)}
    assert set(measured) == {(0, 1), (0, 2)}
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
        table.show_runs(lines)
        made = shown(RunTable(), 700, 240)
        made.set_theme(Theme.load("light"))
        made.show_runs(lines)
        assert widths(table) == widths(made)
        rows = QRect(0, 0, table.table.viewport().width(), 120)
        seen, wanted = (one.table.viewport().grab(rows).toImage() for one in (table, made))
        assert seen == wanted


def test_in_a_low_panel_the_rows_have_the_room_of_the_subtitle(table, qtbot):
    inner, subtitle = table.table, table.heading._subtitle
    table.show_runs((line(1, "one"),))
    assert subtitle.isVisible()
    row = inner.visualItemRect(inner.item(0, 0)).bottom()
    table.resize(380, 130)
    qtbot.waitUntil(lambda: not subtitle.isVisible() and row <= inner.viewport().height())
    assert "double click" in table.heading.toolTip()
    table.resize(700, 240)
    qtbot.waitUntil(subtitle.isVisible)
    assert table.heading.toolTip() == ""
