"""A spare engine waits beside the first; a strange engine is replaced, whatever it sends."""

import os
import signal
import subprocess
import sys

import pytest
from PySide6.QtCore import QObject

from gradscribe.app.link import client, launch
from gradscribe.app.link.client import Link
from gradscribe.app.link.engine_process import EngineProcess
from gradscribe.engine.protocol import frames
from gradscribe.engine.protocol import messages as protocol_messages
from gradscribe.engine.protocol.tape import Tape
from tests.app import torchless
from tests.app.link.test_client import LOOP, PATIENCE_MS, Heard

pytestmark = pytest.mark.e2e

posix = pytest.mark.skipif(os.name != "posix", reason="signals are POSIX")

PUPPET = """
import os, sys
os.write(1, bytes.fromhex(sys.argv[1]))
os.read(0, 1)
os.write(1, bytes.fromhex(sys.argv[2]))
if sys.argv[3] == "end":
    os._exit(0)
while os.read(0, 1 << 16):
    pass
"""
"""Says it is ready; once it is asked for something it says what it was told to say."""


@pytest.fixture
def no_torch(monkeypatch):
    monkeypatch.setattr(launch, "engine_arguments", torchless.arguments)


@pytest.fixture
def open_link(qtbot):
    """Open a link whose engine is ready, with all it said."""
    opened = []

    def make(**options):
        made = Link(**options)
        opened.append(made)
        heard = Heard(made)
        made.start()
        qtbot.waitUntil(lambda: bool(heard.of(protocol_messages.Ready)), timeout=PATIENCE_MS)
        return heard

    yield make
    for made in opened:
        made.close()
        made.deleteLater()


@pytest.fixture
def pair(open_link, qtbot, monkeypatch, no_torch):
    """A link with a spare that is ready."""
    monkeypatch.setattr(client, "SPARE_MS", 0)
    heard = open_link(spare=True)
    qtbot.waitUntil(lambda: heard.link.spare_pid() > 0, timeout=PATIENCE_MS)
    return heard


def tape_of(qtbot, heard, source, **options):
    run_id = heard.link.run(source, **options)
    qtbot.waitUntil(lambda: heard.tape(run_id) is not None, timeout=PATIENCE_MS)
    return heard.tape(run_id)


@posix
def test_the_spare_takes_the_place_of_an_engine_that_died_and_gets_one_of_its_own(pair, qtbot):
    made, spare = pair.link, pair.link.spare_pid()
    os.kill(made.pid(), signal.SIGKILL)
    qtbot.waitUntil(lambda: len(pair.of(protocol_messages.Ready)) == 2, timeout=PATIENCE_MS)
    assert made.pid() == spare
    assert isinstance(pair.all[-2], str), "that the first one died is told before"
    assert tape_of(qtbot, pair, "print('on')").stdout == "on\n"
    qtbot.waitUntil(lambda: made.spare_pid() not in (0, spare), timeout=PATIENCE_MS)


@posix
def test_a_program_that_kills_its_engine_is_told_before_the_spare_is_ready(pair, qtbot):
    tape = tape_of(qtbot, pair, "import os\nos.abort()")
    assert tape.status == "died"
    assert [type(m) for m in pair.all[-3:]] == [
        str,
        protocol_messages.Recorded,
        protocol_messages.Ready,
    ]


@posix
def test_a_spare_that_is_not_ready_is_not_waited_for(open_link, qtbot, monkeypatch, no_torch):
    monkeypatch.setattr(client, "SPARE_MS", 0)
    heard = open_link(spare=True)
    first = heard.link.pid()

    def spare():
        pids = [one.pid() for one in heard.link.findChildren(EngineProcess)]
        return next((pid for pid in pids if pid not in (0, first)), 0)

    qtbot.waitUntil(lambda: spare() > 0, timeout=PATIENCE_MS)
    stuck = spare()
    os.kill(stuck, signal.SIGSTOP)
    assert heard.link.spare_pid() == 0
    os.kill(first, signal.SIGKILL)
    qtbot.waitUntil(lambda: any(isinstance(one, str) for one in heard.all), timeout=PATIENCE_MS)
    assert tape_of(qtbot, heard, "print(1)").stdout == "1\n"
    assert heard.link.pid() not in (first, stuck)
    # It is the spare still, and takes its place once it is.
    os.kill(stuck, signal.SIGCONT)
    qtbot.waitUntil(lambda: heard.link.spare_pid() == stuck, timeout=PATIENCE_MS)


