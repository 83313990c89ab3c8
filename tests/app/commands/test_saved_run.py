"""A run is saved to a file and opens elsewhere as it was, without running anything."""

import threading

import msgspec
import numpy as np
import pytest

from gradscribe.app.commands import file, saved_run
from gradscribe.app.files import session_file, tape_files
from gradscribe.app.files.documents import Refused
from gradscribe.app.files.open_requests import OpenRequest
from gradscribe.app.files.session_file import SessionData
from gradscribe.app.files.settings import Settings
from gradscribe.app.link.interpreters import Interpreter
from gradscribe.engine.protocol import messages, tape_file
from gradscribe.engine.protocol.regions import ReadRegion
from gradscribe.engine.protocol.tape import Snapshot
from gradscribe.engine.protocol.tape_file import RunProgram, RunView
from gradscribe.engine.run import run as engine_run

SOURCE = """model = nn.Sequential(nn.Linear(2, 2), nn.ReLU())
x = torch.ones(1, 2)
y = model(x).sum()
y.backward()
"""
SQUARES = np.arange(3000, dtype="<f4") ** 2


@pytest.fixture(scope="module")
def tape():
    return engine_run.record(SOURCE, seed=4)


@pytest.fixture
def settings(qapp):
    return Settings()


@pytest.fixture
def path(tape, tmp_path):
    about = RunProgram(SOURCE, "net.py", 1.7e9, "2.1.0", "3.12", "Linux", "cpu", 4)
    path = tmp_path / "net.tape"
    view = RunView(3, ("model",), f"v{tape.values[0].id}")
    path.write_bytes(b"".join(tape_files.encode(about, tape, view)))
    return path


@pytest.fixture
def opened(settled, path, link):
    settled.runs_before = len(link.runs)
    file.open_path(settled.context, str(path))
    return settled


def save(window, path, qtbot):
    window.answers["save"] = path
    saved_run.save_run(window.context)
    qtbot.waitUntil(lambda: not window.export_queue.busy)


def same(one, other):
    return msgspec.msgpack.encode(one) == msgspec.msgpack.encode(other)


def test_it_opens_as_it_was_and_nothing_runs(opened, tape, link):
    session = opened.session
    assert same(session.result.tape, tape)
    assert opened.editor.source() == SOURCE
    assert (session.view.position, session.doc.seed) == (3, 4)
    assert session.doc.open_calls == frozenset({"model"})
    assert session.view.selection == f"v{tape.values[0].id}"
    assert len(link.runs) == opened.runs_before
    session.edit(SOURCE + "z = 1\n")
    session._rest.timeout.emit()
    assert len(link.runs) == opened.runs_before


def test_its_origin_is_shown_with_a_button_that_runs_it_here(opened, link):
    notice = opened.notices.notice
    assert notice.text.startswith("Recorded on 2023-11-1")
    assert "torch 2.1.0, cpu" in notice.text
    assert "torch 2.1.0" in opened.heading.accessibleName() + opened.heading.toolTip() + str(
        [label.text() for label in opened.heading.findChildren(type(opened.notices.text))]
    )
    run_it = next(b for b in opened.notices.buttons if b.text() == "Run it again here")
    run_it.click()
    assert link.sources[-1] == SOURCE
    assert link.limits[-1]["policy"] is True
    assert opened.session.doc.shows_file is None


def test_a_text_that_is_edited_makes_the_recorded_tape_stale(opened):
    opened.session.edit("other = 1\n")
    assert opened.session.result.stale
    opened.session.edit(SOURCE)
    assert not opened.session.result.stale


def test_a_spoilt_file_opens_as_far_as_it_is_whole_and_says_so(settled, path, tape):
    path.write_bytes(path.read_bytes()[:-300])
    file.open_path(settled.context, str(path))
    assert settled.editor.source() == SOURCE
    assert settled.notices.notice.text == (
        "net.tape is not whole: it is cut. Its program is here, its numbers are lost"
    )


def test_another_file_with_that_name_is_refused_and_loses_nothing(settled, tmp_path):
    wrong = tmp_path / "wrong.tape"
    wrong.write_bytes(b"print(1)\n")
    before = settled.editor.source()
    with pytest.raises(Refused, match="not a recorded run"):
        file.open_path(settled.context, str(wrong))
    assert settled.editor.source() == before


