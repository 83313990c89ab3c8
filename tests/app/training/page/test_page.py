"""The training room as one sees it, fed with made-up answers."""

import numpy as np
import pytest
from msgspec.structs import replace
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QWidget

from gradscribe.app.training.setup import own_data
from gradscribe.engine.protocol import training as messages
from gradscribe.engine.protocol.setup import Part, Setup
from gradscribe.engine.protocol.tape import Problem
from gradscribe.widgets.base.theme import Theme
from gradscribe.widgets.charts.enlarged import ChartWindow
from gradscribe.widgets.plots.drawing.points import NO_POINTS
from gradscribe.widgets.plots.ground import to_ground
from gradscribe.widgets.plots.views.loss_surface import LossSurface
from tests.app.training.fakes import array, boundary, data, dress, problem


def test_the_views_of_open_tabs_are_asked_for(room, train_link):
    kinds = {wish.kind for wish in train_link.last(messages.WatchViews).wishes}
    assert kinds == {"scores", "spread", "boundary", "gradients"}
    room.says.setCurrentWidget(room.units)
    room.numbers.setCurrentWidget(room.histograms)
    room.histograms.choice.setCurrentText("gradient")
    room.below.setCurrentWidget(room.weights)
    wishes = {wish.kind: wish for wish in train_link.last(messages.WatchViews).wishes}
    assert set(wishes) == {"scores", "spread", "units", "histograms", "weights"}
    assert wishes["histograms"].options == {"of": "gradient"}


def test_a_room_that_is_not_seen_asks_for_the_spread_over_time_alone(room, train_link):
    room.presenter.set_visible(False)
    assert [wish.kind for wish in train_link.last(messages.WatchViews).wishes] == ["spread"]


def test_classes_on_a_plane_are_a_boundary_and_one_column_is_a_fit(room, begun, train_link):
    assert room.picture.currentWidget() is room.boundary
    train_link.begin(1, task="regression")
    train_link.received.emit(data(1, columns=1))
    assert room.picture.currentWidget() is room.fit
    assert "fit" in {wish.kind for wish in train_link.last(messages.WatchViews).wishes}
    train_link.begin(1, task="classes")
    train_link.received.emit(data(1, columns=5))
    assert room.picture.currentWidget() is room.confusion


def test_a_regression_on_many_columns_is_output_over_target(room, train_link):
    train_link.begin(1, task="regression")
    train_link.received.emit(data(1, columns=3))
    assert room.picture.currentWidget() is room.fit
    assert "residuals" in {wish.kind for wish in train_link.last(messages.WatchViews).wishes}
    arrays = {
        "target": array([1, 2, 3], "<f4"),
        "output": array([1, 2.5, 2], "<f4"),
        "train": array([True, True, False], "?"),
    }
    train_link.received.emit(messages.ViewReply(1, "residuals", 3, arrays))
    assert room.fit.residual_values().tolist() == [0, 0.5, -1]


def test_another_run_begins_without_the_old_one_s_pictures(room, train_link):
    counts = {"train": array([[5, 1], [0, 4]], "<i8"), "val": array([[1, 0], [0, 1]], "<i8")}
    train_link.received.emit(messages.ViewReply(1, "confusion", 3, counts))
    train_link.begin(1)
    assert "right" not in room.confusion.accessibleDescription()


def test_every_view_reaches_its_plot(room, train_link):
    room.says.setCurrentWidget(room.units)
    grid = array(np.zeros((3, 8, 8)), "<f4")
    box = array([0, 0, 1, 1], "<f4")
    views = {
        "units": {"grid": grid, "box": box},
        "histograms": {
            "counts": array(np.ones((2, 4)), "<f4"),
            "edges": array([[0, 1], [-1, 1]], "<f4"),
        },
        "gradients": {
            "norms": array([0.5, 0.1], "<f8"),
            "held": array([1, 1], "<f8"),
            "ratios": array([0, 0], "<f8"),
        },
        "weights": {"flat": array(np.arange(9), "<f4"), "grads": array(np.zeros(9), "<f4")},
        "optimizer": {"exp_avg": array(np.arange(9), "<f4")},
        "confusion": {
            "train": array([[5, 1], [0, 4]], "<i8"),
            "val": array([[1, 0], [0, 1]], "<i8"),
        },
        "surface": {
            "grid": array(np.eye(5), "<f4"),
            "a": array(np.linspace(-1, 1, 5), "<f4"),
            "b": array(np.linspace(-1, 1, 5), "<f4"),
            "path": array([[0, 0], [1, 1]], "<f4"),
        },
        "boundary": boundary(1).arrays,
        "scores": {},
    }  # fmt: skip
    facts = {"train_right": 30, "train_count": 32, "val_right": 7, "val_count": 8}
    for kind, arrays in views.items():
        train_link.received.emit(messages.ViewReply(1, kind, 3, arrays, facts))
    assert room.gradients.accessibleDescription() == "0.weight 0.5000, 0.bias 0.1000"
    assert room.confusion.accessibleDescription().endswith("11 of 12 right")
    assert room.boundary.accessibleDescription() == "30 of 32 right · validation 7 of 8"
    assert room.weights.grid.rowCount() == 3
    assert [len(layer.maps) for layer in room.units._layers] == [7, 3]
    assert len(room.histograms._spreads) == 2
    assert len(room.optimizer._spreads) == 2
    assert room.surface._grid.shape == (5, 5)


