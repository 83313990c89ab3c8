"""The first window: a file that cannot be opened is refused before anything is shown."""

import gc
import sys

import pytest
from PySide6.QtWidgets import QApplication

from gradscribe.app.files.settings import Settings
from gradscribe.app.link import launch
from gradscribe.app.window.startup import (
    SWITCH_INTERVAL_S,
    Opening,
    make_app,
    open_window,
)

pytestmark = pytest.mark.e2e


def test_there_is_one_application(qapp):
    assert make_app(["gradscribe"]) is qapp
    assert qapp.applicationName() == "gradscribe"


def test_a_file_that_is_not_there_is_refused(qapp, tmp_path, capsys):
    assert open_window(Opening(str(tmp_path / "none.py"))) == 2
    assert "none.py" in capsys.readouterr().err


@pytest.fixture
def usual_switch():
    before, thresholds = sys.getswitchinterval(), gc.get_threshold()
    yield before
    sys.setswitchinterval(before)
    gc.set_threshold(*thresholds)
    gc.unfreeze()


def test_threads_that_compute_leave_the_interface_its_turn(
    qapp, tmp_path, monkeypatch, usual_switch
):
    monkeypatch.setattr(Settings, "of_user", classmethod(lambda cls: cls()))
    monkeypatch.setattr("gradscribe.app.window.startup.app_folder", lambda _where: tmp_path)
    monkeypatch.setattr(launch, "python_executable", lambda _interpreter=None: "/bin/false")
    monkeypatch.setattr(QApplication, "exec", lambda _app: 0)
    seen = []
    assert open_window(Opening(), begin=seen.append) == 0
    assert sys.getswitchinterval() == pytest.approx(SWITCH_INTERVAL_S)
    assert usual_switch > SWITCH_INTERVAL_S
    frozen = gc.get_freeze_count()
    assert frozen > 0
    assert gc.get_threshold()[0] == 0
    assert seen[0].workspaces.widgets
    smallest, screen = seen[0].minimumHeight(), seen[0].screen().availableSize().height()
    assert seen[0].height() <= max(smallest, screen)
    assert gc.get_freeze_count() > frozen + 100
    for window in seen:
        window.close()
        window.deleteLater()
