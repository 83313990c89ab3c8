"""The stored runs of documents."""

import pytest

from gradscribe.app.compare import run_history
from gradscribe.app.compare.run_history import RunHistory
from gradscribe.app.document.session import Session
from gradscribe.app.document.state import Doc
from tests.app.fakes import FakeLink, broken, leaves


@pytest.fixture
def link(qapp):
    return FakeLink()


@pytest.fixture
def session(link):
    made = Session(link)
    link.greet()
    made.load(Doc(source="a = 1\nb = 2", title="One"))
    yield made
    made.close()


@pytest.fixture
def history(session, link):
    made = RunHistory(session)
    link.answer(leaves(1))
    return made


@pytest.fixture
def slow(monkeypatch):
    """Every run is an edit of its own."""
    monkeypatch.setattr(run_history, "MERGE_MS", -1)


def edit(session, link, source, tape=None):
    session.edit_live(source)
    link.answer(tape or leaves(1))


def sources(history):
    return [stored.run.source for stored in history.runs]


def test_each_run_is_stored_with_its_text_seed_and_device(history, session, link, slow):
    session.set_seed(7)
    link.answer(leaves(2))
    stored = history.latest()
    assert (stored.number, stored.run.seed, stored.run.device) == (2, 7, "cpu")
    assert history.before(2).run.seed == 0


def test_a_run_that_was_sent_before_the_seed_changed_has_the_old_seed(history, session, link, slow):
    session.edit_live("a = 3\nb = 2")
    session.set_seed(7)
    link.answer(leaves(1), run_id=2)
    assert [stored.run.seed for stored in history.runs] == [0, 0]
    link.answer(leaves(1))
    assert history.latest().run.seed == 7


def test_a_failed_run_is_stored_too(history, session, link, slow):
    edit(session, link, "a = 1\nb = c", broken())
    assert history.latest().run.tape.error is not None


def test_a_drag_is_a_single_run_compared_with_the_run_before_it(history, session, link):
    for number in range(3, 9):
        edit(session, link, f"a = 1\nb = {number}")
    assert sources(history) == ["a = 1\nb = 2", "a = 1\nb = 8"]
    edit(session, link, "a = 5\nb = 8")
    assert len(history.runs) == 3, "another line is another edit"


def test_a_kept_run_stays_in_a_drag(history, session, link):
    edit(session, link, "a = 1\nb = 3")
    history.keep(2, True)
    edit(session, link, "a = 1\nb = 4")
    assert len(history.runs) == 3


def test_old_runs_are_given_up_unless_kept_or_named(history, session, link, slow, monkeypatch):
    monkeypatch.setattr(run_history, "MOST_RUNS", 3)
    history.keep(1, True)
    edit(session, link, "a = 2")
    history.name(2, "  the   good one ")
    for number in range(3, 9):
        edit(session, link, f"a = {number}")
    assert [stored.title for stored in history.runs] == [
        "Run 1",
        "the good one",
        "Run 6",
        "Run 7",
        "Run 8",
    ]
    assert history.find(4) is None
    assert not history.go_back(4)


def test_much_memory_gives_up_old_runs_but_never_the_last_two(
    history, session, link, slow, monkeypatch
):
    monkeypatch.setattr(run_history, "MOST_BYTES", 1)
    for number in range(3, 9):
        edit(session, link, f"a = {number}")
    assert len(history.runs) == 2


def test_going_back_runs_the_text_with_its_seed(history, session, link, slow):
    session.set_seed(7)
    link.answer(leaves(1))
    edit(session, link, "a = 9")
    replaced = []
    session.source_replaced.connect(lambda *given: replaced.append(given))
    assert history.go_back(1)
    assert link.runs[-1] == ("a = 1\nb = 2", 0, "cpu")
    assert replaced == [("a = 1\nb = 2", False)], "undo may lead back"


def test_each_document_has_its_own_runs(history, session, link, slow):
    edit(session, link, "a = 2")
    session.load(Doc(source="other", title="Two"))
    link.answer(leaves(1))
    assert sources(history) == ["other"]
    session.load(Doc(source="a = 1\nb = 2", title="One"))
    assert len(history.runs) == 2


def test_saving_under_a_name_takes_the_runs_along(history, session, link, slow, tmp_path):
    session.mark_saved(str(tmp_path / "x.py"), "x.py", session.doc.source)
    assert len(history.runs) == 1


@pytest.fixture
def files(tmp_path):
    from gradscribe.app.files.run_histories import RunHistories

    return RunHistories(tmp_path / "runs")


def later_session(link, files, doc):
    """A second session with the same files, as after a restart."""
    session = Session(link)
    session.load(doc)
    return session, RunHistory(session, None, files)


def test_runs_survive_a_restart_with_their_texts_names_and_results(qapp, link, files, slow):
    session = Session(link)
    link.greet()
    doc = Doc(source="a = 1", path="/p/a.py", saved="a = 1")
    session.load(doc)
    history = RunHistory(session, None, files, lambda tape: f"{len(tape.values)} values")
    link.answer(leaves(1))
    edit(session, link, "a = 2", leaves(3))
    edit(session, link, "a = ", broken())
    history.name(2, "best")
    history.keep(1, True)
    history.close()
    session.close()

    session, history = later_session(FakeLink(), files, doc)
    assert sources(history) == ["a = 1", "a = 2", "a = "]
    rows = [(r.title, r.result, r.failed, r.is_kept, r.is_recorded) for r in history.runs]
    assert rows[0] == ("Run 1", "1 values", False, True, False)
    assert rows[1] == ("best", "3 values", False, False, False)
    assert rows[2][2]
    assert history.go_back(2)
    assert session.doc.source == "a = 2"
    history.close()
    session.close()


def test_the_runs_of_an_earlier_session_stay_through_the_next(qapp, files, slow):
    doc = Doc(source="a = 1", path="/p/a.py", saved="a = 1")
    for count in (1, 2, 3):
        link = FakeLink()
        session = Session(link)
        link.greet()
        session.load(doc)
        history = RunHistory(session, None, files)
        link.answer(leaves(1))
        assert [stored.number for stored in history.runs] == list(range(1, count + 1))
        history.close()
        session.close()


def test_runs_of_a_program_from_elsewhere_are_not_stored(qapp, link, files):
    session = Session(link)
    link.greet()
    doc = Doc(source="a = 1", path="/p/a.py", foreign=True, seen=True)
    session.load(doc)
    history = RunHistory(session, None, files)
    link.answer(leaves(1))
    assert len(history.runs) == 1
    history.close()
    session.close()
    assert files.load((doc.path, "")) == ()


def test_a_disk_that_cannot_be_written_to_loses_no_run(qapp, link, tmp_path):
    from gradscribe.app.files.run_histories import RunHistories

    (tmp_path / "file").write_text("")
    session = Session(link)
    link.greet()
    session.load(Doc(source="a = 1", path="/p/a.py"))
    history = RunHistory(session, None, RunHistories(tmp_path / "file" / "runs"))
    link.answer(leaves(1))
    history.close()
    assert len(history.runs) == 1
    session.close()


def test_a_run_that_ran_again_has_its_tape(qapp, link, files):
    session = Session(link)
    link.greet()
    doc = Doc(source="a = 1", path="/p/a.py")
    session.load(doc)
    history = RunHistory(session, None, files)
    link.answer(leaves(1))
    history.close()
    session.close()
    session, history = later_session(FakeLink(), files, doc)
    history.record(1, leaves(4))
    assert history.runs[0].is_recorded
    assert len(history.runs[0].run.tape.values) == 4
    history.close()
    session.close()
