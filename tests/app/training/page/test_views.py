"""Views as the engine sends them into what the plots want."""

import math

import numpy as np
import pytest
from msgspec.structs import replace

from gradscribe.app.training.page.page import TrainingPage
from gradscribe.app.training.page.presenter import TrainPresenter
from gradscribe.app.training.session.session import TrainSession
from gradscribe.app.training.session.state import RunState
from gradscribe.engine.protocol import setup
from gradscribe.engine.protocol import training as messages
from gradscribe.engine.protocol.setup import Setup
from gradscribe.engine.train import views as engine_views
from gradscribe.widgets.plots import views
from gradscribe.widgets.plots.drawing.points import NO_POINTS, points_of
from gradscribe.widgets.plots.drawing.shading import Shading
from gradscribe.widgets.plots.ground import to_ground
from gradscribe.widgets.plots.training_view import ShownRun
from gradscribe.widgets.plots.views.boundary import accuracy_text, axes_note, class_legend
from gradscribe.widgets.plots.views.histograms import to_histograms
from gradscribe.widgets.plots.views.optimizer import NO_STATE, histogram_of, optimizer_histograms
from tests.app.training.fakes import array, begun, boundary
from tests.app.training.saving.test_session_store import HostLink


def run(task="binary", columns=2, targets=None, rows=6):
    made = RunState(1, Setup(), "run")
    made.begun = begun(1, Setup(), task)
    x = np.linspace(-1, 1, rows * columns).reshape(rows, columns)
    y = np.arange(rows) % 2 if targets is None else targets
    made.data = messages.DataSample(
        1, array(x, "<f4"), array(y, "<i8" if targets is None else "<f4"), array(y < 9, "?")
    )
    return made


def shown(run):
    return ShownRun(run.begun, run.data, run.views)


def plot_kind(qtbot, run):
    """The view that is asked for of the first output that fits the run."""
    outputs = (entry for entry in views.entries() if entry.place == "output")
    entry = next(entry for entry in outputs if entry.applies(shown(run)))
    widget = entry.make()
    qtbot.addWidget(widget)
    return entry.wishes(widget, shown(run))[0].kind


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
def test_each_kind_of_data_has_its_picture(qtbot, task, columns, kind):
    assert plot_kind(qtbot, run(task, columns)) == kind


def test_before_the_data_are_there_it_is_a_boundary(qtbot):
    assert plot_kind(qtbot, RunState(1, Setup(), "run")) == "boundary"


def test_images_have_no_place_on_the_plane(qtbot):
    made = run("classes")
    pixels = np.zeros((6, 1, 8, 8))
    made.data = messages.DataSample(1, array(pixels, "<f4"), made.data.y, made.data.train)
    assert plot_kind(qtbot, made) == "confusion"
    assert not len(points_of(made.data, (), False))


def test_classes_of_minus_one_and_one_are_two_classes():
    made = run(targets=np.array([-1, 1, -1, 1, 1, 1.0]))
    points = points_of(made.data, ("a", "b"), False)
    assert points.kinds.tolist() == [0, 1, 0, 1, 1, 1]
    assert points.names == ("a", "b")


def test_numbers_to_learn_stay_numbers():
    made = run("regression", targets=np.array([0.5, -2, 0, 1, 1, 1.0]))
    points = points_of(made.data, (), True)
    assert points.kinds is None
    assert points.targets.tolist() == [0.5, -2, 0, 1, 1, 1]


def test_what_is_not_trained_on_is_for_validation():
    made = run()
    train = array([True, False, True, True, False, True], "?")
    made.data = messages.DataSample(1, made.data.x, made.data.y, train)
    points = points_of(made.data, (), False)
    assert points.validation.tolist() == [False, True, False, False, True, False]


def test_one_output_is_between_minus_one_and_one():
    ground = to_ground(boundary(1), False, NO_POINTS)
    assert ground.domain == (-1, -1, 1, 1)
    assert np.abs(ground.grid).max() == pytest.approx(math.tanh(2))


@pytest.mark.parametrize(("loss", "sure"), [("bce", math.tanh(2)), ("half", 4), ("hinge", 4)])
def test_one_output_is_a_logit_for_the_loss_that_takes_it_for_one(room, loss, sure):
    made = run("binary")
    made.begun = replace(made.begun, setup=setup.parse({"data": "moons", "loss": loss}))
    room.show_view(shown(made), boundary(1))
    assert np.abs(room.boundary._ground.grid).max() == pytest.approx(sure)


def test_several_outputs_stay_probabilities_and_stand_upright():
    grid = np.zeros((3, 4, 4))
    grid[2, 0] = 1  # the uppermost row says class 2
    box = array([0, 0, 1, 1], "<f4")
    view = messages.ViewReply(1, "boundary", 0, {"grid": array(grid, "<f4"), "box": box})
    ground = to_ground(view, False, NO_POINTS)
    assert ground.grid.shape == (4, 4, 3)
    assert ground.grid[-1, 0].tolist() == [0, 0, 1]


def test_prices_are_pale_in_the_middle_of_their_range():
    made = run("regression", targets=np.array([1e5, 2e5, 3e5, 4e5, 4.9e5, 5e5]))
    points = points_of(made.data, (), True)
    shading = to_ground(boundary(1), True, points).shading
    assert (shading.middle, shading.reach) == (3e5, pytest.approx(2e5, rel=0.01))
    words = class_legend("regression", (), points.targets, ("price",))
    assert words == "blue: price above 300,000, orange: below"
    around_zero = class_legend("regression", (), np.array([-1.0, 2.0]))
    assert around_zero == "blue: above zero, orange: below"


