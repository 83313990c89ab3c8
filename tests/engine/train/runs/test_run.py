"""A run equals plain PyTorch, and any of its steps can be brought back bit for bit."""

import csv
import io
import math

import pytest
import torch
from torch import nn

from gradscribe.engine.protocol import setup
from gradscribe.engine.protocol.setup import Part, SetupError
from gradscribe.engine.train import checkpoints
from gradscribe.engine.train.runs import export, saved
from gradscribe.engine.train.runs.run import TrainingRun
from gradscribe.engine.train.source.changes import WeightEdit
from gradscribe.engine.train.source.program import ProgramError
from tests.engine.train.runs.test_export import printed


@pytest.fixture(autouse=True)
def close_checkpoints(monkeypatch):
    """Take them often, so that going back begins at one of them."""
    monkeypatch.setattr(checkpoints, "FIRST_STRIDE", 64)


def begun(**given):
    return TrainingRun(setup.parse({"data": "moons", "batch": 16, **given}))


def state(run):
    """All that decides how a run goes on, as plain numbers."""
    optimizer = run.program.optimizer.state_dict()
    flat = [t for s in optimizer["state"].values() for t in s.values() if torch.is_tensor(t)]
    weights = [*run.program.model.state_dict().values()]
    return [t.detach().double().reshape(-1).tolist() for t in [*weights, *flat]]


def test_a_run_is_the_plain_loop():
    run = begun(data={"name": "line", "n": 50}, model="linear", optimizer="sgd", batch=0, train=1.0)
    run.advance(30)
    rng = torch.Generator().manual_seed(0)
    x = torch.rand(50, 1, generator=rng) * 4 - 2
    y = 2.0 * x + 1.0 + 0.1 * torch.randn(50, 1, generator=rng)
    torch.manual_seed(0)
    model = nn.Linear(1, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.001)
    losses = []
    for _ in range(30):
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(model(x), y)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert run.history.take()[1][:, 0].tolist() == losses
    assert torch.equal(run.program.model.weight, model.weight)


@pytest.mark.parametrize(
    ("schedule", "rates"),
    [
        ({"name": "constant", "factor": 0.25, "total_iters": 3}, [0.125] * 3 + [0.5] * 4),
        ({"name": "constant", "factor": 0.25, "total_iters": 0}, [0.125] * 7),
        ({"name": "polynomial", "total_iters": 4}, [0.5, 0.375, 0.25, 0.125, 0, 0, 0]),
        (
            {"name": "polynomial", "total_iters": 4, "power": 2},
            [0.5 * (1 - n / 4) ** 2 for n in range(4)] + [0, 0, 0],
        ),
    ],
    ids=str,
)
def test_a_schedule_gives_the_rates_of_its_formula(schedule, rates):
    run = begun(optimizer={"name": "sgd", "lr": 0.5}, schedule=schedule)
    given = []
    for _ in rates:
        given.append(run.program.optimizer.param_groups[0]["lr"])
        run.advance(1)
    assert given == pytest.approx(rates)


NETS = [
    {},
    {"optimizer": {"name": "sgd", "momentum": 0.9}, "schedule": {"name": "step", "step_size": 30}},
    {"model": {"name": "mlp", "dropout": 0.3, "norm": "batch"}},
    {"mistakes": ["no_zero_grad"]},
    {"optimizer": {"name": "lbfgs", "line_search_fn": "strong_wolfe", "max_iter": 4}, "batch": 0},
    {"mistakes": ["validate_in_train_mode"], "model": {"name": "mlp", "dropout": 0.5}},
    {"accumulate": 2, "amp": "float16"},
]


def comes_back(run):
    """Check that a step is brought back to the bit, and that the same steps follow it."""
    run.advance(83)
    there = state(run)
    run.advance(60)
    end, losses = state(run), run.history.recent[-20:]
    run.rewind(83)
    assert (run.step, state(run)) == (83, there)
    run.advance(60)
    assert (state(run), run.history.recent[-20:]) == (end, losses)


@pytest.mark.parametrize("given", NETS, ids=str)
def test_a_step_is_brought_back_bit_for_bit(given):
    comes_back(begun(validate_every=7, **given))


