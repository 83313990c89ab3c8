"""The axis of steps, the table of runs, weights and the preview of a file."""

from dataclasses import replace

import numpy as np
import pytest
from PySide6.QtCore import QEvent, QObject, QPoint, Qt
from PySide6.QtGui import QColor, QContextMenuEvent, QGuiApplication
from PySide6.QtWidgets import QApplication, QLabel, QLineEdit, QWidget

from gradscribe.engine.protocol.training import FileSummary, Parameter
from gradscribe.widgets.base.labels import Label
from gradscribe.widgets.base.theme import Theme
from gradscribe.widgets.plots.views.weight_table import WeightTable
from gradscribe.widgets.training.run_table import RunTable, RunTableRow
from gradscribe.widgets.training.setup.file_preview import FilePreview
from gradscribe.widgets.training.step_lines import StepLines, shorten_changes
from gradscribe.widgets.training.step_slider import EDGE, StepSlider


@pytest.fixture
def axis(shown):
    made = shown(StepSlider(), 400 + round(2 * EDGE), 50)
    made.set_steps(100, 400)
    made.told = []
    made.picked.connect(made.told.append)
    return made


def test_dragging_tells_the_steps_and_the_end_is_picked(axis, qtbot):
    dragged, start = [], round(EDGE)
    qtbot.mousePress(axis, Qt.MouseButton.LeftButton, pos=QPoint(start + 100, 30))
    dragged.append(axis.step)
    for x in (start + 50, -500):
        qtbot.mouseMove(axis, QPoint(x, 30))
        dragged.append(axis.step)
    qtbot.mouseRelease(axis, Qt.MouseButton.LeftButton, pos=QPoint(-500, 30))
    assert dragged == [100, 50, 0]
    assert axis.told == [0]


@pytest.mark.parametrize("scale", [0.7, 1.0, 2.0, 2.5])
def test_words_of_any_size_have_their_room_and_no_more(axis, scale):
    theme = Theme.load("light").scaled(scale)
    axis.set_theme(theme)
    axis.resize(axis.width(), axis.sizeHint().height())
    picture = axis.grab().toImage()
    ground = picture.pixel(picture.width() - 1, 0)
    rows = [
        any(picture.pixel(x, y) != ground for x in range(0, picture.width(), 2))
        for y in range(picture.height())
    ]
    ink = [y for y, has in enumerate(rows) if has]
    assert 0 < ink[0] <= 8 + 6 * scale
    assert picture.height() - 12 <= ink[-1] < picture.height() - 1


def test_epochs_are_told_where_they_are_other_than_steps(axis, qtbot):
    axis.set_steps(130, 400, (), 5.2)
    assert axis.accessibleDescription() == "Step 130 of 400, epoch 5.2"
    with_epoch = axis.grab().toImage()
    axis.set_steps(130, 400, (), 130.0)
    assert axis.accessibleDescription() == "Step 130 of 400"
    assert axis.grab().toImage() != with_epoch


def test_pages_leap_a_twentieth(axis, qtbot):
    qtbot.keyClick(axis, Qt.Key.Key_PageDown)
    qtbot.keyClick(axis, Qt.Key.Key_PageUp)
    assert axis.told == [120, 100]


def test_there_is_nothing_to_drag_before_the_first_step(shown, qtbot):
    axis = shown(StepSlider(), 400, 50)
    axis.picked.connect(lambda _step: pytest.fail("picked"))
    qtbot.mouseClick(axis, Qt.MouseButton.LeftButton, pos=QPoint(200, 30))
    assert not axis.grab().isNull()


def test_the_axis_is_told_to_screen_readers(axis):
    assert axis.accessibleDescription() == "Step 100 of 400"


def test_only_rows_that_changed_are_shown_anew(shown, monkeypatch):
    table, anew = shown(RunTable(), 500, 200), []
    show = table._show_line
    monkeypatch.setattr(
        table, "_show_line", lambda row, line: anew.append(line.name) or show(row, line)
    )
    red = QColor("red")
    lines = [RunTableRow(i, f"run {i}", red, 10, 0.5, 0.25, 0.2) for i in range(3)]
    table.show_runs(lines)
    table.show_runs([RunTableRow(0, "run 0", red, 20, 0.4, 0.25, 0.2), *lines[1:]])
    assert anew == ["run 0", "run 1", "run 2", "run 0"]
    assert [table.table.item(row, 1).text() for row in range(3)] == ["20", "10", "10"]
    table.show_runs(lines[1:])
    assert [table.table.item(row, 0).text() for row in range(2)] == ["run 1", "run 2"]
    assert table.table.rowCount() == 2


