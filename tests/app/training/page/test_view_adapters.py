"""Views as the engine sends them into what the plots want."""

import math
from types import SimpleNamespace

import numpy as np
import pytest
from msgspec.structs import replace

from gradscribe.app.training.page import view_adapters
from gradscribe.app.training.session.state import RunState
from gradscribe.engine.protocol import setup
from gradscribe.engine.protocol import training as messages
from gradscribe.engine.protocol.setup import Setup
from gradscribe.widgets.plots.drawing.shading import Shading
from tests.app.training.fakes import array, begun, boundary


def run(task="binary", columns=2, targets=None, rows=6):
    made = RunState(1, Setup(), "run")
    made.begun = begun(1, Setup(), task)
    x = np.linspace(-1, 1, rows * columns).reshape(rows, columns)
    y = np.arange(rows) % 2 if targets is None else targets
    made.data = messages.DataSample(
        1, array(x, "<f4"), array(y, "<i8" if targets is None else "<f4"), array(y < 9, "?")
    )
    return made


@pytest.mark.parametrize(
    ("task", "columns", "kind"),
    [
        ("binary", 2, "boundary"),
        ("classes", 2, "boundary"),
        ("regression", 2, "boundary"),
        ("regression", 1, "fit"),
        ("regression", 3, "residuals"),
        ("classes", 7, "confusion"),
        ("binary", 1, "confusion"),
        ("tokens", 5, "confusion"),
    ],
)
def test_each_kind_of_data_has_its_picture(task, columns, kind):
    assert view_adapters.plot_kind(run(task, columns)) == kind


def test_before_the_data_are_there_it_is_a_boundary():
    assert view_adapters.plot_kind(RunState(1, Setup(), "run")) == "boundary"


def test_images_have_no_place_on_the_plane():
    made = run("classes")
    pixels = np.zeros((6, 1, 8, 8))
    made.data = messages.DataSample(1, array(pixels, "<f4"), made.data.y, made.data.train)
    assert view_adapters.plot_kind(made) == "confusion"
    assert not len(view_adapters.to_points(made.data, (), False))


def test_classes_of_minus_one_and_one_are_two_classes():
    made = run(targets=np.array([-1, 1, -1, 1, 1, 1.0]))
    points = view_adapters.to_points(made.data, ("a", "b"), False)
    assert points.kinds.tolist() == [0, 1, 0, 1, 1, 1]
    assert points.names == ("a", "b")


def test_numbers_to_learn_stay_numbers():
    made = run("regression", targets=np.array([0.5, -2, 0, 1, 1, 1.0]))
    points = view_adapters.to_points(made.data, (), True)
    assert points.kinds is None
    assert points.targets.tolist() == [0.5, -2, 0, 1, 1, 1]


def test_what_is_not_trained_on_is_for_validation():
    made = run()
    train = array([True, False, True, True, False, True], "?")
    made.data = messages.DataSample(1, made.data.x, made.data.y, train)
    points = view_adapters.to_points(made.data, (), False)
    assert points.validation.tolist() == [False, True, False, False, True, False]


def test_one_output_is_between_minus_one_and_one():
    ground = view_adapters.to_ground(boundary(1), False, view_adapters.NO_POINTS)
    assert ground.domain == (-1, -1, 1, 1)
    assert np.abs(ground.grid).max() == pytest.approx(math.tanh(2))


@pytest.mark.parametrize(("loss", "sure"), [("bce", math.tanh(2)), ("half", 4), ("hinge", 4)])
def test_one_output_is_a_logit_for_the_loss_that_takes_it_for_one(loss, sure):
    shown = []
    room = SimpleNamespace(boundary=SimpleNamespace(show_ground=shown.append))
    made = run("binary")
    made.begun = replace(made.begun, setup=setup.parse({"data": "moons", "loss": loss}))
    view_adapters.show_view(room, made, boundary(1))
    assert np.abs(shown[0].grid).max() == pytest.approx(sure)


def test_several_outputs_stay_probabilities_and_stand_upright():
    grid = np.zeros((3, 4, 4))
    grid[2, 0] = 1  # the uppermost row says class 2
    box = array([0, 0, 1, 1], "<f4")
    view = messages.ViewReply(1, "boundary", 0, {"grid": array(grid, "<f4"), "box": box})
    ground = view_adapters.to_ground(view, False, view_adapters.NO_POINTS)
    assert ground.grid.shape == (4, 4, 3)
    assert ground.grid[-1, 0].tolist() == [0, 0, 1]


