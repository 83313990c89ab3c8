"""Files on their way to an engine, and what goes on meanwhile."""

import pytest

from gradscribe.app.training.setup import csv_sample, file_feed
from gradscribe.app.training.setup.file_feed import FileFeed
from gradscribe.engine.protocol import training as messages
from gradscribe.engine.protocol.setup import Part, Setup

TEXT = "a,b\n" + "".join(f"{i},{i}\n" for i in range(2_000))


@pytest.fixture
def table(tmp_path):
    made = tmp_path / "t.csv"
    made.write_text(TEXT)
    return str(made)


@pytest.fixture
def slow(monkeypatch):
    """Any file is long."""
    monkeypatch.setattr(file_feed, "MOST_IN_GUI_THREAD", 0)
    monkeypatch.setattr(csv_sample, "MOST_UNSAMPLED", 0)


@pytest.fixture
def files(qapp):
    made = FileFeed()
    made.sent, made.shares = [], []
    made.passed.connect(made.sent.append)
    made.progressed.connect(lambda path, share: made.shares.append((path, share)))
    yield made
    made.close()


def setup_of(path, **more):
    return Setup(Part("csv", {"path": path, "inputs": ["a"], "target": "b", **more}))


def kinds(files):
    return [type(one) for one in files.sent]


def test_a_short_file_goes_ahead_of_what_needs_it_and_once(files, table):
    files.take(messages.Train(1, setup_of(table)))
    files.take(messages.InspectFile(1, table))
    assert kinds(files) == [messages.ProvideFile, messages.Train, messages.InspectFile]
    assert files.sent[0].data == TEXT.encode()
    assert files.shares == []


def test_a_long_one_is_read_beside_and_what_needs_it_waits(files, table, slow, qtbot):
    files.take(messages.ChangeSetup(1, setup_of(table, limit=100)))
    files.take(messages.InspectFile(1, table))
    files.take(messages.Pause(1))
    assert kinds(files) == [messages.Pause], "the run is driven meanwhile"
    qtbot.waitUntil(lambda: len(files.sent) == 4)
    assert kinds(files) == [
        messages.Pause,
        messages.ProvideFile,
        messages.ChangeSetup,
        messages.InspectFile,
    ]
    assert files.sent[1].sample.every == 20
    assert files.shares[0] == (table, 0.0)
    assert files.shares[-1] == (table, 1.0)


def test_what_is_asked_of_a_run_that_waits_comes_after_it(files, table, slow, qtbot):
    asked = [
        messages.Train(5, setup_of(table)),
        messages.PairRuns(5, 6),
        messages.WatchViews(5, ()),
        messages.Pause(4),
    ]
    for one in asked:
        files.take(one)
    assert files.sent == asked[3:]
    qtbot.waitUntil(lambda: len(files.sent) == 5)
    assert files.sent[2:] == asked[:3]


def test_the_latest_change_of_a_setup_wins(files, table, slow, qtbot):
    files.take(messages.ChangeSetup(1, setup_of(table)))
    files.take(messages.ChangeSetup(1, setup_of(table, missing="leave rows out")))
    files.take(messages.ChangeSetup(2, Setup()))
    qtbot.waitUntil(lambda: len(files.sent) == 3)
    assert kinds(files) == [messages.ChangeSetup, messages.ProvideFile, messages.ChangeSetup]
    assert files.sent[-1].setup.data.options["missing"] == "leave rows out"


def test_a_file_that_nobody_waits_for_any_more_is_not_read_on(files, table, slow, qtbot):
    files.take(messages.ChangeSetup(1, setup_of(table)))
    files.take(messages.ChangeSetup(1, Setup()))
    assert files.stopping
    qtbot.waitUntil(lambda: bool(files.shares) and files.shares[-1] == (table, 1.0))
    assert messages.ChangeSetup(1, Setup()) in files.sent
    files.take(messages.InspectFile(1, table))
    qtbot.waitUntil(lambda: kinds(files)[-1] is messages.InspectFile)
    assert files.sent[-2].problem == ""


def test_who_stops_it_is_told_so_and_may_try_again(files, table, slow, qtbot):
    files.take(messages.InspectFile(1, table))
    files.stop()
    qtbot.waitUntil(lambda: len(files.sent) == 2)
    assert files.sent[0].problem in (file_feed.STOPPED, "")
    files.take(messages.Train(1, setup_of(table)))
    qtbot.waitUntil(lambda: kinds(files)[-1] is messages.Train)
    # Where the file had been read by then it is not read again.
    given = [one for one in files.sent if isinstance(one, messages.ProvideFile)]
    assert given[-1].problem == ""


def test_another_number_of_rows_is_read_anew(files, table, slow, qtbot):
    for limit in (100, 100, 50):
        files.take(messages.ChangeSetup(1, setup_of(table, limit=limit)))
        qtbot.waitUntil(lambda: files.shares[-1][1] == 1.0)
    assert [one.sample.every for one in files.sent if isinstance(one, messages.ProvideFile)] == [
        20,
        40,
    ]


def test_with_the_engine_goes_all_it_was_given_and_asked(files, table, slow, qtbot):
    files.take(messages.ChangeSetup(1, setup_of(table)))
    files.forget()
    assert files.shares[-1] == (table, 1.0)
    files.take(messages.ResumeRun(1, b"", None, table, 100))
    qtbot.waitUntil(lambda: len(files.sent) == 2)
    assert kinds(files) == [messages.ProvideFile, messages.ResumeRun]


def test_a_file_that_is_not_there_is_said_at_once(files, tmp_path, slow):
    files.take(messages.InspectFile(1, str(tmp_path / "no.csv")))
    assert files.sent[0].problem == "there is no such file"
    files.take(messages.InspectFile(1, str(tmp_path)))
    assert files.sent[2].problem == "it is a folder"