def test_a_new_run_on_top_leaves_the_rows_of_the_others(shown, monkeypatch):
    table, anew, red = shown(RunTable(), 500, 200), [], QColor("red")
    show_line = table._show_line
    monkeypatch.setattr(
        table, "_show_line", lambda row, line: anew.append(line.run_id) or show_line(row, line)
    )
    # Without validation its loss is NaN, each time another one.
    old = [RunTableRow(i, f"run {i}", red, 10, 0.5, float("nan"), 0.2) for i in (2, 1)]
    table.show_runs(old)
    again = [RunTableRow(i, f"run {i}", red, 10, 0.5, float("nan"), 0.2) for i in (2, 1)]
    table.show_runs([RunTableRow(3, "run 3", red, 0, 0.9, 0.8, 0.9), *again])
    assert anew == [2, 1, 3]
    names = [table.table.item(row, 0).text() for row in range(table.table.rowCount())]
    assert names == ["run 3", "run 2", "run 1"]


def test_keys_drive_and_forget_runs(shown, qtbot):
    table, told = shown(RunTable(), 500, 200), []
    table.picked.connect(lambda run: told.append(("drive", run)))
    table.dropped.connect(lambda run: told.append(("forget", run)))
    red = QColor("red")
    table.show_runs([RunTableRow(i, f"run {i}", red, 10, 0.5, 0.25, 0.2) for i in range(2)])
    table.table.setCurrentCell(1, 0)
    qtbot.keyClick(table.table, Qt.Key.Key_Return)
    qtbot.keyClick(table.table, Qt.Key.Key_Delete)
    assert told == [("drive", 1), ("forget", 1)]


def test_a_run_is_renamed_where_it_stands(shown, qtbot):
    table, told = shown(RunTable(), 500, 200), []
    table.renamed.connect(lambda *name: told.append(name))
    red = QColor("red")
    lines = [RunTableRow(i, f"run {i}", red, 10, 0.5, 0.25, 0.2) for i in (7, 8)]
    table.show_runs(lines)
    table.table.setCurrentCell(1, 0)
    qtbot.keyClick(table.table, Qt.Key.Key_F2)
    edit = table.table.findChild(QLineEdit)
    edit.setText("slow one")
    table.show_runs([replace(line, steps=99) for line in lines])
    assert edit.text() == "slow one", "a run that goes on takes nothing typed away"
    qtbot.keyClick(edit, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: told == [(8, "slow one")])
    qtbot.waitUntil(lambda: not table.table.is_edited)
    table.show_runs([replace(line, steps=100) for line in lines])
    assert table.table.item(0, 1).text() == "100"


def test_a_right_click_offers_what_can_be_done_with_a_run(shown):
    table, told = shown(RunTable(), 500, 200), []
    table.dropped.connect(told.append)
    red = QColor("red")
    driven = RunTableRow(7, "run 7", red, 10, 0.5, 0.25, 0.2, current=True)
    table.show_runs([driven, replace(driven, run_id=8, current=False)])
    for row, can_go in ((0, False), (1, True)):
        entries = [one for one in table.menu_of(row).actions() if not one.isSeparator()]
        drive, hide, copy, rename, forget = entries
        assert (hide.text(), copy.text()) == ("Hide its curves", "Copy the row")
        copy.trigger()
        assert QGuiApplication.clipboard().text().startswith("run 7\t10\t0.5000")
        assert (drive.isEnabled(), rename.isEnabled(), forget.isEnabled()) == (can_go, True, can_go)
        forget.trigger()
    assert told == [8]


@pytest.mark.qt_log_ignore("This plugin does not support")
def test_the_menu_of_the_current_run_opens_by_keyboard(shown):
    table = shown(RunTable(), 500, 400)
    red = QColor("red")
    table.show_runs([RunTableRow(n, f"run {n}", red, 10, 0.5, 0.25, 0.2) for n in range(3)])
    table.table.setCurrentCell(1, 0)
    reason = QContextMenuEvent.Reason.Keyboard
    middle = table.table.rect().center()
    assert table.table.rowAt(middle.y()) == -1, "there is no row in the middle"
    asked = QContextMenuEvent(reason, middle, table.table.mapToGlobal(middle))
    QApplication.sendEvent(table.table, asked)
    menu = QApplication.activePopupWidget()
    menu.close()
    next(one for one in menu.actions() if one.text() == "Copy the row").trigger()
    assert QGuiApplication.clipboard().text().startswith("run 1\t")


