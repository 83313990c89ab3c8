"""Sweeps on a Dask cluster: equal results, a worker killed, a scheduler lost, bad addresses."""

import contextlib
import json
import pickle
import subprocess
import sys

import psutil
import pytest

from gradscribe.app.cli import main as command_line
from gradscribe.app.cli.sweeps import cluster, trial
from gradscribe.app.files.documents import Refused
from gradscribe.app.training.sweep.folder import RESULT

pytest.importorskip("distributed")
pytestmark = [pytest.mark.e2e, pytest.mark.filterwarnings("ignore")]

SETUP = {"data": "moons", "model": "mlp", "batch": 16, "steps": 1500, "mode": "reference"}


def written(folder, **changes):
    file = folder / "setup.json"
    file.write_text(json.dumps({**SETUP, **changes}), encoding="utf-8")
    return file


def started(setup, *words):
    """Return a sweep on a cluster in a process."""
    command = [sys.executable, "-m", "gradscribe", "train", str(setup), *map(str, words)]
    return subprocess.Popen(
        [*command, "--events"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def dask(kind, place, *words):
    """Return a scheduler or a worker as a process; they meet by a file."""
    command = [sys.executable, "-m", f"distributed.cli.dask_{kind}", "--no-dashboard"]
    command += ["--scheduler-file", str(place), *words]
    return subprocess.Popen(command, stderr=subprocess.DEVNULL)


def until_finished(process):
    for line in process.stdout:
        if json.loads(line)["event"] == "finished":
            return
    raise AssertionError(process.stderr.read())


def test_only_the_name_of_a_function_travels_to_a_worker():
    data = pickle.dumps(trial.run_trial)
    assert data.count(b"gradscribe") == 1
    assert len(data) < 100
    request = json.loads(trial.encode_request(trial.setups.parse(SETUP)))
    assert request["setup"] == SETUP


def workers_of(process):
    """Return the processes of the workers that a sweep on a cluster of its own has started."""
    children = psutil.Process(process.pid).children()
    return [child for child in children if "spawn_main" in " ".join(child.cmdline())]


def test_a_worker_that_is_killed_costs_no_trial_and_the_numbers_are_those_of_this_machine(tmp_path):
    setup, far, near = written(tmp_path), tmp_path / "far.json", tmp_path / "near.json"
    words = ("--sweep", "seed=0..3")
    process = started(setup, *words, "--scheduler", "local:2", "--json", far)
    until_finished(process)
    first, _ = workers_of(process)
    first.kill()
    _, error = process.communicate(timeout=110)
    assert process.returncode == 0, error
    found = json.loads(far.read_text(encoding="utf-8"))
    assert [row["status"] for row in found["trials"]] == ["ok"] * 4
    assert command_line.main(["train", str(setup), *words, "--json", str(near)]) == 0
    here = json.loads(near.read_text(encoding="utf-8"))
    losses = [[row["validation_loss"] for row in each["trials"]] for each in (found, here)]
    assert losses[0] == losses[1]


@pytest.mark.slow
def test_a_scheduler_that_is_lost_loses_no_finished_trial(tmp_path):
    setup, out, place = written(tmp_path, steps=1000), tmp_path / "out.json", tmp_path / "s.json"
    scheduler = dask("scheduler", place, "--port", "0", "--host", "127.0.0.1")
    worker = dask("worker", place, "--nthreads", "1", "--no-nanny")
    try:
        # The file is there once the scheduler listens.
        while not place.exists():
            with contextlib.suppress(subprocess.TimeoutExpired):
                assert scheduler.wait(0.05) is None
        words = ("--sweep", "steps=500,1000000000", "--sweep", "seed=0..1", "--json", out)
        process = started(setup, *words, "--scheduler", place)
        until_finished(process)
        scheduler.kill()
        _, error = process.communicate(timeout=110)
    finally:
        for each in (worker, scheduler):
            each.kill()
            each.wait()
    assert process.returncode == 3
    assert error.startswith("gradscribe: the cluster is gone (")
    assert error.endswith("trials are finished; --resume goes on\n")
    assert error.count("\n") == 1
    results = [*(tmp_path / "out.trials").glob(f"*{RESULT}")]
    assert results
    before = {path: path.read_bytes() for path in results}
    again = ("--sweep", "steps=500", "--sweep", "seed=0..1", "--json", out, "--resume")
    assert command_line.main(["train", *map(str, (setup, *again))]) == 0
    assert {path: path.read_bytes() for path in before} == before


@pytest.mark.parametrize(
    ("where", "words"),
    [
        ("here", "but must be tcp://HOST:8786"),
        ("local:", "no number of workers"),
        ("local:0", "no number of workers"),
        ("slurm:many", "no number of workers"),
        ("ssh:,", "but must be tcp://HOST:8786"),
        ("nothing.json", "there is no scheduler file nothing.json"),
    ],
)
def test_no_cluster_is_a_line(where, words):
    with pytest.raises(Refused, match=words), cluster.connect(where):
        pass


def test_a_scheduler_that_does_not_answer_is_a_line(tmp_path):
    words = [
        "train",
        str(written(tmp_path)),
        "--sweep",
        "seed=0",
        "--scheduler",
        "tcp://127.0.0.1:1",
    ]
    code = (
        "import sys\n"
        "from gradscribe.app.cli.main import main\n"
        "from gradscribe.app.cli.sweeps import cluster\n"
        f"cluster.CONNECT_S = 0.5\nsys.exit(main({words!r}))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=100
    )
    assert done.returncode == 2
    assert done.stderr.startswith("gradscribe: there is no Dask cluster at tcp://127.0.0.1:1: ")
    assert done.stderr.count("\n") == 1


def test_without_dask_it_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(Refused, match=r"needs Dask: pip install"), cluster.connect("local:2"):
        pass
