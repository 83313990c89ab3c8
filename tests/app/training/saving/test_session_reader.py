"""A session file that is long, or hostile, is read beside the interface and refused in words."""

import threading
from pathlib import Path

import msgspec
import numpy as np
import pytest

from gradscribe.app.files import checksummed
from gradscribe.app.files.documents import Refused
from gradscribe.app.training.saving import session_file, session_reader
from gradscribe.app.training.saving.session_reader import (
    MOST_IN_GUI_THREAD,
    SessionReader,
    read_session,
)
from gradscribe.engine.protocol.setup import Setup

ROW = session_file.SessionRun("a", 0, Setup(), 3, 3, {})


def curve(steps):
    steps = np.asarray(steps, "<i8")
    return session_file.SessionCurve(steps.tobytes(), np.zeros(steps.size, "<f4").tobytes())


def room(*runs):
    return session_file.TrainingSessionData(Setup(), runs or (ROW,), 0)


def put(path, made):
    path.write_bytes(checksummed.wrap(msgspec.msgpack.encode(made)))
    return path


@pytest.fixture
def files(qapp):
    made = SessionReader()
    made.heard = []
    made.said.connect(made.heard.append)
    yield made
    made.close()


@pytest.fixture
def long(tmp_path):
    data = msgspec.msgpack.encode({"setups": [Setup()], "now": bytes(2 * MOST_IN_GUI_THREAD)})
    run = msgspec.structs.replace(ROW, data=data, curves={"loss": curve([1, 2, 5])})
    return put(tmp_path / "long.gradscribe", room(run))


def test_a_long_file_is_read_in_another_thread(files, long, qtbot, monkeypatch):
    threads, seen = [], []
    read = session_file.read

    def noted(path):
        threads.append(threading.get_ident())
        return read(path)

    monkeypatch.setattr(session_file, "read", noted)
    files.fetch(long, seen.append)
    assert not seen
    assert files.heard == ["Reading long.gradscribe…"]
    qtbot.waitUntil(lambda: bool(seen))
    assert threads[0] != threading.get_ident()
    assert len(seen[0].room.runs[0].data) > 2 * MOST_IN_GUI_THREAD
    assert list(seen[0].curves[0]["loss"].steps(0, 3)) == [1, 2, 5]


def test_a_short_file_is_there_at_once(files, tmp_path):
    seen = []
    files.fetch(put(tmp_path / "a.gradscribe", room()), seen.append)
    assert seen[0].room.runs == (ROW,)


def test_why_a_long_file_is_not_opened_is_said(files, long, qtbot):
    long.write_bytes(long.read_bytes()[:-1])
    files.fetch(long, lambda _: pytest.fail("it was opened"))
    qtbot.waitUntil(lambda: len(files.heard) == 2)
    assert "not a complete session" in files.heard[1]


def test_the_file_chosen_last_is_the_one_that_opens(files, long, tmp_path, qtbot):
    other, seen = tmp_path / "other.gradscribe", []
    other.write_bytes(long.read_bytes())
    files.fetch(long, lambda _: seen.append("first"))
    files.fetch(other, lambda _: seen.append("second"))
    qtbot.waitUntil(lambda: bool(seen))
    assert seen == ["second"]