@pytest.mark.qt_log_ignore("This plugin does not support")
def test_a_weight_is_copied_exactly_by_its_menu(weights):
    weights.show_flat(np.float32([0.1, 1 / 3, -2.5e-7, 4, 5, 6, 7, 8]))
    weights.table.setCurrentIndex(weights.grid.index(0, 1))
    reason = QContextMenuEvent.Reason.Keyboard
    asked = QContextMenuEvent(reason, QPoint(), weights.table.mapToGlobal(QPoint()))
    QApplication.sendEvent(weights.table, asked)
    menu = QApplication.activePopupWidget()
    menu.close()
    entries = {action.text(): action for action in menu.actions()}
    entries["Copy the number"].trigger()
    number = weights.grid.numbers[0, 1]
    assert type(number)(QGuiApplication.clipboard().text()) == number
    entries["Copy the row"].trigger()
    row = [type(number)(text) for text in QGuiApplication.clipboard().text().split("\t")]
    assert row == list(weights.grid.numbers[0])


def test_a_number_that_is_not_there_is_a_dash(shown):
    table = shown(RunTable(), 500, 200)
    table.show_runs([RunTableRow(1, "run", QColor("red"), 0, float("nan"), float("nan"), 1.0)])
    assert table.table.item(0, 2).text() == "\N{EM DASH}"


@pytest.fixture
def weights(shown):
    made = shown(WeightTable(), 400, 240)
    made.set_parameters((Parameter("weight", (2, 3), 0), Parameter("bias", (2,), 6)))
    return made


def test_a_parameter_without_an_element_is_shown_as_none(weights):
    weights.set_parameters((Parameter("weight", (0, 3), 0),))
    weights.show_flat(np.arange(2, dtype=np.float32))
    assert not weights.grid.rowCount()


def test_a_parameter_is_shown_as_a_matrix(weights):
    weights.show_flat(np.arange(8, dtype=np.float32))
    grid = weights.grid
    assert (grid.rowCount(), grid.columnCount()) == (2, 3)
    assert grid.data(grid.index(1, 2)) == "5.0000"
    weights.choice.setCurrentIndex(1)
    assert (grid.rowCount(), grid.columnCount()) == (1, 2)
    assert grid.data(grid.index(0, 1)) == "7.0000"


@pytest.mark.parametrize("typed", ["abc", "", "nan", "-inf", "1e999", "-1e39", "x" * 500])
def test_a_text_that_is_no_number_is_refused_in_words(weights, typed):
    told, heard = [], []
    weights.edited.connect(lambda *edit: told.append(edit))
    weights.refused.connect(heard.append)
    weights.show_flat(np.arange(8, dtype=np.float32))
    assert not weights.grid.setData(weights.grid.index(1, 0), typed)
    assert not told
    assert typed[:20] in heard[0]
    assert len(heard[0]) < 80


def test_editing_tells_the_place_in_the_parameter(weights):
    told = []
    weights.edited.connect(lambda *edit: told.append(edit))
    weights.show_flat(np.arange(8, dtype=np.float32), np.ones(8, np.float32))
    weights.grid.setData(weights.grid.index(1, 0), "0.5")
    assert told == [("weight", 3, 0.5)]
    tip = weights.grid.data(weights.grid.index(1, 0), Qt.ItemDataRole.ToolTipRole)
    assert tip == "3\ngradient 1.0000"


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_number_offered_for_editing_is_the_very_number(weights, dtype):
    told, numbers = [], np.random.default_rng(5).normal(size=8).astype(dtype)
    weights.edited.connect(lambda *edit: told.append(edit))
    weights.show_flat(numbers)
    grid = weights.grid
    offered = [grid.data(grid.index(*at), Qt.ItemDataRole.EditRole) for at in np.ndindex(2, 3)]
    assert [dtype(text) for text in offered] == numbers[:6].tolist()
    assert not grid.setData(grid.index(0, 0), offered[0])
    assert not told


def test_each_number_has_its_colour_behind_it(weights):
    weights.show_flat(np.array([-1, 0, 1, 0, 0, 0, 0, 0], np.float32))
    view, grid = weights.table, weights.grid
    image = view.viewport().grab().toImage()
    ratio = image.devicePixelRatio()
    corners = [view.visualRect(grid.index(0, at)).topLeft() * ratio for at in range(3)]
    low, none, high = [image.pixelColor(at.x() + 2, at.y() + 2) for at in corners]
    assert low.red() - low.blue() > none.red() - none.blue() > high.red() - high.blue()


