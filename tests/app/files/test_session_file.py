"""A window's session is read as it was written."""

import json
import os
from pathlib import Path

import msgspec
import pytest
from msgspec.structs import replace

from gradscribe.app.document.state import Doc, View
from gradscribe.app.files import checksummed, session_file
from gradscribe.app.files.checksummed import DamagedFile
from gradscribe.app.files.session_file import SessionData
from gradscribe.widgets.editor.edit_history import EditStep

WORK = SessionData(
    doc=Doc("x = 2\n🙂", "x = 1\n", "/a/b.py", "b.py", 7, "cpu", frozenset({"net", "net.0"})),
    view=View(position=12, selection="op3", shapes=True),
    steps=(EditStep(4, "1", "2"), EditStep(6, "", "🙂")),
    done=2,
    caret=(3, 5),
    scroll=(0, 40),
    when=1234.5,
)


def test_what_is_kept_is_read(tmp_path):
    path = tmp_path / "a.session"
    path.write_bytes(session_file.encode(WORK))
    assert session_file.read(path) == WORK


def test_a_history_that_does_not_fit_is_forgotten_and_the_text_stays():
    for wrong in (
        replace(WORK, done=3),
        replace(WORK, done=-1),
        replace(WORK, steps=(EditStep(99, "1", "2"),), done=1),
        replace(WORK, steps=(EditStep(-1, "", "2"),), done=1),
    ):
        read = session_file.decode(session_file.encode(wrong))
        assert (read.doc, read.steps, read.done) == (WORK.doc, (), 0)


def test_a_file_that_no_system_has_is_forgotten_and_the_text_stays():
    read = session_file.decode(
        session_file.encode(replace(WORK, doc=replace(WORK.doc, path="/a\0b.py")))
    )
    assert read == replace(WORK, doc=replace(WORK.doc, path=""))


@pytest.mark.parametrize(
    "wrong",
    [
        {"when": 1e300},
        {"caret": (2**40, 0)},
        {"scroll": (0, -1)},
        {"view": View(position=2**70, selection="op3", shapes=True)},
    ],
    ids=lambda wrong: next(iter(wrong)),
)
def test_numbers_that_no_window_has_are_forgotten_and_the_text_stays(wrong):
    payload = json.loads(bytes(checksummed.unwrap(session_file.encode(WORK))))
    payload |= msgspec.to_builtins(wrong)
    read = session_file.decode(checksummed.wrap(json.dumps(payload).encode()))
    assert (read.doc, read.steps, read.done) == (WORK.doc, WORK.steps, WORK.done)
    assert (read.caret, read.scroll, read.when, read.view.position) == ((0, 0), (0, 0), 0.0, 0)
    assert read.view.selection == WORK.view.selection


def test_a_seed_that_no_message_can_carry_is_forgotten():
    wrong = replace(WORK, doc=replace(WORK.doc, seed=2**70))
    read = session_file.decode(checksummed.wrap(json.dumps(msgspec.to_builtins(wrong)).encode()))
    assert read == replace(WORK, doc=replace(WORK.doc, seed=0))


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes with names here")
def test_nobody_waits_for_a_pipe_in_the_place_of_a_file(tmp_path):
    path = tmp_path / "a.session"
    os.mkfifo(path)
    with pytest.raises(DamagedFile, match="no plain file"):
        session_file.read(path)


def test_half_a_surrogate_pair_does_not_keep_the_rest_from_being_kept():
    work = session_file.decode(session_file.encode(replace(WORK, doc=Doc("a = '\ud800'"))))
    assert work.doc.source == "a = '?'"


@pytest.mark.parametrize("payload", [b"", b"[]", b"{}", b'{"doc": 1}', b"\xff", b"[" * 100_000])
def test_a_whole_envelope_with_something_else_in_it_is_damaged(payload):
    with pytest.raises(DamagedFile):
        session_file.decode(checksummed.wrap(payload))


def test_fields_of_later_versions_are_passed_over():
    fields = json.loads(bytes(checksummed.unwrap(session_file.encode(WORK)))) | {"later": 1}
    assert session_file.decode(checksummed.wrap(json.dumps(fields).encode())) == WORK


def test_a_file_of_any_length_is_not_read_whole(tmp_path):
    path = tmp_path / "a.session"
    with path.open("wb") as file:
        file.truncate(session_file.MAX_BYTES + 1)
    with pytest.raises(DamagedFile, match="too long"):
        session_file.read(path)


def test_a_file_of_format_1_stays_readable():
    found = session_file.read(Path(__file__).with_name("format_1.session"))
    assert found.doc.source == "x = param(2.0)\ny = x * x\ny.backward()\n"
    assert found.doc.saved == "x = param(1.0)\n"
    assert (found.doc.title, found.doc.seed) == ("square.py", 7)
    assert (found.view.position, found.view.selection, found.view.breakpoints) == (4, "v1", (2,))
    assert (found.caret, found.when) == ((3, 3), 1.7e9)
