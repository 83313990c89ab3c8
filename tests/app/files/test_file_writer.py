"""Files written beside the interface: wholly or not at all, and it is told which."""

import threading

import pytest

from gradscribe.app.files.documents import Refused
from gradscribe.app.files.file_writer import FileWriter


@pytest.fixture
def writing(qapp):
    made = FileWriter()
    made.heard = []
    made.said.connect(made.heard.append)
    yield made
    made.finish()


def test_a_file_is_there_before_it_is_said_to_be(writing, qtbot, tmp_path):
    path, seen = tmp_path / "a", []
    writing.write(path, lambda: [b"one ", b"two"], lambda: seen.append(path.read_bytes()))
    assert not seen
    qtbot.waitUntil(lambda: bool(seen))
    assert seen == [b"one two"]
    assert not writing.heard


def test_files_are_written_in_their_order(writing, tmp_path):
    path, gate = tmp_path / "a", threading.Event()

    def slow():
        gate.wait(20)
        return [b"first"]

    writing.write(path, slow, lambda: None)
    writing.write(path, lambda: [b"second"], lambda: None)
    gate.set()
    assert writing.finish()
    assert path.read_bytes() == b"second"


def refuse():
    raise Refused("There is no such thing")


def swell():
    raise MemoryError


@pytest.mark.parametrize(
    ("make", "words"),
    [(refuse, "There is no such thing"), (swell, "a takes more memory than there is")],
)
def test_what_cannot_be_made_is_said_and_the_file_stays(writing, tmp_path, make, words):
    path, seen = tmp_path / "a", []
    path.write_bytes(b"before")
    writing.write(path, make, lambda: seen.append("written"))
    assert not writing.finish()
    assert writing.heard[0].startswith(words)
    assert path.read_bytes() == b"before"
    assert not seen
    # It was told, and is over.
    assert writing.finish()


def test_a_folder_that_is_not_there_is_said(writing, tmp_path):
    writing.write(tmp_path / "no" / "a", lambda: [b"x"], lambda: None)
    assert not writing.finish()
    assert "its folder does not exist" in writing.heard[0]
