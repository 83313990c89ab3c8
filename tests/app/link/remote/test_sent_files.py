"""Files next to a script: those that are sent with it, and those that are refused."""

import io
import sys
import zipfile

import pytest

from gradscribe.app.link.interpreters import UnusablePython
from gradscribe.app.link.remote import far_side, sent_files


@pytest.fixture
def script(tmp_path):
    """A project: a script with a table and a module next to it, and what is not to be sent."""
    folder = tmp_path / "project"
    for name in ("train.py", "table.csv", "own/net.py", ".secret", "own/__pycache__/net.pyc"):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name)
    (folder / "venv" / "lib").mkdir(parents=True)
    (folder / "venv" / "pyvenv.cfg").write_text("home = /usr/bin")
    (folder / "venv" / "lib" / "big.py").write_text("")
    return folder / "train.py"


def names(data):
    return sorted(zipfile.ZipFile(io.BytesIO(data)).namelist())


def test_the_script_goes_with_what_is_named(script):
    chosen = sent_files.chosen_files(str(script), ["table.csv"])
    assert names(sent_files.pack(chosen)) == ["table.csv", "train.py"]


def test_a_folder_goes_without_caches_environments_and_hidden_files(script):
    chosen = sent_files.siblings(str(script))
    assert names(sent_files.pack(chosen)) == ["own/net.py", "table.csv", "train.py"]
    assert sent_files.described(chosen).startswith("3 files, ")


def test_a_file_twice_named_goes_once(script):
    chosen = sent_files.chosen_files(str(script), ["own", "own/net.py", "own"])
    assert names(sent_files.pack(chosen)) == ["own/net.py", "train.py"]


@pytest.mark.parametrize(
    ("name", "words"),
    [("none.csv", "There is no none.csv to send"), ("../other.csv", "is not in the folder of")],
)
def test_what_is_not_next_to_the_script_is_refused(script, name, words):
    (script.parent.parent / "other.csv").write_text("")
    with pytest.raises(UnusablePython, match=words):
        sent_files.chosen_files(str(script), [name])


def test_a_script_that_is_no_file_has_nothing_next_to_it(tmp_path):
    with pytest.raises(UnusablePython, match="nothing is next to it"):
        sent_files.chosen_files(str(tmp_path / "none.py"), [])


@pytest.mark.parametrize(("limit", "value"), [("MOST_BYTES", 10), ("MOST_FILES", 1)])
def test_too_much_is_refused_before_it_is_read(script, monkeypatch, limit, value):
    monkeypatch.setattr(sent_files, limit, value)
    with pytest.raises(UnusablePython, match="the most that is sent: name those"):
        sent_files.pack(sent_files.siblings(str(script)))


@pytest.mark.skipif(sys.platform == "win32", reason="links need rights there")
def test_a_link_that_leads_out_of_the_folder_is_not_followed(script, tmp_path):
    (tmp_path / "outside.csv").write_text("")
    (script.parent / "link.csv").symlink_to(tmp_path / "outside.csv")
    assert "link.csv" not in names(sent_files.pack(sent_files.siblings(str(script))))


def test_a_changed_file_has_another_stamp(script):
    chosen = sent_files.chosen_files(str(script), ["table.csv"])
    before = sent_files.stamp(chosen)
    assert sent_files.stamp(chosen) == before != ()
    (script.parent / "table.csv").write_text("more than before")
    assert sent_files.stamp(chosen) != before
    assert sent_files.stamp(()) == ()


def test_the_far_side_unpacks_them_into_the_folder_of_the_session(script, tmp_path, monkeypatch):
    data = sent_files.pack(sent_files.siblings(str(script)))
    said, coming = [], [f"{len(data):012}".encode(), data]
    monkeypatch.setattr(far_side, "say", said.append)
    monkeypatch.setattr(far_side, "read_exactly", lambda size: coming.pop(0)[:size])
    far_side.receive_files(tmp_path, {"sends": True})
    assert said == [{"files": True}]
    assert (tmp_path / "files" / "own" / "net.py").read_text() == "own/net.py"
    far_side.receive_files(tmp_path / "none", {"sends": False})
    assert not (tmp_path / "none").exists()


def test_a_line_that_is_lost_while_they_come_leaves_no_session(tmp_path, monkeypatch):
    def fail(_folder, _config):
        raise EOFError

    monkeypatch.setattr(far_side, "sessions_folder", lambda: tmp_path)
    monkeypatch.setattr(far_side, "receive_files", fail)
    with pytest.raises(EOFError):
        far_side.open_session({"session": "0123", "starts": True})
    assert not list(tmp_path.iterdir())