def test_the_ground_stands_upright():
    ground = to_ground(boundary(1), False, NO_POINTS)
    assert ground.grid[0].max() < 0 < ground.grid[-1].min()


def test_curves_of_all_runs_are_drawn_but_the_hidden_ones(room, begun, train_link):
    train_link.grow(1, 0, 100)
    train_link.begin(1)
    train_link.grow(1, 0, 30)
    assert len(room.loss.curves) == 3
    begun.store.hide(begun.runs[0].run_id, True)
    assert len(room.loss.curves) == 2
    assert {curve.name for curve in room.flow.curves} == {"0.weight"}


def test_the_runs_stand_in_a_table(room, begun, train_link):
    room.below.setCurrentWidget(room.table)
    train_link.grow(1, 0, 100)
    train_link.begin(1, Setup(data=Part("sine")))
    train_link.grow(1, 0, 30)
    table = room.table.table
    assert table.rowCount() == 2
    assert table.item(0, 5).text() == "current"
    assert table.item(1, 1).text() == "99"
    table.item(1, 0).setCheckState(Qt.CheckState.Unchecked)
    assert begun.store.look.hidden
    table.setCurrentCell(1, 0)
    assert table.item(1, 4).text().startswith("0.3")


def test_turning_to_the_table_fills_it(room, train_link):
    train_link.grow(1, 0, 100)
    room.below.setCurrentWidget(room.table)
    assert room.table.table.rowCount() == 1


def test_lines_are_lit_with_what_they_changed(room, train_link):
    train_link.received.emit(messages.EventDone(1, 0, 0, "zero_grad", ("2 gradients cleared",)))
    train_link.received.emit(messages.EventDone(1, 0, 1, "forward", ("output (16, 1)",)))
    names = [code.accessibleName() for _mark, code, _what in room.lines._rows]
    assert names[0] == "optimizer.zero_grad(), done. 2 gradients cleared"
    assert "happening now" in names[1]
    assert "not yet" in names[2]
    train_link.state(1, 1)
    assert all("not yet" in code.accessibleName() for _m, code, _w in room.lines._rows)


def test_a_complaint_stands_at_its_option_and_goes_away(room, train_link):
    train_link.received.emit(problem(1, "at most 32 layers", "model.layers"))
    row = room.form.parts["model"].by_name["layers"]
    assert row.note.said() == "at most 32 layers"
    assert not room.strip.isVisible()
    train_link.received.emit(messages.SetupChanged(1, 0, applied=("model",)))
    assert not row.note.isVisible()


def test_a_complaint_without_a_place_stands_below_the_bar(room, train_link):
    train_link.received.emit(problem(1, "no memory left"))
    assert room.strip.isVisible()
    assert room.message.said() == "no memory left"


@pytest.mark.checklist(48)
def test_a_nan_is_told_with_the_way_back(room, begun, train_link):
    train_link.state(1, 350, "failed", problem=Problem("NaN", "log made NaN", hint="Lower lr"))
    assert room.message.said() == "log made NaN — Lower lr"
    assert room.back.text() == "Go back to step 250"
    room.back.click()
    assert train_link.sent[-1] == messages.Rewind(1, 250)


def test_a_dead_engine_offers_to_begin_again(room, train_link):
    train_link.state(1, 50)
    train_link.died.emit("it was killed")
    assert not room.back.isVisible()
    room.again.click()
    assert isinstance(train_link.sent[-1], messages.Train)


def test_what_is_chosen_in_the_form_becomes_the_setup(room, begun):
    section = room.form.parts["optimizer"]
    section.choice.setCurrentIndex(section.choice.findData("sgd"))
    section.choice.activated.emit(section.choice.currentIndex())
    assert begun.setup.optimizer == Part("sgd")
    section.by_name["lr"].editor.slider.setValue(0)
    assert begun.setup.optimizer == Part("sgd", {"lr": 1e-5})
    layers = room.form.parts["model"].by_name["layers"].editor
    layers.more.click()
    assert begun.setup.model.options == {"layers": [4, 2, 2]}
    begun.controller.undo()
    assert layers.widths != [4, 2, 2]


