"""The captured mode makes the reference mode's steps, bit for bit, or says why it is not used."""

import copy

import pytest
import torch

from gradscribe.engine.protocol import setup
from gradscribe.engine.train import checkpoints
from gradscribe.engine.train.captured import batch_slots, kernels
from gradscribe.engine.train.captured.plan import ROUNDING_NOTE
from gradscribe.engine.train.captured.rules import flat_rule
from gradscribe.engine.train.captured.verify import TOLERANCE
from gradscribe.engine.train.runs.run import TrainingRun
from gradscribe.engine.train.source import catalogue
from gradscribe.engine.train.source.changes import WeightEdit
from tests.programs import SHARED

STEPS = 150
MODES = ("reference", "captured")
PARTICULAR = {"lbfgs", "muon", "sparse_adam"}
ANY_MODEL = [name for name in catalogue.zoo_entries("optimizer") if name not in PARTICULAR]


@pytest.fixture(autouse=True)
def close_checkpoints(monkeypatch):
    """Take them often, so that going back begins at one of them."""
    monkeypatch.setattr(checkpoints, "FIRST_STRIDE", 64)


def begun(mode, **given):
    return TrainingRun(
        setup.parse({"data": {"name": "moons", "n": 70}, "batch": 16, "mode": mode, **given})
    )


def state(run):
    memories = run.program.optimizer.state_dict()["state"].values()
    flat = [t for memory in memories for t in memory.values() if torch.is_tensor(t)]
    return [t.detach().tolist() for t in [*run.program.model.state_dict().values(), *flat]]


def both(steps=STEPS, **given):
    """A run in each mode, after so many steps."""
    runs = [begun(mode, **given) for mode in ("reference", "captured")]
    for run in runs:
        run.enter()
        run.advance(steps)
        assert run.problem is None
    return runs


def same(steps=STEPS, **given):
    reference, captured = both(steps, **given)
    assert (captured.mode, captured.why) == ("captured", "")
    assert captured.history.recent == reference.history.recent
    assert state(captured) == state(reference)
    return captured


MODELS = [
    {"model": {"name": "mlp", "layers": [4, 2]}},
    {"model": {"name": "mlp", "activation": ["relu", "gelu"], "norm": "layer"}},
    {"model": {"name": "mlp", "activation": ["silu", "elu"], "dropout": 0.3, "norm": "batch"}},
    {"model": {"name": "mlp", "activation": ["sigmoid", "softplus"]}},
    {"model": {"name": "mlp", "activation": "leaky_relu", "output": "tanh"}, "loss": "half"},
    {"model": "linear", "loss": "hinge"},
    {"model": {"name": "polynomial", "degree": 4}, "data": {"name": "sine", "n": 50}},
    {"model": "two_parameters", "data": "line", "batch": 0},
    {"model": "cnn", "data": {"name": "digits", "n": 40}},
    {"model": "transformer", "data": {"name": "sort_tokens", "n": 40}},
    {"data": "spirals", "l1": 0.01, "l2": 0.1, "clip_norm": 0.1},
    {"schedule": {"name": "step", "step_size": 40}, "clip_value": 0.01},
    {"frozen": ["0"], "batch": 0, "dtype": "float64"},
    {"loss": "cross_entropy", "validate_every": 7},
]  # fmt: skip


@pytest.mark.parametrize("given", MODELS, ids=str)
def test_every_kind_of_model_and_loss(given):
    same(**given)


@pytest.mark.parametrize("layers", [[5, 10], [10, 7, 3], [12, 6]], ids=str)
@pytest.mark.parametrize("batch", [40, 160])
def test_layers_whose_gradients_would_not_lie_aligned(layers, batch):
    same(12, data={"name": "gaussians", "n": 300}, model={"name": "mlp", "layers": layers},
         batch=batch)  # fmt: skip


