"""Recorded runs are read from the disk, or refused in a line."""

import os

import pytest

from gradscribe.app.files import documents, tape_files
from gradscribe.app.files.documents import Refused
from gradscribe.engine.protocol import tape_file
from gradscribe.engine.protocol.tape import Tape
from gradscribe.engine.protocol.tape_file import RunProgram, RunView

TAPE = Tape(torch="2.9.0", stdout="hello\n")


def write(path, **about):
    program = tape_files.describe(about.pop("source", "x = 1"), "x.py", 5, TAPE)
    path.write_bytes(b"".join(tape_files.encode(program, TAPE, RunView())))
    return path


def test_what_was_written_is_read(tmp_path):
    found = tape_files.read(write(tmp_path / "run.tape"))
    assert found.tape == TAPE
    assert (found.program.title, found.program.seed, found.program.torch) == ("x.py", 5, "2.9.0")
    assert found.trouble == ""


def test_the_name_decides_in_any_case(tmp_path):
    assert tape_files.is_tape(tmp_path / "A.TAPE")
    assert not tape_files.is_tape(tmp_path / "tape.py")


def test_a_missing_a_foreign_and_a_huge_file_are_refused_in_a_line(tmp_path):
    with pytest.raises(Refused, match="cannot be read"):
        tape_files.read(tmp_path / "gone.tape")
    with pytest.raises(Refused, match="folder"):
        tape_files.read(tmp_path)
    wrong = tmp_path / "wrong.tape"
    wrong.write_bytes(b"\x80\x04.")
    with pytest.raises(Refused, match="not a recorded run"):
        tape_files.read(wrong)


def test_a_sparse_file_of_2_gb_is_refused_before_it_is_read(tmp_path):
    huge = write(tmp_path / "huge.tape")
    os.truncate(huge, 2 << 30)
    with pytest.raises(Refused, match="longer than"):
        tape_files.read(huge)


def test_a_program_too_long_for_the_editor_is_refused(tmp_path, monkeypatch):
    long = write(tmp_path / "long.tape", source="x = 1\n" * 1000)
    monkeypatch.setattr(documents, "MAX_PROGRAM_BYTES", 1000)
    with pytest.raises(Refused, match="program is longer"):
        tape_files.read(long)


def test_a_run_that_is_too_long_is_refused(monkeypatch):
    monkeypatch.setattr(tape_file, "MAX_UNPACKED", 10)
    with pytest.raises(Refused, match="cannot be saved"):
        tape_files.encode(RunProgram("x"), TAPE)


def test_the_origin_names_day_torch_and_device():
    program = RunProgram("x", recorded=86_400.0 * 365.25 * 30, torch="2.9.0", device="cpu")
    assert tape_files.origin(program).startswith("Recorded on ")
    assert tape_files.origin(program).endswith(", torch 2.9.0, cpu")
    assert tape_files.origin(RunProgram("x")) == "Recorded, cpu"