def test_other_data_take_a_loss_of_their_own(room, begun):
    room.form.edited.emit(Setup(loss=Part("mse")))
    section = room.form.parts["data"]
    section.choice.activated.emit(section.choice.findData("sine"))
    assert begun.setup.loss is None


def test_a_step_is_picked_on_the_axis(room, train_link, qtbot):
    train_link.grow(1, 0, 101)
    train_link.state(1, 100)
    qtbot.mouseClick(room.axis, Qt.MouseButton.LeftButton, pos=room.axis.rect().center())
    assert train_link.sent[-1] == messages.Rewind(1, 50)


def test_a_step_picked_on_the_path_over_the_surface_is_gone_back_to(room, train_link):
    train_link.grow(1, 0, 101)
    train_link.state(1, 100)
    room.view(LossSurface).step_picked.emit(40)
    assert train_link.sent[-1] == messages.Rewind(1, 40)


def test_weights_are_edited_in_place(room, train_link):
    flat = array(np.arange(9), "<f4")
    train_link.received.emit(messages.ViewReply(1, "weights", 0, {"flat": flat}))
    grid = room.weights.grid
    assert grid.setData(grid.index(2, 1), "−2,5")
    assert train_link.sent[-1] == messages.EditWeight(1, "0.weight", 5, -2.5)
    assert not grid.setData(grid.index(0, 0), "two")


def test_what_was_wrong_with_a_setup_is_not_said_of_the_next(room, begun, train_link, qtbot):
    train_link.received.emit(messages.TrainProblem(1, Problem("BadSetup", "too big"), "batch"))
    assert begun.store.error == ("batch", "too big")
    begun.controller.change(Setup(batch=8))
    qtbot.waitUntil(lambda: begun.store.error == ("", ""))
    assert room.form.batches.by_name["batch"].note.said() == ""


def test_what_is_wrong_with_a_file_is_said_once(room, begun, train_link):
    begun.controller.change(Setup(data=Part("csv", {"path": "no.csv"})))
    why = Problem("CSV", "no.csv: it is not text")
    told = [
        messages.TrainProblem(1, why, "data.path"),
        messages.FileSummary(1, "no.csv", problem=why),
    ]
    for order in (told, told[::-1]):
        for message in order:
            train_link.received.emit(message)
        assert not room.file.problem.isVisible()
        assert "not text" in room.form.parts["data"].by_name["path"].note.said()


def test_the_first_point_joins_those_to_begin_with(room, begun):
    begun.controller.change(Setup(data=Part("points")))
    room.boundary.drawn.emit(0.5, 0.5, 1)
    assert begun.setup.data.options["points"] == [[0, 0, 0], [1, 1, 1], [0.5, 0.5, 1]]


def test_a_file_is_looked_into_and_its_columns_chosen(room, begun, train_link):
    begun.controller.change(Setup(data=Part("csv", {"path": "houses.csv"})))
    assert train_link.last(messages.InspectFile).path == "houses.csv"
    looked = messages.FileSummary(
        1, "houses.csv", ("name", "size", "price"), (False, True, True), (("a", "1", "2"),), 40
    )
    train_link.received.emit(looked)
    assert room.file.isVisible()
    options = begun.setup.data.options
    assert (options["inputs"], options["target"]) == (["size"], "price")
    room.file.table.horizontalHeader().sectionClicked.emit(0)
    options = begun.setup.data.options
    assert (options["inputs"], options["target"]) == (["size", "price"], "name")
    assert options["classes"]
    assert begun.setup.standardize


def test_how_much_of_a_long_file_is_read_is_shown_and_it_can_be_stopped(room, begun, train_link):
    begun.controller.change(Setup(data=Part("csv", {"path": "long.csv"})))
    train_link.progressed.emit("long.csv", 0.25)
    assert room.file.note.said() == "Reading long.csv…"
    assert (room.file.progress.value(), room.file.isVisible()) == (25, True)
    room.file.stop.click()
    assert train_link.stopped
    train_link.progressed.emit("long.csv", 1.0)
    assert not room.file.stop.isVisible()