@posix
def test_a_program_that_waits_when_the_engine_dies_runs_once_in_the_spare(pair, qtbot):
    os.kill(pair.link.pid(), signal.SIGSTOP)
    run_id = pair.link.run("print('once')")
    os.kill(pair.link.pid(), signal.SIGKILL)
    qtbot.waitUntil(lambda: pair.tape(run_id) is not None, timeout=PATIENCE_MS)
    later = tape_of(qtbot, pair, "print('next')")
    assert later.stdout == "next\n"
    assert [m.run_id for m in pair.of(protocol_messages.Started)] == [run_id, run_id + 1]


@posix
def test_a_spare_that_dies_is_replaced_quietly(pair, qtbot):
    spare = pair.link.spare_pid()
    os.kill(spare, signal.SIGKILL)
    qtbot.waitUntil(lambda: pair.link.spare_pid() not in (0, spare), timeout=PATIENCE_MS)
    assert not pair.of(str)


@posix
def test_the_spare_is_lent_once_and_another_takes_its_place(pair, qtbot):
    spare, borrower = pair.link.spare_pid(), QObject()
    lent = pair.link.give_spare(borrower)
    assert (lent.pid(), lent.parent()) == (spare, borrower)
    assert pair.link.give_spare(borrower) is None
    qtbot.waitUntil(lambda: pair.link.spare_pid() not in (0, spare), timeout=PATIENCE_MS)
    os.kill(spare, signal.SIGKILL)
    qtbot.waitUntil(lambda: not lent.pid(), timeout=PATIENCE_MS)
    assert not pair.of(str), "it is none of the link's any more"
    lent.close()


def test_closing_ends_the_spare_too(pair):
    pids = pair.link.pid(), pair.link.spare_pid()
    pair.link.close()
    assert not pair.link.spare_pid()
    if sys.platform == "linux":
        assert not any(os.path.exists(f"/proc/{pid}") for pid in pids)


def test_there_is_no_spare_unless_it_is_asked_for(open_link, monkeypatch, no_torch, qtbot):
    monkeypatch.setattr(client, "SPARE_MS", 0)
    heard = open_link()
    tape_of(qtbot, heard, "print(1)")
    assert len(heard.link.findChildren(EngineProcess)) == 1


def test_there_is_no_spare_where_memory_is_short(open_link, monkeypatch, no_torch, qtbot):
    monkeypatch.setattr(client, "SPARE_MS", 0)
    asked = []
    monkeypatch.setattr(launch, "free_memory", lambda: asked.append(1) or launch.SPARE_BYTES - 1)
    heard = open_link(spare=True)
    qtbot.waitUntil(lambda: bool(asked), timeout=PATIENCE_MS)
    assert len(heard.link.findChildren(EngineProcess)) == 1


@pytest.mark.skipif(sys.platform != "linux", reason="Linux tells a process's children")
def test_recording_without_a_window_starts_no_spare(tmp_path):
    script = tmp_path / "count.py"
    script.write_text(
        "import os\nparent = f'/proc/{os.getppid()}/task/{os.getppid()}/children'\n"
        "print(len(open(parent).read().split()), open('/proc/self/cmdline').read().split('\\0'))\n"
    )
    done = subprocess.run(
        [sys.executable, "-m", "gradscribe", "record", "--trust", str(script)],
        capture_output=True,
        text=True,
        check=True,
        env=launch.environment(),
    )
    assert done.stdout.startswith("1 [")
    assert launch.SPARE not in done.stdout.splitlines()[0]


@posix
def test_with_torch_the_spare_gives_the_next_answer(open_link, qtbot, monkeypatch):
    monkeypatch.setattr(client, "SPARE_MS", 0)
    heard = open_link(spare=True)
    # A spare starts at a low priority, and imports torch.
    qtbot.waitUntil(lambda: heard.link.spare_pid() > 0, timeout=3 * PATIENCE_MS)
    spare = heard.link.spare_pid()
    os.kill(heard.link.pid(), signal.SIGKILL)
    tape = tape_of(qtbot, heard, "x = param(2.0)\nx.backward()")
    assert heard.link.pid() == spare
    assert tape.status == "ok"


def test_an_engine_that_a_program_has_spent_is_replaced_without_a_word(open_link, qtbot):
    heard = open_link()
    pid = heard.link.pid()
    source = "import threading\ndef f():\n    while True: pass\n"
    tape = tape_of(qtbot, heard, source + "threading.Thread(target=f, daemon=True).start()")
    assert tape.status == "ok"
    assert tape_of(qtbot, heard, "print(1)").stdout == "1\n"
    assert heard.link.pid() != pid
    assert not heard.of(str)


