"""Some lines of a file, read as if all of it were there."""

import csv

import pytest

from engine.training import Sample
from engine.zoo import given
from engine.zoo.sampled import SampledBytes, SampledText

LINES = [f"{number},x{number}\n" for number in range(50)]


def sampled(lines, first, start, every):
    sample = Sample(len(lines), sum(line.endswith("\n") for line in lines), first, start, every)
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
        assert (sample.next_kept(at) == at) == kept


def test_a_last_line_without_an_end_stays_without(tmp_path):
    text, sample = sampled([*LINES[:9], "last"], 2, 0, 9)
    assert list(text)[-1] == "last"
    assert len(SampledBytes(sample).read(100)) == 9


def test_it_is_read_as_a_file_is(monkeypatch):
    monkeypatch.setattr(given, "_files", {})
    text, sample = sampled(LINES, 4, 1, 10)
    given.give("t.csv", text._text.encode(), "", sample)
    with given.open_given("t.csv", newline="", encoding="utf-8-sig") as file:
        assert next(line for line in file) == LINES[0]
        file.seek(0)
        reader = csv.reader(file)
        assert next(reader) == ["0", "x0"]
        assert next(file) == LINES[1]
        with pytest.raises(ValueError, match="beginning"):
            file.seek(7)
    assert given.lines("t.csv") == 50
    with given.open_given("t.csv", "rb") as raw:
        assert [len(raw.read(30)) for _ in range(3)] == [30, 20, 0]
