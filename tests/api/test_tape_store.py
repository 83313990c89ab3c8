"""Runs that are saved and read back have the numbers of plain torch."""

import subprocess
import sys

import pytest
import torch

import gradscribe as gs


@pytest.fixture
def saved(tmp_path):
    """Return a file of a run, in a folder with a blank and letters beyond ASCII."""
    torch.manual_seed(0)
    with gs.record() as tape:
        w = torch.tensor([1.0, 2.0], requires_grad=True)
        h = w.square()
        h.sum().backward()
    folder = tmp_path / "läufe 1"
    folder.mkdir()
    tape.save(folder / "run.tape")
    return folder / "run.tape", tape


def test_a_loaded_run_is_the_one_that_was_saved(saved):
    path, tape = saved
    again = gs.load(path)
    w = torch.tensor([1.0, 2.0], requires_grad=True)
    w.square().sum().backward()
    assert again["w"].grad.tolist() == w.grad.tolist() == [2.0, 4.0]
    assert again["h"].value.tolist() == [1.0, 4.0]
    assert again.names == tape.names
    assert [op.name for op in again.ops] == [op.name for op in tape.ops]
    assert again.findings == tape.findings
    assert again.source == tape.source
    assert again.to_svg() == tape.to_svg()
    assert gs.compare(tape, again) == ()


def test_findings_travel(tmp_path):
    with gs.record() as tape:
        w = torch.ones(3, requires_grad=True)
        for _ in range(4):
            loss = (w * 2).sum()
            loss.backward()
            with torch.no_grad():
                w -= 0.1 * w.grad
    assert tape.findings
    tape.save(tmp_path / "a.tape")
    assert [f.id for f in gs.load(tmp_path / "a.tape").findings] == [f.id for f in tape.findings]


def test_loading_needs_neither_torch_nor_qt(saved):
    path, _ = saved
    code = (
        "import sys, gradscribe as gs; tape = gs.load(sys.argv[1]); "
        "print(tape['w'].grad.tolist(), {'torch', 'PySide6'} & set(sys.modules))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(path)], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[2.0, 4.0] set()"


def test_a_file_that_is_none_is_refused_in_words(tmp_path):
    path = tmp_path / "no.tape"
    path.write_text("nothing of the kind")
    with pytest.raises(ValueError, match="cannot be opened"):
        gs.load(path)
    with pytest.raises(ValueError, match="cannot be read"):
        gs.load(tmp_path / "missing.tape")


def test_a_cut_file_is_read_as_far_as_it_is_whole_with_a_warning(saved):
    path, _ = saved
    data = path.read_bytes()
    path.write_bytes(data[: len(data) * 2 // 3])
    with pytest.warns(UserWarning, match="run.tape"):
        gs.load(path)


def test_a_folder_that_is_not_there_is_said(saved, tmp_path):
    _, tape = saved
    with pytest.raises(ValueError, match="cannot be written"):
        tape.save(tmp_path / "nowhere" / "run.tape")


def test_a_recording_that_has_not_ended_is_not_saved(tmp_path):
    with gs.record() as tape, pytest.raises(gs.RecordingError, match="has not ended"):
        tape.save(tmp_path / "a.tape")
    assert not (tmp_path / "a.tape").exists()