def test_every_parameter_and_gradient_is_aligned_as_torch_aligns_memory():
    run = same(5, model={"name": "mlp", "layers": [5, 3]}, optimizer="adamw")
    run.enter()
    states = run.program.optimizer.state.values()
    kept = [memory[name] for memory in states for name in ("exp_avg", "exp_avg_sq")]
    parameters = list(run.program.model.parameters())
    for tensor in [*parameters, *(p.grad for p in parameters), *kept]:
        assert tensor.data_ptr() % 64 == torch.empty(1).data_ptr() % 64 == 0


@pytest.mark.parametrize("name", ANY_MODEL)
def test_every_optimizer(name):
    same(70, optimizer=name, model={"name": "mlp", "layers": [3]})


@pytest.mark.parametrize("name", catalogue.zoo_entries("schedule"))
def test_every_schedule(name):
    options = {"step": {"step_size": 2}, "multistep": {"milestones": [2, 5]}}.get(name, {})
    same(8, optimizer="sgd", schedule={"name": name, **options})


OPTIONS = [
    ("sgd", {"lr": 0.1, "momentum": 0.9}),
    ("sgd", {"lr": 0.1, "momentum": 0.9, "nesterov": True, "weight_decay": 0.01}),
    ("sgd", {"lr": 0.1, "momentum": 0.5, "dampening": 0.3, "maximize": True}),
    ("adam", {"lr": 0.1, "betas": [0.5, 0.7], "weight_decay": 0.1}),
    ("adam", {"amsgrad": True}),
    ("adamw", {"lr": 0.1, "weight_decay": 0.5, "maximize": True}),
    ("adam", {"decoupled_weight_decay": True, "weight_decay": 0.3, "eps": 0.1}),
]


@pytest.mark.parametrize(("name", "options"), OPTIONS, ids=str)
def test_every_option_of_a_rule(name, options):
    same(60, optimizer={"name": name, **options}, model={"name": "mlp", "layers": [3]})


@pytest.mark.parametrize(("name", "options"), OPTIONS, ids=str)
def test_a_rule_is_torchs_own_update(name, options):
    """On one vector, without any run around it."""
    made = {"sgd": torch.optim.SGD, "adam": torch.optim.Adam, "adamw": torch.optim.AdamW}[name]
    parameter = torch.randn(37, requires_grad=True)
    flat = parameter.detach().clone()
    optimizer = made([parameter], **copy.deepcopy(options))
    found = flat_rule(optimizer)
    assert (found is None) is ("amsgrad" in options)
    if found is None:
        return
    rule, names = found
    memory = {one: torch.zeros_like(flat) for one in (*names, "scratch")}
    for step in range(1, 30):
        parameter.grad = torch.randn(37)
        rule(flat, parameter.grad.clone(), memory, optimizer.param_groups[0], step)
        optimizer.step()
        assert torch.equal(flat, parameter.detach())


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize("name", ["sgd", "adam", "adamw"])
def test_narrow_types_are_rounded_as_the_reference_mode_rounds_them(dtype, name):
    """Fails depending on the numbers, and not in the first steps that are compared."""
    for seed in range(4):
        same(60, data={"name": "line", "n": 40}, model="linear", batch=0, dtype=dtype, seed=seed,
             optimizer={"name": name, "lr": 0.05, "weight_decay": 0.03})  # fmt: skip


WRITING = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.line = nn.Linear(2, 1)

    def forward(self, x):
        x.mul_(0.9)
        return self.line(x)
"""


def test_data_that_a_module_writes_into_is_as_if_nothing_had_been_tried():
    model = {"name": "own", "source": WRITING}
    reference, captured = both(12, model=model, batch=0)
    assert (captured.mode, captured.why) == ("reference", "it writes into its batch")
    assert captured.history.recent == reference.history.recent
    assert torch.equal(captured.program.tensor("x_train"), reference.program.tensor("x_train"))


REFUSED = [
    ({"optimizer": "lbfgs", "batch": 0}, "several times"),
    ({"accumulate": 2}, "accumulation"),
    ({"amp": "bfloat16"}, "autocast"),
    ({"mistakes": ["no_zero_grad"]}, "mistakes"),
]


@pytest.mark.parametrize(("given", "why"), REFUSED, ids=str)
def test_what_cannot_be_captured_runs_in_reference_mode_and_says_why(given, why):
    reference, captured = both(5, **given)
    assert captured.mode == "reference"
    assert why in captured.why
    assert state(captured) == state(reference)


BRANCHING = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.line = nn.Linear(2, 1)

    def forward(self, x):
        y = self.line(x)
        return y if y.sum() > 0 else -y
"""
COUNTING = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.line = nn.Linear(2, 1)
        self.calls = 0

    def forward(self, x):
        self.calls += 1
        return self.line(x) * (1 + self.calls % 2)
