"""The files that an engine needs, and those that it has."""

import pytest

from gradscribe.app.training.setup import files
from gradscribe.app.training.setup.files import FileNeed, SentFiles, needed_file
from gradscribe.engine.protocol import training as messages
from gradscribe.engine.protocol.setup import Part, Setup
from gradscribe.engine.zoo.provided_files import MOST


@pytest.fixture
def table(tmp_path):
    made = tmp_path / "t.csv"
    made.write_text("a,b\n1,2\n")
    return made


def setup_of(path, **more):
    return Setup(Part("csv", {"path": str(path), "inputs": ["a"], "target": "b", **more}))


def test_only_tables_need_a_file(table):
    assert files.data_path(setup_of(table)) == str(table)
    assert files.data_path(Setup()) == ""
    assert files.data_path(Setup(Part("csv", {"path": 3}))) == ""


def test_requests_about_a_table_need_its_file(table):
    path = str(table)
    assert needed_file(messages.Train(1, setup_of(path))) == FileNeed(path, files.DEFAULT_ROWS)
    assert needed_file(messages.ChangeSetup(1, setup_of(path, limit=50))) == FileNeed(path, 50)
    assert needed_file(messages.ResumeRun(1, b"", None, path, 70)) == FileNeed(path, 70)
    assert needed_file(messages.InspectFile(1, path)) == FileNeed(path, 0)
    assert needed_file(messages.ChangeSetup(1, setup_of(path, limit="many"))) == FileNeed(
        path, files.DEFAULT_ROWS
    )
    for other in (
        messages.Pause(1),
        messages.Train(1, Setup()),
        messages.ResumeRun(1, b""),
        messages.InspectFile(1, ""),
    ):
        assert needed_file(other) is None


def test_a_file_that_changed_is_needed_again(table):
    given, need = SentFiles(), FileNeed(str(table))
    assert not given.has(need)
    given.note(need.path, files.file_stamp(need.path), 0)
    assert given.has(need)
    table.write_text("a,b\n1,2\n3,4\n")
    assert not given.has(need)


def test_of_a_part_other_rows_are_needed_anew_and_the_preview_takes_any(table):
    given, path = SentFiles(), str(table)
    given.note(path, files.file_stamp(path), 50)
    assert given.has(FileNeed(path, 50))
    assert given.has(FileNeed(path, 0))
    assert not given.has(FileNeed(path, 60))
    given.forget(path)
    assert not given.has(FileNeed(path, 50))


def test_it_forgets_what_the_engine_forgets(tmp_path):
    given = SentFiles()
    paths = [str(tmp_path / f"{number}.csv") for number in range(MOST + 1)]
    for path in paths:
        given.note(path, files.file_stamp(path), 0)
    assert [given.has(FileNeed(path)) for path in paths] == [False] + MOST * [True]
