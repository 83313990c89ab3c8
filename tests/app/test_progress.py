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


@pytest.mark.parametrize(
    "odd", ['{"step": "x"}', '{"step": 1.5}', '{"step": {"at": 2}, "done": 1}']
)
def test_a_lesson_that_cannot_be_read_takes_no_other_with_it(qapp, odd):
    settings = Settings()
    settings.put(KEY, f'{{"odd": {odd}, "b": {{"step": 4, "done": true}}}}')
    progress = Progress(settings)
    assert progress.of("odd") == Reached()
    assert progress.of("b") == Reached(4, True)
    progress.reach("c", 1)
    assert progress.of("b") == Reached(4, True)
    # A newer version may have written it, and will read it again.
    assert odd in settings.text(KEY)