"""
WRITING = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.line = nn.Linear(2, 1)

    def forward(self, x):
        x[:, 0].mul_(2)
        return self.line(x)
"""
LOOKING = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.line = nn.Linear(2, 1)

    def forward(self, x):
        return self.line(x.as_strided((len(x), 2), (2, 1)))
"""
TURNED = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(3))

    def forward(self, x):
        first, both = x[:, :1], x.unsqueeze(0).transpose(1, 2).squeeze(0).t()
        return (first ** 1.0 * self.scale[0] + both[:, 1:] * 2 * self.scale[1]) / 3 + self.scale[2]
"""


@pytest.mark.parametrize(
    ("source", "why"),
    [
        (BRANCHING, "depends on its data"),
        (COUNTING, "forward changes self.calls"),
        (WRITING, "writes into its batch"),
        (LOOKING, "around its batch"),
    ],
)
def test_a_model_that_is_not_always_the_same_graph_is_not_captured(source, why):
    captured = begun("captured", model={"name": "own", "source": source}, validate_every=0)
    captured.advance(3)
    assert captured.mode == "reference"
    assert why in captured.why


@pytest.mark.parametrize("given", [{}, {"batch": 0}, {"batch": 9, "drop_last": True}], ids=str)
def test_views_of_a_batch_follow_it(given):
    same(model={"name": "own", "source": TURNED}, **given)


def test_data_that_is_too_big_to_be_gathered_ahead_is_gathered_step_by_step(monkeypatch):
    monkeypatch.setattr(batch_slots, "MOST_BYTES", 100)
    same()


def test_a_loss_that_is_not_finite_ends_both_modes_at_the_same_step():
    wild = {"name": "sgd", "lr": 10.0}
    runs = [begun(mode, optimizer=wild, loss="mse", data="line") for mode in MODES]
    for run in runs:
        run.advance(500)
    assert {run.mode for run in runs} == set(MODES)
    reference, captured = runs
    assert reference.problem.type == "NaN"
    assert captured.problem == reference.problem
    assert 4 < captured.step == reference.step < 500
    assert captured.batches.seen == reference.batches.seen
    assert repr(captured.history.recent) == repr(reference.history.recent)


@pytest.mark.parametrize(
    "optimizer", ["adam", {"name": "sgd", "momentum": 0.9, "lr": 0.1}, "nadam"]
)
def test_rewinding_live_changes_and_events_are_the_same_in_both_modes(optimizer):
    found = []
    for mode in ("reference", "captured"):
        run = begun(mode, optimizer=optimizer)
        run.advance(70)
        faster = setup.parse(
            {"data": {"name": "moons", "n": 70}, "batch": 16, "mode": mode,
             "optimizer": {**({"name": optimizer} if isinstance(optimizer, str) else optimizer),
                           "lr": 0.03}}
        )  # fmt: skip
        run.change_setup(faster)
        run.advance(30)
        for _ in range(7):
            run.next_event()
        run.edit(WeightEdit("0.weight", 1, 0.25))
        run.advance(40)
        run.rewind(105)
        middle = state(run)
        run.advance(20)
        found.append((run.mode, run.step, middle, state(run), run.history.recent[-20:]))
    assert [one[0] for one in found] == ["reference", "captured"]
    assert found[0][1:] == found[1][1:]


