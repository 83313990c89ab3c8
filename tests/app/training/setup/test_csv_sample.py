"""A table's file, whole or in part: what is trained on is the same."""

import os

import pytest

from gradscribe.app.training.setup import csv_sample
from gradscribe.engine.zoo.tables.loaded import LoadedTable


@pytest.fixture
def small_limits(monkeypatch):
    """A few hundred bytes are a long file."""
    monkeypatch.setattr(csv_sample, "MOST_UNSAMPLED", 200)
    monkeypatch.setattr(csv_sample, "PREVIEW_LINES", 20)
    monkeypatch.setattr(csv_sample, "CHUNK", 97)


def rows_of(path, limit, provided=None):
    """Names, and rows with their numbers, of a file or of what was provided of it."""
    files = {}
    if provided is not None:
        assert provided.problem == ""
        files = {str(path): (provided.data, provided.sample)}
    table = LoadedTable(str(path), {"limit": limit, "header": True}, files)
    return table.names, [*table.frame.fillna("").itertuples(name=None)]


TEXTS = {
    "plain": "a,b\n" + "".join(f"{i},{2 * i}\n" for i in range(500)),
    "without a last line end": "a,b\n" + "\n".join(f"{i},{2 * i}" for i in range(333)),
    "line ends of Windows": "a;b\r\n" + "".join(f"{i},5;{i}\r\n" for i in range(400)),
    "mark of byte order, blank lines above": "\ufeff\n\nä,b\n"
    + "".join(f"{i},ö{i}\n" for i in range(300)),
    "UTF-16": "a;ü\n" + "".join(f"{i};{2 * i}\n" for i in range(900)),
    "comments above": "# a note, of two\n# more\na,b\n" + "".join(f"{i},{i}\n" for i in range(300)),
    "spaces": "a  b\n" + "".join(f" {i}   {i}\n" for i in range(300)),
    "a header of two lines": '"a\nlong name",b\n' + "".join(f"{i},{i}\n" for i in range(300)),
}


@pytest.mark.parametrize("limit", [1, 7, 100, 299, 10_000])
@pytest.mark.parametrize("kind", list(TEXTS))
def test_the_rows_of_a_part_are_those_of_the_file(tmp_path, small_limits, kind, limit):
    path = tmp_path / "t.csv"
    path.write_bytes(TEXTS[kind].encode("utf-16" if kind == "UTF-16" else "utf-8"))
    of_file = rows_of(path, limit)
    found = csv_sample.read_file(str(path), limit)
    assert rows_of(path, limit, found) == of_file
    assert len(of_file[1]) <= limit + 1
    if limit == 1:
        assert len(found.data) < len(TEXTS[kind])


@pytest.mark.parametrize("place", [30, 31, 200, 399])
@pytest.mark.parametrize("limit", [10, 150])
@pytest.mark.parametrize("cell", ['"open', '"two ""marks""', '""" open'])
def test_a_quotation_that_is_not_closed_is_told_of_wherever_it_is(
    tmp_path, small_limits, monkeypatch, place, limit, cell
):
    """Every row is read by whoever reads the whole file: it swallows the rest of it."""
    lines = [f'{i},"a ""{i}"", {i}"\n' for i in range(400)]
    lines[place] = f"{place},{cell}\n"
    path = tmp_path / "t.csv"
    path.write_text("a,b\n" + "".join(lines))
    words = f"row {place + 2} opens a quotation and does not close it"
    with pytest.raises(ValueError, match=words):
        rows_of(path, limit)
    assert words in csv_sample.read_file(str(path), limit).problem


def test_marks_that_open_no_quotation_are_taken_as_they_are(tmp_path, small_limits, monkeypatch):
    lines = [f'{i},5" by 7,"a, b"\n' if i % 2 else f'{i},"5"" by 7",x"\n' for i in range(300)]
    path = tmp_path / "t.csv"
    path.write_text("a,b,c\n" + "".join(lines))
    of_file = rows_of(path, 100)
    found = csv_sample.read_file(str(path), 100)
    assert rows_of(path, 100, found) == of_file
    assert all(len(row) == 4 for row in of_file[1])


def test_a_short_file_is_given_as_it_is(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,b\n1,2\n")
    assert csv_sample.read_file(str(path), 1) == csv_sample.ProvideFile(0, str(path), b"a,b\n1,2\n")


@pytest.mark.parametrize("beginning", [b"PK\x03\x04", b"PAR1"])
def test_workbooks_and_parquet_files_are_given_whole(
    tmp_path, small_limits, monkeypatch, beginning
):
    path = tmp_path / "t.bin"
    path.write_bytes(beginning + bytes(900))
    found = csv_sample.read_file(str(path), 2)
    assert (found.data, found.sample) == (beginning + bytes(900), None)
    monkeypatch.setattr(csv_sample, "MOST", 500)
    assert "save it as CSV" in csv_sample.read_file(str(path), 2).problem


def test_why_a_file_cannot_be_read_is_told(tmp_path, small_limits, monkeypatch):
    def why(path, rows=100):
        return csv_sample.read_file(str(path), rows).problem

    assert why(tmp_path / "no.csv") == "there is no such file"
    assert why(tmp_path) == "it is a folder"
    assert why("a\0b")
    pipe, noise, wide = tmp_path / "pipe", tmp_path / "noise.csv", tmp_path / "wide.csv"
    os.mkfifo(pipe)
    assert why(pipe) == "it is no plain file"
    assert why("/dev/zero") == "it is no plain file"
    noise.write_bytes(bytes(5_000))
    assert "is not text" in why(noise)
    wide.write_text("a,b\n1,2\n" + 3_000 * "x" + "\n" + 90 * "1,2\n")
    monkeypatch.setattr(csv_sample, "LONGEST_LINE", 1_000)
    assert why(wide, 5) == "row 3 has more than 0 MB"
    monkeypatch.setattr(csv_sample, "MOST", 500)
    assert why(wide) == "it has more than 0 MB in 93 rows"
    wide.write_text("1.5," * 300)
    assert why(wide) == "it has more than 0 MB in one row"


class InterruptedByTest(Exception):
    """Raised to stop the reading of a file."""


def test_how_far_it_is_is_told_and_it_can_be_stopped(tmp_path, small_limits):
    path = tmp_path / "t.csv"
    path.write_text(TEXTS["plain"])
    shares = []
    csv_sample.read_file(str(path), 10, shares.append)
    assert shares == sorted(shares)
    assert len(shares) > 20
    assert shares[-1] == pytest.approx(1, abs=0.02)

    def stop(share):
        shares.append(share)
        raise InterruptedByTest

    shares.clear()
    with pytest.raises(InterruptedByTest):
        csv_sample.read_file(str(path), 10, stop)
    assert len(shares) == 1


def test_a_file_of_gigabytes_without_a_line_is_refused_at_once(tmp_path):
    path = tmp_path / "huge.csv"
    with path.open("wb") as file:
        file.truncate(2 << 30)
    told = []
    problem = csv_sample.read_file(str(path), 10, told.append).problem
    assert "is not text" in problem
    assert told == []
