"""A session is saved with all its runs, and they go on bit for bit in another window."""

import threading

import msgspec
import pytest

from gradscribe.app.files import atomic, checksummed
from gradscribe.app.files.documents import Refused
from gradscribe.app.files.file_writer import FileWriter
from gradscribe.app.training.saving import session_file
from gradscribe.app.training.saving.session_reader import load_session, read_session
from gradscribe.app.training.saving.session_store import SessionStore, save_fingerprint
from gradscribe.app.training.session.session import TrainSession
from gradscribe.engine.protocol import training as messages
from gradscribe.engine.protocol.setup import Part, Setup
from gradscribe.engine.train.serve.host import TrainingHost
from gradscribe.widgets.plots.step_series import StepSeries
from tests.app.training.fakes import FakeTrainLink


class HostLink(FakeTrainLink):
    """The engine's own host, in this process and without a pipe."""

    def __init__(self):
        super().__init__()
        self.host = TrainingHost(self.received.emit)

    def send(self, message):
        super().send(message)
        self.host.take(message)

    def work(self):
        while self.host.work() is not None:
            pass


SETUP = Setup(data=Part("moons", {"n": 60}), optimizer=Part("adam"), batch=16, validate_every=5)
OWN = "import torch\nfrom torch import nn\n\nclass Net(nn.Linear, nn.Module):\n    pass\n"


@pytest.fixture
def make(qapp):
    """A function that makes a window's worth: a session, its link and what saves it."""
    made = []

    def new(link=None):
        link = link or HostLink()
        session = TrainSession(link)
        saving = SessionStore(session, link, FileWriter())
        saving.heard = []
        for one in (saving, saving._writing):
            one.said.connect(saving.heard.append)
        made.append((session, saving))
        return session, link, saving

    yield new
    for session, saving in made:
        saving._writing.finish()
        saving.close()
        session.close()


def save(saving, path, *then):
    """Save, and wait until that is done or refused."""
    saving.save(path, *then)
    saving._writing.finish()


def trained(session, link, steps=30):
    session.store.setup = SETUP
    session.controller.begin()
    session.controller.advance(steps)
    link.work()


def numbers(run, name="loss"):
    return list(run.curve(name).numbers())


def test_runs_forks_and_weights_by_hand_go_on_where_they_were(make, tmp_path):
    session, link, saving = make()
    trained(session, link)
    session.controller.edit_weight("0.weight", 1, 0.5)
    session.controller.fork()
    session.controller.change(msgspec.structs.replace(SETUP, optimizer=Part("sgd", {"lr": 0.2})))
    session.controller._rest.timeout.emit()
    session.controller.advance(12)
    link.work()
    session.store.hide(session.runs[0].run_id, True)
    file = tmp_path / "one.gradscribe"
    save(saving, file)
    assert saving.heard == ["Saved one.gradscribe"]

    other, other_link, opening = make()
    opening.open(read_session(file))
    assert [run.name for run in other.runs] == [run.name for run in session.runs]
    assert [run.step for run in other.runs] == [30, 42]
    assert other.setup == session.setup
    assert other.store.look.hidden == {other.runs[0].run_id}
    assert other.runs[1].begun.parent == other.runs[0].run_id
    assert other.runs[1].begun.parent_step == 30
    for mine, theirs in zip(session.runs, other.runs, strict=True):
        assert numbers(mine) == numbers(theirs)
        assert theirs.alive
        assert not theirs.running
    for one, engine in ((session, link), (other, other_link)):
        one.controller.advance(20)
        engine.work()
        one.controller.select(one.runs[0].run_id)
        one.controller.advance(20)
        engine.work()
    for mine, theirs in zip(session.runs, other.runs, strict=True):
        assert theirs.step == mine.step
        for name in ("loss", "val", "lr"):
            assert numbers(mine, name) == numbers(theirs, name)
    for one, engine in ((session, link), (other, other_link)):
        one.controller.rewind(7)
        one.controller.advance(5)
        engine.work()
    assert numbers(session.runs[0]) == numbers(other.runs[0])


def test_curves_of_runs_that_are_over_are_kept(make, tmp_path):
    session, link, saving = make()
    trained(session, link)
    session.store.rename(session.run.run_id, "the first")
    session.controller.begin()
    save(saving, tmp_path / "a.gradscribe")
    other, _, opening = make()
    opening.open(read_session(tmp_path / "a.gradscribe"))
    assert [run.alive for run in other.runs] == [False, True]
    assert [run.christened for run in other.runs] == [True, False]
    assert other.runs[0].name == "the first"
    assert numbers(other.runs[0]) == numbers(session.runs[0])


