"""Training runs from Python have the losses of plain torch, and are refused with a reason."""

import json
import subprocess
import sys

import numpy as np
import pytest

import gradscribe as gs

pytestmark = pytest.mark.e2e

SETUP = {
    "data": {"name": "line", "n": 24},
    "model": {"name": "linear"},
    "optimizer": {"name": "sgd", "lr": 0.05},
    "steps": 12,
    "batch": 8,
    "seed": 3,
}


@pytest.fixture(scope="module")
def run():
    seen = []
    made = gs.train(SETUP, progress=lambda step, loss: seen.append((step, loss)))
    return made, seen


def test_the_losses_are_those_that_the_exported_script_prints(run, tmp_path):
    made, seen = run
    assert made.steps == 12
    assert made.problem == ""
    assert seen[-1][0] == 12
    script = tmp_path / "again.py"
    script.write_text(made.script, encoding="utf-8")
    code = (
        "import runpy, sys, json; names = runpy.run_path(sys.argv[1]); "
        "print('\\n' + json.dumps(float(names['loss'])))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(script)], capture_output=True, check=True
    )
    assert (
        json.loads(done.stdout.split(b"\n")[-2 if done.stdout.endswith(b"\n") else -1])
        == (made.loss[np.isfinite(made.loss)][-1])
    )


def test_the_curves_have_a_number_a_step(run):
    made, _ = run
    assert made.step.tolist() == list(range(len(made.step)))
    assert np.isfinite(made.loss[1:]).all()
    assert set(made.learning_rate[1:].tolist()) == {0.05}
    assert "12 steps, loss" in repr(made)


def test_the_weights_are_a_safetensors_file(run):
    data = run[0].safetensors
    length = int.from_bytes(data[:8], "little")
    tensors = json.loads(data[8 : 8 + length])
    shapes = {name: tensors[name]["shape"] for name in tensors if name != "__metadata__"}
    assert sorted(shapes.values()) == [[1], [1, 1]]
    stops = [tensors[name]["data_offsets"][1] for name in shapes]
    assert 8 + length + max(stops) == len(data)


def test_steps_can_be_chosen_and_a_path_given(tmp_path):
    path = tmp_path / "setup.json"
    path.write_text(json.dumps(SETUP))
    assert gs.train(path, steps=3).steps == 3


@pytest.mark.parametrize(
    ("setup", "error", "words"),
    [
        ({**SETUP, "optimizer": {"name": "adaam"}}, ValueError, "adaam"),
        ({**SETUP, "stepss": 3}, ValueError, "stepss"),
        ("/no/such/setup.json", ValueError, "setup.json"),
        (7, TypeError, "int"),
    ],
)
def test_what_is_no_setup_is_refused(setup, error, words):
    with pytest.raises(error, match=words):
        gs.train(setup)


def test_a_run_that_diverges_says_so():
    made = gs.train({**SETUP, "optimizer": {"name": "sgd", "lr": 1e30}, "steps": 40})
    assert made.problem
    assert made.steps < 40
