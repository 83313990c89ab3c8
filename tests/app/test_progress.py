"""How far somebody is in the lessons."""

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


def test_a_spoilt_file_is_no_progress(qapp):
    settings = Settings()
    for spoilt in ("", "[", '{"a": 3}', '{"a": {"step": "x"}}'):
        settings.put(KEY, spoilt)
        assert Progress(settings).of("a") == Reached()
    Progress(settings).reach("a", 1)
    assert Progress(settings).of("a").step == 1
