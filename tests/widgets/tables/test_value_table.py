import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtCore import Qt
from PySide6.QtGui import QFontMetrics
from PySide6.QtTest import QTest

from gradscribe.playback.tape.track import VariableRow
from gradscribe.widgets.base.theme import Theme
from gradscribe.widgets.tables.cell_text import shown_text
from gradscribe.widgets.tables.value_table import (
    MIN_GRADIENT_WIDTH,
    MIN_NAME_WIDTH,
    PAD,
    ValueTable,
    column_widths,
    display_name,
    gradient_text,
)


def rows(*names, gradient="—", pending=False):
    return [VariableRow(name, 10 + ord(name[0]), "1.0000", gradient, pending) for name in names]


@pytest.fixture
def table(shown):
    return shown(ValueTable(), 280, 400)


def texts(table):
    model = table.view.model()
    return [[model.index(r, c).data() for c in range(3)] for r in range(model.rowCount())]


def watch(table):
    heard = []
    model = table.view.model()
    model.modelReset.connect(lambda: heard.append("reset"))
    model.rowsInserted.connect(lambda _, a, b: heard.append(("in", a, b)))
    model.rowsRemoved.connect(lambda _, a, b: heard.append(("out", a, b)))
    model.dataChanged.connect(lambda a, b: heard.append(("changed", a.row(), b.row())))
    return heard


@pytest.mark.parametrize(
    ("name", "shown"),
    [("x1", "x₁"), ("w12", "w₁₂"), ("x", "x"), ("net.0", "net.0"), ("ab1", "ab1"), ("1", "1")],
)
def test_digits_are_lowered_behind_a_single_letter_only(name, shown):
    assert display_name(name) == shown


@pytest.mark.parametrize(
    ("gradient", "pending", "text"),
    [("0.5000", False, "0.5000"), ("…", True, "…"), ("", True, "…"), ("—", False, "—"),
     ("", False, "—"), ("0.0000", False, "0.0000")],
)  # fmt: skip
@pytest.mark.checklist(46)
def test_a_gradient_to_come_and_no_gradient_never_look_like_zero(gradient, pending, text):
    assert gradient_text(VariableRow("x", 1, "2", gradient, pending)) == text


def test_it_shows_name_value_and_gradient(table):
    table.set_rows([VariableRow("x1", 3, "2.0000", "4.0000", False)])
    assert texts(table) == [["x₁", "2.0000", "4.0000"]]


def test_columns_get_what_they_need_and_share_what_is_left():
    assert column_widths((50, 60, 70), 240) == [70, 80, 90]
    assert sum(column_widths((50, 60, 70), 241)) == 241


def test_names_give_way_first_then_the_longer_number():
    assert column_widths((300, 60, 70), 250) == [120, 60, 70]
    name, value, gradient = column_widths((300, 200, 70), 250)
    assert (name, gradient) == (MIN_NAME_WIDTH, 70)
    assert name + value + gradient == 250


@given(st.lists(st.integers(0, 900), min_size=3, max_size=3), st.integers(75, 900))
def test_columns_fill_what_there_is_and_none_is_less_than_nothing(wanted, room):
    widths = column_widths(wanted, room)
    assert min(widths) >= 0
    assert sum(widths) == room


def test_a_long_list_of_numbers_leaves_names_whole_where_there_is_space():
    assert column_widths((120, 600, 100), 700) == [120, 480, 100]
    assert column_widths((400, 600, 100), 700)[0] == 175


def test_a_list_of_numbers_leaves_the_gradient_whole():
    assert column_widths((120, 100, 84), 222) == [MIN_NAME_WIDTH, 66, 84]


def test_long_names_leave_the_numbers_whole_and_are_told_in_full(table, qtbot):
    name = "model.encoder.layers.3.self_attn.out_proj.bias"
    table.set_rows([VariableRow(name, 3, "8 × 8", "∇ 0.1250", False)])
    view = table.view
    across = [view.columnWidth(column) for column in range(3)]
    assert sum(across) == view.viewport().width()
    assert across[2] > view.fontMetrics().horizontalAdvance("∇ 0.1250")
    assert view.model().index(0, 0).data(Qt.ItemDataRole.ToolTipRole) == name


