"""Tapes of ranks lie side by side, and find each other by name and run."""

from pathlib import Path

from gradscribe.app.files import documents, tape_files
from gradscribe.app.ranks import rank_files
from gradscribe.engine.protocol.tape import RankInfo, Tape
from gradscribe.engine.protocol.tape_file import RunProgram


def _write(folder: Path, rank: int, world: int = 2, run: str = "a") -> Path:
    path = rank_files.path_of(folder / "run.tape", rank)
    tape = Tape(rank=RankInfo(rank, world, run))
    documents.write_bytes(path, tape_files.encode(RunProgram("x = 1"), tape))
    return path


def _read(path):
    return rank_files.read_all(path, tape_files.read(path))


def test_any_of_them_finds_the_others(tmp_path):
    _write(tmp_path, 0)
    second = _write(tmp_path, 1)
    runs, trouble = _read(second)
    assert ([run.tape.rank.rank for run in runs], trouble) == ([0, 1], "")


def test_one_that_is_missing_is_named(tmp_path):
    first = _write(tmp_path, 0, world=3)
    _write(tmp_path, 2, world=3)
    runs, trouble = _read(first)
    assert [run is not None for run in runs] == [True, False, True]
    assert trouble == "not there or of another run: run.rank1.tape"


def test_those_of_another_run_are_left_out(tmp_path):
    first = _write(tmp_path, 0)
    _write(tmp_path, 1, run="b")
    runs, trouble = _read(first)
    assert (runs[1], trouble) == (None, "not there or of another run: run.rank1.tape")


def test_a_spoilt_one_is_left_out(tmp_path):
    first = _write(tmp_path, 0)
    rank_files.path_of(tmp_path / "run.tape", 1).write_bytes(b"nothing")
    assert _read(first)[0][1] is None


def test_a_renamed_tape_stands_alone(tmp_path):
    path = _write(tmp_path, 0).rename(tmp_path / "other.tape")
    runs, trouble = _read(path)
    assert (len(runs), trouble) == (1, "")
