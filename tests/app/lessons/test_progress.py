"""How far somebody is in the lessons."""

import pytest
from PySide6.QtCore import QSettings

from gradscribe.app.files.settings import Settings
from gradscribe.app.lessons.progress import KEY, LessonProgress, LessonState


def test_progress_outlives_a_restart(tmp_path, qapp):
    settings = Settings(tmp_path / "s.ini")
    progress = LessonProgress(settings)
    assert progress.of("a") == LessonState()
    progress.reach("a", 3)
    progress.finish("b")
    settings.flush()
    again = LessonProgress(Settings(tmp_path / "s.ini"))
    assert again.of("a") == LessonState(3, False)
    assert again.of("b") == LessonState(0, True)


def test_a_lesson_done_stays_done_when_it_is_read_again(qapp):
    progress = LessonProgress(Settings())
    progress.finish("a")
    progress.reach("a", 2)
    assert progress.of("a") == LessonState(2, True)
    progress.forget()
    assert progress.of("a") == LessonState()


@pytest.mark.parametrize("spoilt", ["", "[", '{"a": 3}', '{"a": {"step": "x"}}'])
def test_a_spoilt_file_is_no_progress(tmp_path, qapp, spoilt):
    path = tmp_path / "s.ini"
    file = QSettings(str(path), QSettings.Format.IniFormat)
    file.setValue(KEY, spoilt)
    file.sync()
    settings = Settings(path)
    assert LessonProgress(settings).of("a") == LessonState()
    LessonProgress(settings).reach("a", 1)
    assert LessonProgress(settings).of("a").step == 1


@pytest.mark.parametrize(
    "odd", ['{"step": "x"}', '{"step": 1.5}', '{"step": {"at": 2}, "done": 1}']
)
def test_a_lesson_that_cannot_be_read_takes_no_other_with_it(qapp, odd):
    settings = Settings()
    settings.put(KEY, f'{{"odd": {odd}, "b": {{"step": 4, "done": true}}}}')
    progress = LessonProgress(settings)
    assert progress.of("odd") == LessonState()
    assert progress.of("b") == LessonState(4, True)
    progress.reach("c", 1)
    assert progress.of("b") == LessonState(4, True)
    # A newer version may have written it, and will read it again.
    assert odd in settings.text(KEY)
