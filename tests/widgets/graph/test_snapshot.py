"""The graph at one moment, painted while the view goes on."""

import pytest

from gradscribe.playback.graph.picture import Look
from gradscribe.widgets.base.drive import run_to_end
from gradscribe.widgets.base.theme import Theme
from gradscribe.widgets.graph import snapshot
from gradscribe.widgets.graph.camera import Camera
from gradscribe.widgets.graph.snapshot import GraphSnapshot
from gradscribe.widgets.graph.view import GraphView
from tests.widgets.graph_window import show
from tests.widgets.scenes import network, neuron


@pytest.fixture
def view(qtbot):
    made = GraphView()
    qtbot.addWidget(made)
    made.set_reduced_motion(True)
    made.resize(400, 400)
    return made


@pytest.mark.parametrize("made", ["svg", "image"])
def test_what_happens_to_the_view_meanwhile_does_not_show(view, made):
    show(view, neuron())
    view.select("b")
    expected = run_to_end(getattr(view.snapshot(), made)())
    steps = getattr(view.snapshot(), made)()
    for _ in range(5):
        next(steps)
    view.set_theme(Theme.load("dark"))
    view.set_look(Look({}, {}))
    view.select("")
    view.set_camera(Camera(0.3, 5, 5))
    view.grab()
    for _ in range(5):
        next(steps)
    view.set_layers(False, False, False)
    show(view, network())
    assert run_to_end(steps) == expected


def test_painting_it_changes_nothing_in_the_view(view):
    show(view, neuron())
    view.set_camera(Camera(0.5, 0, 0))
    before = view.grab().toImage()
    steps = view.snapshot().image()
    next(steps)
    assert view.grab().toImage() == before
    steps.close()
    assert view.grab().toImage() == before


def test_its_length_is_about_the_number_of_its_steps(view):
    show(view, network())
    still = view.snapshot()
    made = sum(1 for _ in still.image())
    assert made <= len(still) < 2 * made


def test_every_step_is_small(view):
    show(view, network())
    still = view.snapshot()
    steps = sum(1 for _ in still.svg())
    stage = view.stage()
    assert steps >= len(stage.cards) + len(stage.wires) + len(stage.frames)


def test_the_ground_of_a_large_image_is_painted_in_strips(view, monkeypatch):
    show(view, neuron())
    at_once = run_to_end(view.snapshot().image())
    monkeypatch.setattr(snapshot, "STRIP_PIXELS", 5 * at_once.width())
    still = view.snapshot()
    made = sum(1 for _ in still.image())
    assert made > at_once.height() // 5
    assert made == pytest.approx(len(still), rel=0.05)
    assert run_to_end(view.snapshot().image()) == at_once


def test_it_is_shared_by_nobody(view):
    show(view, neuron())
    one, other = view.snapshot(), view.snapshot()
    first, second = one.image(), other.svg()
    for _ in range(4):
        next(first)
        next(second)
    assert run_to_end(first) == run_to_end(GraphSnapshot(view._drawing, "").image())
    assert run_to_end(second).startswith(b"<?xml")