def test_live_changes_are_replayed_where_they_were_made():
    run = begun()
    run.advance(70)
    run.change_setup(
        setup.parse({"data": "moons", "batch": 16, "optimizer": {"name": "adam", "lr": 0.1}})
    )
    run.advance(5)
    run.edit(WeightEdit("0.weight", 3, 0.5))
    run.advance(5)
    run.change_setup(setup.parse({"data": "moons", "batch": 4, "optimizer": "sgd", "l1": 0.1}))
    run.advance(100)
    end = state(run)
    run.rewind(78)
    assert run.setup.optimizer.options["lr"] == 0.1
    assert run.setup.batch == 16
    assert len(run.changes) == 2
    run.change_setup(
        setup.parse({"data": "moons", "batch": 16, "optimizer": {"name": "adam", "lr": 0.1}})
    )
    run.advance(2)
    run.change_setup(setup.parse({"data": "moons", "batch": 4, "optimizer": "sgd", "l1": 0.1}))
    run.advance(100)
    assert state(run) == end


def test_a_changed_learning_rate_keeps_the_momentum():
    run = begun(optimizer={"name": "sgd", "momentum": 0.9})
    run.advance(3)
    momentum = [s["momentum_buffer"].clone() for s in run.program.optimizer.state.values()]
    new = {"data": "moons", "batch": 16, "optimizer": {"name": "sgd", "momentum": 0.9, "lr": 0.5}}
    assert run.change_setup(setup.parse(new)) == (("optimizer",), ())
    assert run.program.optimizer.param_groups[0]["lr"] == 0.5
    now = [s["momentum_buffer"] for s in run.program.optimizer.state.values()]
    assert all(map(torch.equal, momentum, now))


def test_structural_changes_are_told_and_change_nothing():
    run = begun()
    run.advance(3)
    before = state(run)
    applied, anew = run.change_setup(setup.parse({"data": "moons", "model": "linear", "batch": 8}))
    assert (applied, anew) == (("batch",), ("model",))
    assert (state(run), run.setup.batch) == (before, 16)


def test_other_names_of_classes_begin_nothing_anew():
    rows = [[x / 5, y / 5, (x + y) % 3] for x in range(4) for y in range(4)]

    def called(names):
        part = Part("points", {"points": rows, "names": names})
        return setup.Setup(data=part, train=1.0, steps=9)

    run, plain = TrainingRun(called("")), TrainingRun(called(""))
    assert run.program.class_names == ("0", "1", "2")
    run.advance(5)
    assert run.change_setup(called("cat, , dog, more")) == (("data",), ())
    assert run.program.class_names == ("cat", "1", "dog")
    run.advance(4)
    plain.advance(9)
    assert run.history.csv() == plain.history.csv()
    script = export.script(run, 9)
    assert "names='cat, , dog, more'" in script
    rows_of = list(csv.DictReader(io.StringIO(run.history.csv())))
    told = [(int(row["step"]), float(row["loss"])) for row in rows_of if row["loss"]]
    assert printed(script) == told
    assert script.count("split_names(") == 2, "defined, and called where the data is made"
    other = Part("points", {"points": rows[1:], "names": "cat"})
    assert run.change_setup(setup.Setup(data=other, train=1.0, steps=9)) == ((), ("data",))


def test_names_of_classes_are_no_part_of_the_past():
    def called(names, batch=0):
        part = Part("points", {"points": [[0, 0, 0], [1, 0, 1], [0, 1, 1]], "names": names})
        return setup.Setup(data=part, train=1.0, batch=batch)

    run, plain = TrainingRun(called("")), TrainingRun(called(""))
    for one in (run, plain):
        one.advance(3)
        one.change_setup(called("", batch=2))
        one.advance(3)
    run.change_setup(called("cat, dog", batch=2))
    run.advance(2)
    for step in (7, 5, 2, 0):
        run.rewind(step)
        assert run.program.class_names == ("cat", "dog")
        assert run.setup.data.options["names"] == "cat, dog"
        assert run.setup.batch == (2 if step > 3 else 0)
    plain.rewind(0)
    assert state(run) == state(plain)
    assert run.fork(0, called("cat, dog")).program.class_names == ("cat", "dog")
    run.change_setup(called("owl, dog"))
    again = saved.resume(saved.save(run))
    again.rewind(0)
    assert again.program.class_names == ("owl", "dog")


