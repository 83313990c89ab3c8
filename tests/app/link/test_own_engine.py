"""The Python that runs programs for which no other is chosen."""

import sys

import pytest

from gradscribe.app.link import own_engine
from gradscribe.app.link.client import Link
from gradscribe.app.link.interpreters import Interpreter, UnusablePython
from gradscribe.app.link.own_engine import OwnEngine

OTHER = Interpreter(sys.executable, "3.11.7", "2.13.0")


@pytest.fixture(autouse=True)
def apart(monkeypatch, tmp_path):
    """Let this process's Python have no torch, and its user a data folder of their own."""
    monkeypatch.setattr(own_engine, "has_torch", lambda: False)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))


def test_a_python_with_torch_runs_programs_itself(monkeypatch):
    monkeypatch.undo()
    assert own_engine.has_torch()
    assert own_engine.resolve(None) is None
    assert not own_engine.is_missing()


def test_without_torch_the_next_step_is_named():
    with pytest.raises(UnusablePython, match="gradscribe install-torch"):
        own_engine.resolve(None)
    assert own_engine.is_missing()


def test_the_python_of_the_file_runs_programs():
    own_engine.write(OwnEngine(OTHER))
    assert own_engine.resolve(None) == OTHER


def test_a_python_that_was_chosen_for_a_program_comes_first():
    own_engine.write(OwnEngine(OTHER))
    chosen = Interpreter("/elsewhere/python", "3.12.1", "2.9.1")
    assert own_engine.resolve(chosen) == chosen


def test_a_python_that_is_gone_is_named(tmp_path):
    own_engine.write(OwnEngine(Interpreter(str(tmp_path / "python"), "3.11.7", "2.13.0")))
    with pytest.raises(UnusablePython, match=f"gone, {tmp_path / 'python'}"):
        own_engine.resolve(None)


@pytest.mark.parametrize("damage", [b"", b"{", b"\xff\xfe", b'{"python": 1}', b"[" * 100_000])
def test_a_damaged_file_counts_as_none(damage):
    own_engine.write(OwnEngine(OTHER))
    (own_engine.data_folder() / "engine.json").write_bytes(damage)
    assert own_engine.read() is None
    assert own_engine.is_missing()
    own_engine.write(OwnEngine(OTHER))
    assert own_engine.resolve(None) == OTHER


def test_a_data_folder_that_cannot_be_written_is_named(monkeypatch, tmp_path):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "file"))
    with pytest.raises(UnusablePython, match="cannot be written"):
        own_engine.write(OwnEngine(OTHER))


@pytest.mark.gui
def test_an_engine_that_no_python_can_run_is_not_tried_again(qtbot):
    link, said = Link(spare=True), []
    link.died.connect(said.append)
    link.start()
    qtbot.waitUntil(lambda: bool(said))
    link.run("x = 1")
    qtbot.waitUntil(lambda: len(said) > 1)
    assert said == [own_engine.NO_TORCH] * 2
    assert link.pid() == 0
    link.close()
