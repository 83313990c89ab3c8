"""`gradscribe train --sweep`: real engines, results equal to single runs, interrupts, resuming."""

import csv
import json
import os
import signal
import subprocess
import sys

import pytest

from gradscribe.app.cli import main as command_line
from gradscribe.app.cli import train
from gradscribe.app.cli.sweeps import trial
from gradscribe.app.training.sweep.folder import RESULT
from gradscribe.engine.protocol import setup as setups

pytestmark = pytest.mark.e2e

posix = pytest.mark.skipif(os.name != "posix", reason="signals are POSIX")
SETUP = {"data": "moons", "model": "mlp", "optimizer": "adam", "batch": 16, "steps": 60}


def written(folder, **changes):
    file = folder / "setup.json"
    file.write_text(json.dumps({**SETUP, "validate_every": 20, **changes}), encoding="utf-8")
    return file


def called(*words):
    return command_line.main(["train", *map(str, words)])


def test_each_trial_is_the_run_of_its_setup_bit_for_bit(tmp_path, capfd):
    out, table = tmp_path / "out.json", tmp_path / "out.csv"
    model = {"name": "mlp", "dropout": 0.3, "norm": "batch"}
    options = ("--sweep", "optimizer.lr=log:1e-3:1e-1:3", "--sweep", "seed=0..1")
    assert called(written(tmp_path, model=model), *options, "--json", out, "--csv", table) == 0
    found = json.loads(out.read_text(encoding="utf-8"))
    assert found["finished"] == len(found["trials"]) == 6
    assert [row["values"]["seed"] for row in found["trials"]] == [0, 1] * 3
    scores = [row["validation_loss"] for row in found["trials"]]
    assert found["best"] == 1 + scores.index(min(scores))
    best = found["trials"][found["best"] - 1]
    assert f"open the best: gradscribe {tmp_path / best['setup']}" in capfd.readouterr().out
    with table.open(encoding="utf-8", newline="") as file:
        assert [float(row["validation_loss"]) for row in csv.DictReader(file)] == scores
    for row in (found["trials"][0], found["trials"][5]):
        alone = tmp_path / "alone.json"
        assert called(tmp_path / row["setup"], "--json", alone) == 0
        single = json.loads(alone.read_text(encoding="utf-8"))
        path = tmp_path / row["setup"].replace(".setup.json", RESULT)
        result = json.loads(path.read_text(encoding="utf-8"))
        assert result["series"] == single["series"]
        assert result["scores"] == single["scores"]
        assert row["validation_loss"] == single["scores"]["val_loss"]


@pytest.mark.slow
def test_a_trial_after_a_model_that_changes_torch_is_as_without_it():
    source = (
        "import torch\nfrom torch import nn\n"
        "class Net(nn.Module):\n"
        "    def __init__(self):\n"
        "        super().__init__()\n"
        "        torch.set_default_dtype(torch.float64)\n"
        "        self.layer = nn.Linear(2, 1, dtype=torch.float32)\n"
        "    def forward(self, x):\n"
        "        return self.layer(x)\n"
    )
    own = setups.parse({**SETUP, "model": {"name": "own", "source": source}, "steps": 5})
    plain = setups.parse({**SETUP, "steps": 5})
    texts = [trial.encode_request(each, policy=False) for each in (plain, own, plain)]
    try:
        first, between, last = (json.loads(trial.run_trial(text)) for text in texts)
    finally:
        trial.close_engines()
    assert between["status"] == "ok", between["problem"]
    assert first["series"] == last["series"]
    assert "weights" not in first


def test_what_cannot_be_trained_is_a_result_with_a_reason():
    given = setups.parse({**SETUP, "frozen": ["nothing"]})
    far = setups.parse({**SETUP, "device": "cuda:99"})
    try:
        found = [json.loads(trial.run_trial(trial.encode_request(each))) for each in (given, far)]
    finally:
        trial.close_engines()
    assert [each["status"] for each in found] == ["refused", "refused"]
    assert "no parameter is called" in found[0]["problem"]["message"]
    assert "no device cuda:99 here" in found[1]["problem"]["message"]


