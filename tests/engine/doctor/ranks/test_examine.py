"""Findings of several ranks: each on its mistake, none on programs that are right."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from gradscribe.engine.doctor.ranks.examine import examine_ranks, rank_finding_kinds
from gradscribe.engine.protocol import tape_file
from gradscribe.engine.protocol.ranks.job import tape_path
from gradscribe.engine.protocol.tape import Collective, Place, Problem, RankInfo, Tape
from tests.engine.doctor.ranks.programs import HEAD, HEALTHY, MORE_SICK, SICK, all_programs

e2e = pytest.mark.e2e
ROOT = Path(__file__).resolve().parents[4]


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    """The tapes of both ranks for each program, all recorded by one start of the ranks."""
    folder = tmp_path_factory.mktemp("ranks")
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2"]
    environment = {
        **os.environ,
        "OMP_NUM_THREADS": "1",
        "PYTHONFAULTHANDLER": "1",
        "GLOO_SOCKET_IFNAME": "lo",
    }
    done = subprocess.run(
        [*command, "-m", "tests.engine.doctor.ranks.driver", str(folder)],
        check=False,
        capture_output=True,
        text=True,
        env=environment,
        cwd=ROOT,
    )
    assert done.returncode == 0, done.stderr

    def tapes(source):
        at = all_programs().index(HEAD + source)
        paths = [tape_path(str(folder / str(at)), rank) for rank in (0, 1)]
        return [tape_file.decode(path.read_bytes()).tape for path in paths]

    return tapes


def _found(recorded, source):
    tapes = recorded(source)
    assert [tape.error for tape in tapes] == [None, None]
    return examine_ranks(tapes, HEAD + source)


@e2e
@pytest.mark.parametrize("kind", SICK)
def test_a_mistake_is_found_alone_and_at_its_line(recorded, kind):
    found = _found(recorded, SICK[kind])
    assert [finding.id for finding in found] == [kind]
    assert found[0].place.line > HEAD.count("\n")


@e2e
@pytest.mark.parametrize("kind", MORE_SICK)
def test_another_form_of_a_mistake_is_found(recorded, kind):
    assert [finding.id for finding in _found(recorded, MORE_SICK[kind])] == [kind]


@e2e
@pytest.mark.parametrize("source", HEALTHY, ids=range(len(HEALTHY)))
def test_programs_that_are_right_have_no_finding(recorded, source):
    assert _found(recorded, source) == ()


@e2e
def test_messages_have_the_numbers_of_the_ranks(recorded):
    (found,) = _found(recorded, SICK["rank-parameters-differ"])
    tapes = recorded(SICK["rank-parameters-differ"])
    ends = []
    for tape in tapes:
        leaf = next(leaf for leaf in tape.leaves if leaf.name == "model.weight")
        kept = next(value.snapshot for value in tape.values if value.id == leaf.value)
        ends.append((tape.snapshots[kept].array().astype(float) ** 2).sum() ** 0.5)
    for end in ends:
        assert f"norm {end:.6g}" in found.message
    assert "They began apart" in found.message


def _call(kind, line, **more):
    return Collective(kind, (0, 1), 0, Place(line, 0, line, 9), **more)


def test_a_rank_that_waits_is_named_with_its_line():
    late = Problem("Timeout", "over")
    waits = Tape(status="timeout", error=late, collectives=(_call("all_reduce", 7, is_done=False),))
    ended = Tape(status="died", rank=RankInfo(1, 2, line=9))
    (found,) = examine_ranks([waits, ended], "x = 1")
    assert (found.id, found.place.line) == ("ranks-wait", 7)
    assert "Rank 0 waited in all_reduce on line 7; rank 1 never reached it" in found.message
    assert "rank 1 was on line 9" in found.message


def test_different_collectives_at_one_place_are_named():
    one, other = (
        Tape(collectives=(_call(kind, line),)) for kind, line in (("all_reduce", 3), ("barrier", 5))
    )
    (found,) = examine_ranks([one, other], "x = 1")
    assert "rank 0 calls all_reduce on line 3, rank 1 calls barrier on line 5" in found.message


def test_a_rank_that_failed_by_itself_is_no_riddle():
    waits = Tape(status="died", collectives=(_call("all_reduce", 7, is_done=False),))
    failed = Tape(status="error", error=Problem("ValueError", "no"))
    assert examine_ranks([waits, failed], "x = 1") == ()


def test_one_rank_has_nobody_to_differ_from():
    assert examine_ranks([Tape()], "x = 1") == ()


def test_each_kind_has_a_program():
    assert {kind.id for kind in rank_finding_kinds()} == {*SICK, "ranks-wait"}
