"""Ranks under torch.distributed.run: what they compute is that of plain torchrun, to the bit."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from gradscribe.app.files import tape_files
from gradscribe.app.link import launch, ranks
from gradscribe.app.link.ranks import RankRun, check_count
from gradscribe.app.ranks import rank_files
from gradscribe.engine.protocol import check_tape
from gradscribe.engine.protocol.ranks.job import RankJob
from gradscribe.engine.protocol.ranks.join import join
from gradscribe.playback.ranks.failure import first_failure
from gradscribe.playback.ranks.merge import merge
from tests.app.link import rank_programs

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.skipif(sys.platform != "linux", reason="gloo over loopback is tested on Linux"),
]

SCRIPT = Path(rank_programs.__file__)


def _plain(count: int, folder: Path) -> list[str]:
    """Return what each rank prints under plain torchrun."""
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--redirects=1"]
    environment = {**launch.environment(is_open=True), "OMP_NUM_THREADS": "1"}
    subprocess.run(
        [*command, f"--nproc-per-node={count}", f"--log-dir={folder}", str(SCRIPT)],
        check=True,
        capture_output=True,
        env=environment,
    )
    files = {int(path.parent.name): path for path in folder.glob("*/attempt_0/*/stdout.log")}
    return [files[rank].read_text() for rank in range(count)]


def _run(source: str, folder: Path, count: int = 2, timeout: float = 60.0, **options):
    path = folder / "script.py"
    path.write_text(source)
    return RankRun(RankJob(source, str(path), timeout=timeout, **options), count).wait()


@pytest.fixture(scope="module", params=[2, pytest.param(4, marks=pytest.mark.slow)])
def both(request, tmp_path_factory):
    """The ten programs on so many ranks: plain output, and the recorded runs."""
    folder = tmp_path_factory.mktemp("plain")
    plain = _plain(request.param, folder)
    runs = RankRun(RankJob(SCRIPT.read_text(), str(SCRIPT)), request.param).wait()
    return plain, runs


def test_recorded_ranks_print_what_plain_torchrun_prints_to_the_bit(both):
    plain, runs = both
    assert [run.tape.error for run in runs] == [None] * len(plain)
    for text, run in zip(plain, runs, strict=True):
        assert text.count("\n") > 30
        assert run.tape.stdout == text


def test_all_ranks_agree_on_their_collectives_and_none_is_left_open(both):
    _, runs = both
    joined = join([run.tape for run in runs])
    kinds = {one.kind for one in joined}
    assert all(one.is_done for one in joined)
    assert kinds >= {
        *("all_reduce", "broadcast", "reduce", "gather", "scatter", "all_gather", "barrier"),
        *("reduce_scatter", "all_to_all", "all_gather_object", "send"),
    }
    assert {one.first.owner for one in joined} == {"", "ddp", "fsdp"}


def test_means_of_ddp_are_those_of_the_local_gradients(both):
    _, runs = both
    found = 0
    for one in join([run.tape for run in runs]):
        if one.first.owner != "ddp" or any(
            len(c.inputs) != len(c.outputs) for c in one.calls.values()
        ):
            continue
        for at in range(len(one.first.inputs)):
            given = [_array(runs[r].tape, call.inputs[at]) for r, call in one.calls.items()]
            out = [_array(runs[r].tape, call.outputs[at]) for r, call in one.calls.items()]
            mean = sum(part / len(given) for part in given)
            assert all((part == out[0]).all() for part in out)
            assert abs(mean - out[0]).max() <= 1e-6
            found += 1
    assert found > 20


def _array(tape, value):
    kept = next(item.snapshot for item in tape.values if item.id == value)
    return tape.snapshots[kept].array()


def test_what_fully_shard_does_to_prepare_a_module_is_not_the_program_s(both):
    _, runs = both
    lines = SCRIPT.read_text().splitlines()
    sharding = {at for at, line in enumerate(lines, 1) if "fully_shard(" in line}
    assert len(sharding) == 2
    for run in runs:
        assert [op.op for op in run.tape.ops if op.place.line in sharding] == []
        assert any(one.owner == "fsdp" for one in run.tape.collectives)


def test_shards_that_fsdp_gathers_are_not_named_after_the_argument_of_the_call(both):
    _, runs = both
    for run in runs:
        names = {value.id: value.name for value in run.tape.values}
        gathered = [op for op in run.tape.ops if op.op == "all_gather_copy_in"]
        assert gathered
        assert {names[value] for op in gathered for value in op.inputs} == {""}


def test_tapes_are_sound_and_merge_into_one(both):
    _, runs = both
    for rank, run in enumerate(runs):
        assert [flaw for flaw in check_tape.find_flaws(run.tape) if flaw] == []
        assert (run.tape.rank.rank, run.tape.rank.world) == (rank, len(runs))
        assert run.tape.rank.backend == "gloo"
        assert run.tape.truncated == ""
    merged = merge([run.tape for run in runs])
    flaws = {flaw for flaw in check_tape.find_flaws(merged) if flaw}
    assert flaws <= {"an op without new outputs"}
    shared = [op for op in merged.ops if op.op == "all_reduce" and op.call is None]
    assert all(len(op.outputs) % len(runs) == 0 for op in shared)


BROKEN = """\
import os
import sys
import torch
import torch.distributed as dist

dist.init_process_group("gloo")
rank = dist.get_rank()
total = torch.ones(2)
dist.all_reduce(total)
if rank == 1:
    raise ValueError("rank 1 gives up")
