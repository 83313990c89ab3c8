"""The plots, and the curves in each."""

import math

import numpy as np
from msgspec.structs import replace

from gradscribe.app.training.session import curves
from gradscribe.engine.protocol import training as messages
from gradscribe.engine.protocol.step_order import RIGHT_ORDER
from gradscribe.playback.text import formatting
from tests.app.training.fakes import COLUMNS, array


def names(plot):
    return [curve.name for curve in plot.curves]


def test_the_run_that_is_driven_is_drawn_last_and_others_by_name(room, begun, train_link):
    train_link.grow(1, 0, 40)
    assert names(room.loss) == ["batch", "validation"]
    begun.controller.fork()
    train_link.begin(2, begun.setup, parent=1, parent_step=0)
    assert names(room.loss) == [begun.store.find(1).name, "batch", "validation"]
    begun.store.hide(1, hidden=True)
    assert names(room.loss) == ["batch", "validation"]


def test_gradients_and_updates_have_a_curve_for_each_parameter(room, begun, train_link):
    train_link.grow(1, 0, 40)
    assert names(room.flow) == ["0.weight"]
    assert names(room.ratios) == ["0.weight"]
    assert names(room.rate) == ["learning rate"]


def test_what_grows_is_drawn_soon_and_nothing_while_nobody_looks(
    room, begun, train_link, qtbot, monkeypatch
):
    drawn = []
    monkeypatch.setattr(room.loss, "refresh", lambda: drawn.append(1))
    train_link.grow(1, 0, 40)
    drawn.clear()
    train_link.grow(1, 40, 80)
    train_link.grow(1, 80, 120)
    qtbot.waitUntil(lambda: drawn == [1])
    train_link.grow(1, 120, 160)
    room.presenter.set_visible(False)
    qtbot.wait(2 * curves.CURVES_MS)
    assert drawn == [1]
    assert begun.run.curve("loss").last == 159
    assert [wish.kind for wish in train_link.last(messages.WatchViews).wishes] == ["spread"]


def test_where_only_validation_differs_the_right_run_s_is_drawn_too(room, begun, train_link):
    begun.controller.change(replace(begun.setup, mistakes=("validate_in_train_mode",)))
    begun.controller._send_setup()
    for run in list(begun.runs):
        train_link.begin(run.run_id, run.setup)
        train_link.grow(run.run_id, 0, 40)
    right = begun.store.find(begun.store.right_id)
    assert names(room.loss)[-3:] == ["batch", "validation", "right run, validation"]
    assert room.loss.curves[0].label == "right run"
    assert room.loss.curves[-1].series is right.curve("val")


def test_a_run_of_another_step_is_labelled_by_what_was_changed(room, begun, train_link):
    train_link.grow(1, 0, 60)
    train_link.state(1, 59)
    begun.controller.change(replace(begun.setup, order=RIGHT_ORDER[1:]))
    begun.controller._send_setup()
    fork = train_link.last(messages.Fork)
    train_link.begin(fork.run_id, fork.setup, parent=1, parent_step=59)
    train_link.grow(fork.run_id, 59, 100)
    train_link.state(fork.run_id, 100)
    assert [curve.label for curve in room.loss.curves if curve.label] == ["right run"]
    begun.controller.select(1)
    assert [curve.label for curve in room.loss.curves if curve.label] == ["no zero_grad"]


def test_a_run_that_another_branched_off_is_drawn_as_far_as_it_went(room, begun, train_link):
    train_link.grow(1, 0, 40)
    train_link.grow(1, 10, 10, after=9)
    train_link.state(1, 9)
    shown = {curve.name: curve for curve in room.loss.curves}
    before, batch = shown["before going back"], shown["batch"]
    assert (before.name, before.series.first, before.series.last) == ("before going back", 9, 39)
    assert (batch.name, batch.series.last) == ("batch", 9)
    assert before.color.alphaF() < 0.5 < batch.color.alphaF()
    begun.controller.fork()
    train_link.begin(2, begun.setup, parent=1, parent_step=9)
    train_link.state(2, 9)
    shown = {curve.name: curve.series.last for curve in room.loss.curves}
    assert (shown[begun.store.find(1).name], shown["batch"]) == (39, 9)
    room.below.setCurrentWidget(room.table)
    steps = [room.table.table.item(row, 1).text() for row in range(2)]
    losses = [room.table.table.item(row, 2).text() for row in range(2)]
    assert steps == ["9", "39"]
    assert losses == [formatting.number(math.exp(-step / 100)) for step in (9, 39)]