def test_a_run_is_saved_with_position_modules_and_selection(opened, tape, tmp_path, qtbot):
    opened.session.move(5)
    save(opened, tmp_path / "again", qtbot)
    found = tape_files.read(tmp_path / "again.tape")
    assert same(found.tape, tape)
    assert found.view == RunView(5, ("model",), opened.session.view.selection)
    assert (found.program.torch, found.program.recorded) == ("2.1.0", 1.7e9)
    assert (found.program.source, found.program.seed) == (SOURCE, 4)


def test_saving_can_be_called_off(opened, tmp_path):
    saved_run.save_run(opened.context)
    assert list(tmp_path.glob("*.tape")) == [tmp_path / "net.tape"]


def test_after_a_crash_the_text_is_back_without_the_origin(opened):
    kept = SessionData(doc=opened.session.doc)
    again = session_file.decode(session_file.encode(kept)).doc
    assert (again.source, again.recorded, again.may_run) == (SOURCE, None, False)


def test_a_request_shows_the_run_at_its_position_and_removes_a_temporary_file(
    settled, path, tape, settings
):
    recent = settled.settings.recent()
    reply = settled.open_request(OpenRequest(str(path), position=2, is_temporary=True))
    assert reply == ""
    assert not path.exists()
    assert settled.session.view.position == 2
    assert settled.session.result.tape.values == tape.values
    assert settled.settings.recent() == recent


def test_a_request_for_the_open_program_keeps_what_was_typed(settled, tmp_path):
    path = tmp_path / "a.py"
    path.write_text("a = 1\nb = 2\nc = 3\n")
    assert settled.open_request(OpenRequest(str(path), line=3)) == ""
    assert settled.editor.caret_line() == 3
    settled.session.edit("a = 1\nb = 2\nc = 3\nd = 4\n")
    assert settled.open_request(OpenRequest(str(path), line=2)) == ""
    assert settled.editor.caret_line() == 2
    assert settled.session.doc.source.endswith("d = 4\n")


def test_a_request_that_cannot_be_met_is_answered_with_the_reason(settled, tmp_path):
    before = settled.session.doc
    assert "none.py" in settled.open_request(OpenRequest(str(tmp_path / "none.py")))
    program = tmp_path / "a.py"
    program.write_text("a = 1")
    refusal = settled.open_request(OpenRequest(str(program), is_temporary=True))
    assert "no recorded run" in refusal
    assert program.exists()
    assert settled.session.doc == before


def test_another_torch_than_the_recorded_is_said_with_the_output(opened, link, qtbot):
    own = opened.session.result.torch
    line = f"Recorded with torch 2.1.0; this Python has torch {own}"
    assert own not in ("", "2.1.0")
    qtbot.waitUntil(lambda: line in opened.console.text())
    # Of a Python with the same torch there is nothing to say, and of another the line is its own.
    opened.session.set_interpreter(Interpreter("/some/python", "3.12.1", "2.1.0"))
    opened.session.set_interpreter(Interpreter("/other/python", "3.12.1", "2.7.0"))
    qtbot.waitUntil(lambda: "this Python has torch 2.7.0" in opened.console.text())
    assert opened.console.text().count("Recorded with torch") == 2


BIG = """w = param(torch.arange(3000.0).reshape(50, 60))
y = w * w
y.sum().backward()
"""


@pytest.fixture(scope="module")
def big_tape():
    return engine_run.record(BIG)


def squares(tape, at):
    """Return a tensor of 3,000 squares in the shape of a snapshot."""
    return Snapshot(tape.snapshots[at].shape, "float32", "<f4", (SQUARES + at).tobytes())


def answer_peeks(link, tape, run_id):
    asked, link.asked[:] = list(link.asked), []
    for kind, asked_id, at in asked:
        assert (kind, asked_id) == ("peek", run_id)
        link.received.emit(messages.Peeked(run_id, at, squares(tape, at)))


def show_run(window, link, tape):
    session = window.session
    session.edit_live(BIG)
    link.answer(tape)
    assert session.result.tape.ops


def test_a_saved_run_has_the_numbers_that_the_engine_has(settled, link, big_tape, tmp_path, qtbot):
    show_run(settled, link, big_tape)
    path = tmp_path / "big.tape"
    settled.answers["save"] = path
    run_id = settled.session.result.shown_id
    link.asked.clear()
    saved_run.save_run(settled.context)
    qtbot.waitUntil(lambda: len(link.asked) > 0)
    answer_peeks(link, big_tape, run_id)
    qtbot.waitUntil(lambda: not settled.export_queue.busy)
    read = tape_files.read(path)
    wanted, left = tape_file.summarized(big_tape)
    assert (set(read.big), left) == (set(wanted), 0)
    for at in wanted:
        assert np.array_equal(read.big[at].array(), squares(big_tape, at).array())