def test_a_run_stands_where_it_was_saved_before_the_engine_tells(make, tmp_path):
    session, link, saving = make()
    trained(session, link)
    session.controller.rewind(20)
    link.work()
    save(saving, tmp_path / "a.gradscribe")
    other, _, opening = make(FakeTrainLink())
    opening.open(read_session(tmp_path / "a.gradscribe"))
    assert other.run.state is None
    assert (other.run.step, other.run.furthest) == (20, session.run.furthest)


def test_what_was_there_before_is_let_go(make, tmp_path):
    session, link, saving = make()
    trained(session, link)
    before = session.runs[0].run_id
    save(saving, tmp_path / "a.gradscribe")
    saving.open(read_session(tmp_path / "a.gradscribe"))
    assert link.last(messages.DropRun).run_id == before
    assert session.run.run_id != before
    assert session.run.step == 30
    assert session.store.history.undo(session.setup) is None


def test_a_run_that_cannot_go_on_here_keeps_its_curves_and_says_why(make, tmp_path):
    session, link, saving = make()
    trained(session, link)
    save(saving, tmp_path / "a.gradscribe")
    room = session_file.read(tmp_path / "a.gradscribe")
    broken = msgspec.structs.replace(room.runs[0], data=room.runs[0].data[:-9])
    other, _, opening = make()
    complaints = []
    other.store.error_changed.connect(lambda place, why: complaints.append(why))
    opening.open(load_session(msgspec.structs.replace(room, runs=(broken,))))
    assert "does not hold a run" in complaints[-1]
    assert not other.run.alive
    assert len(numbers(other.run)) == 30
    other.controller.play()
    assert other.run.alive


def test_an_engine_that_dies_meanwhile_is_told_of(make, tmp_path):
    session, link, saving = make(FakeTrainLink())
    link.greet()
    session.controller.open()
    link.begin(1, session.setup)
    save(saving, tmp_path / "a.gradscribe")
    assert link.last(messages.SaveRun).run_id == 1
    link.died.emit("it was killed")
    assert "not saved" in saving.heard[-1]
    assert not (tmp_path / "a.gradscribe").exists()


def test_a_folder_that_is_not_there_is_told_of(make, tmp_path):
    session, link, saving = make()
    save(saving, tmp_path / "a.gradscribe")
    assert "no run" in saving.heard[-1]
    trained(session, link)
    save(saving, tmp_path / "nowhere" / "a.gradscribe")
    assert "cannot be written" in saving.heard[-1]


def test_a_session_holds_what_was_there_when_it_was_asked_for(make, tmp_path, monkeypatch):
    gate, whole = threading.Event(), session_file.encode_buffers
    monkeypatch.setattr(session_file, "encode_buffers", lambda room: gate.wait(20) and whole(room))
    session, link, saving = make()
    trained(session, link)
    shapes, told = [], numbers(session.run)
    saving.saved.connect(shapes.append)
    saving.save(tmp_path / "a.gradscribe")
    # The window lives, and trains on, while that is written.
    session.controller.advance(20)
    link.work()
    session.controller.rewind(5)
    session.store.rename(session.run.run_id, "another name")
    link.work()
    assert not saving.heard
    assert not (tmp_path / "a.gradscribe").exists()
    gate.set()
    saving._writing.finish()
    assert saving.heard == ["Saved a.gradscribe"]
    assert shapes[0] != save_fingerprint(session)
    other, _, opening = make()
    opening.open(read_session(tmp_path / "a.gradscribe"))
    assert (other.run.step, other.run.furthest) == (30, 30)
    assert numbers(other.run) == told


def test_the_disk_is_written_by_another_thread(make, tmp_path, monkeypatch):
    threads, whole = [], atomic.write
    monkeypatch.setattr(
        atomic, "write", lambda *a, **k: threads.append(threading.get_ident()) or whole(*a, **k)
    )
    session, link, saving = make()
    trained(session, link)
    save(saving, tmp_path / "a.gradscribe")
    assert threads
    assert threading.get_ident() not in threads


def test_a_session_that_cannot_be_written_is_told_of_and_the_old_one_stays(make, tmp_path):
    session, link, saving = make()
    trained(session, link)
    path = tmp_path / "a.gradscribe"
    save(saving, path)
    before = path.read_bytes()
    session.controller.advance(5)
    link.work()
    path.chmod(0o444)
    told = []
    saving.saved.connect(told.append)
    save(saving, path, told.append)
    assert "cannot be written" in saving.heard[-1]
    assert not told
    assert path.read_bytes() == before


def test_a_file_in_pieces_is_the_file_in_one(make):
    data = bytes(range(256)) * 6000
    curve = StepSeries()
    curve.extend(range(700_000), [0.5] * 700_000)
    row = session_file.SessionRun(
        "a", 0, SETUP, 1, 2, {"loss": session_file.to_session_curve(curve)}, data
    )
    for runs in ((row,), (row, msgspec.structs.replace(row, data=b"")) * 9):
        room = session_file.TrainingSessionData(SETUP, runs, 0)
        pieces = session_file.encode_buffers(room)
        assert b"".join(pieces) == checksummed.wrap(msgspec.msgpack.encode(room))
        assert any(piece is data for piece in pieces)