def test_every_chart_shows_the_steps_before_going_back_pale(room, begun, train_link):
    train_link.grow(1, 0, 40)
    whole = {name: curve.numbers().copy() for name, curve in begun.run.series.items()}
    steps = {name: curve.steps(0, len(curve)) for name, curve in begun.run.series.items()}
    train_link.grow(1, 10, 10, after=9)
    train_link.state(1, 9)
    charts = {
        "loss": (room.loss, "batch", "before going back"),
        "val": (room.loss, "validation", "validation before going back"),
        "lr": (room.rate, "learning rate", "learning rate before going back"),
        "grad:0.weight": (room.flow, "0.weight", "0.weight before going back"),
        "ratio:0.weight": (room.ratios, "0.weight", "0.weight before going back"),
    }
    for name, (chart, now, before) in charts.items():
        curves = {curve.name: curve for curve in chart.curves}
        drawn, pale = curves[now], curves[before]
        assert drawn.series.last <= 9 < pale.series.last == steps[name][-1] <= 39
        assert pale.series.first == drawn.series.last, "the line goes on without a gap"
        both = [*drawn.series.numbers(), *pale.series.numbers()[1:]]
        assert both == whole[name].tolist()
        assert pale.color.alphaF() < 0.5 < drawn.color.alphaF()
        assert not pale.is_listed
        assert chart.curves.index(pale) < chart.curves.index(drawn)
    train_link.received.emit(messages.SeriesChunk(1, *empty_chunk(), until=39))
    for chart, now, before in charts.values():
        curves = {curve.name: curve for curve in chart.curves}
        assert before not in curves
        assert curves[now].series.last > 9


def empty_chunk():
    """Return steps and values of no step, in the columns of a run."""
    return array(np.zeros(0), "<i8"), array(np.zeros((0, len(COLUMNS))), "<f8")


def test_a_changed_setting_is_a_flag_at_its_step_until_the_run_goes_back(room, begun, train_link):
    train_link.grow(1, 0, 40)
    train_link.state(1, 39)
    begun.controller.change(replace(begun.setup, batch=8))
    begun.controller._send_setup()
    asked = train_link.last(messages.ChangeSetup)
    changed = messages.SetupChanged(1, 39, ("batch",), setup=asked.setup, base=asked.base)
    train_link.received.emit(changed)
    begun.controller.edit_weight("0.weight", 1, 0.5)
    flags = ((39, "batch 8"), (39, "0.weight[1] 0.5"))
    train_link.grow(1, 40, 60)
    train_link.state(1, 59)
    assert [plot.flags for plot in room.plots()] == [flags] * len(room.plots())
    train_link.grow(1, 10, 10, after=9)
    train_link.state(1, 9)
    assert begun.run.flags == []
    assert room.loss.flags == flags, "those before going back are there as long as their curve"
    begun.controller.fork()
    train_link.begin(begun.run.run_id, begun.setup, parent=1, parent_step=9)
    assert room.loss.flags == ()


def test_the_loss_of_all_the_training_data_is_told_beside_that_of_a_batch(room, begun, train_link):
    train_link.grow(1, 0, 11)
    batch = f"batch {formatting.number(math.exp(-0.1))}"
    validation = f"validation {formatting.number(math.exp(-10 / 90))} (dashed)"
    assert room.loss.caption.said() == f"{batch} · {validation}"
    facts = {"train_loss": 0.375, "val_loss": 0.2}
    train_link.received.emit(messages.ViewReply(1, "scores", 1, {}, facts))
    assert room.loss.caption.said() == f"{batch} · all {formatting.number(0.375)} · {validation}"
    begun.controller.change(replace(begun.setup, batch=0))
    train_link.received.emit(messages.SetupChanged(1, 1, ("batch",)))
    train_link.received.emit(messages.ViewReply(1, "scores", 1, {}, facts))
    assert "all" not in room.loss.caption.said(), "the batch is all of it"