def test_a_step_made_by_events_is_the_same_step():
    whole, parts = begun(accumulate=2), begun(accumulate=2)
    whole.advance(2)
    parts.advance(1)
    events = []
    while parts.step < 2:
        events.append(parts.next_event().event)
    assert events == ["zero_grad", *["forward", "loss", "backward"] * 2, "step"]
    assert state(parts) == state(whole)
    assert parts.history.recent == whole.history.recent


def test_a_step_begun_by_events_is_finished_by_the_next_command():
    whole, parts = begun(), begun()
    whole.advance(3)
    parts.next_event()
    parts.next_event()
    parts.advance(3)
    assert state(parts) == state(whole)


def test_events_tell_what_changed():
    run = begun(data="line", model="linear", loss="mse", optimizer="sgd")
    words = [run.next_event().changed for _ in range(5)]
    gradient = run.program.model.weight.grad.norm().item()
    assert words[3][0] == f"weight.grad norm {gradient:.4g}"
    assert words[4][0] == f"weight moved by {0.001 * gradient:.4g}"


def test_a_loss_that_is_not_finite_stops_the_run_there():
    run = begun(data="line", model="linear", optimizer={"name": "sgd", "lr": 10.0}, batch=0)
    made = run.advance(1000)
    assert made == run.step < 100
    assert run.problem is not None
    losses = run.history.take()[1][1:, 0]
    assert math.isfinite(losses[-2])
    assert not math.isfinite(losses[-1])
    run.rewind(run.step - 1)
    assert run.problem is None


OWN = """import torch.nn as nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.one = nn.Linear(2, 3)

    def forward(self, x):
        return self.one(self.one(x))

raise SystemExit("never run")
"""


def test_a_module_of_the_users_that_raises_is_placed_in_its_source():
    with pytest.raises(ProgramError) as caught:
        begun(model={"name": "own", "source": OWN})
    assert "mat1 and mat2" in caught.value.problem.message
    assert caught.value.problem.place.line == 9


def test_a_module_that_raises_later_keeps_the_steps_before():
    source = (
        OWN.replace("self.one(self.one(x))", "self.go(x)")
        + """
class Late(Net):
    count = 0

    def go(self, x):
        self.count += self.training
        if self.count > 4:
            raise RuntimeError("tired")
        return self.one(x)[:, :1]
"""
    )
    run = begun(model={"name": "own", "source": source}, validate_every=0)
    run.advance(10)
    assert (run.step, run.problem.message) == (4, "tired")
    assert "tired" in source.splitlines()[run.problem.place.line - 1]


@pytest.mark.parametrize("change", [{"optimizer": {"name": "adam", "lr": 0.5}}, None])
def test_a_step_that_raises_after_a_change_is_told_of(change):
    """Going back to the last whole step makes the change once more, and solves nothing by that."""
    run = begun(mistakes=["column_target"])  # (N, 1) against (N), which its loss refuses
    if change is None:
        run.edit(WeightEdit("0.weight", 0, 2.0))
    else:
        run.change_setup(setup.parse({**setup.to_dict(run.setup), **change}))
    assert run.advance(10) == 1
    assert run.step == 0
    assert "must be the same as input size" in run.problem.message


BAD = [
    ({"data": "sin"}, "data", "did you mean 'sine'"),
    ({"model": {"name": "mlp", "layer": [3]}}, "model.layer", "did you mean 'layers'"),
    ({"model": {"name": "mlp", "layers": [0]}}, "model", "units"),
    ({"model": "cnn"}, "model", "pictures"),
    ({"data": "line", "loss": "cross_entropy"}, "loss", "does not fit"),
    ({"device": "cuda:77"}, "device", "no device"),
    ({"optimizer": {"name": "adam", "lr": -1}}, "optimizer.lr", "at least 0"),
    ({"optimizer": {"name": "adam", "betas": [2.0, 0.9]}}, "optimizer", "beta"),
    ({"features": ["x9"]}, "features", "does not have"),
    ({"features": ["__import__"]}, "features", "no feature"),
    ({"data": {"name": "formula", "formula": "__import__('os')"}}, "data.formula", ""),
    ({"data": {"name": "csv", "path": "/nowhere.csv"}}, "data.path", "no file"),
    ({"model": {"name": "own", "source": "class Net(nn.Module"}}, "model.source", "line 1"),
    ({"model": {"name": "own", "source": "x = 1"}}, "model", "no class"),
    ({"optimizer": "lbfgs", "accumulate": 2}, "accumulate", "one batch"),
    ({"optimizer": "muon", "model": "linear"}, "optimizer", "only supports 2D parameters"),
    ({"optimizer": "asgd", "schedule": "one_cycle"}, "schedule", "cycle_momentum"),
    ({"frozen": ["0.weigth"]}, "frozen", "0.weight, 0.bias"),
    ({"frozen": ["0", "2", "4"]}, "frozen", "nothing can learn"),
    ({"optimizer": {"name": "sgd", "lr": 1e31}}, "optimizer.lr", "at most 1e+30"),
]