def test_the_rate_is_read_anew_at_each_step_without_another_capture():
    run = begun("captured", optimizer="sgd", model={"name": "mlp", "layers": [2]})
    run.advance(2)
    plan = run.plan
    given = {"data": {"name": "moons", "n": 70}, "batch": 16, "mode": "captured",
             "optimizer": {"name": "sgd", "lr": 0.5}}  # fmt: skip
    given["model"] = {"name": "mlp", "layers": [2]}
    run.change_setup(setup.parse(given))
    run.advance(2)
    assert run.plan is plan
    given["l1"] = 0.1
    run.change_setup(setup.parse(given))
    run.advance(2)
    assert run.plan is not plan
    assert run.mode == "captured"


@pytest.fixture
def _numpy_pays(monkeypatch):
    """As on a machine on which torch's own tanh is slow, however few numbers there are."""
    monkeypatch.setattr(kernels, "is_numpy_faster", lambda given, _made: given.numel() > 1)


TANH = {"model": {"name": "mlp", "layers": [6, 3]}, "data": {"name": "sine", "n": 60}, "batch": 0}


@pytest.mark.usefixtures("_numpy_pays")
@pytest.mark.parametrize("name", ANY_MODEL)
def test_a_tanh_that_is_rounded_otherwise_stays_within_the_tolerance(name):
    reference, captured = both(60, **TANH, optimizer=name)
    assert (captured.mode, captured.why) == ("captured", ROUNDING_NOTE)
    assert captured.history.recent == pytest.approx(reference.history.recent, rel=10 * TOLERANCE)
    assert any(a != b for a, b in zip(state(captured), state(reference), strict=True))


@pytest.mark.usefixtures("_numpy_pays")
@pytest.mark.parametrize(
    "more",
    [{}, {"dtype": "float64"}, {"model": {"name": "mlp", "layers": [6], "dropout": 0.3}}],
    ids=str,
)
def test_what_it_made_is_brought_back_to_the_bit(more):
    _, captured = both(20, **{**TANH, **more})
    captured.advance(81)
    before, losses = state(captured), captured.history.recent[-20:]
    captured.advance(40)
    captured.rewind(101)
    assert state(captured) == before
    captured.rewind(81)
    captured.advance(20)
    assert captured.history.recent[-20:] == losses
    assert state(captured) == before
    fork = captured.fork(101, captured.setup)
    assert state(fork) == before


@pytest.mark.usefixtures("_numpy_pays")
def test_only_a_run_that_asks_for_it_is_rounded_otherwise(monkeypatch):
    """A run without a word on its mode is the exported script to the bit, however long it is."""
    monkeypatch.setattr("gradscribe.engine.train.runs.run.CAPTURED_FROM", 10)
    runs = [begun(mode, **TANH) for mode in ("reference", "auto")]
    for run in runs:
        run.enter()
        run.advance(40)
        run.advance(40)
    assert (runs[1].mode, runs[1].why) == ("captured", "")
    assert state(runs[0]) == state(runs[1])


def test_few_numbers_and_strange_ones_stay_torchs():
    few, many = torch.zeros(8), torch.zeros(100, 100)
    assert not kernels.is_numpy_faster(few, torch.empty_like(few))
    assert not kernels.is_numpy_faster(many.t(), torch.empty_like(many).t())
    assert not kernels.is_numpy_faster(many.bfloat16(), torch.empty_like(many.bfloat16()))


@pytest.mark.parametrize(("times", "pays"), [(0.0, True), (1e9, False)])
def test_the_quicker_of_two_is_measured(times, pays, monkeypatch):
    monkeypatch.setattr(kernels, "TIMES", times)
    many = torch.linspace(-3, 3, 10_000)
    made = torch.empty_like(many)
    assert kernels.is_numpy_faster(many, made) is pays
    assert torch.allclose(made, many.tanh(), rtol=1e-6, atol=0)


def test_a_parameter_in_several_places_learns_from_all_of_them():
    reference, captured = both(model={"name": "own", "source": SHARED}, optimizer="adam")
    assert state(captured) == state(reference)
    assert (captured.mode, captured.why) == ("captured", "")
