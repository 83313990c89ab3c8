"""A settings file that is spoilt is put aside and told of; the program starts whatever is in it."""

import os
import random
import weakref
from pathlib import Path

import pytest

from gradscribe.app.files.settings import MAX_RECENT, Settings
from gradscribe.app.lessons.progress import LessonProgress, LessonState


@pytest.fixture
def file(qapp, tmp_path):
    return tmp_path / "s.ini"


@pytest.mark.parametrize(
    "data",
    [
        # Qt would ask for two gigabytes, and end the program.
        b"[General]\ntheme=@Variant(\\0\\0\\0\\xb\\x7f\\xff\\xff\\xff)\n",
        b"[General]\nrecent=a, @Variant(\\0\\0\\0\\xc\\x7f\\xff\\xff\\xff)\n",
        b"[General]\nspeed=2\n" + bytes(5000),
        b"[General]\ntheme=" + b"x" * (2 << 20) + b"\n",
        b"[[[[\n====\nspeed\n",
    ],
)
def test_a_spoilt_file_is_kept_beside_the_new_one(file, data):
    file.write_bytes(data)
    settings = Settings(file)
    assert settings.text("theme") == "system"
    beside = file.with_name("s.ini.bak")
    assert str(beside) in settings.trouble
    assert beside.read_bytes() == data
    settings.put("theme", "dark")
    settings.flush()
    again = Settings(file)
    assert (again.text("theme"), again.trouble) == ("dark", "")


def test_any_bytes_let_the_program_start(file):
    dice = random.Random(0)
    first = Settings(file)
    for key, value in (("theme", "dark"), ("speed", 2.0), ("lessons", '{"a": {"step": 1}}')):
        first.put(key, value)
    first.flush()
    whole = file.read_bytes()
    for _ in range(200):
        data = bytearray(whole)
        for _ in range(dice.randrange(1, 6)):
            data[dice.randrange(len(data))] = dice.randrange(256)
        del data[dice.randrange(len(data)) :]
        file.write_bytes(data)
        settings = Settings(file)
        settings.text("theme")
        settings.number("speed")
        settings.recent()
        LessonProgress(settings).reach("b", 2)
        assert LessonProgress(settings).of("b").step == 2


def test_settings_that_nobody_holds_are_gone_at_once_whatever_is_still_to_be_written(file):
    settings = Settings(file)
    settings.put("theme", "dark")
    gone = weakref.ref(settings)
    del settings
    # Held by what is to come, they would be destroyed amid an event of their own: a crash of Qt.
    assert gone() is None


def test_progress_that_cannot_be_read_is_kept_beside_and_told_of_once(file):
    file.write_text('[General]\ntheme=dark\nlessons="{\\"a\\": {\\"step\\": 3"\n')
    before = file.read_bytes()
    settings = Settings(file)
    assert settings.trouble.startswith("Your progress in the lessons could not be read")
    assert file.with_name("s.ini.bak").read_bytes() == before
    assert settings.text("theme") == "dark"
    settings.flush()
    assert Settings(file).trouble == ""


def test_progress_in_a_million_brackets_is_none(file):
    file.write_text(f'[General]\nlessons="{"[" * 200_000}"\n')
    assert LessonProgress(Settings(file)).of("a") == LessonState()


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes with a name here")
def test_a_pipe_is_not_waited_for(file):
    os.mkfifo(file)
    settings = Settings(file)
    assert "no plain file" in settings.trouble
    settings.put("theme", "dark")
    assert settings.text("theme") == "dark"


def test_a_path_that_looks_like_one_of_qt_s_words_is_only_a_path(file, tmp_path):
    odd = tmp_path / "@Variant(x).py"
    odd.write_text("x")
    settings = Settings(file)
    settings.add_recent(str(odd))
    settings.flush()
    assert Settings(file).trouble == ""
    assert Settings(file).recent() == (str(odd),)


def test_of_a_list_of_thousands_a_few_recent_files_are_looked_at(file, tmp_path):
    names = [str(tmp_path / f"{number}.py") for number in range(3 * MAX_RECENT)]
    for name in names:
        Path(name).touch()
    file.write_text(f"[General]\nrecent={', '.join(names)}\n")
    assert Settings(file).recent() == tuple(names[:MAX_RECENT])
