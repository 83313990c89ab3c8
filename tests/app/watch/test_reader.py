"""Files of watched loops, read while they grow."""

import os
import sys
from pathlib import Path

import numpy as np
import pytest

from gradscribe.app.files.documents import Refused
from gradscribe.app.watch.reader import WatchReader
from gradscribe.engine.protocol import watch_file
from gradscribe.engine.protocol.watch_file import WatchEvent

EVENTS = [WatchEvent("note", step, "x" * step) for step in range(5)]


def test_each_record_is_read_once_as_soon_as_it_is_whole(tmp_path):
    path = tmp_path / "a.watch"
    path.write_bytes(b"")
    reader, found = WatchReader(path), []
    data = watch_file.MAGIC + b"".join(map(watch_file.encode, EVENTS))
    for byte in data:
        with open(path, "ab") as file:
            file.write(bytes([byte]))
        found += reader.read()
    assert found == EVENTS
    assert reader.read() == []
    reader.close()


def test_a_record_that_is_longer_than_a_read_arrives(tmp_path, monkeypatch):
    monkeypatch.setattr("gradscribe.app.watch.reader.MOST_BYTES", 20)
    path = tmp_path / "a.watch"
    path.write_bytes(watch_file.MAGIC + watch_file.encode(WatchEvent("note", 1, "y" * 500)))
    reader, found = WatchReader(path), []
    for _ in range(60):
        found += reader.read()
    assert [event.text for event in found] == ["y" * 500]
    reader.close()


def test_the_rest_of_a_spoilt_file_is_left_and_that_is_said(tmp_path):
    path = tmp_path / "a.watch"
    data = watch_file.MAGIC + b"".join(map(watch_file.encode, EVENTS[:2]))
    path.write_bytes(data + b"\x05\0\0\0garbage!!!")
    reader = WatchReader(path)
    assert reader.read() == EVENTS[:2]
    assert reader.read() == []
    assert "spoilt" in reader.trouble
    reader.close()


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"hello", "no watched"),
        (b"gradscribe-watch 7\n", "later version"),
        (None, "cannot be read"),
    ],
)
def test_other_files_are_refused_in_a_line(tmp_path, data, words):
    path = tmp_path / "a.watch"
    if data is not None:
        path.write_bytes(data)
    with pytest.raises(Refused, match=words) as refusal:
        WatchReader(path)
    assert "\n" not in str(refusal.value)


@pytest.mark.skipif(sys.platform == "win32", reason="no pipes in folders there")
def test_a_pipe_is_refused_without_waiting_for_a_writer(tmp_path):
    os.mkfifo(tmp_path / "a.watch")
    with pytest.raises(Refused, match="no plain file"):
        WatchReader(tmp_path / "a.watch")


def test_a_file_of_format_1_stays_readable():
    path = Path(__file__).with_name("format_1.watch")
    reader = WatchReader(path)
    header, sample, losses, end = reader.read()
    reader.close()
    assert (header.model, header.optimizer) == ("Linear", "SGD")
    assert header.parameters == (("weight", (1, 2)), ("bias", (1,)))
    # Residuals 0.5 and 1.5 at (1, 2) and (3, 4): gradients 5, 7 and 2.
    norms = np.frombuffer(sample.gradients, "<f4")
    assert norms.tolist() == [np.float32(np.sqrt(5**2 + 7**2)), 2.0]
    assert np.frombuffer(losses.numbers, "<f8")[0] == (0.5**2 + 1.5**2) / 2
    assert np.frombuffer(losses.steps, "<i8").tolist() == [1, 2, 3, 4, 5]
    assert (end.kind, end.step) == ("end", 5)
