"""Views made by a process beside the trainer are what the trainer itself would show."""

import os
import select
import threading

import pytest
import torch

from engine import setup, wire
from engine.train import easel, views
from engine.train.held import Held
from engine.train.painter import NoPainter, Painter
from engine.train.run import Run
from engine.training import asks
from engine.zoo import given

PATIENCE_S = 120


@pytest.fixture
def studio():
    """A painter, what it passed on, and the loop that its process would run."""
    down, up = os.pipe(), os.pipe()
    seen = []
    reader = wire.Reader(wire.Reply)
    painter = Painter(lambda frames: seen.extend(reader.feed(frames)), down[1], up[0])
    thread = threading.Thread(target=easel.live, args=(down[0], up[1]))
    thread.start()
    yield painter, seen, up[0]
    os.close(down[1])
    thread.join()
    for end in (*up,):
        os.close(end)


def held_at(steps, wishes=(), **given_setup):
    run = Run(setup.parse(given_setup))
    run.enter()
    assert run.advance(steps) == steps
    return Held(run, playing=True, wishes=wishes)


def wait(painter, results, done):
    """Take what comes until a condition holds."""
    while not done():
        assert select.select([results], [], [], PATIENCE_S)[0], "no answer"
        painter.carry()


def shown(studio, held):
    """Every view of the present step, made aside: by kind and options."""
    painter, seen, results = studio
    assert painter.paint(1, held)
    wait(painter, results, lambda: painter._unanswered == 0)
    return seen


OWN = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(2, 4)
        self.b = nn.Linear(4, 1)

    def forward(self, x):
        return self.b(torch.sin(self.a(x)))
"""
SETUPS = [
    {"data": "circle", "optimizer": {"name": "sgd", "lr": 0.1, "momentum": 0.9}, "batch": 10},
    {"data": "sine", "model": {"name": "mlp", "layers": [5]}, "dtype": "float64"},
    {"data": "spirals", "model": {"name": "mlp", "norm": "batch", "dropout": 0.2}},
    {"data": {"name": "digits", "n": 40}, "model": {"name": "cnn", "channels": 2}},
    {"data": "moons", "model": {"name": "own", "source": OWN}, "frozen": ["a"], "clip_norm": 0.1},
    {"data": "houses", "model": "linear", "standardize": True, "optimizer": "adagrad"},
]


@pytest.mark.parametrize("given_setup", SETUPS, ids=lambda one: str(one["data"]))
def test_a_view_from_aside_is_the_view_of_the_run(studio, given_setup):
    wishes = [asks.Wish(kind) for kind in views.KINDS]
    wishes += [asks.Wish("histograms", options={"of": of}) for of in ("gradient", "activation")]
    held = held_at(40, tuple(wishes), **given_setup)
    got = shown(studio, held)
    expected = [
        (wish.kind, picture)
        for wish in wishes
        if (picture := views.show(held.run, wish.kind, wish.options)) is not None
    ]
    assert [view.kind for view in got] == [kind for kind, _ in expected]
    for view, (kind, picture) in zip(got, expected, strict=True):
        assert (view.run_id, view.step) == (1, 40)
        assert view.arrays == picture.arrays, kind
        assert view.facts == pytest.approx(picture.facts, rel=1e-6), kind


def test_it_follows_the_run(studio):
    painter, seen, _ = studio
    held = held_at(3, (asks.Wish("boundary", 0), asks.Wish("surface", 0)), data="circle")
    for step in (3, 10, 300):
        held.run.advance(step - held.run.step)
        painter._next = painter._points_at = 0.0
        seen.clear()
        shown(studio, held)
        for view in seen:
            assert view.step == step
            assert view.arrays == views.show(held.run, view.kind, {}).arrays


def test_it_follows_what_is_changed_on_the_way(studio):
    painter, seen, _ = studio
    held = held_at(3, (asks.Wish("scores", 0),), data="moons")
    shown(studio, held)
    held.run.alter(setup.parse({"data": "moons", "loss": "hinge", "optimizer": "sgd"}))
    held.run.advance(2)
    painter._next = 0.0
    seen.clear()
    shown(studio, held)
    assert seen[0].facts == views.show(held.run, "scores", {}).facts


@pytest.mark.parametrize("request_", [asks.Rewind(1, 2), asks.Pause(1), asks.Play(1)], ids=str)
def test_a_view_of_what_is_no_more_is_not_passed_on(studio, request_):
    painter, seen, results = studio
    held = held_at(3, (asks.Wish("boundary"),), data="circle")
    painter.paint(1, held)
    painter.heed(request_)
    wait(painter, results, lambda: painter._unanswered == 0)
    assert seen == []


def test_a_view_survives_what_changes_nothing(studio):
    painter, seen, results = studio
    held = held_at(3, (asks.Wish("boundary"),), data="circle")
    painter.paint(1, held)
    painter.heed(asks.Watch(1, held.wishes))
    wait(painter, results, lambda: painter._unanswered == 0)
    assert [view.kind for view in seen] == ["boundary"]


def test_a_table_travels_along(studio):
    given.give("t.csv", b"a,b\n" + b"".join(b"%d,%d\n" % (i, 2 * i) for i in range(20)))
    data = {"name": "csv", "path": "t.csv", "inputs": ["a"], "target": "b"}
    held = held_at(3, (asks.Wish("fit"),), data=data, model="linear")
    assert shown(studio, held)[0].arrays == views.show(held.run, "fit", {}).arrays


def test_what_cannot_be_made_there_is_left_to_the_trainer(studio):
    painter, seen, results = studio
    held = held_at(3, (asks.Wish("boundary"),), data="circle")
    held.run.program.setup = setup.parse({"data": {"name": "csv", "path": "/nowhere.csv"}})
    painter.paint(1, held)
    wait(painter, results, lambda: painter._unanswered == 0)
    assert seen == []
    assert not painter.paint(1, held)
    other = held_at(3, (asks.Wish("boundary"),), data="circle")
    painter._next = 0.0
    assert painter.paint(1, other)


def test_without_that_process_the_trainer_makes_its_views_itself():
    down, up = os.pipe(), os.pipe()
    os.close(up[1])
    os.close(down[0])
    painter = Painter(pytest.fail, down[1], up[0])
    held = held_at(1, (asks.Wish("boundary"),), data="circle")
    assert not painter.paint(1, held)
    assert not NoPainter().paint(1, held)
    for end in (down[1], up[0]):
        os.close(end)


def test_a_run_that_does_not_play_hands_nothing_over(studio):
    painter, _, _ = studio
    held = held_at(1, (asks.Wish("boundary"),), data="circle")
    held.playing = False
    assert not painter.paint(1, held)
    assert painter._unanswered == 0


def test_half_precision_arrives_whole():
    run = held_at(2, (), data="moons", dtype="bfloat16").run
    down, up = os.pipe(), os.pipe()
    painter = Painter(pytest.fail, down[1], up[0])
    moment = painter._moment(run, [("0", asks.Wish("weights"))])
    other = Run(setup.parse({"data": "moons", "dtype": "bfloat16"}))
    easel._refresh(other, moment)
    for one, two in zip(
        run.program.model.parameters(), other.program.model.parameters(), strict=True
    ):
        assert torch.equal(one, two)
    for end in (*down, *up):
        os.close(end)
