"""The script for torchrun makes the steps of one process, on two ranks over gloo."""

import os
import re
import socket
import subprocess
import sys

import pytest

from gradscribe.engine.protocol import setup as setups
from gradscribe.engine.protocol.setup import SetupError
from gradscribe.engine.train.runs import ddp_export, export
from gradscribe.engine.train.runs.run import TrainingRun

BASE = {"data": "moons", "model": "mlp", "dtype": "float64", "batch": 16, "validate_every": 4}
STEPS = 12


def run(**changes):
    return TrainingRun(setups.parse({**BASE, **changes}))


def losses(text):
    return [float(line.split()[1]) for line in text.splitlines()]


def in_one_process(source, tmp_path):
    file = tmp_path / "one.py"
    file.write_text(source, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, str(file)], capture_output=True, text=True, check=True, timeout=100
    )
    return losses(done.stdout)


def on_ranks(source, tmp_path, ranks):
    """Return the losses of a script on ranks, started as torchrun does."""
    file = tmp_path / "ranks.py"
    file.write_text(source, encoding="utf-8")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    shared = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port), "WORLD_SIZE": str(ranks)}
    processes = [
        subprocess.Popen(
            [sys.executable, str(file)],
            env={**os.environ, **shared, "RANK": str(rank), "LOCAL_RANK": str(rank)},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for rank in range(ranks)
    ]
    ended = [process.communicate(timeout=100) for process in processes]
    assert [process.returncode for process in processes] == [0] * ranks, ended[0][1]
    assert all(out == "" for out, _ in ended[1:])
    return losses(ended[0][0])


@pytest.mark.e2e
@pytest.mark.parametrize(
    "changes",
    [
        {"drop_last": False, "batch": 24},
        pytest.param(
            {
                "batch": 0,
                "data": "sine",
                "optimizer": "sgd",
                "clip_norm": 0.1,
                "l1": 1e-3,
                "l2": 1e-2,
            },
            marks=pytest.mark.slow,
        ),
        pytest.param(
            {"accumulate": 3, "schedule": {"name": "plateau", "patience": 1}, "optimizer": "adamw"},
            marks=pytest.mark.slow,
        ),
        {
            "data": "digits",
            "model": "cnn",
            "loss": "cross_entropy",
            "batch": 11,
            "frozen": ["features.0"],
        },
        pytest.param(
            {"data": "copy_tokens", "model": "transformer", "batch": 8}, marks=pytest.mark.slow
        ),
    ],
    ids=["ragged", "penalties", "accumulated", "pictures", "tokens"],
)
def test_two_ranks_make_the_steps_of_one_process(tmp_path, changes):
    trained = run(**changes)
    one = in_one_process(export.script(trained, STEPS), tmp_path)
    two = on_ranks(ddp_export.script(trained, STEPS, {}), tmp_path, 2)
    assert len(one) == STEPS
    assert two == pytest.approx(one, rel=1e-12, abs=1e-12)
    assert one[0] != one[-1]


@pytest.mark.e2e
@pytest.mark.slow
def test_more_ranks_than_examples_still_make_the_same_steps(tmp_path):
    trained = run(batch=2, data={"name": "moons", "n": 20})
    one = in_one_process(export.script(trained, STEPS), tmp_path)
    three = on_ranks(ddp_export.script(trained, STEPS, {}), tmp_path, 3)
    assert three == pytest.approx(one, rel=1e-12, abs=1e-12)


@pytest.mark.e2e
def test_torchrun_starts_it_and_python_alone_says_how(tmp_path):
    file = tmp_path / "ranks.py"
    file.write_text(ddp_export.script(run(), 3, {}), encoding="utf-8")
    torchrun = [sys.executable, "-m", "torch.distributed.run", "--standalone"]
    done = subprocess.run(
        [*torchrun, "--nproc-per-node", "2", str(file)],
        capture_output=True,
        text=True,
        check=True,
        timeout=110,
    )
    assert re.findall(r"^(\d+) ", done.stdout, re.M) == ["1", "2", "3"]
    alone = subprocess.run(
        [sys.executable, str(file)], capture_output=True, text=True, check=False, timeout=100
    )
    assert alone.returncode == 1
    assert alone.stderr == "Start it with: torchrun --nproc-per-node 2 ranks.py\n"


@pytest.mark.e2e
def test_dropout_has_other_numbers_on_each_rank_and_the_script_says_so(tmp_path):
    trained = run(model={"name": "mlp", "dropout": 0.5})
    source = ddp_export.script(trained, 4, {})
    assert "draws other numbers on each rank than in one process" in source
    assert "torch.manual_seed(0 + rank)" in source
    assert len(on_ranks(source, tmp_path, 2)) == 4


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"model": {"name": "mlp", "norm": "batch"}}, "is a BatchNorm"),
        ({"optimizer": "lbfgs", "batch": 0}, "lbfgs searches along the loss"),
        ({"mistakes": ["no_zero_grad"]}, "a step with a mistake"),
        ({"optimizer": "sgd", "manual_update": True}, "of another order"),
    ],
)
def test_what_ranks_cannot_share_is_refused_in_a_line(changes, words):
    with pytest.raises(SetupError) as caught:
        ddp_export.script(run(**changes), 3, {})
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_run_that_was_changed_is_refused():
    trained = run()
    trained.advance(2)
    trained.change_setup(setups.parse({**BASE, "optimizer": {"name": "adam", "lr": 0.5}}))
    with pytest.raises(SetupError, match="changed on its way"):
        ddp_export.script(trained, 3, {})


def test_a_loss_that_is_no_mean_is_refused(monkeypatch):
    trained = run()
    monkeypatch.setitem(trained.program.names, "criterion", lambda a, b: (a - b).square().sum())
    with pytest.raises(SetupError, match="is not a mean over the examples"):
        ddp_export.script(trained, 3, {})


def test_looking_at_the_loss_leaves_the_run_as_it_was():
    trained, other = (
        run(model={"name": "mlp", "dropout": 0.5}),
        run(model={"name": "mlp", "dropout": 0.5}),
    )
    with trained.entered():
        trained.advance(3)
        ddp_export.script(trained, 3, {})
        trained.advance(3)
    with other.entered():
        other.advance(6)
    assert trained.history.csv() == other.history.csv()
