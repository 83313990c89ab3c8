"""The real engine killed at random moments of recording: each program is answered, none lost."""

import os
import random
import signal

import pytest
from PySide6.QtCore import QTimer

from gradscribe.app.link.client import Link
from gradscribe.engine.protocol import messages
from tests.app.link.test_client import PATIENCE_MS, Heard

pytestmark = pytest.mark.e2e

posix = pytest.mark.skipif(os.name != "posix", reason="signals are POSIX")
SOURCE = """
torch.manual_seed(0)
w = torch.randn(20, 20, requires_grad=True)
for step in range(60):
    loss = (w @ w).tanh().square().mean()
    loss.backward()
    with torch.no_grad():
        w -= 0.1 * w.grad
    w.grad = None
print(step)
"""
LONGEST_MS = 150
"""A kill comes so many milliseconds at most after a program was sent: before, in and after it."""


@pytest.fixture
def heard(qtbot):
    link = Link(spare=True)
    made = Heard(link)
    link.start()
    qtbot.waitUntil(lambda: bool(made.of(messages.Ready)), timeout=PATIENCE_MS)
    yield made
    link.close()
    link.deleteLater()


def strike(link):
    if link.pid():
        os.kill(link.pid(), signal.SIGKILL)


@posix
@pytest.mark.parametrize(
    "kills", [pytest.param(3, id="few"), pytest.param(100, id="many", marks=pytest.mark.slow)]
)
def test_every_program_is_answered_and_the_next_runs(heard, qtbot, kills):
    dice = random.Random(kills)
    link = heard.link
    died = 0
    for _ in range(kills):
        run_id = link.run(SOURCE)
        QTimer.singleShot(dice.randint(0, LONGEST_MS), lambda: strike(link))
        qtbot.waitUntil(lambda run=run_id: heard.tape(run) is not None, timeout=PATIENCE_MS)
        tape = heard.tape(run_id)
        assert tape.status in ("ok", "died")
        died += tape.status == "died"
        # The one that was struck, or struck after it had answered, makes room for a fresh one.
        next_id = link.run("print(6 * 7)")
        qtbot.waitUntil(lambda run=next_id: heard.tape(run) is not None, timeout=PATIENCE_MS)
        if heard.tape(next_id).status == "died":
            next_id = link.run("print(6 * 7)")
            qtbot.waitUntil(lambda run=next_id: heard.tape(run) is not None, timeout=PATIENCE_MS)
        assert heard.tape(next_id).stdout == "42\n"
    if kills > 10:
        assert 0 < died < kills, "kills have to come before the end and after it"
