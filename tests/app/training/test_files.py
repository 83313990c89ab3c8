"""Which files an engine needs, and which it has."""

import pytest

from app.training import files
from app.training.files import Given, Need, needed
from engine import training as say
from engine.setup import Part, Setup
from engine.zoo.given import MOST


@pytest.fixture
def table(tmp_path):
    made = tmp_path / "t.csv"
    made.write_text("a,b\n1,2\n")
    return made


def setup_of(path, **more):
    return Setup(Part("csv", {"path": str(path), "inputs": ["a"], "target": "b", **more}))


def test_only_tables_need_a_file(table):
    assert files.named_in(setup_of(table)) == str(table)
    assert files.named_in(Setup()) == ""
    assert files.named_in(Setup(Part("csv", {"path": 3}))) == ""


def test_requests_about_a_table_need_its_file(table):
    path = str(table)
    assert needed(say.Train(1, setup_of(path))) == Need(path, files.ROWS)
    assert needed(say.Alter(1, setup_of(path, limit=50))) == Need(path, 50)
    assert needed(say.Resume(1, b"", None, path, 70)) == Need(path, 70)
    assert needed(say.LookIntoFile(1, path)) == Need(path, 0)
    assert needed(say.Alter(1, setup_of(path, limit="many"))) == Need(path, files.ROWS)
    for other in (say.Pause(1), say.Train(1, Setup()), say.Resume(1, b""), say.LookIntoFile(1, "")):
        assert needed(other) is None


def test_a_file_that_changed_is_needed_again(table):
    given, need = Given(), Need(str(table))
    assert not given.has(need)
    given.note(need.path, files.stamp(need.path), 0)
    assert given.has(need)
    table.write_text("a,b\n1,2\n3,4\n")
    assert not given.has(need)


def test_of_a_part_other_rows_are_needed_anew_and_the_preview_takes_any(table):
    given, path = Given(), str(table)
    given.note(path, files.stamp(path), 50)
    assert given.has(Need(path, 50))
    assert given.has(Need(path, 0))
    assert not given.has(Need(path, 60))
    given.forget(path)
    assert not given.has(Need(path, 50))


def test_it_forgets_what_the_engine_forgets(tmp_path):
    given = Given()
    paths = [str(tmp_path / f"{number}.csv") for number in range(MOST + 1)]
    for path in paths:
        given.note(path, files.stamp(path), 0)
    assert [given.has(Need(path)) for path in paths] == [False] + MOST * [True]
