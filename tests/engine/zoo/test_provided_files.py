"""Files in memory are read like those on the disk."""

import pytest

from gradscribe.engine.zoo import provided_files


@pytest.fixture(autouse=True)
def nothing_given(monkeypatch):
    monkeypatch.setattr(provided_files, "_files", {})


def test_what_was_given_is_read_in_place_of_the_disk(tmp_path):
    path = str(tmp_path / "a.csv")
    provided_files.provide(path, "\ufeffä,b\r\n1,2\n".encode())
    with provided_files.open_provided(path, newline="", encoding="utf-8-sig") as file:
        assert file.read() == "ä,b\r\n1,2\n"
    with provided_files.open_provided(path, "rb") as file:
        assert file.read(3) == b"\xef\xbb\xbf"
    assert provided_files.count_line_ends(path) == 2


def test_what_was_not_given_is_on_the_disk(tmp_path):
    file = tmp_path / "b.csv"
    file.write_text("x\ny\n")
    assert provided_files.count_line_ends(str(file)) == 2
    with pytest.raises(FileNotFoundError):
        provided_files.open_provided(str(tmp_path / "none.csv"))


def test_why_a_file_cannot_be_read_is_given_too():
    provided_files.provide("c.csv", b"", "it is a folder")
    with pytest.raises(OSError, match="it is a folder"):
        provided_files.open_provided("c.csv")
    provided_files.provide("c.csv", b"x\n")
    assert provided_files.count_line_ends("c.csv") == 1


def test_only_the_latest_are_kept():
    for number in range(provided_files.MOST + 2):
        provided_files.provide(f"{number}.csv", b"x\n")
    assert provided_files.count_line_ends("5.csv") == 1
    with pytest.raises(FileNotFoundError):
        provided_files.open_provided("1.csv")
