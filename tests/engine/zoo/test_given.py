"""Files in memory are read like those on the disk."""

import pytest

from engine.zoo import given


@pytest.fixture(autouse=True)
def nothing_given(monkeypatch):
    monkeypatch.setattr(given, "_files", {})


def test_what_was_given_is_read_in_place_of_the_disk(tmp_path):
    path = str(tmp_path / "a.csv")
    given.give(path, "\ufeffä,b\r\n1,2\n".encode())
    with given.open_given(path, newline="", encoding="utf-8-sig") as file:
        assert file.read() == "ä,b\r\n1,2\n"
    with given.open_given(path, "rb") as file:
        assert file.read(3) == b"\xef\xbb\xbf"
    assert given.lines(path) == 2


def test_what_was_not_given_is_on_the_disk(tmp_path):
    file = tmp_path / "b.csv"
    file.write_text("x\ny\n")
    assert given.lines(str(file)) == 2
    with pytest.raises(FileNotFoundError):
        given.open_given(str(tmp_path / "none.csv"))


def test_why_a_file_cannot_be_read_is_given_too():
    given.give("c.csv", b"", "it is a folder")
    with pytest.raises(OSError, match="it is a folder"):
        given.open_given("c.csv")
    given.give("c.csv", b"x\n")
    assert given.lines("c.csv") == 1


def test_only_the_latest_are_kept():
    for number in range(given.MOST + 2):
        given.give(f"{number}.csv", b"x\n")
    assert given.lines("5.csv") == 1
    with pytest.raises(FileNotFoundError):
        given.open_given("1.csv")
