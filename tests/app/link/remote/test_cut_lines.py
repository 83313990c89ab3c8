"""A line that is cut: at fifty random bytes, and for a while, in which the engine goes on."""

import random
import sys
import threading

import pytest

from gradscribe.app.cli import record, train
from gradscribe.app.link.remote import ask
from gradscribe.engine.protocol import messages, setup
from gradscribe.engine.protocol.structs import replace
from tests import cutter
from tests.app.link.remote.test_remote import wait_until
from tests.sshd import needs_sshd, serving

pytestmark = [pytest.mark.e2e, needs_sshd, pytest.mark.timeout(500, func_only=True)]
CUTS = 50
GREETING = 16_000
"""Bytes of a login and a greeting, about."""
LOOP = """\
import torch
x = torch.linspace(0.0, 1.0, 200, requires_grad=True)
for i in range(400):
    y = (x * x).sin().cumsum(0)
    y.sum().backward()
    print(i, y.sum().item())
"""
SLOW = """\
import torch, time, pathlib
for i in range(100_000):
    pathlib.Path(PLACE).write_text(str(i))
    print(i)
    if pathlib.Path(PLACE + ".end").exists():
        break
    time.sleep(0.01)
"""


class Cutter:
    """Lines of the server that die after given numbers of bytes."""

    def __init__(self, server, folder):
        self._budgets, self._log = folder / "budgets", folder / "log"
        self._log.write_text("")
        self.set([])
        words = (sys.executable, cutter.__file__, server.port, self._budgets, self._log)
        server.write_config(ProxyCommand=" ".join(map(str, words)))

    def set(self, budgets):
        self._budgets.write_text(" ".join(map(str, budgets)))

    def cuts(self):
        """Return the numbers of bytes after which lines were cut."""
        lines = [line.split() for line in self._log.read_text().splitlines()]
        return [int(total) for total, was_cut in lines if was_cut == "1"]

    def left(self):
        return self._budgets.read_text().split()


@pytest.fixture
def server(tmp_path):
    with serving(tmp_path) as running:
        yield running


def numbers(seed):
    """Return bytes after which lines die: most when they carry frames, some in the greeting."""
    chance = random.Random(seed)
    cuts = [GREETING + chance.randrange(40_000) for _ in range(CUTS - 5)]
    cuts += [4_000 + chance.randrange(GREETING - 4_000) for _ in range(5)]
    chance.shuffle(cuts)
    # The first line has to start the engine before it may die.
    return [GREETING + 1, *cuts[1:]]


@pytest.mark.slow
def test_a_recording_over_lines_cut_at_fifty_random_bytes_is_the_same(server, tmp_path, capsys):
    python = ask.ask_machine(server.url()).python
    here = record.record_source(LOOP)
    lines = Cutter(server, tmp_path)
    lines.set(numbers(1))
    printed = []
    far = record.record_source(LOOP, interpreter=python, printed=printed.append)
    assert len(lines.cuts()) == CUTS
    assert lines.left() == []
    assert replace(far, times=here.times) == here
    assert "".join(printed) == here.stdout
    err = capsys.readouterr().err
    assert "gradscribe: line lost, trying again (far hung up" in err
    assert "gradscribe: far is there again" in err
    wait_until(lambda: not server.sessions())


def test_training_over_lines_that_are_cut_is_the_same(server, tmp_path):
    asked = setup.parse({"data": "circle", "steps": 3000, "seed": 3})
    python = ask.ask_machine(server.url()).python
    here = train.run(asked)
    lines = Cutter(server, tmp_path)
    chance = random.Random(2)
    lines.set([GREETING + chance.randrange(9_000) for _ in range(6)])
    far = train.run(asked, interpreter=python)
    assert len(lines.cuts()) >= 3
    assert {name: curve.tobytes() for name, curve in far.curves.items()} == {
        name: curve.tobytes() for name, curve in here.curves.items()
    }
    assert far.views["weights"].arrays["flat"] == here.views["weights"].arrays["flat"]


def test_the_engine_goes_on_without_a_line_and_what_it_did_is_shown_afterwards(
    server, tmp_path, capsys
):
    python = ask.ask_machine(server.url()).python
    place = tmp_path / "place"
    lines = Cutter(server, tmp_path)
    lines.set([GREETING + 5_000])
    seen = []

    def wait_and_go_on():
        wait_until(lines.cuts)
        at = int(place.read_text() or 0)
        wait_until(lambda: int(place.read_text() or 0) > at + 20)
        seen.append(at)
        place.with_suffix(".end").touch()
        server.start()

    with record.BlockingEngine(is_open=True, interpreter=python) as engine:
        assert isinstance(engine.wait_ready(), messages.Ready)
        server.stop()  # The line that is there stays until it is cut; there is no other.
        other = threading.Thread(target=wait_and_go_on)
        other.start()
        run = messages.Run(1, SLOW.replace("PLACE", repr(str(place))), timeout=100.0)
        tape = engine.record(run, None)
        other.join()
    assert seen
    assert tape.status == "ok"
    assert tape.stdout.splitlines() == [str(i) for i in range(int(place.read_text()) + 1)]
    assert "trying again" in capsys.readouterr().err
