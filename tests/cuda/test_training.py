"""A run on a CUDA device is the plain loop there; it can be brought back, forked and exported."""

import pytest
import torch

from gradscribe.engine.protocol import setup
from gradscribe.engine.protocol.setup import SetupError
from gradscribe.engine.train import checkpoints
from gradscribe.engine.train.runs import export, saved
from gradscribe.engine.train.runs.run import TrainingRun
from gradscribe.engine.train.source import catalogue
from gradscribe.engine.train.source.changes import WeightEdit
from tests.engine.run.test_async_devices import ASSERT, end_of_run
from tests.engine.train.runs.test_export import data_for, printed
from tests.engine.train.runs.test_export import trained as trained_by
from tests.engine.train.runs.test_run import comes_back, state

DEVICE = "cuda:0"


@pytest.fixture(autouse=True)
def close_checkpoints(monkeypatch):
    """Take them often, so that going back begins at one of them."""
    monkeypatch.setattr(checkpoints, "FIRST_STRIDE", 64)


def trained(given, steps=8):
    return trained_by({"device": DEVICE, **given}, steps)


def same(given, steps=8):
    run, rows = trained(given, steps)
    assert len(rows) == steps
    assert next(run.program.model.parameters()).device == torch.device(DEVICE)
    torch.manual_seed(12345)
    assert printed(export.script(run, steps)) == rows
    return run


SHAKY = ("recurrent", "transformer")
"""Their kernels add up in an order of their own each time: two plain loops differ, too."""


@pytest.mark.parametrize("model", list(catalogue.zoo_entries("model")))
def test_every_model_equals_its_script(model):
    given = {"data": data_for(model), "model": model}
    if model in SHAKY:
        run, rows = trained({**given, "batch": 8})
        made = printed(export.script(run, 8))
        assert [loss for _, loss in made] == pytest.approx([loss for _, loss in rows], rel=1e-5)
    else:
        same({**given, "batch": 8})


@pytest.mark.parametrize(
    "optimizer", [n for n in catalogue.zoo_entries("optimizer") if n not in ("muon", "sparse_adam")]
)
@pytest.mark.parametrize("more", [{}, {"clip_norm": 0.1, "l1": 0.01, "l2": 0.02, "batch": 9}])
def test_every_optimizer_equals_its_script(optimizer, more):
    same({"data": {"name": "sine", "n": 30}, "optimizer": optimizer, **more}, 5)


@pytest.mark.parametrize("schedule", list(catalogue.zoo_entries("schedule")))
def test_every_schedule_equals_its_script(schedule):
    options = {"step": {"step_size": 2}, "multistep": {"milestones": [2, 5]},
               "plateau": {"patience": 0, "threshold": 0.9}}.get(schedule, {})  # fmt: skip
    same({"data": "moons", "optimizer": "sgd", "schedule": {"name": schedule, **options}})


MORE = [
    {"amp": "float16"},
    {"amp": "bfloat16"},
    {"amp": "float16", "clip_norm": 0.5, "accumulate": 2},
    {"dtype": "float64"},
    {"accumulate": 3},
    {"model": {"name": "mlp", "dropout": 0.4, "norm": "batch"}},
    {"loss": "hinge"},
    {"mistakes": ["no_zero_grad"]},
    {"mistakes": ["validate_in_train_mode"], "model": {"name": "mlp", "dropout": 0.5}},
    {"frozen": ["0"]},
]


@pytest.mark.parametrize("given", MORE, ids=str)
def test_autocast_accumulation_and_mistakes_equal_their_script(given):
    same({"data": "moons", "batch": 16, "validate_every": 3, **given}, 12)


def begun(**given):
    return TrainingRun(setup.parse({"data": "moons", "batch": 16, "device": DEVICE, **given}))


@pytest.mark.parametrize(
    "given",
    [
        {},
        {"model": {"name": "mlp", "dropout": 0.3, "norm": "batch"}},
        {"amp": "float16", "accumulate": 2},
        {"amp": "bfloat16"},
        {"optimizer": {"name": "sgd", "momentum": 0.9}},
    ],
    ids=str,
)
def test_a_step_is_brought_back_bit_for_bit(given):
    comes_back(begun(validate_every=7, **given))


def test_a_session_goes_on_where_it_was():
    run = begun(model={"name": "mlp", "dropout": 0.3})
    run.advance(70)
    run.edit(WeightEdit("0.weight", 3, 0.5))
    again = saved.resume(saved.save(run), False)
    run.advance(40)
    again.advance(40)
    assert state(again) == state(run)
    assert again.history.recent[-40:] == run.history.recent[-40:]


def test_a_fork_goes_on_from_its_step():
    run = begun()
    run.advance(30)
    there = state(run)
    run.advance(20)
    parse = {"data": "moons", "batch": 16, "device": DEVICE}
    fork = run.fork(30, setup.parse({**parse, "optimizer": {"name": "adam", "lr": 0.5}}))
    assert (fork.step, state(fork)) == (30, there)
    fork.advance(20)
    assert fork.history.recent[-1] != run.history.recent[-1]


def test_the_captured_mode_says_why_it_is_not_used():
    run = begun(mode="captured")
    run.enter()
    run.advance(5)
    assert run.mode == "reference"
    assert "CPU" in run.why


def test_weights_are_near_those_of_the_cpu():
    there, here = begun(dtype="float64"), begun(dtype="float64", device="cpu")
    there.advance(100)
    here.advance(100)
    for a, b in zip(state(there), state(here), strict=True):
        assert a == pytest.approx(b, rel=1e-7, abs=1e-9)


def test_data_on_another_device_is_told():
    run = begun(mistakes=["wrong_device"])
    run.advance(1)
    assert run.problem is not None
    assert "device" in run.problem.message


def test_a_device_that_is_not_there_is_refused():
    with pytest.raises(SetupError, match="no device cuda:42 here"):
        begun(device="cuda:42")


OWN = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(2, 1)
        self.calls = 0

    def forward(self, x):
        self.calls += 1
        if self.calls > 20:
            x = x[torch.tensor([99], device=x.device)]
        return self.layer(x)
"""


def test_a_run_that_breaks_the_device_ends_its_engine_with_a_word():
    assert end_of_run(OWN, device=DEVICE) == f"the device failed: {ASSERT}"