def test_parameters_of_two_modules_with_the_same_last_name_can_be_told_apart(table):
    table.resize(245, 400)
    numbers = ("[[0.0123, −0.5], [1.5, 2.5]]", "[[3.76e-05, −0.5], [1.5, 2.5]]")
    names = ("critic.weight", "maker.weight")
    table.set_rows([VariableRow(name, at, *numbers) for at, name in enumerate(names)])
    view = table.view
    bold = QFontMetrics(Theme.load("light").font(13, 700))
    shown = {shown_text(name, True, bold, view.columnWidth(0) - PAD) for name in names}
    assert shown == {"c….weight", "m….weight"}


def test_a_shape_gives_its_spaces_to_a_name_that_would_be_cut(table):
    name = "lm_head.weight"
    table.resize(345, 400)
    table.set_rows([VariableRow(name, 3, "16 × 16 × 128 × 128", "∇ 0.1250", False)])
    view = table.view
    bold = QFontMetrics(Theme.load("light").font(13, 700))
    assert view.columnWidth(0) >= bold.horizontalAdvance(name)


def test_a_click_tells_the_value(table, qtbot):
    table.set_rows(rows("a", "b", "c"))
    index = table.view.model().index(1, 2)
    with qtbot.waitSignal(table.picked) as heard:
        QTest.mouseClick(
            table.view.viewport(),
            Qt.MouseButton.LeftButton,
            pos=table.view.visualRect(index).center(),
        )
    assert heard.args == [10 + ord("b")]
    assert table.selected() == 10 + ord("b")


def test_selecting_by_program_tells_nobody(table, qtbot):
    table.set_rows(rows("a", "b"))
    with qtbot.assertNotEmitted(table.picked):
        table.select(10 + ord("b"))
        assert table.selected() == 10 + ord("b")
        table.select(None)
    assert table.selected() is None


def test_equal_rows_change_nothing(table):
    table.set_rows(rows("a", "b"))
    heard = watch(table)
    table.set_rows(rows("a", "b"))
    assert heard == []


def test_a_changed_gradient_changes_one_row(table):
    table.set_rows(rows("a", "b", "c"))
    heard = watch(table)
    table.set_rows([*rows("a"), *rows("b", gradient="2.0000"), *rows("c")])
    assert heard == [("changed", 1, 1)]
    assert texts(table)[1] == ["b", "1.0000", "2.0000"]


@pytest.mark.parametrize(
    ("before", "after"),
    [("abc", "xabc"), ("abc", "abcx"), ("abc", "ac"), ("abc", ""), ("", "abc"), ("abc", "cba"),
     ("aab", "ab"), ("abcdef", "axyzf")],
)  # fmt: skip
def test_any_rows_can_follow_any_rows(table, before, after):
    table.set_rows(rows(*before))
    heard = watch(table)
    table.set_rows(rows(*after))
    assert [row[0] for row in texts(table)] == list(after)
    assert "reset" not in heard


def test_the_selection_stays_with_its_value(table):
    table.set_rows(rows("b", "a"))
    table.select(10 + ord("a"))
    table.set_rows(rows("d", "c", "b", "a"))
    assert table.selected() == 10 + ord("a")
    table.set_rows(rows("a", "b", "c", "d"))
    assert table.selected() == 10 + ord("a")
    table.set_rows(rows("b"))
    assert table.selected() is None


def test_an_update_gives_a_row_its_new_value_in_place(table):
    table.set_rows([VariableRow("w", 1, "1.0000", "—"), VariableRow("x", 2, "1.0000", "—")])
    table.select(1)
    heard = watch(table)
    table.set_rows([VariableRow("w", 9, "0.9000", "—"), VariableRow("x", 2, "1.0000", "—")])
    assert heard == [("changed", 0, 0)]
    assert table.selected() == 9


