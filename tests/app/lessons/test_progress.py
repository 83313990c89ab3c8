"""A learner's progress in the lessons."""

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
    assert again.of("a") == LessonState(3, False, 3)
    assert again.of("b") == LessonState(0, True)


def test_a_lesson_done_stays_done_when_it_is_read_again(qapp):
    progress = LessonProgress(Settings())
    progress.finish("a")
    progress.reach("a", 2)
    assert progress.of("a") == LessonState(2, True, 2)
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


def test_steps_done_stay_done_when_the_reader_goes_back(tmp_path, qapp):
    settings = Settings(tmp_path / "s.ini")
    progress = LessonProgress(settings)
    assert progress.of("a").steps_done(5) == 0
    for step in (0, 1, 2, 3, 2, 1):
        progress.reach("a", step)
    settings.flush()
    again = LessonProgress(Settings(tmp_path / "s.ini")).of("a")
    assert (again.step, again.steps_done(5)) == (1, 3)
    progress.finish("a")
    assert progress.of("a").steps_done(5) == 5


def test_progress_of_an_older_version_counts_the_steps_before(qapp):
    settings = Settings()
    settings.put(KEY, '{"a": {"step": 3, "done": false}}')
    progress = LessonProgress(settings)
    assert progress.of("a").steps_done(5) == 3
    progress.reach("a", 1)
    assert progress.of("a").steps_done(5) == 3
    # The lesson became shorter since.
    assert progress.of("a").steps_done(2) == 2


def test_the_format_of_the_first_version_stays_readable(tmp_path, qapp):
    path = tmp_path / "s.ini"
    path.write_text(
        '[General]\nlessons="{\\"02_making\\":{\\"step\\":4,\\"done\\":true,\\"passed\\":5},'
        '\\"11_graph\\":{\\"step\\":2}}"\n'
    )
    progress = LessonProgress(Settings(path))
    assert progress.of("02_making") == LessonState(4, True, 5)
    assert progress.of("11_graph") == LessonState(2)