@pytest.mark.parametrize(("given", "place", "words"), BAD, ids=str)
def test_a_setup_that_cannot_run_is_refused_at_its_key(given, place, words):
    with pytest.raises(SetupError) as caught:
        begun(**given)
    assert words in str(caught.value)
    assert caught.value.place == place
    assert "\n" not in str(caught.value)


def test_all_defaults_are_written_out():
    run = begun(optimizer="sgd")
    assert run.setup.loss == Part("bce", {})
    assert run.setup.optimizer.options["momentum"] == 0.0


def test_a_frozen_name_is_looked_at_on_the_way_too():
    run = begun(model={"name": "mlp", "layers": [3]})
    run.advance(2)
    with pytest.raises(SetupError, match="begins with 'nope'"):
        run.change_setup(setup.parse({**setup.to_dict(run.setup), "frozen": ["nope"]}))
    run.change_setup(setup.parse({**setup.to_dict(run.setup), "frozen": ["0"]}))
    before = run.program.model[0].weight.detach().clone()
    run.advance(2)
    assert torch.equal(run.program.model[0].weight, before)


@pytest.mark.parametrize("clip", [{"clip_norm": 0.05}, {"clip_value": 0.01}])
def test_an_optimizer_that_calls_the_model_itself_is_given_clipped_gradients(clip):
    given = {"data": "sine", "model": "linear", "optimizer": {"name": "lbfgs", "max_iter": 3}}
    run = TrainingRun(setup.parse({**given, **clip}))
    x, y = run.program.tensor("x_train"), run.program.tensor("y_train")
    torch.manual_seed(0)
    model = torch.nn.Linear(1, 1)
    optimizer = torch.optim.LBFGS(model.parameters(), lr=1.0, max_iter=3)

    def closure():
        optimizer.zero_grad()
        loss = torch.nn.functional.mse_loss(model(x), y)
        loss.backward()
        if "clip_norm" in clip:
            torch.nn.utils.clip_grad_norm_(model.parameters(), 0.05)
        else:
            torch.nn.utils.clip_grad_value_(model.parameters(), 0.01)
        return loss

    losses = [optimizer.step(closure).item() for _ in range(5)]
    run.advance(5)
    assert list(run.history.recent) == losses


OWN_FROZEN = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fixed = nn.Parameter(torch.ones(2), requires_grad=False)
        self.hidden = nn.Linear(2, 4)
        self.out = nn.Linear(4, 1)

    def forward(self, x):
        return self.out(torch.tanh(self.hidden(self.fixed * x)))
"""


def test_what_a_module_holds_frozen_by_itself_never_learns():
    own = {"name": "own", "source": OWN_FROZEN}
    given = {"data": "moons", "model": own, "frozen": ["hidden"]}
    run = TrainingRun(setup.parse(given))

    def learn():
        named = run.program.model.named_parameters()
        return {name for name, parameter in named if parameter.requires_grad}

    assert learn() == {"out.weight", "out.bias"}
    run.advance(2)
    run.change_setup(setup.parse({**given, "frozen": ["fixed", "out"]}))
    assert learn() == {"hidden.weight", "hidden.bias"}
    run.change_setup(setup.parse({**given, "frozen": []}))
    assert learn() == {"hidden.weight", "hidden.bias", "out.weight", "out.bias"}
    run.advance(2)
    assert run.program.model.get_parameter("fixed").tolist() == [1.0, 1.0]
    run.rewind(1)
    assert learn() == {"out.weight", "out.bias"}
