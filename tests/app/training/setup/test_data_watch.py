"""A file that another program writes to, replaces or takes away is told of, and left alone."""

import os

import pytest

from gradscribe.app.training.setup.data_watch import DataWatch


@pytest.fixture
def file(tmp_path):
    made = tmp_path / "houses.csv"
    made.write_text("a,b\n1,2\n")
    return made


@pytest.fixture
def watch(qapp, file):
    made = DataWatch()
    made.follow(str(file))
    yield made
    made.follow("")
    made.deleteLater()


def test_a_file_that_is_written_to_is_told_of(qtbot, watch, file):
    with qtbot.waitSignal(watch.changed) as told:
        file.write_text("a,b\n1,2\n3,4\n")
    assert told.args == [True]
    assert not watch.is_gone
    with qtbot.waitSignal(watch.changed) as told:
        watch.follow(str(file))
    assert told.args == [False], "it was read again"


def test_a_file_that_is_replaced_is_watched_on(qtbot, watch, file):
    for rows in (3, 4):
        other = file.with_name("new")
        other.write_text("a,b\n" + "1,2\n" * rows)
        with qtbot.waitSignal(watch.changed):
            os.replace(other, file)
        watch.follow(str(file))


def test_a_file_that_is_taken_away_and_comes_back_is_told_of(qtbot, watch, file):
    with qtbot.waitSignal(watch.changed):
        file.unlink()
    assert watch.is_gone
    with qtbot.waitSignal(watch.changed):
        file.write_text("a,b\n5,6\n")
    assert not watch.is_gone


def test_what_no_disk_tells_is_found_when_one_comes_back_to_the_window(watch, file):
    told = []
    watch.changed.connect(told.append)
    watch.check()
    assert told == []
    file.write_text("a,b\n7,8\n9,10\n")
    watch.check()
    assert told == [True]


def test_no_file_and_strange_names_are_watched_in_peace(watch, tmp_path):
    told = []
    watch.changed.connect(told.append)
    for path in ("", str(tmp_path), "a\0b", "/none/of/this.csv", "x" * 5000):
        watch.follow(path)
        watch.check()
    assert told == []
