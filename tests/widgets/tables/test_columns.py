"""Columns of tables: dragged, kept, given back, and sorted by a click on their head."""

import ast
from pathlib import Path

import pytest
from PySide6.QtCore import QEvent, QPoint, QPointF, Qt
from PySide6.QtGui import QFontMetrics, QMouseEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from gradscribe.playback.tape.track import VariableRow
from gradscribe.widgets.base.columns import widths as column_widths
from gradscribe.widgets.base.columns.order import sort_key
from gradscribe.widgets.tables.cell_text import shown_text
from gradscribe.widgets.tables.runs import RunRow, RunsPane
from gradscribe.widgets.tables.value_table import ValueTable

LEFT = Qt.MouseButton.LeftButton
ROOT = Path(__file__).resolve().parents[3]
KINDS = {"QTableView", "QTreeView", "QTreeWidget", "QTableWidget"}
WITHOUT_COLUMNS = {
    "app/compare/cause_tree.py": "a tree without a head",
    "app/manual/window.py": "a tree without a head",
    "widgets/plots/views/weight_table.py": "numbers of a matrix: all columns alike",
    "widgets/inspector/panes/numbers.py": "numbers of a matrix: all columns alike",
    "widgets/plots/numbers_window.py": "numbers of curves, other columns each time",
    "widgets/training/setup/file_preview.py": "a click on a head chooses what the column is for",
}


@pytest.fixture(autouse=True)
def as_at_first():
    column_widths.choose({})
    yield
    column_widths.choose({})


@pytest.fixture
def table(shown):
    made = shown(ValueTable(), 420, 400)
    made.set_rows(
        [
            VariableRow("b", 1, "10.0000", "—"),
            VariableRow("a", 2, "−2.0000", "3.0000"),
            VariableRow("layers.10.weight", 3, "8 × 8", "∇ 0.1250"),
            VariableRow("layers.9.weight", 4, "9.0000", "1.0000"),
        ]
    )
    return made


def drag(header, column, by):
    """Drag the right border of a column by so many pixels, as a mouse does."""
    at = QPoint(header.sectionViewportPosition(column) + header.sectionSize(column) - 1, 8)
    port = header.viewport()
    QTest.mousePress(port, LEFT, pos=at)
    to = QPointF(at + QPoint(by, 0))
    move = QMouseEvent(
        QEvent.Type.MouseMove, to, port.mapToGlobal(to), LEFT, LEFT, Qt.KeyboardModifier.NoModifier
    )
    QApplication.sendEvent(port, move)
    QTest.mouseRelease(port, LEFT, pos=to.toPoint())


