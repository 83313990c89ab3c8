"""Some lines of a file, read as if all of it were there."""

import csv
import sys

import pytest

from gradscribe.engine.protocol.training import LineSample
from gradscribe.engine.zoo import provided_files
from gradscribe.engine.zoo.sampled_file import SampledBytes, SampledText
from gradscribe.engine.zoo.tables.loaded import LoadedTable

LINES = [f"{number},x{number}\n" for number in range(50)]


def sampled(lines, first, start, every):
    sample = LineSample(len(lines), sum(line.endswith("\n") for line in lines), first, start, every)
    kept = [line for at, line in enumerate(lines) if at < first or (at - start) % every == 0]
    return SampledText("".join(kept).encode(), sample, "utf-8"), sample


@pytest.mark.parametrize("first", [0, 1, 5, 49, 50, 80])
@pytest.mark.parametrize("every", [1, 2, 7, 60])
def test_kept_lines_stand_in_their_places_and_the_others_are_empty(first, every):
    text, sample = sampled(LINES, first, 3, every)
    read = list(text)
    assert len(read) == 50
    for at, line in enumerate(read):
        kept = at < first or (at - 3) % every == 0
        assert line == (LINES[at] if kept else "\n")
        assert (sample.next_sampled(at) == at) == kept


def test_a_last_line_without_an_end_stays_without(tmp_path):
    text, sample = sampled([*LINES[:9], "last"], 2, 0, 9)
    assert list(text)[-1] == "last"
    assert len(SampledBytes(sample).read(100)) == 9


def test_it_is_read_as_a_file_is(monkeypatch):
    monkeypatch.setattr(provided_files, "_files", {})
    text, sample = sampled(LINES, 4, 1, 10)
    provided_files.provide("t.csv", text._text.encode(), "", sample)
    with provided_files.open_provided("t.csv", newline="", encoding="utf-8-sig") as file:
        assert next(line for line in file) == LINES[0]
        file.seek(0)
        reader = csv.reader(file)
        assert next(reader) == ["0", "x0"]
        assert next(file) == LINES[1]
        with pytest.raises(ValueError, match="beginning"):
            file.seek(7)
    assert provided_files.count_line_ends("t.csv") == 50
    with provided_files.open_provided("t.csv", "rb") as raw:
        assert [len(raw.read(30)) for _ in range(3)] == [30, 20, 0]


@pytest.mark.parametrize("text", ["{0},{0}\n", '{0},"{0}"\n'])
@pytest.mark.parametrize("limit", [1, 3, 7, 30, 70, 999])
def test_every_kth_row_is_taken_of_plain_and_of_quoted_text(tmp_path, text, limit):
    path = tmp_path / "t.csv"
    path.write_text("a,b\n" + "".join(text.format(number) for number in range(1000)))
    table = LoadedTable(str(path), {"limit": limit, "header": True})
    every = -(-1000 // limit)
    assert table.names == ["a", "b"]
    assert [*table.frame.itertuples(name=None)] == [
        (number + 2, str(number), str(number)) for number in range(0, 1000, every)
    ]


def test_lines_that_are_left_out_cost_next_to_nothing(monkeypatch):
    """A loop in Python over each of a million would run so many lines of Python."""
    lines, first, every = 1_000_001, 10, 10_000
    sample = LineSample(lines, lines, first, 1, every)
    kept = first + len(range(1 + every, lines, every))
    monkeypatch.setattr(provided_files, "_files", {})
    provided_files.provide("t.csv", b"a,b\n" + b"1,2\n" * (kept - 1), "", sample)
    files = provided_files.provided_files()
    LoadedTable("t.csv", {"limit": 100, "header": True}, files)  # imports pandas
    run = 0

    def count(_frame, _event, _what):
        nonlocal run
        run += 1
        return count

    before = sys.gettrace()
    sys.settrace(count)
    try:
        table = LoadedTable("t.csv", {"limit": 100, "header": True}, files)
    finally:
        sys.settrace(before)
    assert table.rows == 100
    assert run < lines / 10
