"""Settings: what is put is there next time, and nothing unfit gets in."""

import hashlib
import os

import pytest
from PySide6.QtCore import QByteArray

from gradscribe.app.files import settings, settings_file
from gradscribe.app.files.settings import MAX_RECENT, MAX_TRUSTED, SETTINGS, Settings
from gradscribe.app.lessons.progress import LessonProgress
from gradscribe.playback.graph.coloring import MODES


def test_every_row_starts_with_its_default(qapp):
    settings = Settings()
    for row in SETTINGS:
        assert row.accepts(row.default), row.key
        value = {bool: settings.flag, float: settings.number, str: settings.text}[
            type(row.default)
        ](row.key)
        assert value == row.default


def test_what_is_put_is_there_next_time(qapp, tmp_path):
    first = Settings(tmp_path / "s.ini")
    first.put("theme", "dark")
    first.put("speed", 2.5)
    first.put("values", False)
    first.put_shape("window", QByteArray(b"abc\0def"))
    first.flush()
    again = Settings(tmp_path / "s.ini")
    assert again.text("theme") == "dark"
    assert again.number("speed") == 2.5
    assert again.flag("values") is False
    assert again.shape("window") == QByteArray(b"abc\0def")


def test_without_a_file_nothing_is_kept(qapp):
    Settings().put("theme", "dark")
    assert Settings().text("theme") == "system"


@pytest.mark.parametrize(("key", "value"), [("theme", "pink"), ("speed", 99.0), ("values", "yes")])
def test_an_unfit_value_is_refused(qapp, key, value):
    with pytest.raises(ValueError, match=key):
        Settings().put(key, value)


def test_a_spoilt_file_gives_defaults(qapp, tmp_path):
    file = tmp_path / "s.ini"
    file.write_text("[General]\ntheme=pink\nspeed=fast\nvalues=perhaps\nrecent=3\n")
    settings = Settings(file)
    assert settings.text("theme") == "system"
    assert settings.number("speed") == 1.0
    assert settings.flag("values") is True
    assert settings.recent() == ()


def test_a_change_is_told_once(qapp):
    settings, told = Settings(), []
    settings.changed.connect(told.append)
    settings.put("theme", "dark")
    settings.put("theme", "dark")
    assert told == ["theme"]


def test_recent_files_are_newest_first_without_doubles(qapp, tmp_path):
    settings = Settings(tmp_path / "s.ini")
    paths = [tmp_path / f"{n}.py" for n in range(MAX_RECENT + 3)]
    for path in paths:
        path.write_text("")
        settings.add_recent(str(path))
    settings.add_recent(str(paths[-2]))
    settings.flush()
    recent = Settings(tmp_path / "s.ini").recent()
    assert recent[0] == str(paths[-2])
    assert len(recent) == MAX_RECENT == len(set(recent))


def test_files_that_are_gone_are_not_recent(qapp, tmp_path):
    settings = Settings()
    settings.add_recent(str(tmp_path / "gone.py"))
    assert settings.recent() == ()


def test_what_a_killed_window_left_of_its_settings_is_removed(qapp, tmp_path, monkeypatch):
    monkeypatch.setattr(settings, "app_folder", lambda _: tmp_path)
    names = ("gradscribe.ini.aBcDeF", "gradscribe.ini.GHIJKL", "gradscribe.ini.bak", "x.aBcDeF")
    for name in names:
        (tmp_path / name).write_text("[General]\n")
    for name in (*names[:1], *names[2:]):
        os.utime(tmp_path / name, (1, 1))
    chosen = Settings.of_user()
    chosen.put("speed", 2.0)
    chosen.flush()
    assert Settings.of_user().number("speed") == 2.0
    left = {path.name for path in tmp_path.iterdir()}
    assert left == {"gradscribe.ini", "gradscribe.ini.GHIJKL", "gradscribe.ini.bak", "x.aBcDeF"}


def test_choices_that_cannot_be_written_are_told_of_once_and_hold(qtbot, tmp_path):
    # A folder where the file should be: nobody can write that, root included.
    (tmp_path / "s.ini").mkdir()
    chosen = Settings(tmp_path / "s.ini")
    with qtbot.waitSignal(chosen.failed) as told:
        chosen.put("theme", "dark")
    assert str(tmp_path / "s.ini") in told.args[0]
    with qtbot.assertNotEmitted(chosen.failed, wait=20):
        chosen.put("theme", "light")
    assert chosen.text("theme") == "light"