def click(header, column):
    at = QPoint(header.sectionViewportPosition(column) + header.sectionSize(column) // 2, 8)
    QTest.mouseClick(header.viewport(), LEFT, pos=at)


def names(table):
    model = table.view.model()
    return [model.index(row, 0).data() for row in range(model.rowCount())]


def test_a_column_that_was_dragged_keeps_its_width(table, shown):
    header = table.view.horizontalHeader()
    before = header.sectionSize(0)
    drag(header, 0, 60)
    assert header.sectionSize(0) == before + 60
    table.set_rows([VariableRow("another", 9, "1.0000", "—")])
    table.resize(500, 400)
    assert header.sectionSize(0) == before + 60
    other = shown(ValueTable(), 420, 400)
    other.set_rows([VariableRow("a", 2, "1.0000", "—")])
    assert other.view.horizontalHeader().sectionSize(0) == before + 60


def test_a_double_click_on_a_border_gives_the_width_back_to_the_table(table):
    header = table.view.horizontalHeader()
    before = header.sectionSize(0)
    drag(header, 0, 60)
    header.sectionHandleDoubleClicked.emit(0)
    assert header.sectionSize(0) == before
    assert column_widths.chosen() == {}


def test_widths_out_of_range_are_left_out():
    column_widths.choose({"values": {0: 10_000_000, 1: -4, 2: 90, -1: 50, 900: 50}})
    assert column_widths.chosen() == {"values": {2: 90}}


def test_clicks_on_a_head_sort_up_down_and_as_the_rows_came(table):
    header = table.view.horizontalHeader()
    came = names(table)
    click(header, 1)
    assert names(table) == ["a", "9.weight", "b", "10.weight"]
    click(header, 1)
    assert names(table) == ["10.weight", "b", "9.weight", "a"]
    click(header, 1)
    assert names(table) == came
    click(header, 0)
    assert names(table) == ["a", "b", "9.weight", "10.weight"]


def test_the_selected_value_stays_selected_when_rows_are_sorted(table):
    table.select(3)
    click(table.view.horizontalHeader(), 0)
    assert table.selected() == 3


@pytest.mark.parametrize(
    ("texts", "ordered"),
    [
        (("10", "9", "−1", "1,000"), ["−1", "9", "10", "1,000"]),
        (("x10", "x9", "x²"), ["x9", "x10", "x²"]),
        (("—", "2.5"), ["2.5", "—"]),
    ],
)
def test_numbers_are_sorted_by_their_size(texts, ordered):
    assert sorted(texts, key=sort_key) == ordered


def test_in_a_column_that_was_widened_names_differ_and_tips_have_all_of_them(shown):
    table = shown(ValueTable(), 240, 300)
    rows = [VariableRow(f"{name}.0.weight", n, "8 × 8", "∇ 0.1250") for n, name in enumerate("ab")]
    table.set_rows([*rows, VariableRow("x", 9, "3 × 224 × 224", "—")])
    drag(table.view.horizontalHeader(), 0, 40)
    metrics = QFontMetrics(table._cells.theme.font(13, 600))
    width = table.view.horizontalHeader().sectionSize(0) - 6
    seen = {shown_text(row.name, True, metrics, width) for row in rows}
    assert len(seen) == 2
    assert all(text.endswith("weight") for text in seen)
    tips = [table.view.model().index(row, 0).data(Qt.ItemDataRole.ToolTipRole) for row in range(2)]
    assert tips == ["a.0.weight", "b.0.weight"]


def test_runs_are_sorted_and_the_latest_is_known_all_the_same(shown):
    pane = shown(RunsPane(), 700, 400)
    pane.set_runs(
        [RunRow(n, f"Run {n}", "edit", f"{12 - n}", "", False, False) for n in (11, 10, 9)]
    )
    click(pane.rows.header(), 0)
    assert [pane.rows.topLevelItem(at).text(0) for at in range(3)] == ["Run 9", "Run 10", "Run 11"]
    assert pane.number() == 11
    assert not pane.back.isEnabled()
    pane.rows.setCurrentItem(pane.rows.topLevelItem(0))
    assert pane.number() == 9
    assert pane.back.isEnabled()
    drag(pane.rows.header(), 0, 30)
    assert set(column_widths.chosen()) == {"runs"}


def test_every_table_lets_its_columns_be_dragged_or_says_why_not():
    found = {}
    for part in ("app", "widgets"):
        for path in (ROOT / part).resolve().rglob("*.py"):
            text = path.read_text(encoding="utf-8")
            if not any(kind in text for kind in KINDS):
                continue
            for node in ast.walk(ast.parse(text)):
                made = isinstance(node, ast.Call) and getattr(node.func, "id", "") in KINDS
                bases = node.bases if isinstance(node, ast.ClassDef) else ()
                if made or any(getattr(base, "id", "") in KINDS for base in bases):
                    name = path.relative_to((ROOT / part).resolve().parent).as_posix()
                    found[name] = "ColumnWidths(" in text or "configure_row_view(" in text
    assert len(found) >= 8
    assert {name for name, is_dragged in found.items() if not is_dragged} == set(WITHOUT_COLUMNS)