dist.all_reduce(total)
"""


def test_an_error_of_one_rank_ends_all_and_every_tape_is_kept(tmp_path):
    runs = _run(BROKEN, tmp_path)
    assert first_failure([run.tape for run in runs]) == 1
    failed, other = runs[1].tape, runs[0].tape
    assert (failed.error.type, failed.error.message) == ("ValueError", "rank 1 gives up")
    assert failed.error.place.line == 11
    assert other.status != "ok"
    assert other.error.place.line == 12
    for tape in (failed, other):
        assert tape.collectives[0].is_done
        assert tape.snapshots[-1] is not None
    assert [call.is_done for call in other.collectives] == [True, False]


def test_a_rank_that_dies_is_named_and_the_tapes_of_the_others_are_kept(tmp_path):
    runs = _run(BROKEN.replace('raise ValueError("rank 1 gives up")', "os._exit(7)"), tmp_path)
    assert first_failure([run.tape for run in runs]) == 1 or runs[1].tape.status == "died"
    assert "exit code 7" in runs[1].tape.error.message
    assert runs[0].tape.collectives[0].is_done


HANGS = """\
import torch
import torch.distributed as dist

dist.init_process_group("gloo")
total = torch.ones(2)
if dist.get_rank() == 0:
    dist.all_reduce(total)
while dist.get_rank() == 1:
    pass
"""


def test_a_collective_that_others_never_reach_ends_at_the_time_limit(tmp_path):
    runs = _run(HANGS, tmp_path, timeout=3.0)
    waiting = runs[0].tape
    assert waiting.collectives[-1].is_done is False
    assert waiting.collectives[-1].place.line == 7
    assert waiting.error.place.line == 7
    # Whichever rank's limit is over first: the other one may see it go before its own is.
    assert re.search("all_reduce|closed by peer", waiting.error.message)
    assert join([run.tape for run in runs])[-1].missing == (1,)


WRONG_WORLD = """\
import torch.distributed as dist

dist.init_process_group("gloo", world_size=3)
"""


def test_a_group_that_never_gets_whole_is_one_line(tmp_path):
    runs = _run(WRONG_WORLD, tmp_path, timeout=3.0)
    first = runs[first_failure([run.tape for run in runs])].tape
    assert first.error.place.line == 3
    assert "init_process_group" in first.error.message
    assert "\n" not in first.error.message


BY_HAND = """\
import gradscribe
import torch
import torch.distributed as dist

dist.init_process_group("gloo")
total = torch.ones(2) * (dist.get_rank() + 1)
dist.all_reduce(total)
if dist.get_rank() == 1:
    raise ValueError("by hand")
dist.all_reduce(total)
"""


def test_ranks_started_by_hand_write_their_tapes_by_an_environment_variable(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(BY_HAND)
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2"]
    environment = {
        **launch.environment(is_open=True),
        "OMP_NUM_THREADS": "1",
        "GRADSCRIBE_RANK_TAPE": str(tmp_path / "hand.tape"),
    }
    done = subprocess.run(
        [*command, str(script)], check=False, capture_output=True, env=environment
    )
    assert done.returncode != 0
    path = rank_files.path_of(tmp_path / "hand.tape", 1)
    (other, failed), trouble = rank_files.read_all(path, tape_files.read(path))
    assert trouble == ""
    assert (failed.tape.error.message, failed.tape.error.place.line) == ("by hand", 9)
    assert [call.is_done for call in other.tape.collectives] == [True, False]
    values = {value.id: value.snapshot for value in other.tape.values}
    given, got = (
        other.tape.snapshots[values[ids[0]]].array().tolist()
        for ids in (other.tape.collectives[0].inputs, other.tape.collectives[0].outputs)
    )
    assert (given, got) == ([1.0, 1.0], [3.0, 3.0])


def test_without_torchrun_the_variable_does_nothing_but_say_so(tmp_path):
    script = tmp_path / "script.py"
    script.write_text("import gradscribe\nprint('ran')")
    environment = {**launch.environment(is_open=True), "GRADSCRIBE_RANK_TAPE": "x.tape"}
    done = subprocess.run(
        [sys.executable, str(script)], check=True, capture_output=True, env=environment, text=True
    )
    assert done.stdout == "ran\n"
    assert done.stderr.count("\n") == 1
    assert "no rank of torchrun" in done.stderr


ASKS = """\
import sys
import torch
import torch.distributed as dist

dist.init_process_group("gloo")
print(sys.argv[1:], __name__, torch.get_num_threads(), torch.rand(1).item())
"""


def test_ranks_get_arguments_and_seeds_of_their_own(tmp_path):
    runs = _run(ASKS, tmp_path, arguments=("--epochs", "3"))
    texts = [run.tape.stdout for run in runs]
    assert all(text.startswith("['--epochs', '3'] __main__ 1 ") for text in texts)
    assert texts[0] != texts[1]


def test_more_ranks_than_cores_are_said_and_allowed(monkeypatch):
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1}, raising=False)
    assert check_count(2) == ""
    assert check_count(3) == "3 ranks share 2 cores: they run in turns, which changes no number"


def test_a_python_that_cannot_start_ranks_is_one_line(tmp_path, monkeypatch):
    monkeypatch.setattr(ranks.launch, "python_executable", lambda _: "/bin/false")
    tape = _run("pass", tmp_path)[1].tape
    assert tape.status == "died"
    assert tape.error.message.startswith("Rank 1 did not run: ")
    assert "\n" not in tape.error.message
