"""A run is saved to a file and opens elsewhere as it was, without running anything."""

import msgspec
import pytest

from gradscribe.app.commands import file, saved_run
from gradscribe.app.files import session_file, tape_files
from gradscribe.app.files.documents import Refused
from gradscribe.app.files.open_requests import OpenRequest
from gradscribe.app.files.session_file import SessionData
from gradscribe.app.files.settings import Settings
from gradscribe.app.link.interpreters import Interpreter
from gradscribe.engine.protocol.tape_file import RunProgram, RunView
from gradscribe.engine.run import run as engine_run

SOURCE = """model = nn.Sequential(nn.Linear(2, 2), nn.ReLU())
x = torch.ones(1, 2)
y = model(x).sum()
y.backward()
"""


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
