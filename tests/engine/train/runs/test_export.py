"""The exported script is plain PyTorch, and prints the losses of the run to the last bit."""

import ast
import contextlib
import io
import subprocess
import sys
import warnings

import pytest
import torch

from gradscribe.engine.protocol import setup
from gradscribe.engine.train.runs.export import script
from gradscribe.engine.train.runs.run import TrainingRun
from gradscribe.engine.train.source import catalogue
from gradscribe.engine.train.source.changes import WeightEdit

STEPS = 8


def printed(source):
    """Return the (step, loss) pairs that a script prints, run with names of its own."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        exec(compile(source, "script.py", "exec"), {"__name__": "__main__"})
    return [(int(a), float(b)) for a, b in map(str.split, out.getvalue().splitlines())]


def trained(given, steps=STEPS):
    """A run of so many steps, and the losses it told."""
    run = TrainingRun(setup.parse(given))
    assert run.advance(steps) == steps, run.problem
    steps_told, values, _ = run.history.take()
    rows = [(int(s), float(v)) for s, v in zip(steps_told, values[:, 0], strict=True) if s]
    return run, rows


def same(given, steps=STEPS):
    run, rows = trained(given, steps)
    assert len(rows) == steps
    torch.manual_seed(12345)
    assert printed(script(run, steps)) == rows
    return run


def of(kind):
    return list(catalogue.zoo_entries(kind))


DATA = [name for name in of("data") if name != "csv"]
"""All but the one that needs a file."""


def data_for(model):
    """The first data set that a model takes, as a part of a setup; a small one where it can be."""
    takes = catalogue.zoo_entries("model")[model].takes
    every = {name: catalogue.zoo_entries("data")[name] for name in DATA}
    name = next(name for name, data in every.items() if not takes or data.inputs in takes)
    sized = any(option.name == "n" for option in every[name].options)
    return {"name": name, "n": 40} if sized else name


def model_for(data):
    """The first model that takes a data set."""
    inputs = catalogue.zoo_entries("data")[data].inputs
    models = catalogue.zoo_entries("model").items()
    return next(name for name, model in models if inputs in model.takes)


@pytest.mark.parametrize("model", of("model"))
def test_every_model(model):
    same({"data": data_for(model), "model": model, "batch": 8})


@pytest.mark.parametrize("data", DATA)
def test_every_data_set(data):
    same({"data": data, "model": model_for(data), "train": 0.6, "batch": 7}, 4)


def test_a_script_of_a_file_notices_that_it_is_not_as_the_run_read_it(tmp_path):
    path = tmp_path / "what a pity's.csv"
    path.write_text("size,note,price\n50,a,100.5\n70,b,150\n90,c,180\n60,d,121\n")
    data = {"name": "csv", "path": str(path), "inputs": ["size"], "target": "price"}
    run, rows = trained({"data": data, "model": "linear", "batch": 2})
    source = script(run, STEPS)
    assert printed(source) == rows
    path.write_text("size,note,price\r\n50,x,100.5\r\n70,y,150.0\r\n90,,180\r\n60,d,121\r\n")
    assert printed(source) == rows, "no number that the run read has changed"
    path.write_text("size,note,price\n50,a,100.5\n70,b,150\n90,c,180\n60,d,121.0001\n")
    with pytest.raises(SystemExit, match=r"pity's\.csv is not as the run read it"):
        printed(source)


# Two are not for every model; their scripts are in test_particular_optimizers.
@pytest.mark.parametrize("optimizer", sorted({*of("optimizer")} - {"muon", "sparse_adam"}))
@pytest.mark.parametrize("more", [{}, {"clip_norm": 0.1, "l1": 0.01, "l2": 0.02, "batch": 9}])
def test_every_optimizer(optimizer, more):
    same({"data": {"name": "sine", "n": 30}, "optimizer": optimizer, **more}, 4)


@pytest.mark.parametrize("schedule", of("schedule"))
def test_every_schedule(schedule):
    options = {"step": {"step_size": 2}, "multistep": {"milestones": [2, 5]},
               "plateau": {"patience": 0, "threshold": 0.9}}.get(schedule, {})  # fmt: skip
    run = same({"data": "moons", "optimizer": "sgd", "schedule": {"name": schedule, **options}})
    assert run.program.scheduler is not None


@pytest.mark.parametrize(
    ("loss", "task"),
    [(name, task) for name in of("loss") for task in catalogue.zoo_entries("loss")[name].tasks],
)
def test_every_loss(loss, task):
    data = next(name for name in DATA if catalogue.zoo_entries("data")[name].task == task)
    same({"data": data, "model": model_for(data), "loss": loss, "batch": 16})


PARTS = [
    {"accumulate": 3, "batch": 5},
    {"batch": 30, "drop_last": True},
    {"batch": 30, "shuffle": False},
    {"features": ["x1", "x2", "x1^2", "x2^2", "x1*x2", "sin(x1)", "sin(x2)"]},
    {"standardize": True, "dtype": "float64"},
    {"dtype": "bfloat16"},
    {"amp": "bfloat16"},
    {"train": 1.0, "clip_value": 0.01},
    {"frozen": ["0"]},
    {"model": {"name": "mlp", "dropout": 0.5, "norm": "batch", "init": "kaiming"}, "batch": 20},
    {"model": {"name": "mlp", "norm": "layer", "activation": ["relu", "gelu"]}},
    {"model": {"name": "mlp", "init": "playground", "output": "tanh"}, "loss": "half"},
    {"seed": 5, "weight_seed": 6, "data_seed": 7},
    {"validate_every": 0},
]


@pytest.mark.parametrize("part", PARTS, ids=str)
def test_every_part_of_a_setup(part):
    same({"data": {"name": "xor", "n": 80}, **part})


@pytest.mark.parametrize("mistake", sorted(setup.MISTAKES.keys() - {"wrong_device"}))
def test_every_mistake(mistake):
    net = {"name": "mlp", "dropout": 0.3}
    data, loss = ("sine", "mse") if mistake == "column_target" else ("moons", "cross_entropy")
    given = {"data": data, "loss": loss, "model": net, "validate_every": 2}
    right, wrong = same(given), same({**given, "mistakes": [mistake]})
    losses = [r.history.recent for r in (right, wrong)]
    harmless = mistake in ("validate_with_grad", "keep_graphs")
    assert (losses[0] == losses[1]) is harmless


@pytest.mark.e2e
def test_the_script_runs_by_itself(tmp_path):
    run, rows = trained({"data": "sine", "model": "mlp", "steps": 500}, 20)
    file = tmp_path / "script.py"
    file.write_text(script(run, 20), encoding="utf-8")
    done = subprocess.run(
        [sys.executable, str(file)], capture_output=True, text=True, check=True, timeout=100
    )
    assert done.stdout == "".join(f"{step} {loss!r}\n" for step, loss in rows)
    assert "gradscribe" not in file.read_text().lower().partition("import")[2]


ADAM = {"name": "adam", "lr": 0.02}
LIVE = {
    "learning rate": [(3, {"optimizer": {"name": "sgd", "lr": 0.2}})],
    "another optimizer": [(3, {"optimizer": ADAM}), (5, {"optimizer": "sgd"})],
    "betas": [(2, {"optimizer": ADAM}), (4, {"optimizer": {**ADAM, "betas": [0.5, 0.9]}})],
    "schedule comes and goes": [
        (2, {"schedule": {"name": "step", "step_size": 2}}),
        (4, {"optimizer": {"name": "sgd", "lr": 0.05}}),
        (6, {"schedule": None}),
    ],
    "batches cut anew in an epoch": [
        (1, {"batch": 9}),
        (3, {"batch": 4, "drop_last": True}),
        (5, {"batch": 0}),
        (7, {"batch": 6}),
    ],
    "losses": [
        (2, {"loss": "l1"}),
        (3, {"loss": "huber"}),
        (4, {"l1": 0.01}),
        (4, {"l2": 0.02, "clip_norm": 0.1}),
    ],
    "frozen": [(2, {"frozen": ["0"]}), (6, {"frozen": []})],
    "micro-batches": [(2, {"accumulate": 2}), (5, {"accumulate": 1})],
    "mistakes": [
        (2, {"mistakes": ["no_zero_grad", "keep_graphs"]}),
        (5, {"mistakes": ["huge_lr"]}),
    ],
    "validation": [(2, {"validate_every": 0}), (5, {"validate_every": 2})],
    "precision": [(2, {"amp": "bfloat16"}), (6, {"amp": ""})],
    "nothing that counts": [(2, {"mode": "reference"}), (4, {"steps": 77})],
    "at the start": [(0, {"optimizer": ADAM})],
}


@pytest.mark.parametrize("name", LIVE)
def test_a_run_changed_on_the_way_is_a_script_too(name):
    given = {
        "data": {"name": "xor", "n": 50},
        "optimizer": "sgd",
        "batch": 16,
        "loss": "bce",
        "validate_every": 2,
        "model": {"name": "mlp", "dropout": 0.2},
    }
    if name == "losses":
        given |= {"data": {"name": "sine", "n": 50}, "loss": "mse"}
    run = TrainingRun(setup.parse(given))
    for at, change in LIVE[name]:
        run.advance(at - run.step)
        given = {**given, **change}
        applied, anew = run.change_setup(setup.parse(given))
        assert applied
        assert not anew
    run.edit(WeightEdit("0.weight", 3, 0.25))
    run.advance(10 - run.step)
    steps, values, _ = run.history.take()
    rows = [(int(s), float(v)) for s, v in zip(steps, values[:, 0], strict=True) if s]
    assert len(rows) == 10
    torch.manual_seed(999)
    assert printed(script(run, 10)) == rows
    torch.manual_seed(999)
    assert printed(script(run, 4)) == rows[:4]


def test_the_script_of_a_fork_goes_the_way_of_both():
    run = TrainingRun(setup.parse({"data": "moons", "batch": 16, "optimizer": "sgd"}))
    run.advance(5)
    other = setup.parse({"data": "moons", "batch": 8, "optimizer": ADAM})
    fork = run.fork(3, other)
    fork.advance(4)
    steps, values, _ = fork.history.take()
    rows = [(int(s), float(v)) for s, v in zip(steps, values[:, 0], strict=True) if s]
    assert printed(script(fork, 7)) == rows


def test_a_change_that_cannot_be_made_leaves_the_run_as_it_was():
    given = {"data": "sine", "optimizer": "sgd", "loss": "l1"}
    run = TrainingRun(setup.parse(given))
    run.advance(2)
    before = run.setup
    bad = {**given, "loss": "mse", "optimizer": {"name": "sgd", "nesterov": True}}
    with pytest.raises(setup.SetupError, match=r"(?i)nesterov"):
        run.change_setup(setup.parse(bad))
    assert run.setup == before
    run.advance(2)
    same = TrainingRun(setup.parse(given))
    same.advance(4)
    assert run.history.recent == same.history.recent


@pytest.mark.parametrize(
    ("data", "used"), [("sort_tokens", set()), ("sine", {"math"}), ("circle", {"math"})]
)
def test_a_script_imports_what_it_uses(data, used):
    made = TrainingRun(
        setup.parse({"data": data, "model": "recurrent" if "tokens" in data else "mlp"})
    )
    tree = ast.parse(script(made, 3))
    asked = {one.name for part in ast.walk(tree) if isinstance(part, ast.Import)
             for one in part.names}  # fmt: skip
    assert asked - {"torch", "torch.nn.functional"} == used


UNSCALED = {
    "data": {"name": "formula", "formula": "300 * x + 700"},
    "model": "linear",
    "optimizer": {"name": "sgd", "lr": 1e-5},
}


def test_remarks_stand_above_their_section_and_change_nothing():
    run, rows = trained(UNSCALED)
    remarks = {
        "prepare": ["Targets are large"],
        "model": ["It is a\nprint(0)"],
        "step": ["l2 " * 60],
    }
    source = script(run, STEPS, remarks)
    assert printed(source) == rows
    lines = source.splitlines()
    assert lines[lines.index("# Inputs and targets") + 2] == "# Targets are large"
    assert "# It is a print(0)" in lines
    assert max(map(len, lines)) <= 100


def test_a_script_with_the_offer_taken_is_that_of_the_standardized_run():
    plain, _ = trained(UNSCALED)
    _, rows = trained({**UNSCALED, "standardize": True})
    source = script(plain, STEPS, {"prepare": ["Targets are large"]})
    begin, end = source.index("# To standardize them"), source.index("\ninputs, targets")
    offered = source[begin:end].replace("# To standardize them:\n", "").replace("# ", "")
    assert printed(source[:begin] + offered + source[end:]) == rows
