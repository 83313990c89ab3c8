"""The later steps of a run that went back are in its session file, too."""

import msgspec
import pytest

from gradscribe.app.files import checksummed
from gradscribe.app.training.saving import session_file
from gradscribe.app.training.saving.session_reader import read_session
from gradscribe.engine.protocol.setup import Part
from tests.app.training.saving.test_session_store import SETUP, make, save, trained

__all__ = ["make"]


def back_at(make, path, steps=30, step=9):
    """Return a session that was saved after it went back; and its link."""
    session, link, saving = make()
    trained(session, link, steps)
    session.controller.rewind(step)
    save(saving, path)
    return session, link


def test_what_a_run_was_before_it_went_back_is_kept(make, tmp_path):
    session, link = back_at(make, tmp_path / "a.gradscribe")
    other, other_link, opening = make()
    opening.open(read_session(tmp_path / "a.gradscribe"))
    mine, theirs = session.runs[0], other.runs[0]
    assert theirs.step == theirs.curve("loss").last == 9
    assert theirs.whole("loss").last == 30
    for name in ("loss", "val"):
        assert list(theirs.whole(name).numbers()) == list(mine.whole(name).numbers())
    for one, engine in ((session, link), (other, other_link)):
        one.controller.advance(12)
        engine.work()
        # It goes the same way again: how it went on from there is known still.
        assert one.run.whole("loss").last == 30
        one.controller.change(msgspec.structs.replace(SETUP, optimizer=Part("sgd", {"lr": 0.9})))
        one.controller.advance(2)
        engine.work()
        source, fork = one.runs
        assert fork is one.run
        assert fork.whole("loss").last == 23
        assert source.curve("loss").last == 30


def test_a_file_of_before_that_opens_without_it(make, tmp_path):
    back_at(make, tmp_path / "a.gradscribe")
    held = msgspec.msgpack.decode(checksummed.unwrap((tmp_path / "a.gradscribe").read_bytes()))
    assert all(run.pop("ahead") is not None for run in held["runs"])
    (tmp_path / "a.gradscribe").write_bytes(checksummed.wrap(msgspec.msgpack.encode(held)))
    other, _, opening = make()
    opening.open(read_session(tmp_path / "a.gradscribe"))
    assert [run.whole("loss").last for run in other.runs] == [9]


def test_a_long_one_is_kept_thinned_and_told_from_another_way_all_the_same(
    make, tmp_path, monkeypatch
):
    monkeypatch.setattr(session_file, "MOST_NUMBERS", 100)
    back_at(make, tmp_path / "a.gradscribe", steps=350)
    other, link, opening = make()
    opening.open(read_session(tmp_path / "a.gradscribe"))
    assert other.runs[0].ahead["loss"].steps(0, 3).tolist() == [1, 5, 9]
    other.controller.advance(30)
    link.work()
    assert other.run.ahead
    other.controller.rewind(20)
    other.controller.edit_weight("0.weight", 1, 0.5)
    other.controller.advance(30)
    link.work()
    source, fork = other.runs
    assert fork is other.run
    assert not fork.ahead
    assert source.curve("loss").last == 349


def rate(session, lr):
    session.controller.change(msgspec.structs.replace(SETUP, optimizer=Part("sgd", {"lr": lr})))


def test_a_run_that_went_back_goes_on_to_its_old_end_out_of_a_file(make, tmp_path):
    session, link, saving = make()
    trained(session, link, 30)
    rate(session, 0.2)
    session.controller.advance(10)
    link.work()
    session.controller.rewind(9)
    save(saving, tmp_path / "a.gradscribe")
    other, _, opening = make()
    opening.open(read_session(tmp_path / "a.gradscribe"))
    assert (other.run.step, other.run.last_known) == (9, 40)
    assert other.run.flags == []
    assert [step for step, _ in other.run.flags_ahead] == [30]
    for one in (session, other):
        one.controller.go_to_furthest()
    for name in ("loss", "val", "lr"):
        assert list(other.run.curve(name).numbers()) == list(session.run.curve(name).numbers())
    assert other.run.step == other.run.curve("loss").last == 40
    assert other.run.flags == session.run.flags != []
    assert other.run.setup.optimizer.options["lr"] == 0.2


def test_a_fork_out_of_a_file_is_named_by_what_differs_from_its_source(make, tmp_path):
    session, link, saving = make()
    trained(session, link, 30)
    session.controller.rewind(10)
    rate(session, 0.7)
    session.controller.advance(5)
    link.work()
    save(saving, tmp_path / "a.gradscribe")
    other, _, opening = make()
    opening.open(read_session(tmp_path / "a.gradscribe"))
    assert [run.name for run in other.runs][1] == "SGD 0.7 from step 10"
    assert [run.step for run in other.runs] == [30, 15]
    rate(other, 0.9)
    other.controller.advance(1)
    assert other.run.name == "SGD 0.9 from step 10"


@pytest.mark.parametrize(
    "more", [{"flags": [[1, "x" * 2000]]}, {"flags": [[1, "x"]] * 2000}, {"edited": "x" * 2000}]
)
def test_a_file_with_too_much_about_changes_is_refused(make, tmp_path, more):
    back_at(make, tmp_path / "a.gradscribe")
    held = msgspec.msgpack.decode(checksummed.unwrap((tmp_path / "a.gradscribe").read_bytes()))
    held["runs"][0] |= more
    with pytest.raises(checksummed.DamagedFile):
        session_file.decode(checksummed.wrap(msgspec.msgpack.encode(held)))
