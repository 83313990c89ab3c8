"""The language of the window: read from the file, reported where it cannot be shown."""

import errno
from pathlib import Path

import pytest
from PySide6.QtGui import QFontDatabase

from gradscribe.app.runtime import language
from gradscribe.playback import translation


@pytest.fixture(autouse=True)
def _english_again():
    yield
    translation.choose("en")


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("[General]\ntheme=dark\nlanguage=zh_CN\n", "zh_CN"),
        ("[General]\r\nlanguage=zh_CN\r\n", "zh_CN"),
        ("[General]\ntheme=dark\n", ""),
        ("language=@Variant(\0)\n", ""),
        ("", ""),
    ],
)
def test_the_setting_is_read_from_the_file(tmp_path, text, code):
    path = tmp_path / "gradscribe.ini"
    path.write_bytes(text.encode())
    assert language.stored(path) == code


def test_no_file_and_a_folder_in_its_place_are_no_language(tmp_path):
    assert language.stored(tmp_path / "none.ini") == ""
    assert language.stored(tmp_path) == ""


def test_a_language_without_a_translation_is_reported(qapp):
    translation.choose("xx")
    assert "xx" in language.trouble()


def test_a_script_that_no_font_has_is_reported(qapp, monkeypatch):
    translation.choose("zh_CN")
    monkeypatch.setattr(QFontDatabase, "writingSystems", lambda *_: [])
    assert "No font on this system has" in language.trouble()
    translation.choose("en")
    assert language.trouble() == ""


def test_words_of_modules_that_the_command_line_imports_first_follow_the_language():
    from gradscribe.app.files import atomic, file_kinds

    assert atomic.reason(OSError(errno.ENOSPC, "")) == "the disk is full"
    translation.choose("zh_CN")
    assert atomic.reason(OSError(errno.ENOSPC, "")) == "磁盘已满"
    assert file_kinds.foreign_kind(Path("a.png"), b"\x89PNG\r\n\x1a\n" + bytes(8)) == "PNG 图片"