def test_prices_are_pale_in_the_middle_of_their_range():
    made = run("regression", targets=np.array([1e5, 2e5, 3e5, 4e5, 4.9e5, 5e5]))
    points = view_adapters.to_points(made.data, (), True)
    shading = view_adapters.to_ground(boundary(1), True, points).shading
    assert (shading.middle, shading.reach) == (3e5, pytest.approx(2e5, rel=0.01))
    words = view_adapters.class_legend("regression", (), points.targets, ("price",))
    assert words == "blue: price above 300,000, orange: below"
    around_zero = view_adapters.class_legend("regression", (), np.array([-1.0, 2.0]))
    assert around_zero == "blue: above zero, orange: below"


def test_what_is_measured_along_the_sides_is_told_of_a_file_s_columns():
    assert view_adapters.axes_note(("size", "rooms")) == ["across: size, up: rooms"]
    assert view_adapters.axes_note(("x1", "x2")) == []
    assert view_adapters.axes_note(("size",)) == []
    words = view_adapters.axes_note(("a" * 60 + "1", "a" * 60 + "2"))[0]
    assert len(words) < 70
    assert words.endswith("a2")


def test_a_regression_s_ground_is_scaled_by_its_targets():
    made = run("regression", targets=np.array([0.5, -2, 0, 1, 1, 1.0]))
    points = view_adapters.to_points(made.data, (), True)
    ground = view_adapters.to_ground(boundary(1), True, points)
    assert ground.shading == Shading(0.0, 2.0)
    assert ground.grid.max() == pytest.approx(4)


@pytest.mark.parametrize(
    ("facts", "words"),
    [
        ({}, ""),
        ({"train_loss": 0.5}, ""),
        ({"train_right": 9, "train_count": 10}, "9 of 10 right"),
        (
            {"train_right": 9, "train_count": 10, "val_right": 1, "val_count": 2},
            "9 of 10 right · validation 1 of 2",
        ),
        (
            {"train_right": 9, "train_count": 10, "val_right": 0, "val_count": 0},
            "9 of 10 right",
        ),
    ],
)
def test_how_many_are_right_is_said_in_words(facts, words):
    assert view_adapters.accuracy_text(messages.ViewReply(1, "scores", 0, {}, facts)) == words


def test_histograms_are_named_by_what_they_count():
    arrays = {
        "counts": array([[1, 2], [3, 4]], "<f4"),
        "edges": array([[0, 1], [-1, 1]], "<f4"),
    }
    view = messages.ViewReply(1, "histograms", 0, arrays)
    weights = view_adapters.to_histograms(run(), view, "weight")
    assert [one.name for one in weights] == ["0.weight", "0.bias"]
    assert (weights[1].low, weights[1].high) == (-1, 1)
    units = view_adapters.to_histograms(run(), view, "activation")
    assert [one.name for one in units] == ["0"]


def test_what_the_optimizer_remembers_is_counted_per_parameter():
    flat = np.arange(9.0)
    flat[8] = np.nan
    view = messages.ViewReply(1, "optimizer", 0, {"exp_avg": array(flat, "<f4")})
    first, second = view_adapters.optimizer_histograms(run(), view)
    assert (first.name, int(first.counts.sum())) == ("exp_avg 0.weight", 6)
    assert (second.name, int(second.counts.sum())) == ("exp_avg 0.bias", 2)


def test_a_state_without_finite_numbers_has_no_bars():
    assert not view_adapters.histogram_of("x", np.full(4, np.inf, np.float32)).counts.size


def test_a_view_asked_for_before_the_data_were_known_leaves_the_picture_of_them(room, begun):
    x = np.linspace(-1, 1, 6)
    run = begun.run
    run.begun = replace(run.begun, task="regression")
    flat = array(x[:, None], "<f4")
    run.data = messages.DataSample(1, flat, flat, array(x < 9, "?"), ("size",), ("price",))
    room.presenter._show_data(run)
    target, output = array(x, "<f4"), array(x * 0, "<f4")
    late = {"target": target, "output": output, "train": run.data.train}
    view_adapters.show_view(room, run, messages.ViewReply(1, "residuals", 3, late))
    assert room.fit._names == ("size", "price")
    assert not room.fit.caption.said()


def test_an_optimizer_without_a_memory_is_told_from_one_that_has_made_no_step(room, begun):
    for step, words in ((0, "Nothing to count yet"), (5, view_adapters.NO_STATE)):
        view_adapters.show_view(room, begun.run, messages.ViewReply(1, "optimizer", step, {}))
        assert room.optimizer.nothing == words
