"""Ctrl-C and a system that ends its programs close the window, and nothing is lost."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from gradscribe.app.window.shutdown import SIGNALS, ShutdownSignals

ROOT = Path(__file__).resolve().parents[3]
WINDOW = """
import signal
signal.signal(signal.SIGINT, signal.default_int_handler)
from gradscribe.app.window.startup import open_window

def begin(window):
    def type():
        window.editor.insertPlainText("typed_just_now = 1\\n")
        print("typed", flush=True)
    window.painted.connect(type)

raise SystemExit(open_window(begin=begin))
"""
pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no signals to send")


@pytest.fixture
def asked(qapp):
    closed = []
    ending = ShutdownSignals(lambda: closed.append(True))
    yield closed
    ending.stop()


@pytest.mark.parametrize("name", ["SIGTERM", "SIGHUP"])
def test_a_signal_that_asks_to_end_closes_the_window(asked, qtbot, name):
    if signal.getsignal(getattr(signal, name)) == signal.SIG_IGN:
        pytest.skip("ignored for this process, as by nohup")
    os.kill(os.getpid(), getattr(signal, name))
    qtbot.waitUntil(lambda: asked == [True])


def test_afterwards_signals_are_left_to_whom_they_were_left_before(qapp):
    before = [signal.getsignal(getattr(signal, name)) for name in SIGNALS]
    ending = ShutdownSignals(lambda: None)
    assert signal.getsignal(signal.SIGTERM) is not before[1]
    ending.stop()
    ending.stop()
    assert [signal.getsignal(getattr(signal, name)) for name in SIGNALS] == before


def test_one_that_somebody_ignores_stays_ignored(qapp):
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        ending = ShutdownSignals(lambda: None)
        assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
        ending.stop()
    finally:
        signal.signal(signal.SIGHUP, before)


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM"])
def test_what_was_typed_just_before_is_kept(tmp_path, name):
    names = ("HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME")
    home = os.environ | dict.fromkeys(names, str(tmp_path)) | {"QT_QPA_PLATFORM": "offscreen"}
    window = subprocess.Popen(
        [sys.executable, "-c", WINDOW],
        cwd=ROOT,
        env=home,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert window.stdout.readline() == "typed\n"
        window.send_signal(getattr(signal, name))
        _, said = window.communicate(timeout=60)
    finally:
        window.kill()
    assert (window.returncode, said) == (0, "")
    kept = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert any(b"typed_just_now" in path.read_bytes() for path in kept)


def test_a_signal_while_the_window_is_being_made_closes_it_too(tmp_path):
    """The program was killed, and its lock stayed behind."""
    names = ("HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME")
    home = os.environ | dict.fromkeys(names, str(tmp_path)) | {"QT_QPA_PLATFORM": "offscreen"}
    code = (
        "import os, signal\nfrom gradscribe.app.window.startup import open_window\n"
        "raise SystemExit(open_window(begin=lambda _: os.kill(os.getpid(), signal.SIGTERM)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, env=home, capture_output=True, timeout=90
    )
    assert (done.returncode, done.stderr) == (0, b"")
    assert [*tmp_path.rglob("*.session.lock")] == []
