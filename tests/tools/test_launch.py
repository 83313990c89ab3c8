"""`make run`: the window with a screen, the headless twin without one."""

import importlib
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
    assert launch.command("py", {}, screen=True) == ["py", "-m", "app"]


def test_no_screen_gets_the_headless_twin(launch):
    assert launch.command("py", {}, screen=False) == ["py", "-m", "app", "--headless"]


@pytest.mark.parametrize("screen", [True, False])
def test_a_file_is_handed_over_whole(launch, screen):
    words = launch.command("py", {"FILE": "my script's.py"}, screen=screen)
    assert words[-1] == "my script's.py"


def test_without_a_screen_qt_is_told_so_and_the_exit_code_is_handed_on(launch, monkeypatch):
    seen = {}

    def pretend(words, env, check):
        seen.update(env)
        return subprocess.CompletedProcess(words, 3)

    monkeypatch.setattr(launch.subprocess, "run", pretend)
    monkeypatch.setattr(launch.system, "has_screen", lambda: False)
    monkeypatch.delenv("QT_QPA_PLATFORM", raising=False)
    assert launch.main() == 3
    assert seen["QT_QPA_PLATFORM"] == "offscreen"


def test_an_interrupt_is_no_traceback(launch, monkeypatch):
    def interrupt(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(launch.subprocess, "run", interrupt)
    assert launch.main() == 130
