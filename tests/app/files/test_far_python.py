"""A window whose program runs on another machine, over a real ssh server on the loopback."""

import pytest
import torch

from gradscribe.app.commands import run as run_commands
from gradscribe.app.files.documents import Drafts
from gradscribe.app.files.settings import Settings
from gradscribe.app.link.client import Link
from gradscribe.app.window import bars
from gradscribe.app.window.window import Window
from gradscribe.engine.protocol import messages
from tests.app.fakes import FakeDialogs
from tests.app.link.remote.test_cut_lines import GREETING, Cutter
from tests.app.link.remote.test_remote import wait_until
from tests.sshd import needs_sshd, serving

pytestmark = [pytest.mark.e2e, needs_sshd]
PATIENCE_MS = 100_000
SCRIPT = """\
x = torch.linspace(0.0, 1.0, 5, requires_grad=True)
y = (x.sin() * x).sum()
y.backward()
for i in range(40_000):
    print(i)
"""


@pytest.fixture
def server(tmp_path):
    (tmp_path / "far").mkdir()
    with serving(tmp_path / "far") as running:
        yield running
        wait_until(lambda: not running.sessions())


@pytest.fixture
def window(server, qtbot, tmp_path):
    link = Link()
    made = Window(link, Settings(tmp_path / "s.ini"), Drafts(tmp_path / "drafts"))
    made.context.dialogs = FakeDialogs()
    qtbot.addWidget(made)
    yield made
    made.recovery._warned = True
    made.close()
    link.close()


def choices(window):
    return {choice.title: choice for choice in run_commands.python(window.context)}


def has_run(window, printed):
    tape = window.session.result.tape
    return tape is not None and tape.stdout == printed


def test_a_machine_is_chosen_and_the_program_runs_there_over_a_line_that_is_lost(
    window, server, qtbot, tmp_path
):
    heard = []
    window._link.received.connect(heard.append)
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    window.settings.trust(str(script), SCRIPT)
    window.open_first(str(script))
    # The machine is asked over one line; the engine's dies in the middle of the output.
    Cutter(server, tmp_path).set([10**9, GREETING + 30_000])
    window.context.dialogs.answers["machine"] = server.url()
    choices(window)["On another machine…"].run(window.context)
    session = window.session
    qtbot.waitUntil(lambda: session.doc.interpreter is not None, timeout=PATIENCE_MS)
    assert session.doc.interpreter.url == server.url()
    printed = "".join(f"{i}\n" for i in range(40_000))
    qtbot.waitUntil(lambda: has_run(window, printed), timeout=PATIENCE_MS)
    tape = session.result.tape
    assert tape.status == "ok"
    x = torch.linspace(0.0, 1.0, 5, requires_grad=True)
    (x.sin() * x).sum().backward()
    leaf = next(leaf for leaf in tape.leaves if leaf.name == "x")
    assert tape.snapshots[leaf.grad].array().tolist() == x.grad.tolist()
    lines = [message for message in heard if isinstance(message, messages.LineState)]
    assert [line.is_up for line in lines] == [False, True]
    assert len(server.sessions()) == 1
    assert any(title.startswith("far · Python") for title in choices(window))
    assert "far" in bars.engine_line(session.result, session.doc)


def test_a_machine_that_is_not_reached_is_said_and_the_program_stays_here(window, server, qtbot):
    server.write_config(UserKnownHostsFile="none")
    window.open_first()
    window.context.dialogs.answers["machine"] = server.url()
    choices(window)["On another machine…"].run(window.context)
    shown = "far is unknown: connect once with ssh far"
    qtbot.waitUntil(
        lambda: window.notices.notice is not None and shown in window.notices.notice.text,
        timeout=PATIENCE_MS,
    )
    assert window.session.doc.interpreter is None
