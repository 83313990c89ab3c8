"""Trials in an executor: results on the disk at once, deaths tried again, sweeps resumed."""

import json
from concurrent.futures import CancelledError, Executor, Future

import pytest

from gradscribe.app.cli.sweeps import progress
from gradscribe.app.cli.sweeps.runner import TRIES, ClusterLost, SweepRun
from gradscribe.app.files.documents import Refused
from gradscribe.app.training.sweep.axes import parse_axis
from gradscribe.app.training.sweep.folder import RESULT, SETUP, SweepFolder
from gradscribe.app.training.sweep.trials import Sweep
from gradscribe.engine.protocol import setup as setups

BASE = setups.parse({"data": "moons", "model": "mlp", "steps": 10})


def trials(*texts):
    return Sweep(BASE, tuple(map(parse_axis, texts or ("seed=0..3",)))).trials()


class InPlace(Executor):
    """Answers each trial at once, by a function of its seed."""

    def __init__(self, answer):
        self.answer, self.seeds = answer, []

    def submit(self, function, request):
        seed = json.loads(request)["setup"].get("seed", 0)
        self.seeds.append(seed)
        future = Future()
        try:
            future.set_result(self.answer(seed))
        except (OSError, CancelledError) as error:
            future.set_exception(error)
        return future


def good(seed):
    return json.dumps({"status": "ok", "steps": 10, "scores": {"val_loss": 1.0 + seed}})


def test_each_trial_is_a_setup_and_a_result_on_the_disk(tmp_path):
    folder = SweepFolder(tmp_path / "out.json")
    folder.prepare(resume=False)
    run, executor = SweepRun(trials(), folder), InPlace(good)
    run.run(executor, reports=False)
    assert [row.validation_loss for row in run.all_rows] == [1, 2, 3, 4]
    assert run.finished == 4
    assert run.seconds_left == 0
    for trial, row in zip(run.trials, run.all_rows, strict=True):
        text = (tmp_path / row.setup).read_text(encoding="utf-8")
        assert setups.parse_text(text) == trial.setup
        assert json.loads(text)["title"] == f"seed {trial.setup.seed}"
    assert len([*folder.path.glob(f"*{RESULT}")]) == len([*folder.path.glob(f"*{SETUP}")]) == 4
    assert progress.line(run).startswith("############ 4 of 4 trials, ")
    assert progress.line(run).endswith("best 1 (seed 0)")


def test_a_resumed_sweep_runs_what_is_missing_even_if_it_has_grown(tmp_path):
    folder = SweepFolder(tmp_path / "out.json")
    folder.prepare(resume=False)
    SweepRun(trials("seed=1..2"), folder).run(InPlace(good), reports=False)
    with pytest.raises(Refused, match=r"holds 2 finished trials: go on with --resume"):
        folder.prepare(resume=False)
    folder.prepare(resume=True)
    run, executor = SweepRun(trials("seed=0..3"), folder), InPlace(good)
    assert run.resumed == 2
    run.run(executor, reports=False)
    assert executor.seeds == [0, 3]
    assert [row.validation_loss for row in run.all_rows] == [1, 2, 3, 4]


@pytest.mark.parametrize(
    "damage", [b"", b"{", b"[]", b"null", b'{"status": "ok", "steps": []}', b"\xff" * 9]
)
def test_a_damaged_result_is_made_again(tmp_path, damage):
    folder = SweepFolder(tmp_path / "out.json")
    folder.prepare(resume=False)
    SweepRun(trials(), folder).run(InPlace(good), reports=False)
    next(folder.path.glob(f"0002*{RESULT}")).write_bytes(damage)
    run, executor = SweepRun(trials(), folder), InPlace(good)
    run.run(executor, reports=False)
    assert executor.seeds == [1]
    assert run.finished == 4


def test_a_worker_that_dies_has_its_trial_tried_again_and_then_given_up(tmp_path):
    deaths = []

    def dies(seed):
        if seed == 1 or (seed == 2 and len(deaths) < 2):
            deaths.append(seed)
            raise ConnectionError("the worker is gone\nfar away")
        return good(seed)

    folder = SweepFolder(tmp_path / "out.json")
    folder.prepare(resume=False)
    run, executor = SweepRun(trials(), folder), InPlace(dies)
    run.run(executor, reports=False)
    assert executor.seeds.count(1) == TRIES
    assert [row.status for row in run.all_rows] == ["ok", "died", "ok", "ok"]
    assert run.all_rows[1].problem == "ConnectionError: the worker is gone"
    # A death says nothing on the setup: it is tried again when the sweep is resumed.
    again = SweepRun(trials(), folder)
    assert again.resumed == 3


@pytest.mark.parametrize("answer", ["", "{", "[]", "{}", '{"status": "fine"}', '{"status": 1}'])
def test_a_worker_that_answers_nonsense_is_as_good_as_dead(answer):
    run = SweepRun(trials("seed=5"))
    run.run(InPlace(lambda seed: answer), reports=False)
    assert run.all_rows[0].status == "died"
    assert "\n" not in run.all_rows[0].problem


@pytest.mark.parametrize(
    ("raised", "expected"),
    [(KeyboardInterrupt, KeyboardInterrupt), (CancelledError, ClusterLost)],
)
def test_an_interrupt_and_a_lost_scheduler_leave_the_results_so_far(tmp_path, raised, expected):
    folder = SweepFolder(tmp_path / "out.json")
    folder.prepare(resume=False)

    class Stops(InPlace):
        def submit(self, function, request):
            # The others never end.
            return super().submit(function, request) if len(self.seeds) < 2 else Future()

    run, executor = SweepRun(trials(), folder), Stops(good)

    def stop(row):
        if run.finished == 2:
            future = Future()
            future.set_exception(raised())
            run._pending[future] = run.trials[3]

    run.listener.finished = stop
    with pytest.raises(expected):
        run.run(executor, reports=False)
    assert SweepRun(trials(), folder).resumed == 2


def test_a_full_disk_ends_the_sweep_with_a_line(tmp_path, monkeypatch):
    folder = SweepFolder(tmp_path / "out.json")
    folder.prepare(resume=False)

    def full(path, data):
        raise Refused(f"{path} cannot be written: the disk is full")

    monkeypatch.setattr("gradscribe.app.files.documents.write_bytes", full)
    with pytest.raises(Refused, match="the disk is full"):
        SweepRun(trials(), folder).run(InPlace(good), reports=False)


def test_a_diverged_or_refused_trial_is_an_answer_and_not_tried_again(tmp_path):
    folder = SweepFolder(tmp_path / "out.json")
    folder.prepare(resume=False)
    ends = ["nan", "refused", "error", "ok"]
    run, executor = SweepRun(trials(), folder), InPlace(lambda s: json.dumps({"status": ends[s]}))
    run.run(executor, reports=False)
    assert sorted(executor.seeds) == [0, 1, 2, 3]
    assert SweepRun(trials(), folder).resumed == 4


def test_time_left_is_counted_in_steps():
    assert progress.duration(0.2) == "1 s"
    assert progress.duration(200) == "3 min 20 s"
    assert progress.duration(7500) == "2 h 5 min"