def test_what_is_measured_along_the_sides_is_told_of_a_file_s_columns():
    assert axes_note(("size", "rooms")) == ["across: size, up: rooms"]
    assert axes_note(("x1", "x2")) == []
    assert axes_note(("size",)) == []
    words = axes_note(("a" * 60 + "1", "a" * 60 + "2"))[0]
    assert len(words) < 70
    assert words.endswith("a2")


def test_a_regression_s_ground_is_scaled_by_its_targets():
    made = run("regression", targets=np.array([0.5, -2, 0, 1, 1, 1.0]))
    points = points_of(made.data, (), True)
    ground = to_ground(boundary(1), True, points)
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
        ({"train_right": 9, "train_count": 10, "val_right": 0, "val_count": 0}, "9 of 10 right"),
    ],
)
def test_how_many_are_right_is_said_in_words(facts, words):
    assert accuracy_text(messages.ViewReply(1, "scores", 0, {}, facts)) == words


def test_histograms_are_named_by_what_they_count():
    arrays = {"counts": array([[1, 2], [3, 4]], "<f4"), "edges": array([[0, 1], [-1, 1]], "<f4")}
    view = messages.ViewReply(1, "histograms", 0, arrays)
    weights = to_histograms(run(), view)
    assert {one.kind for one in weights} == {"weight"}
    assert [one.name for one in weights] == ["0.weight", "0.bias"]
    assert (weights[1].low, weights[1].high) == (-1, 1)
    of_units = messages.ViewReply(1, "histograms", 0, arrays, {"of": 2.0})
    units = to_histograms(run(), of_units)
    assert [(one.name, one.kind) for one in units] == [("0: Linear", "activation")]


def test_what_the_optimizer_remembers_is_counted_per_parameter():
    flat = np.arange(9.0)
    flat[8] = np.nan
    view = messages.ViewReply(1, "optimizer", 0, {"exp_avg": array(flat, "<f4")})
    first, second = optimizer_histograms(run(), view)
    assert (first.name, int(first.counts.sum())) == ("exp_avg 0.weight", 6)
    assert (second.name, int(second.counts.sum())) == ("exp_avg 0.bias", 2)


def test_a_state_without_finite_numbers_has_no_bars():
    assert not histogram_of("x", np.full(4, np.inf, np.float32)).counts.size


def test_a_view_asked_for_before_the_data_were_known_leaves_the_picture_of_them(room, begun):
    x = np.linspace(-1, 1, 6)
    run = begun.run
    run.begun = replace(run.begun, task="regression")
    flat = array(x[:, None], "<f4")
    run.data = messages.DataSample(1, flat, flat, array(x < 9, "?"), ("size",), ("price",))
    room.presenter._show_data(run)
    target, output = array(x, "<f4"), array(x * 0, "<f4")
    late = {"target": target, "output": output, "train": run.data.train}
    room.show_view(shown(run), messages.ViewReply(1, "residuals", 3, late))
    assert room.fit._names == ("size", "price")
    assert not room.fit.caption.said()


def test_an_optimizer_without_a_memory_is_told_from_one_that_has_made_no_step(room, begun):
    for step, words in ((0, "Nothing to count yet"), (5, NO_STATE)):
        room.show_view(shown(begun.run), messages.ViewReply(1, "optimizer", step, {}))
        assert room.optimizer.nothing == words


NEW = """
from PySide6.QtWidgets import QLabel
from gradscribe.engine.protocol.training import ViewRequest
from gradscribe.widgets.plots.training_view import TrainingView

class StepLabel(QLabel):
    def set_theme(self, theme):
        pass

ENTRY = TrainingView(
    "Step", "numbers", 50, StepLabel, ("new",),
    wishes=lambda label, run: [ViewRequest("new")],
    show=lambda label, run, view: label.setText(f"step {view.facts['step']:g}"),
    clear=lambda label: label.clear(),
)
"""
NEW_IN_ENGINE = """
from gradscribe.engine.train.arrays import ViewData
from gradscribe.engine.train.views.view import EngineView

ENTRY = EngineView("new", lambda run, options: ViewData({}, {"step": float(run.step)}))
"""


def test_a_view_is_one_file_on_each_side(qtbot, tmp_path, monkeypatch):
    for package, text in ((views, NEW), (engine_views, NEW_IN_ENGINE)):
        folder = tmp_path / package.__name__
        folder.mkdir()
        (folder / "new_view.py").write_text(text)
        monkeypatch.setattr(package, "__path__", [*package.__path__, str(folder)])
    monkeypatch.setattr(engine_views, "KINDS", engine_views.load())
    link = HostLink()
    session = TrainSession(link)
    page = TrainingPage()
    qtbot.addWidget(page)
    presenter = TrainPresenter(session, page, page)
    assert page.numbers.full_text(page.numbers.count() - 1) == "Step"
    page.numbers.setCurrentIndex(page.numbers.count() - 1)
    presenter.set_visible(True)
    session.controller.begin()
    session.controller.advance(3)
    link.work()
    label = page.numbers.currentWidget()
    assert label.text() == "step 3"
    page.clear_views()
    assert label.text() == ""
    presenter.live.close()
    session.close()


def test_every_view_says_what_it_asks_for_and_shows(qtbot):
    for entry in views.entries():
        widget = entry.make()
        qtbot.addWidget(widget)
        wished = {wish.kind for wish in entry.wishes(widget, ShownRun())}
        assert wished <= set(entry.kinds)
        assert wished <= engine_views.KINDS.keys()
        assert widget.accessibleName()
        entry.clear(widget)
