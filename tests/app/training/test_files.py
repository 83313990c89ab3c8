"""An engine that may read no files is given what it needs, once."""

import pytest

from app.training import files
from app.training.files import Giver
from engine import training as say
from engine.setup import Part, Setup


@pytest.fixture
def table(tmp_path):
    made = tmp_path / "t.csv"
    made.write_text("a,b\n1,2\n")
    return made


def setup_of(path):
    return Setup(Part("csv", {"path": str(path), "inputs": ["a"], "target": "b"}))


def test_only_tables_need_a_file(table):
    assert files.named_in(setup_of(table)) == str(table)
    assert files.named_in(Setup()) == ""
    assert files.named_in(Setup(Part("csv", {"path": 3}))) == ""


def test_a_file_is_given_before_it_is_needed_and_once(table):
    giver = Giver()
    found = giver.before(say.Train(1, setup_of(table)))
    assert found == say.GiveFile(0, str(table), b"a,b\n1,2\n")
    assert giver.before(say.LookIntoFile(1, str(table))) is None
    assert giver.before(say.Alter(1, setup_of(table))) is None
    assert giver.before(say.Pause(1)) is None
    assert giver.before(say.Train(1, Setup())) is None


def test_a_file_that_changed_is_given_again(table):
    giver = Giver()
    giver.before(say.Train(1, setup_of(table)))
    table.write_text("a,b\n1,2\n3,4\n")
    assert giver.before(say.Resume(1, b"", None, str(table))).data.endswith(b"3,4\n")


def test_why_a_file_cannot_be_read_is_told(table, tmp_path, monkeypatch):
    assert files.given(str(tmp_path / "no.csv")).problem == "there is no such file"
    assert "directory" in files.given(str(tmp_path)).problem
    assert files.given("a\0b").problem
    monkeypatch.setattr(files, "LIMIT", 3)
    assert "more than" in files.given(str(table)).problem


def test_a_file_that_appears_is_given(tmp_path):
    giver, path = Giver(), tmp_path / "late.csv"
    assert giver.before(say.Train(1, setup_of(path))).problem
    path.write_text("a,b\n1,2\n")
    assert giver.before(say.Train(1, setup_of(path))).data


def test_the_giver_forgets_what_the_engine_forgets(tmp_path):
    giver = Giver()
    paths = [tmp_path / f"{number}.csv" for number in range(5)]
    for path in paths:
        path.write_text("a,b\n1,2\n")
        assert giver.before(say.Train(1, setup_of(path))) is not None
    assert giver.before(say.Train(1, setup_of(paths[4]))) is None
    assert giver.before(say.Train(1, setup_of(paths[0]))) is not None