def test_an_opened_run_answers_from_its_file_and_not_the_engine(settled, link, big_tape, tmp_path):
    at = tape_file.summarized(big_tape)[0][0]
    full = squares(big_tape, at)
    about = RunProgram(BIG, "big.py", 1.7e9)
    path = tmp_path / "big.tape"
    path.write_bytes(b"".join(tape_files.encode(about, big_tape, big={at: full})))
    file.open_path(settled.context, str(path))
    link.asked.clear()
    answers, numbers = [], settled.session.numbers
    numbers.peeked.connect(answers.append)
    numbers.region_read.connect(answers.append)
    numbers.peek(at)
    numbers.read_region(ReadRegion(0, at, 5, (10, 20, 4, 4)))
    assert link.asked == []
    peeked, region = answers
    assert np.array_equal(peeked.full.array(), full.array())
    assert region.problem == ""
    assert region.serial == 5


def test_a_run_without_an_engine_is_saved_with_its_statistics_and_says_so(
    settled, link, big_tape, tmp_path, qtbot
):
    show_run(settled, link, big_tape)
    path = tmp_path / "small.tape"
    settled.answers["save"] = path
    run_id = settled.session.result.shown_id
    link.asked.clear()
    said = []
    settled.export_queue.ended.connect(said.append)
    saved_run.save_run(settled.context)
    qtbot.waitUntil(lambda: len(link.asked) > 0)
    for _, _, at in link.asked:
        link.received.emit(messages.Peeked(run_id, at, None))
    qtbot.waitUntil(lambda: len(said) > 0)
    assert tape_files.read(path).big == {}
    count = len(tape_file.summarized(big_tape)[0])
    assert said == [f"Wrote small.tape, with no more than statistics of {count} big tensors"]


def test_another_run_that_begins_meanwhile_gives_the_file_none_of_its_numbers(
    settled, link, big_tape, tmp_path, qtbot
):
    show_run(settled, link, big_tape)
    path = tmp_path / "other.tape"
    settled.answers["save"] = path
    link.asked.clear()
    saved_run.save_run(settled.context)
    qtbot.waitUntil(lambda: len(link.asked) > 0)
    wanted = [at for _, _, at in link.asked]
    settled.session.edit_live(BIG + "z = 1\n")
    link.answer(big_tape)
    now = settled.session.result.shown_id
    for at in wanted:
        link.received.emit(messages.Peeked(now, at, squares(big_tape, at)))
    qtbot.waitUntil(lambda: not settled.export_queue.busy)
    assert tape_files.read(path).big == {}


def test_a_long_file_is_read_in_another_thread(settled, path, tape, qtbot, monkeypatch):
    threads, read = [], tape_files.read

    def noted(file):
        threads.append(threading.current_thread())
        return read(file)

    monkeypatch.setattr(tape_files, "read", noted)
    monkeypatch.setattr(saved_run, "MOST_AT_ONCE", 10)
    before, said = settled.session.doc, []
    settled.export_queue.ended.connect(said.append)
    file.open_path(settled.context, str(path))
    assert settled.session.doc is before
    qtbot.waitUntil(lambda: len(said) > 0)
    assert same(settled.session.result.tape, tape)
    assert said == ["Opened net.tape as it was recorded; nothing has run"]
    (thread,) = threads
    assert thread is not threading.main_thread()


def test_a_long_file_that_is_none_is_refused_in_the_status_line(settled, path, qtbot, monkeypatch):
    monkeypatch.setattr(saved_run, "MOST_AT_ONCE", 10)
    path.write_bytes(b"x" * 1000)
    before, said = settled.session.doc, []
    settled.export_queue.ended.connect(said.append)
    file.open_path(settled.context, str(path))
    qtbot.waitUntil(lambda: len(said) > 0)
    assert "not a recorded run" in said[0]
    assert settled.session.doc is before


def test_reading_a_long_file_can_be_cancelled(settled, path, monkeypatch):
    monkeypatch.setattr(saved_run, "MOST_AT_ONCE", 10)
    before = settled.session.doc
    file.open_path(settled.context, str(path))
    settled.export_queue.cancel()
    assert not settled.export_queue.busy
    assert settled.session.doc is before