def test_programs_in_a_session_are_told(make, tmp_path):
    session, link, saving = make()
    options = {"source": OWN, "arguments": "2, 1"}
    session.store.setup = msgspec.structs.replace(SETUP, model=Part("own", options))
    session.controller.begin()
    session.controller.advance(3)
    link.work()
    told = []
    save(saving, tmp_path / "a.gradscribe", told.append)
    assert told == [OWN]
    assert session_file.read(tmp_path / "a.gradscribe").programs() == OWN


@pytest.mark.parametrize("data", [b"\x81\xa2\xff\xff\x01", b"\x91" * 5000, b"\x81"])
def test_bytes_that_are_no_run_bring_no_program(make, data, tmp_path):
    room = session_file.read(written(make, tmp_path))
    runs = tuple(msgspec.structs.replace(run, data=data) for run in room.runs)
    assert msgspec.structs.replace(room, runs=runs).programs() == ""


def test_bytes_that_the_window_cannot_read_reach_no_engine(make, tmp_path):
    """An engine whose stack is deeper might read more of them than the window did."""
    room = session_file.read(written(make, tmp_path))
    odd = msgspec.structs.replace(room.runs[0], data=b"\x81\xa1x" + b"\x91" * 5000 + b"\x01")
    deep = msgspec.structs.replace(room, runs=(odd, *room.runs[1:]))
    (tmp_path / "odd.gradscribe").write_bytes(session_file.encode(deep))
    assert session_file.read(tmp_path / "odd.gradscribe").runs[0].data == b""


def written(make, tmp_path):
    session, link, saving = make()
    trained(session, link, 3)
    file = tmp_path / "a.gradscribe"
    save(saving, file)
    return file


def test_a_file_cut_at_any_place_is_refused(make, tmp_path):
    file = written(make, tmp_path)
    whole = file.read_bytes()
    for size in (0, 1, 10, 40, 100, len(whole) // 2, len(whole) - 1):
        file.write_bytes(whole[:size])
        with pytest.raises(Refused, match="not a complete session"):
            session_file.read(file)
    changed = bytearray(whole)
    changed[len(whole) // 2] ^= 1
    file.write_bytes(changed)
    with pytest.raises(Refused, match="not a complete session"):
        session_file.read(file)


def test_a_newer_file_is_told_from_a_broken_one(make, tmp_path):
    file = written(make, tmp_path)
    file.write_bytes(file.read_bytes().replace(b"session 1 ", b"session 2 ", 1))
    with pytest.raises(Refused, match="newer Gradscribe"):
        session_file.read(file)


def test_what_is_whole_but_no_training_session_is_refused(make, tmp_path):
    file = written(make, tmp_path)
    room = session_file.read(file)
    bad_steps = msgspec.structs.replace(
        room.runs[0], curves={"loss": session_file.SessionCurve(b"12345678", b"12345678")}
    )
    orphan = msgspec.structs.replace(room.runs[0], parent=3)
    for bad in (
        b"{}",
        msgspec.msgpack.encode({"type": "else"}),
        msgspec.msgpack.encode(msgspec.structs.replace(room, current=5)),
        msgspec.msgpack.encode(msgspec.structs.replace(room, when=1e300)),
        msgspec.msgpack.encode(msgspec.structs.replace(room, when=float("nan"))),
        msgspec.msgpack.encode(msgspec.structs.replace(room, runs=(bad_steps,))),
        msgspec.msgpack.encode(msgspec.structs.replace(room, runs=(orphan,))),
    ):
        file.write_bytes(checksummed.wrap(bad))
        with pytest.raises(Refused, match="does not hold a training session"):
            session_file.read(file)
    with pytest.raises(Refused, match="cannot be read"):
        session_file.read(tmp_path / "none.gradscribe")


def test_a_long_curve_is_kept_thinned_and_a_huge_file_is_refused(monkeypatch):
    curve = StepSeries()
    curve.extend(range(1, 5001), range(5000))
    monkeypatch.setattr(session_file, "MOST_NUMBERS", 1000)
    again = StepSeries()
    session_file.fill_curve(again, session_file.to_session_curve(curve))
    assert len(again) == 625
    assert list(again.steps(0, 3)) == [1, 9, 17]
    assert list(again.numbers(0, 3)) == [0, 8, 16]
    monkeypatch.setattr(session_file, "LIMIT", 100)
    run = session_file.SessionRun("a", 0, Setup(), 0, 0, {})
    with pytest.raises(Refused, match="more than"):
        session_file.encode(session_file.TrainingSessionData(Setup(), (run,), 0))
