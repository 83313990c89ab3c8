"""Devices of other Pythons: asked in turn, and no longer than a while."""

import json
import sys

import pytest
import torch
from PySide6.QtCore import QObject, QProcess

from gradscribe.app.link import device_query
from gradscribe.app.link.device_query import DeviceQuery

pytestmark = [
    pytest.mark.gui,
    pytest.mark.skipif(sys.platform == "win32", reason="the fake Pythons are scripts"),
]


@pytest.fixture
def query(qapp):
    owner = QObject()
    made = DeviceQuery(owner)
    made.answers = {}
    made.answered.connect(made.answers.__setitem__)
    yield made
    made.close()
    assert not any(p.state() for p in made.findChildren(QProcess))
    owner.deleteLater()


def fake(folder, name, lines):
    program = folder / name
    program.write_text(f"#!/bin/sh\n{lines}\n")
    program.chmod(0o755)
    return str(program)


def test_each_is_asked_once_and_its_last_line_counts(query, tmp_path, qtbot):
    names = ["NVIDIA H100", "NVIDIA H100"]
    log = tmp_path / "log"
    talks = fake(tmp_path, "a", f"echo x >> {log}\necho a warning\necho '{json.dumps(names)}'")
    plain = fake(tmp_path, "b", "echo '[]'")
    for path in (talks, plain, talks):
        query.ask(path)
    assert query.is_asking(plain)
    qtbot.waitUntil(lambda: len(query.answers) == 2)
    assert query.answers == {talks: tuple(names), plain: ()}
    assert log.read_text() == "x\n"
    assert not query.is_asking(plain)


@pytest.mark.parametrize("lines", ["exit 1", "echo hello", "echo 7", "echo '[' >&2", "kill -9 $$"])
def test_one_without_an_answer_holds_up_no_other(query, tmp_path, qtbot, lines):
    broken, gone = fake(tmp_path, "a", lines), str(tmp_path / "gone")
    good = fake(tmp_path, "b", "echo '[\"mps\"]'")
    for path in (broken, gone, good):
        query.ask(path)
    qtbot.waitUntil(lambda: len(query.answers) == 3)
    assert query.answers == {broken: None, gone: None, good: ("mps",)}


def test_one_that_hangs_is_ended(query, tmp_path, qtbot, monkeypatch):
    monkeypatch.setattr(device_query, "TIMEOUT_S", 0.05)
    hangs = fake(tmp_path, "a", "exec sleep 600")
    query.ask(hangs)
    qtbot.waitUntil(lambda: query.answers == {hangs: None})


@pytest.mark.e2e
def test_the_program_names_the_devices_of_torch(query, qtbot):
    query.ask(sys.executable)
    qtbot.waitUntil(lambda: sys.executable in query.answers, timeout=60_000)
    count = torch.cuda.device_count()
    names = [torch.cuda.get_device_name(number) for number in range(count)]
    names += ["mps"] * torch.backends.mps.is_available()
    assert query.answers == {sys.executable: tuple(names)}