def test_a_file_saved_a_thousand_times_keeps_what_is_known_of_others(qapp, tmp_path):
    settings = Settings(tmp_path / "a.ini")
    settings.trust("/other.py", "x = 1")
    for n in range(MAX_TRUSTED + 50):
        settings.trust("/mine.py", f"x = {n}")
    assert settings.is_trusted("/other.py", "x = 1")
    assert settings.is_trusted("/mine.py", f"x = {MAX_TRUSTED + 49}")
    assert not settings.is_trusted("/mine.py", "x = 0")
    settings.flush()
    assert Settings(tmp_path / "a.ini").is_trusted("/other.py", "x = 1")


def test_what_two_windows_save_is_known_to_the_next(qapp, tmp_path):
    one, other = Settings(tmp_path / "a.ini"), Settings(tmp_path / "a.ini")
    for window, name in ((one, "one"), (other, "other")):
        (tmp_path / f"{name}.py").write_text("x = 1")
        window.trust(f"/{name}.py", "x = 1")
        window.add_recent(str(tmp_path / f"{name}.py"))
        window.flush()
    after = Settings(tmp_path / "a.ini")
    assert after.is_trusted("/one.py", "x = 1")
    assert after.is_trusted("/other.py", "x = 1")
    assert [path.rpartition("/")[2] for path in after.recent()] == ["other.py", "one.py"]


def test_marks_of_earlier_versions_hold(qapp, tmp_path):
    path = tmp_path / "a.ini"
    mark = hashlib.sha256(b"/a.py\0x = 1").hexdigest()
    path.write_text(f"[General]\ntrusted={mark}\n")
    assert Settings(path).is_trusted("/a.py", "x = 1")


def written(chosen, qtbot):
    """Write the settings and wait until what is in the file then has been taken over."""
    chosen.flush()
    qtbot.waitUntil(lambda: not chosen._being_written)


def test_each_window_has_settings_of_its_own(tmp_path, qtbot):
    mode = next(name for name in MODES if name)
    one, other = Settings(tmp_path / "a.ini"), Settings(tmp_path / "a.ini")
    for key, value in (("left", False), ("text", 1.5), ("access", True), ("coloring", mode)):
        other.put(key, value)
    written(other, qtbot)
    one.put("speed", 2.0)
    written(one, qtbot)
    assert one.flag("left") is True, "its program pane is visible, and its menu has to say so"
    assert one.number("text") == 1.0
    assert one.flag("access") is False
    assert one.text("coloring") == ""
    following = Settings(tmp_path / "a.ini")
    assert (following.flag("left"), following.number("speed")) == (False, 2.0)


def test_progress_of_two_windows_adds_up(tmp_path, qtbot):
    LessonProgress(Settings(tmp_path / "a.ini")).finish("zeroth")
    windows = [Settings(tmp_path / "a.ini") for _ in range(2)]
    one, other = map(LessonProgress, windows)
    one.reach("first", 3)
    written(windows[0], qtbot)
    other.finish("second")
    written(windows[1], qtbot)
    one.reach("first", 4)
    written(windows[0], qtbot)
    for each in (Settings(tmp_path / "a.ini"), windows[0]):
        known = LessonProgress(each)
        assert known.of("first").step == 4
        assert known.of("second").done
    other.forget()
    written(windows[1], qtbot)
    assert not LessonProgress(Settings(tmp_path / "a.ini")).of("second").done


def test_a_damaged_entry_of_another_window_stays_as_it_is(tmp_path, qtbot):
    one = Settings(tmp_path / "a.ini")
    settings_file.write(tmp_path / "a.ini", {"lessons": '{"odd": {"step": "x"}}'})
    LessonProgress(one).finish("first")
    written(one, qtbot)
    known = LessonProgress(Settings(tmp_path / "a.ini"))
    assert known.of("first").done
    assert Settings(tmp_path / "a.ini").text("lessons").count("odd") == 1