def test_a_weight_of_double_precision_reaches_further(weights):
    told = []
    weights.edited.connect(lambda *edit: told.append(edit))
    weights.show_flat(np.zeros(8))
    weights.grid.setData(weights.grid.index(0, 2), "1e300")
    assert told == [("weight", 2, 1e300)]


def test_numbers_that_do_not_reach_far_enough_are_not_shown(weights):
    weights.show_flat(np.zeros(3, np.float32))
    assert weights.grid.rowCount() == 0


def test_columns_turn_from_input_to_target(shown):
    look, told = shown(FilePreview(), 300, 240), []
    look.chosen.connect(lambda inputs, target: told.append((inputs, target)))
    file = FileSummary(1, "f.csv", ("a", "b", "kind"), (True, True, False), (("1", "2", "x"),), 9)
    look.show_file(file, ["a"], "b")
    header = look.table.horizontalHeader()
    header.sectionClicked.emit(2)
    assert told == [(["a", "b"], "kind")]
    header.sectionClicked.emit(1)
    assert told[-1] == (["a"], "b")


def test_the_use_of_a_column_is_seen_however_long_its_name_is(shown):
    look = shown(FilePreview(), 300, 240)
    names = tuple(f"the_size_of_the_living_area_in_square_metres_as_measured_{i}" for i in "ab")
    file = FileSummary(1, "f.csv", names, (True, True), (("1" * 90, "2"),), 9)
    look.show_file(file, [names[0]], names[1])
    header = look.table.horizontalHeader()
    for column, use in enumerate(("input", "target")):
        item = look.table.horizontalHeaderItem(column)
        lines = item.text().split("\n")
        assert lines[-1] == use
        assert lines[0].endswith(names[column][-2:])
        assert names[column] in item.toolTip()
        wide = header.fontMetrics().horizontalAdvance(lines[0])
        assert wide < header.sectionSize(column) < 150


def test_as_many_changes_are_told_as_fit_and_how_many_there_are_besides():
    changed = ["aaa", "bbb", "ccc", "ddd"]
    assert shorten_changes(changed, lambda _text: True) == "aaa · bbb · ccc · ddd"
    assert shorten_changes(changed, lambda text: len(text) <= 20) == "aaa · bbb · 2 more"
    assert shorten_changes(changed, lambda _text: False) == "aaa · 3 more"
    assert shorten_changes([], lambda _text: False) == ""


def test_a_wide_window_tells_more_of_what_a_line_changed(shown):
    lines = shown(StepLines(), 400, 200)
    lines.set_lines([("backward", "loss.backward()")])
    lines.mark_executed(0, [f"{n}.weight.grad norm 2.086e-10" for n in range(6)])
    narrow = _ink(lines)
    lines.resize(1600, 200)
    QApplication.processEvents()
    assert _ink(lines) > 2 * narrow > 0


def _ink(lines):
    """Return how many pixels the words of the last line's changes take."""
    picture = lines.findChildren(Label)[-1].grab().toImage()
    ground = picture.pixel(picture.width() - 1, picture.height() - 1)
    return sum(
        picture.pixel(x, y) != ground
        for x in range(picture.width())
        for y in range(picture.height())
    )


def test_a_minus_before_a_number_is_one_as_everywhere(shown):
    lines = shown(StepLines(), 600, 200)
    lines.set_lines([("forward", "output = model(inputs)")])
    lines.mark_executed(0, ["output is (160, 1), mean -1.248", "x-2.grad norm 2e-10"])
    row = lines.findChildren(QLabel)[-1]
    assert row.toolTip() == "output is (160, 1), mean −1.248\nx-2.grad norm 2e−10"


def test_the_lines_of_another_model_take_the_place_of_the_old_ones(shown):
    steps = shown(StepLines(), 400, 240)
    steps.set_lines([("forward", "a()"), ("backward", "b()")])
    steps.mark_executed(0, ["x"])
    steps.set_lines([("step", "c()")])
    assert [code.text() for _m, code, _w in steps._rows] == ["c()"]
    assert "not yet" in steps._rows[0][1].accessibleName()


