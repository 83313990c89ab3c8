"""How a run went on before it went back is in its session file, too."""

import msgspec

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