@pytest.mark.parametrize(
    "bad",
    [
        pytest.param(room(*[ROW] * (session_file.MOST_RUNS + 1)), id="runs"),
        pytest.param(
            room(
                msgspec.structs.replace(
                    ROW, curves={f"c{n}": curve([1]) for n in range(session_file.MOST_CURVES + 1)}
                )
            ),
            id="curves",
        ),
        pytest.param(
            room(msgspec.structs.replace(ROW, curves={"loss": curve([1, 1])})), id="still"
        ),
        pytest.param(room(msgspec.structs.replace(ROW, curves={"loss": curve([2, 1])})), id="back"),
        pytest.param(room(msgspec.structs.replace(ROW, curves={"loss": curve([-1])})), id="before"),
        pytest.param(
            room(
                msgspec.structs.replace(
                    ROW, curves={"loss": curve(np.arange(session_file.MOST_NUMBERS + 2))}
                )
            ),
            id="long",
        ),
        pytest.param(room(msgspec.structs.replace(ROW, name="x" * (2 << 20))), id="name"),
        pytest.param(
            room(
                msgspec.structs.replace(
                    ROW, ahead={f"c{n}": curve([1]) for n in range(session_file.MOST_CURVES + 1)}
                )
            ),
            id="curves ahead",
        ),
        pytest.param(
            room(
                msgspec.structs.replace(
                    ROW, ahead={"loss": curve(np.arange(session_file.MOST_NUMBERS + 2))}
                )
            ),
            id="long ahead",
        ),
        pytest.param(
            room(msgspec.structs.replace(ROW, ahead={"loss": curve([8, 7])})), id="back ahead"
        ),
        pytest.param(
            room(
                msgspec.structs.replace(
                    ROW, ahead={"loss": session_file.SessionCurve(b"12345678", b"12")}
                )
            ),
            id="odd ahead",
        ),
    ],
)
def test_more_than_a_window_can_show_is_refused(bad, tmp_path):
    with pytest.raises(Refused, match="does not hold a training session"):
        read_session(put(tmp_path / "a.gradscribe", bad))


def test_as_much_as_that_is_opened(tmp_path):
    last = msgspec.structs.replace(
        ROW, curves={"loss": curve(np.arange(session_file.MOST_NUMBERS + 1)), "val": curve([0, 7])}
    )
    found = read_session(
        put(tmp_path / "a.gradscribe", room(*[ROW] * (session_file.MOST_RUNS - 1), last))
    )
    assert len(found.room.runs) == session_file.MOST_RUNS
    assert len(found.curves[-1]["loss"]) == session_file.MOST_NUMBERS + 1


def test_more_than_could_be_opened_is_not_saved():
    with pytest.raises(Refused, match="1,001 runs"):
        session_file.encode(room(*[ROW] * (session_file.MOST_RUNS + 1)))


def test_a_program_among_a_million_small_parts_is_found_or_reaches_no_engine(tmp_path, monkeypatch):
    own = msgspec.to_builtins(Setup())
    own["model"] = {"name": "own", "options": {"source": "class A(nn.Module): ..."}}
    data = msgspec.msgpack.encode({"past": [[0]] * 1000, "setups": [own]})
    path = put(tmp_path / "a.gradscribe", room(msgspec.structs.replace(ROW, data=data)))
    assert "class A" in read_session(path).programs
    monkeypatch.setattr(session_file, "MOST_IN_STATE", 1000)
    found = read_session(path)
    assert found.room.runs[0].data == b""
    assert found.programs == ""


def test_a_file_that_is_far_too_long_is_not_read(tmp_path):
    path = tmp_path / "a.gradscribe"
    with path.open("wb") as file:
        file.truncate(2 << 30)
    with pytest.raises(Refused, match="more than 256 MB"):
        read_session(path)


def test_memory_that_runs_out_is_told_of(files, long, qtbot, monkeypatch):
    def none_left(_path):
        raise MemoryError

    monkeypatch.setattr(session_reader.session_file, "read", none_left)
    files.fetch(long, lambda _: pytest.fail("it was opened"))
    qtbot.waitUntil(lambda: len(files.heard) == 2)
    assert "more memory than there is" in files.heard[1]


def test_a_file_of_format_1_stays_readable():
    found = read_session(Path(__file__).with_name("format_1.gradscribe"))
    assert (found.room.setup.data.name, found.room.setup.seed, found.room.setup.steps) == (
        "sine",
        3,
        500,
    )
    (run,) = found.room.runs
    assert (run.name, run.step, run.furthest) == ("first", 5, 5)
    assert list(found.curves[0]["loss"].steps(0, 3)) == [1, 2, 5]
    assert np.frombuffer(run.curves["loss"].numbers, "<f4").tolist() == [0.5, 0.25, 0.125]