@posix
def test_an_engine_that_does_not_answer_is_replaced(open_link, qtbot, monkeypatch, no_torch):
    monkeypatch.setattr(client, "START_S", 0.2)
    heard = open_link()
    os.kill(heard.link.pid(), signal.SIGSTOP)
    monkeypatch.setattr(client, "START_S", 60)
    heard.link.run(LOOP)
    monkeypatch.setattr(client, "START_S", 0.2)
    assert tape_of(qtbot, heard, "print('moved on')").stdout == "moved on\n"
    assert "does not answer" in heard.of(str)[0]


@posix
def test_a_stop_before_the_program_began_kills_nothing(open_link, qtbot, no_torch):
    heard = open_link()
    pid = heard.link.pid()
    os.kill(pid, signal.SIGSTOP)
    run_id = heard.link.run(LOOP)
    heard.link.stop()
    assert heard.tape(run_id).error.type == "Stopped"
    os.kill(pid, signal.SIGCONT)
    assert tape_of(qtbot, heard, "print('next')").stdout == "next\n"
    assert heard.link.pid() == pid
    assert not heard.of(str)


def raw(*messages):
    return b"".join(frame for message in messages for frame in frames.encode_frames(message))


BEGUN = raw(protocol_messages.Started(1))
STRANGE = {
    "half a frame": BEGUN + raw(protocol_messages.Ended(1))[:-3],
    "a wrong tag": BEGUN + b"\0\0\0\x0c\0\x81\xa4type\xa5Quits",
    "no frame": BEGUN + b"<html>404</html>",
    "a giant length": BEGUN + b"\xff\xff\xff\xff\0",
    "parts without end": BEGUN + (b"\0\x10\0\0\1" + bytes(1 << 20)) * 20,
    "a request": BEGUN + raw(protocol_messages.Stop(1)),
    "a flood": BEGUN + raw(protocol_messages.Printed(1, "x" * 500_000)) * 10,
    "another program's tape": BEGUN + raw(protocol_messages.Recorded(7, Tape(stdout="no"), 0.0)),
    "another program's end": BEGUN
    + raw(protocol_messages.Ended(7), protocol_messages.Checked(7, 0, 0, 0, 0, 0, True)),
    "ready twice": BEGUN + raw(protocol_messages.Ready("none", "3", ("cpu",), 1)),
    "nothing": b"",
}


@pytest.mark.parametrize("end", ["end", "stay"])
@pytest.mark.parametrize("strange", STRANGE)
def test_whatever_an_engine_sends_the_next_program_runs(
    open_link, qtbot, monkeypatch, tmp_path, strange, end
):
    script = tmp_path / "puppet.py"
    script.write_text(PUPPET.replace("sys.argv[2]", f"open({str(tmp_path / 'said')!r}).read()"))
    (tmp_path / "said").write_text(STRANGE[strange].hex())
    hello = raw(protocol_messages.Ready("none", "3", ("cpu",), 1)).hex()
    engines = iter([["-u", str(script), hello, "", end]])
    monkeypatch.setattr(
        launch, "engine_arguments", lambda: next(engines, None) or torchless.arguments()
    )
    heard = open_link()
    with monkeypatch.context() as impatient:
        impatient.setattr(launch, "GRACE_S", 0.1)
        impatient.setattr(launch, "FREEZE_S", 0.2)
        impatient.setattr(client, "START_S", 0.3)
        first = heard.link.run("print('first')", timeout=0.2)
        qtbot.waitUntil(lambda: heard.tape(first) is not None, timeout=PATIENCE_MS)
    assert heard.tape(first).status in ("died", "timeout") or heard.tape(first).stdout == "first\n"
    assert heard.tape(first).stdout != "no"
    assert tape_of(qtbot, heard, "print('second')").stdout == "second\n"


def test_nothing_is_heard_of_an_engine_once_the_link_is_closed(open_link, qtbot, no_torch):
    heard = open_link()
    heard.link.run("for i in range(1000): print(i)")
    qtbot.waitUntil(lambda: bool(heard.of(protocol_messages.Started)), timeout=PATIENCE_MS)
    said = len(heard.all)
    heard.link.close()
    qtbot.waitUntil(lambda: not heard.link.findChildren(EngineProcess), timeout=PATIENCE_MS)
    assert len(heard.all) == said


def test_half_a_surrogate_pair_can_be_run(open_link, qtbot, no_torch):
    heard = open_link()
    assert tape_of(qtbot, heard, "print('\ud800')").stdout == "?\n"