def test_what_a_file_holds_that_is_not_wanted_any_more_is_not_shown(room, begun, train_link):
    begun.controller.change(Setup(data=Part("csv", {"path": "long.csv"})))
    begun.controller.change(Setup(data=Part("moons")))
    train_link.progressed.emit("long.csv", 0.5)
    train_link.received.emit(
        messages.FileSummary(1, "long.csv", ("a", "b"), (True, True), (("1", "2"),), 40)
    )
    assert not room.file.isVisible()
    assert begun.setup == Setup(data=Part("moons"))


def test_a_word_on_the_data_is_shown_below_the_table(room, begun, train_link):
    begun.controller.change(Setup(data=Part("csv", {"path": "long.csv"})))
    train_link.begin(1, begun.setup, note="long.csv has about 9,000 rows; 1 in 3 is taken")
    assert "1 in 3" in room.file.sampled.said()
    train_link.begin(1, Setup())
    assert not room.file.sampled.said()


def test_another_file_has_its_own_columns_chosen(room, begun, train_link):
    given = {"path": "new.csv", "inputs": ["gone"], "target": "lost"}
    begun.controller.change(Setup(data=Part("csv", given)))
    train_link.received.emit(
        messages.FileSummary(1, "new.csv", ("a", "b"), (True, True), (("1", "2"),), 40)
    )
    options = begun.setup.data.options
    assert (options["inputs"], options["target"]) == (["a"], "b")
    assert not begun.setup.standardize


def test_a_file_without_numbers_chooses_nothing():
    looked = messages.FileSummary(1, "f.csv", ("a", "b"), (False, True), (("x", "1"),), 1)
    assert own_data.default_columns(looked) == ([], "")


def test_a_file_that_cannot_be_read_says_why(room, begun, train_link):
    begun.controller.change(Setup(data=Part("csv", {"path": "gone.csv"})))
    missing = messages.FileSummary(
        1, "gone.csv", problem=Problem("BadSetup", "there is no file gone.csv")
    )
    train_link.received.emit(missing)
    assert room.file.problem.said() == "there is no file gone.csv"
    assert not room.file.table.isVisible()


@pytest.mark.parametrize("name", ["light", "dark"])
def test_the_room_can_be_painted_in_both_themes(room, train_link, name):
    dress(room, Theme.load(name))
    train_link.grow(1, 0, 200)
    for tab in (room.says, room.below, room.numbers):
        for page in range(tab.count()):
            tab.setCurrentIndex(page)
            assert not room.grab().isNull()


def test_another_seed_counts_after_new_data(room, begun, train_link):
    train_link.begin(1, Setup(weight_seed=0, data_seed=1))
    room.form.parts["model"].by_name["layers"].editor.more.click()
    assert (begun.setup.model.options, begun.setup.data_seed) == ({"layers": [4, 2, 2]}, 1)
    room.form.edited.emit(replace(begun.setup, seed=5))
    assert (begun.setup.seed, begun.setup.weight_seed, begun.setup.data_seed) == (5, None, None)


def test_the_column_of_the_set_up_is_as_wide_as_its_rows(room, qtbot):
    def is_whole():
        area = room.form.parentWidget()
        return area.width() >= room.form.minimumSizeHint().width()

    qtbot.waitUntil(is_whole, timeout=30_000)
    font = room.form.font()
    font.setPixelSize(28)
    for part in room.form.findChildren(QWidget):
        part.setFont(font)
    assert room.form.minimumSizeHint().width() > 300
    qtbot.waitUntil(is_whole, timeout=30_000)


def test_what_the_model_says_can_have_all_of_the_room(room, begun):
    begun.store.alone_changed.connect(room.set_alone)
    others = (room.form, room.loss, room.numbers, room.below)
    wide, high = room.says.width(), room.says.height()
    begun.store.set_alone(True)
    assert not any(one.isVisible() for one in others)
    room.layout().activate()
    room.columns.refresh()
    assert room.says.width() > 2 * wide - 50
    assert room.says.height() > 1.3 * high
    begun.store.set_alone(False)
    assert all(one.isVisible() for one in others)


def test_new_data_are_one_click_away(room, qtbot):
    with qtbot.waitSignal(room.presenter.commanded) as asked:
        room.form.renew.click()
    assert asked.args == ["new_data"]


def test_the_large_window_of_a_view_sends_its_edits_to_the_page(room, qtbot):
    hands = next(one for one in room.planes if one.widget is room.boundary)
    before = set(room.window().findChildren(ChartWindow))
    hands.menu.enlarged.emit()
    (window,) = set(room.window().findChildren(ChartWindow)) - before
    assert isinstance(window.chart, type(room.boundary))
    with qtbot.waitSignal(room.boundary.removed) as sent:
        window.chart.removed.emit(3)
    assert sent.args == [3]
    room.boundary.set_discrete(True)
    assert window.chart._discrete
    window.close()