def test_hundreds_of_rows_keep_their_scroll_place(table):
    many = [VariableRow(f"x{n}", n, "0", "—") for n in range(600)]
    table.set_rows(many)
    table.grab()
    table.view.verticalScrollBar().setValue(2000)
    table.set_rows([VariableRow(row.name, row.value_id, "1", "—") for row in many])
    table.set_position(4)
    assert table.view.verticalScrollBar().value() == 2000


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_gradients_are_drawn_in_the_backward_colour(table, theme):
    chosen = Theme.load(theme)
    table.set_theme(chosen)
    table.set_rows([VariableRow("x", 1, "2.0000", "8.8888", False)])
    picture = table.grab().toImage()
    colors = [
        picture.pixelColor(x, y).name()
        for x in range(picture.width())
        for y in range(picture.height())
    ]
    assert chosen.backward.name() in colors


def test_a_thousand_changed_rows_are_told_in_one_go(table):
    def rows(gradient):
        return [VariableRow(f"w{n}", n, "1.0000", gradient, False) for n in range(1000)]

    table.set_rows(rows("—"))
    heard = watch(table)
    table.set_rows(rows("2.0000"))
    assert heard == [("changed", 0, 999)]
    assert texts(table)[999][2] == "2.0000"


def test_modules_that_all_parameters_share_are_left_out(table):
    table.set_rows(rows("loss", "net.0.weight", "net.2.weight"))
    model = table.view.model()
    assert [row[0] for row in texts(table)] == ["loss", "0.weight", "2.weight"]
    assert "net.2.weight" in model.index(2, 0).data(Qt.ItemDataRole.ToolTipRole)
    table.set_rows(rows("loss", "k.weight", "k.bias"))
    assert [row[0] for row in texts(table)] == ["loss", "k.weight", "k.bias"]
    table.set_rows(rows("loss", "net.0.weight", "net.0.bias"))
    assert [row[0] for row in texts(table)] == ["loss", "0.weight", "0.bias"]
    table.set_rows(rows("loss", "net.0.weight", "net.2.weight", "head.weight"))
    assert [row[0] for row in texts(table)][1:3] == ["net.0.weight", "net.2.weight"]


def test_shapes_of_several_dimensions_are_readable_in_a_narrow_table(table):
    rows = [
        VariableRow("logits", 3, "8 × 11 × 32", "∇ 0.1022", False),
        VariableRow("model.blocks.0.attention.query_key_value.weight", 4, "96 × 32", "—", False),
    ]
    table.resize(250, 300)
    table.set_rows(rows)
    name, value, gradient = (table.view.columnWidth(column) for column in range(3))
    assert name + value + gradient == table.view.viewport().width() < 250
    space = table.view.fontMetrics().horizontalAdvance("8×11×32")
    assert value >= space + 6, "its cell would be blank"
    bold = QFontMetrics(Theme.load("light").font(13, 600))
    assert name >= bold.horizontalAdvance("…weight") + 6
    assert gradient >= MIN_GRADIENT_WIDTH
    assert gradient >= bold.horizontalAdvance("∇ 0.1022") + 6, "its number would be cut"


def test_in_the_column_of_a_window_of_1440_pixels_no_gradient_is_cut(table):
    """Width, names and shapes as in a window with a model of eight layers."""
    rows = [
        VariableRow("loss", 1, "19.3697", "1.0000", False),
        VariableRow("logits", 2, "4 × 24 × 48", "∇ 0.1405", False),
        VariableRow("net.layers.0.mix.qkv.weight", 3, "96 × 32", "∇ 0.3012", False),
        VariableRow("net.norm.bias", 4, "32", "∇ 0.3301", False),
        VariableRow("net.layers.5.mix", 5, "4 × 4 × 24 × 24", "∇ 0.0002", False),
    ]
    table.resize(238, 300)
    table.set_rows(rows)
    _, value, gradient = (table.view.columnWidth(column) for column in range(3))
    bold = QFontMetrics(Theme.load("light").font(13, 600))
    thin = QFontMetrics(Theme.load("light").font(13))
    assert gradient >= bold.horizontalAdvance("∇ 0.1405") + 6
    assert value >= thin.horizontalAdvance("4×24×48") + 6
