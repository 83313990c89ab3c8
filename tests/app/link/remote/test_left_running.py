"""An engine over a real ssh server that is left running, gone on with, and ended."""

import pytest

from gradscribe.app.cli import main as command_line
from gradscribe.app.link.remote import ask
from gradscribe.app.training.saving.left_engine import LeftEngineGone, check_left
from gradscribe.app.training.session.link import TrainLink
from gradscribe.engine.protocol import training as messages
from gradscribe.engine.protocol.setup import Part, Setup
from tests.sshd import needs_sshd, serving

pytestmark = [pytest.mark.e2e, needs_sshd]
SETUP = Setup(data=Part("moons", {"n": 60}), optimizer=Part("adam"), batch=16)
PATIENCE_MS = 90_000


@pytest.fixture
def server(tmp_path):
    with serving(tmp_path) as running:
        yield running


def steps_of(heard):
    return [one.step for one in heard if isinstance(one, messages.TrainState)]


@pytest.mark.slow
def test_training_that_is_left_goes_on_and_its_curve_comes_whole(server, qtbot):
    python = ask.ask_machine(server.url()).python
    first, heard = TrainLink(), []
    first.interpreter = python
    first.received.connect(heard.append)
    first.send(messages.Train(1, SETUP, play=True))
    qtbot.waitUntil(lambda: max(steps_of(heard), default=0) > 0, timeout=PATIENCE_MS)
    left, first.leaves = first.far, True
    first.close()
    at = steps_of(heard)[-1]
    check_left(left)
    second, again = TrainLink(), []
    second.received.connect(again.append)
    second.adopt(left, 1)
    second.send(messages.RejoinRun(1))
    qtbot.waitUntil(lambda: bool(steps_of(again)), timeout=PATIENCE_MS)
    assert steps_of(again)[-1] > at
    (begun,) = (one for one in again if isinstance(one, messages.RunStarted))
    assert begun.resumed
    chunk = next(one for one in again if isinstance(one, messages.SeriesChunk))
    assert chunk.steps.array()[0] == 1
    assert second.next_id() == 2
    second.leaves = True
    second.close()
    ask.end_session(python.url, left.session)
    with pytest.raises(LeftEngineGone, match="is gone"):
        check_left(left)
    qtbot.waitUntil(lambda: not server.sessions(), timeout=PATIENCE_MS)
    ask.end_session(python.url, left.session)  # Of one that has ended nothing is said.


def test_files_that_are_sent_are_found_and_gone_afterwards(server, tmp_path, capsys, qtbot):
    project = tmp_path / "project"
    (project / "own").mkdir(parents=True)
    (project / "own" / "net.py").write_text("scale = 2.0")
    (project / "data.csv").write_text("1,2,3")
    script = project / "train.py"
    script.write_text(
        "from pathlib import Path\nimport torch\nfrom own.net import scale\n"
        "text = open('data.csv').read()\n"
        "assert (Path(__file__).parent / 'data.csv').read_text() == text\n"
        "print(sum(map(float, text.split(','))) * scale)\n"
    )
    words = ["record", str(script), "--trust", "--engine", server.url()]
    assert command_line.main([*words, "--send", "data.csv", "--send", "own"]) == 0
    said = capsys.readouterr()
    assert "12.0" in said.out
    assert "3 files" in said.err
    qtbot.waitUntil(lambda: not server.sessions(), timeout=PATIENCE_MS)
