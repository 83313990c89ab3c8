"""Another window: a process of its own, which neither ends with the first nor ends it."""

import os
import signal
import sys
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, QRect, QSize, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from gradscribe.app.cli import main as command_line
from gradscribe.app.cli.exit_codes import REFUSED
from gradscribe.app.files.documents import Refused
from gradscribe.app.files.settings import Settings
from gradscribe.app.link import launch
from gradscribe.app.window import new_window, startup
from gradscribe.app.window.new_window import OFFSET, shifted, start_window
from gradscribe.app.window.startup import Opening
from gradscribe.app.window.startup import open_window as run_window

pytestmark = pytest.mark.qt_log_ignore("This plugin does not support")
linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
SCREEN = QRect(0, 0, 1920, 1080)


def lives(pid):
    """Return whether a process runs; a zombie does not."""
    try:
        status = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False
    return status.rpartition(")")[2].split()[0] != "Z"


def engines_of(pid):
    """Return the child processes of a window: it starts an engine once it was painted."""
    found = set()
    for children in Path(f"/proc/{pid}/task").glob("*/children"):
        found |= set(children.read_text().split())
    return found


def locks_of(pid):
    """Return the session locks that a process has, below the user's data."""
    data = Path(os.environ["XDG_DATA_HOME"])
    found = data.glob("**/sessions/*.session.lock")
    return [path for path in found if path.read_text().split("\n")[0] == str(pid)]


@pytest.fixture
def started(monkeypatch):
    """Note the ids of the windows that are started; end those that still run."""
    pids = []

    def note():
        pids.append(start_window())
        return pids[-1]

    monkeypatch.setattr(new_window, "start_window", note)
    yield pids
    for pid in pids:
        if lives(pid):
            os.kill(pid, signal.SIGKILL)


@linux
def test_ctrl_shift_n_opens_a_window_that_outlives_this_one(settled, qtbot, started):
    settled.show()
    settled.activateWindow()
    qtbot.waitUntil(lambda: QApplication.focusWidget() is not None)
    modifiers = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier
    QTest.keyClick(settled.editor, Qt.Key.Key_N, modifiers)
    (pid,) = started
    assert pid != os.getpid()
    qtbot.waitUntil(lambda: bool(engines_of(pid)), timeout=30_000)
    assert len(locks_of(pid)) == 1
    engines = engines_of(pid)
    settled.close()
    assert lives(pid)
    os.kill(pid, signal.SIGTERM)
    qtbot.waitUntil(lambda: not lives(pid), timeout=30_000)
    assert locks_of(pid) == [], "it was closed as by its own button"
    qtbot.waitUntil(lambda: not any(map(lives, engines)), timeout=30_000)


@linux
def test_closing_the_other_window_leaves_this_one(settled, qtbot, started):
    settled.show()
    settled.menus.perform_by("file.new_window")
    (pid,) = started
    qtbot.waitUntil(lambda: bool(engines_of(pid)), timeout=30_000)
    os.kill(pid, signal.SIGTERM)
    qtbot.waitUntil(lambda: not lives(pid), timeout=30_000)
    assert settled.isVisible()
    source = settled.editor.source()
    QTest.keyClicks(settled.editor, "#")
    assert settled.editor.source() != source


def test_where_python_does_not_start_it_is_said(settled, monkeypatch):
    monkeypatch.setattr(launch, "python_executable", lambda _interpreter=None: "/nowhere/python")
    monkeypatch.setattr(new_window, "start_window", start_window)
    settled.menus.perform_by("file.new_window")
    assert "Another window cannot be opened" in settled.status.message.text()
    with pytest.raises(Refused):
        settled.open_another()


def test_a_further_window_is_empty_and_leaves_the_draft_of_the_first(open_window, tmp_path):
    first = open_window()
    first.editor.insertPlainText("# mine\n")
    first.close()
    other = open_window("", "elsewhere")
    other.open_empty()
    assert other.editor.source() == ""
    again = open_window()
    assert again.editor.source().startswith("# mine\n")


def test_the_other_window_knows_where_this_one_stands(settled):
    settled.show()
    settled.setGeometry(100, 120, 1100, 700)
    settled.open_another()
    stored = Settings(settled.settings._file).shape("window")
    assert stored == settled.saveGeometry()


@pytest.mark.parametrize(
    ("place", "size", "there"),
    [
        ((100, 100), (900, 600), (132, 132)),
        ((0, 0), (1900, 1060), (32, 32)),
        ((900, 400), (1000, 680), (0, 0)),
        ((1900, 100), (900, 600), (0, 0)),
    ],
)
def test_it_stands_where_both_are_seen(place, size, there):
    found = shifted(QPoint(*place), QSize(*size), SCREEN)
    assert found.toTuple() == there
    assert found != QPoint(*place)


def test_a_window_that_is_new_stands_off_the_last(qapp, tmp_path, monkeypatch, qtbot):
    path = tmp_path / "s.ini"
    monkeypatch.setattr(Settings, "of_user", classmethod(lambda cls: cls(path)))
    monkeypatch.setattr(startup, "app_folder", lambda _where: tmp_path)
    monkeypatch.setattr(startup, "start_services", lambda *_: None)
    places, texts = [], []

    def run(app):
        places.append(windows[-1].pos())
        texts.append(windows[-1].editor.source())
        return 0

    windows = []
    monkeypatch.setattr(QApplication, "exec", run)
    for is_new in (False, True):
        run_window(Opening(is_new=is_new), begin=windows.append)
        if not is_new:
            windows[-1].setGeometry(20, 30, 900, 600)
        windows[-1].close()
        windows[-1].deleteLater()
    available = qapp.primaryScreen().availableGeometry()
    size = windows[0].size()
    assert places[1] == shifted(QPoint(20, 30), size, available) != QPoint(20, 30)
    assert texts[0]
    assert texts[1] == ""
    assert QPoint() != OFFSET


@pytest.mark.parametrize("more", [["a.py"], ["--headless"], ["--screenshot", "a.png"]])
def test_new_takes_no_file(more, capsys):
    assert command_line.main(["--new", *more]) == REFUSED
    assert "--new opens an empty program" in capsys.readouterr().err