def test_words_without_room_end_in_an_ellipsis_and_stay_on_one_line(qtbot):
    host = QWidget()
    qtbot.addWidget(host)
    host.resize(420, 200)
    made = StepLines(host)
    made.set_lines((("backward", "loss.backward()"), ("step", "optimizer.step()")))
    made.resize(420, 200)
    host.show()
    before = made._rows[1][1].y()
    made.mark_executed(0, ["0.weight.grad norm 0.1234567890123456789" * 3, "0.bias.grad norm 3"])
    made.layout().activate()
    assert made._rows[1][1].y() == before
    assert not made.grab().isNull()
    assert "0.bias.grad" in made._rows[0][2].said()


def test_many_runs_are_measured_once_and_their_names_are_whole(shown, monkeypatch):
    table, measured = shown(RunTable(), 900, 200), []
    hint = type(table.table).sizeHintForIndex
    monkeypatch.setattr(
        type(table.table),
        "sizeHintForIndex",
        lambda of, at: (measured.append((at.row(), at.column())), hint(of, at))[1],
    )
    names = [f"moons · mlp {'wide ' * i}· adam 0.03" for i in range(9)]
    red = QColor("red")
    table.show_runs([RunTableRow(i, one, red, 10, 0.5, 0.25, 0.2) for i, one in enumerate(names)])
    assert len(measured) == len(set(measured)), "each cell once, however many rows there are"
    longest = table.table.fontMetrics().horizontalAdvance(names[-1])
    assert table.table.columnWidth(0) > longest


def test_bigger_text_makes_the_lines_of_a_step_bigger(shown, qtbot):
    made = shown(StepLines(), 600, 300)
    made.set_lines((("forward", "output = model(x)"), ("loss", "loss = loss_fn(output, y)")))
    code = next(one for one in made.findChildren(QLabel) if "model" in one.text())
    small = code.fontMetrics().height()
    for part in (made.next, made.tape):
        font = part.font()
        font.setPixelSize(26)
        part.setFont(font)
    made.set_theme(Theme.load("light").scaled(2.0))
    qtbot.waitUntil(lambda: code.fontMetrics().height() > 1.7 * small)
    made.resize(600, made.minimumSizeHint().height())
    for part in (made.next, made.tape):
        assert part.height() >= part.sizeHint().height()


def test_a_new_run_with_the_same_lines_makes_and_dresses_none_anew(shown, qtbot):
    class Dressed(QObject):
        def eventFilter(self, watched, happened):
            if happened.type() == QEvent.Type.StyleChange:
                dressed.append(watched)
            return False

    text = (("zero", "optimizer.zero_grad()"), ("forward", "y = model(x)"))
    lines = shown(StepLines(), 600, 300)
    lines.set_lines(text)
    polished = Qt.WidgetAttribute.WA_WState_Polished
    qtbot.waitUntil(lambda: all(part.testAttribute(polished) for part in lines._rows[-1]))
    rows, dressed, watch = [*lines._rows], [], Dressed(lines)
    for row in rows:
        for part in row:
            part.installEventFilter(watch)
    lines.set_lines(text)
    assert lines._rows == rows
    assert not dressed
    lines.mark_executed(0, ())
    assert {rows[0][0], rows[0][1]} <= {*dressed}
    assert not {*rows[1]} & {*dressed}, "only the line that is lit is dressed"
    lines.set_lines((*text, ("step", "optimizer.step()")))
    assert lines._rows[:2] == rows
    assert [code.text() for _, code, _ in lines._rows] == [
        "optimizer.zero_grad()",
        "y = model(x)",
        "optimizer.step()",
    ]
    assert [mark.text() for mark, *_ in lines._rows] == ["\N{WHITE CIRCLE}"] * 3
    lines.set_lines((("forward", "y = rnn(x)"),))
    assert [code.text() for _, code, _ in lines._rows] == ["y = rnn(x)"]


@pytest.mark.parametrize("scale", [1.0, 1.4])
def test_in_a_narrow_panel_no_button_of_a_step_is_cut_off(shown, scale):
    steps = shown(StepLines(), 230, 300)
    steps.set_theme(Theme.load("light").scaled(scale))
    steps.set_lines([("loss", "loss = criterion(output, targets_of_a_long_name)"), ("step", "s()")])
    QApplication.processEvents()
    assert steps.minimumSizeHint().width() <= 230
    for button in (steps.next, steps.tape):
        assert button.width() >= button.sizeHint().width()
        assert steps.rect().contains(button.geometry())
    code = steps._rows[0][1]
    assert code.shown_text().endswith("…")
    assert code.toolTip() == code.text()
