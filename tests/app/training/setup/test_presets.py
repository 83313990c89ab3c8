"""Set-ups to start from: each trains, and does what its sentence promises."""

import math
from importlib import resources
from pathlib import Path

import msgspec
import pytest

from gradscribe.app.cli import train
from gradscribe.app.commands import setup as opened
from gradscribe.app.training.setup import presets
from gradscribe.engine.protocol import training as messages
from gradscribe.engine.protocol.setup import Part, SetupError
from gradscribe.engine.train.runs.run import TrainingRun

EVERY = presets.load()


def run_of(name, steps):
    made = TrainingRun(next(one.setup for one in EVERY if one.name == name))
    made.advance(steps)
    return made


@pytest.mark.parametrize("start", EVERY, ids=lambda one: one.name)
def test_each_has_words_and_trains(start):
    assert 0 < len(start.title) <= 28
    assert 20 < len(start.about) <= 90
    run = run_of(start.name, 10)
    assert run.step == 10
    assert math.isfinite(run.history.smoothed())


@pytest.mark.parametrize(
    "name", ["moons", "line", "sine", "playground_gauss", "playground_plane", "digits"]
)
def test_these_learn_at_once(name):
    run = run_of(name, 10)
    first = run.history.smoothed()
    run.advance(140)
    assert run.history.smoothed() < 0.5 * first


def test_the_file_of_each_is_a_setup_to_open_and_to_train_with():
    files = sorted(
        (resources.files("gradscribe.assets") / "setups").iterdir(), key=lambda file: file.name
    )
    read = [train.read_setup(str(file)) for file in files if file.name.endswith(".json")]
    assert read == [start.setup for start in EVERY]
    assert [opened.read(Path(str(file))).setup for file in files] == read


def test_the_playgrounds_are_as_it_opens():
    circle = next(one.setup for one in EVERY if one.name == "playground_circle")
    assert circle.model.options == {"layers": [4, 2], "init": "playground", "output": "tanh"}
    assert (circle.data, circle.loss) == (Part("circle"), Part("half"))
    assert (circle.optimizer, circle.batch, circle.train) == (Part("sgd", {"lr": 0.03}), 10, 0.5)
    run = TrainingRun(circle)
    assert sum(p.numel() for p in run.program.model.parameters()) == 25
    names = {one.setup.data.name for one in EVERY if one.name.startswith("playground")}
    assert names == {"circle", "xor", "gauss", "spiral", "plane", "multi_gauss"}


def test_a_net_separates_the_points_that_are_drawn():
    run = run_of("drawn", 200)
    model, x, y = run.program.model, run.program.x, run.program.y
    assert len(x) == 12, "all of them train"
    assert ((model(x).squeeze(-1) > 0) == y.reshape(-1).bool()).all()


def test_overfitting_shows():
    run = run_of("overfit", 30)
    early = run.history.last_val()
    run.advance(570)
    assert run.history.last_val() > 1.5 * early
    assert run.history.smoothed() < 0.2 * early


def test_six_layers_of_sigmoids_hardly_move_the_first():
    run = run_of("vanishing", 50)
    run.program.model.zero_grad()
    x, y = run.program.x, run.program.y
    run.program.criterion(run.program.model(x).squeeze(-1), y.float().reshape(-1)).backward()
    layers = [
        p.grad.norm().item() for n, p in run.program.model.named_parameters() if "weight" in n
    ]
    assert layers[0] < 1e-3 * layers[-1]


def test_a_rate_too_big_grows():
    run = run_of("too_fast", 10)
    early = run.history.smoothed()
    run.advance(200)
    assert run.history.smoothed() > 100 * early


@pytest.mark.parametrize(
    "text", [b"{}", b'{"title": "t", "about": "a", "setup": {}, "more": 1}', b"not json"]
)
def test_a_file_with_other_keys_is_refused(text):
    with pytest.raises(msgspec.DecodeError):
        presets.parse("01_x.json", text)
    with pytest.raises(SetupError):
        presets.parse("01_x.json", b'{"title": "t", "about": "a", "setup": {"dta": "moons"}}')


def test_one_begins_at_once_and_curves_on_other_data_are_hidden(begun, train_link, qtbot):
    train_link.grow(1, 0, 60)
    first, start = begun.run, EVERY[1]
    before = begun.setup
    presets.train_preset(begun, start)
    assert begun.setup == start.setup
    asked = [one for one in train_link.sent if isinstance(one, messages.Train)]
    assert asked[-1].setup == start.setup
    assert first in begun.runs
    assert first.run_id in begun.store.look.hidden
    train_link.begin(begun.run.run_id, start.setup)
    assert train_link.last(messages.Play).run_id == begun.run.run_id
    qtbot.wait(100)
    assert [one for one in train_link.sent if isinstance(one, messages.Train)] == asked
    begun.controller.undo()
    assert begun.setup == before