def test_trials_that_all_diverge_are_one_line(tmp_path, capfd):
    setup = written(tmp_path, data="line", model="linear", optimizer="sgd", steps=2000)
    assert called(setup, "--sweep", "optimizer.lr=1e20,1e25") == 1
    error = capfd.readouterr().err
    lines = [line for line in error.splitlines() if line.startswith("gradscribe")]
    words = "all 2 trials diverged, their loss became NaN: the lowest learning rate was 1e+20"
    assert lines == [f"gradscribe: {words}, try less"]


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (["--sweep", "optimizer.lrr=1"], "did you mean 'lr'?"),
        (["--sweep", "seed=0..999", "--sweep", "batch=0..999"], "at most 10,000 run"),
        (["--sweep", "seed=0", "--png", "a.png"], "--png is of one run"),
        (["--sweep", "seed=0", "--resume"], "name that file"),
        (["--sweep", "seed=0", "--draws", "5"], "--draws needs an option that is drawn"),
        (["--sweep", "seed=random:0..9", "--draws", "0"], "--draws is 0, but must be from 1"),
        (["--sweep", "seed=0", "--workers", "0"], "--workers is 0"),
        (["--sweep", "seed=0", "--json", "/no/such/folder/out.json"], "its folder does not exist"),
        (["--resume"], "--resume belongs to a sweep"),
    ],
)
def test_bad_input_is_refused_in_a_line(tmp_path, capfd, words, line):
    assert called(written(tmp_path), *words) == 2
    error = capfd.readouterr().err
    assert line in error
    assert error.count("\n") == 1


def begun(folder, *words):
    """Return a sweep of trials that take long, in a process, once some have ended."""
    # A shell's job in the background has the interrupt ignored, and so would its children.
    code = (
        "import signal, sys\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "from gradscribe.app.cli.main import main\n"
        "sys.exit(main())"
    )
    command = [sys.executable, "-c", code, "train", *map(str, words), "--events"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    for line in process.stdout:
        if json.loads(line)["event"] == "finished":
            break
    return process


@posix
@pytest.mark.parametrize(
    "number", [signal.SIGINT, pytest.param(signal.SIGKILL, marks=pytest.mark.slow)]
)
def test_a_sweep_that_is_stopped_goes_on_where_it_was(tmp_path, number):
    setup, out = written(tmp_path), tmp_path / "out.json"
    # The second option makes trials that never end.
    words = [setup, "--sweep", "steps=20,1000000000", "--sweep", "seed=0..1", "--json", out]
    process = begun(tmp_path, *words, "--workers", "2")
    process.send_signal(number)
    output, error = process.communicate(timeout=60)
    results = {
        path.name: path.read_bytes() for path in (tmp_path / "out.trials").glob(f"*{RESULT}")
    }
    assert results
    if number != signal.SIGKILL:
        assert process.returncode == 130
        assert error.endswith(f"{len(results)} of 4 trials are finished; --resume goes on\n")
        assert json.loads(output.splitlines()[-1])["stopped"] == "interrupted"
        assert json.loads(out.read_text(encoding="utf-8"))["finished"] == len(results)
    again = [setup, "--sweep", "steps=20", "--sweep", "seed=0..3", "--json", out, "--resume"]
    assert called(*again) == 0
    found = json.loads(out.read_text(encoding="utf-8"))
    assert [row["status"] for row in found["trials"]] == ["ok"] * 4
    for name, data in results.items():
        assert (tmp_path / "out.trials" / name).read_bytes() == data


def engines_of(pid):
    """Return the processes that a process has started."""
    listed = subprocess.run(
        ["ps", "-o", "pid=", "--ppid", str(pid)], capture_output=True, text=True, check=True
    )
    return [int(word) for word in listed.stdout.split()]


@pytest.mark.slow
@pytest.mark.skipif(not os.path.exists("/proc"), reason="ps of Linux")
def test_an_engine_that_is_killed_costs_its_trial_nothing(tmp_path):
    setup, out = written(tmp_path, steps=4000), tmp_path / "out.json"
    words = [setup, "--sweep", "seed=0..3", "--json", out, "--workers", "1"]
    process = begun(tmp_path, *words)
    for pid in engines_of(process.pid):
        os.kill(pid, signal.SIGKILL)
    output, error = process.communicate(timeout=100)
    assert process.returncode == 0, error
    assert json.loads(output.splitlines()[-1])["event"] == "ended"
    found = json.loads(out.read_text(encoding="utf-8"))
    assert [row["status"] for row in found["trials"]] == ["ok"] * 4
    single = train.run(setups.parse({**SETUP, "validate_every": 20, "steps": 4000, "seed": 1}))
    scores = single.views["scores"].facts
    assert found["trials"][1]["validation_loss"] == scores["val_loss"]
