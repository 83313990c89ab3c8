"""`make run`: the window with a screen, the headless twin without one."""

import importlib
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent


@pytest.fixture
def launch(monkeypatch):
    """The module, as `python tools/launch.py` would import it."""
    monkeypatch.syspath_prepend(str(ROOT / "tools"))
    for name in ("system", "launch"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    yield importlib.import_module("launch")
    for name in ("system", "launch"):
        sys.modules.pop(name, None)


def test_a_screen_gets_the_window(launch):
    assert launch.command("py", {}, screen=True) == ["py", "-m", "gradscribe"]


def test_no_screen_gets_the_headless_twin(launch):
    assert launch.command("py", {}, screen=False) == ["py", "-m", "gradscribe", "--headless"]


@pytest.mark.parametrize("screen", [True, False])
def test_a_file_is_handed_over_whole(launch, screen):
    words = launch.command("py", {"FILE": "my script's.py"}, screen=screen)
    assert words[-1] == "my script's.py"


def test_without_a_screen_qt_is_told_so_and_the_exit_code_is_handed_on(launch, monkeypatch):
    told = "import os, sys; sys.exit(3 if os.environ['QT_QPA_PLATFORM'] == 'offscreen' else 4)"
    monkeypatch.setattr(launch, "command", lambda *_: [sys.executable, "-c", told])
    monkeypatch.setattr(launch.system, "has_screen", lambda: False)
    monkeypatch.delenv("QT_QPA_PLATFORM", raising=False)
    assert launch.main() == 3


# Written past Python's buffer: the signal may come before `print` has returned.
PROGRAM = """
import os, signal, sys
def put_away(*_):
    signal.sigtimedwait([], 0.7)
    os.write(1, b"put away\\n")
    sys.exit(5)
signal.signal(signal.SIGINT, put_away)
os.write(1, b"ready\\n")
signal.pause()
"""
LAUNCH = f"""
import signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)
sys.path.insert(0, "tools")
import launch
launch.command = lambda *_: [sys.executable, "-c", {PROGRAM!r}]
sys.exit(launch.main())
"""


@pytest.mark.skipif(sys.platform == "win32", reason="Windows sends no signal to a group")
def test_an_interrupt_waits_for_the_program_to_end_as_it_likes():
    words = [sys.executable, "-c", LAUNCH]
    pipe = subprocess.PIPE
    started = subprocess.Popen(
        words, cwd=ROOT, stdout=pipe, stderr=pipe, text=True, start_new_session=True
    )
    assert started.stdout.readline() == "ready\n"
    os.killpg(started.pid, signal.SIGINT)
    out, said = started.communicate(timeout=30)
    assert (out, said, started.returncode) == ("put away\n", "", 5)
