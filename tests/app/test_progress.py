"""How far somebody is in the lessons."""

import pytest
from PySide6.QtCore import QSettings

from app.progress import KEY, Progress, Reached
from app.settings import Settings


def test_progress_outlives_a_restart(tmp_path, qapp):
    settings = Settings(tmp_path / "s.ini")
    progress = Progress(settings)
    assert progress.of("a") == Reached()
    progress.reach("a", 3)
    progress.finish("b")
    settings.flush()
    again = Progress(Settings(tmp_path / "s.ini"))
    assert again.of("a") == Reached(3, False)
    assert again.of("b") == Reached(0, True)


def test_a_lesson_done_stays_done_when_it_is_read_again(qapp):
    progress = Progress(Settings())
    progress.finish("a")
    progress.reach("a", 2)
    assert progress.of("a") == Reached(2, True)
    progress.forget()
    assert progress.of("a") == Reached()


@pytest.mark.parametrize("spoilt", ["", "[", '{"a": 3}', '{"a": {"step": "x"}}'])
def test_a_spoilt_file_is_no_progress(tmp_path, qapp, spoilt):
    path = tmp_path / "s.ini"
    file = QSettings(str(path), QSettings.Format.IniFormat)
    file.setValue(KEY, spoilt)
    file.sync()
    settings = Settings(path)
    assert Progress(settings).of("a") == Reached()
    Progress(settings).reach("a", 1)
    assert Progress(settings).of("a").step == 1
