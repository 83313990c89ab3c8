"""The runs of documents on the disk."""

import pytest

from gradscribe.app.files import checksummed, run_histories
from gradscribe.app.files.run_histories import RunEntry, RunHistories

KEY = ("/a/ü.py", "")


@pytest.fixture
def files(tmp_path):
    return RunHistories(tmp_path / "runs")


def runs(*numbers, source="x = 1\n", **more):
    return [RunEntry(number, source, 0, "cpu", **more) for number in numbers]


def test_runs_come_back(files):
    made = [*runs(1, 3), RunEntry(4, "x = 'é'", -7, "cuda:0", "L 3.0", True, "best", True)]
    files.save(KEY, made)
    assert list(files.load(KEY)) == made
    assert files.load(("/a/b.py", "")) == ()


def test_nothing_is_stored_without_a_folder():
    files = RunHistories(None)
    files.save(KEY, runs(1))
    assert files.load(KEY) == ()


def test_the_oldest_go_first_but_those_that_are_kept_last(files, monkeypatch):
    monkeypatch.setattr(run_histories, "MOST_BYTES", 30)
    made = [*runs(1, source="y" * 10, is_kept=True), *runs(2, 3, 4, 5, source="x" * 10)]
    files.save(KEY, made)
    assert [run.number for run in files.load(KEY)] == [1, 4, 5]


def test_documents_that_ran_longest_ago_go(files, monkeypatch):
    import os

    monkeypatch.setattr(run_histories, "MOST_FILES", 2)
    for at, name in enumerate("abc"):
        files.save((name, ""), runs(1))
        (newest,) = [p for p in files.where.glob("*.runs") if p.stat().st_mtime_ns > 10**12]
        os.utime(newest, ns=(at + 1, at + 1))
    files.save(("d", ""), runs(1))
    assert [bool(files.load((name, ""))) for name in "abcd"] == [False, False, True, True]


def test_a_lone_surrogate_does_not_lose_the_runs(files):
    key = ("/a/\udcff.py", "")
    files.save(key, runs(1, source="x = '\ud800'", name="\udcff"))
    (run,) = files.load((key[0].encode("utf-8", "replace").decode(), ""))
    assert run.source == "x = '?'"


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"nothing",
        checksummed.wrap(b"{}"),
        checksummed.wrap(b"[" * 100_000),
        checksummed.wrap(b'{"key":["other",""],"runs":[]}'),
        checksummed.wrap(
            b'{"key":["/a/\xc3\xbc.py",""],"runs":[{"number":0,"source":"","seed":0,"device":""}]}'
        ),
        checksummed.wrap(
            b'{"key":["/a/\xc3\xbc.py",""],"runs":'
            b'[{"number":1,"source":"","seed":99999999999999999999,"device":""}]}'
        ),
    ],
)
def test_a_spoilt_file_has_no_runs(files, data):
    files.save(KEY, runs(1))
    (path,) = files.where.glob("*.runs")
    path.write_bytes(data)
    assert files.load(KEY) == ()


def test_runs_with_the_same_number_are_spoilt(files):
    files.save(KEY, runs(2, 2))
    assert files.load(KEY) == ()
