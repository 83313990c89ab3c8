"""A program from elsewhere waits to be read, and runs under the policy until it is trusted."""

from pathlib import Path

import pytest
from PySide6.QtWidgets import QLabel

from gradscribe.app.commands import file, run, train
from gradscribe.app.document import examples
from gradscribe.app.files.settings import Settings
from gradscribe.app.training.saving import session_file
from gradscribe.engine.protocol.setup import Part, Setup
from tests.app.fakes import leaves
from tests.app.homes import save

SOURCE = "import os\nx = param(1.0)\n"


@pytest.fixture
def settings(qapp):
    return Settings()


@pytest.fixture
def script(tmp_path):
    path = tmp_path / "strange.py"
    path.write_text(SOURCE)
    return path


@pytest.fixture
def opened(settled, script):
    file.open_path(settled.context, str(script))
    return settled


@pytest.fixture
def told(settled, tmp_path):
    """A window in which the program of a strange training session is read."""
    setup = Setup(model=Part("own", {"source": SOURCE}))
    path = tmp_path / "strange.gradscribe"
    row = session_file.SessionRun("a", 0, setup, 0, 0, {})
    path.write_bytes(session_file.encode(session_file.TrainingSessionData(setup, (row,), 0)))
    train.open_session(settled.context, path)
    dict(settled.notices.notice.choices)["Read it"]()
    assert SOURCE.strip() in settled.editor.source()
    return settled


def last(link):
    return link.sources[-1], link.limits[-1]["policy"]


def test_opening_a_file_shows_it_and_runs_nothing(opened, link):
    assert opened.editor.toPlainText() == SOURCE
    assert link.sources[-1] != SOURCE
    assert "came from outside" in opened.notices.notice.text
    assert [words for words, _ in opened.notices.notice.choices] == ["Run", "Trust this file"]
    words = [label.text() for label in opened.inspector.findChildren(QLabel)]
    assert "There are no tensors yet" in words
    assert not any("Examples" in text for text in words), "it waits to be read and run"
    assert opened.hint.text() == "Read the program, then run it"
    count = len(link.runs)
    opened.session.edit(SOURCE + "y = x * 2\n")
    opened.session._rest.timeout.emit()
    opened.session.edit_live(SOURCE + "y = x * 3\n")
    opened.session.set_seed(4)
    opened.session.set_limits(20.0, 1 << 26)
    assert len(link.runs) == count


def test_run_runs_it_under_the_policy_and_so_does_typing_from_then_on(opened, link):
    run.run_now(opened.context)
    assert last(link) == (SOURCE, True)
    assert opened.notices.notice is None
    link.answer(leaves(1))
    opened.session.edit_live(SOURCE + "y = 1\n")
    assert last(link) == (SOURCE + "y = 1\n", True)


def test_trust_lets_it_run_as_the_user_s_own_now_and_the_next_time(opened, link, script):
    file.trust(opened.context)
    assert last(link) == (SOURCE, False)
    assert opened.notices.notice is None
    link.answer(leaves(1))
    file.new(opened.context)
    link.answer(leaves(0))
    file.open_path(opened.context, str(script))
    assert last(link) == (SOURCE, False)
    assert not opened.session.doc.foreign


def test_a_file_that_has_changed_since_is_strange_again(opened, link, script):
    file.trust(opened.context)
    link.answer(leaves(1))
    script.write_text(SOURCE + "os.abort()\n")
    count = len(link.runs)
    file.open_path(opened.context, str(script))
    assert opened.session.doc.foreign
    assert len(link.runs) == count


def test_what_the_user_saves_is_the_user_s_own(settled, link, tmp_path):
    file.new(settled.context)
    link.answer(leaves(0))
    settled.session.edit(SOURCE)
    settled.answers["save"] = tmp_path / "mine.py"
    save(settled)
    file.open_path(settled.context, str(tmp_path / "mine.py"))
    assert not settled.session.doc.foreign


def test_what_is_typed_runs_at_once_as_full_python(settled, link):
    settled.session.edit_live(SOURCE)
    assert last(link) == (SOURCE, False)


def test_saving_a_strange_program_does_not_make_it_trusted(opened, link, script):
    opened.session.edit(SOURCE + "y = 1\n")
    save(opened)
    file.open_path(opened.context, str(script))
    assert opened.session.doc.foreign


def test_the_heading_says_whether_the_program_is_live(settled, tmp_path):
    path = tmp_path / "strange.py"
    path.write_text("x = param(1.0)\n")
    file.open_path(settled.context, str(path))
    assert settled.heading.text()[1].startswith("waits")
    settled.session.run_now()
    assert settled.heading.text()[1].startswith("live")


def test_the_program_of_a_strange_session_waits_at_the_next_start_too(told, link):
    told.session.edit(f"{SOURCE}# mine\n")
    file.new(told.context)
    link.answer(leaves(0))
    count = len(link.runs)
    file.open_first(told.context, "")
    assert told.editor.source() == f"{SOURCE}# mine\n"
    assert told.session.doc.foreign
    assert len(link.runs) == count
    assert "came from outside" in told.notices.notice.text


@pytest.mark.parametrize(
    "leave", [file.new, lambda context: file.open_example(context, "Other", "y = 1")]
)
def test_undo_never_leads_back_into_a_strange_program(told, link, leave):
    link.answer(leaves(1))
    leave(told.context)
    link.answer(leaves(1))
    before = told.editor.source()
    told.editor.undo()
    told.session._rest.timeout.emit()
    assert told.editor.source() == before
    assert all("import os" not in source for source in link.sources)


# What was saved here, and what came along


def test_what_was_read_run_and_saved_here_runs_at_once_and_under_the_policy(opened, link, script):
    run.run_now(opened.context)
    link.answer(leaves(1))
    opened.session.edit(SOURCE + "y = 1\n")
    save(opened)
    link.answer(leaves(1))
    file.new(opened.context)
    link.answer(leaves(0))
    file.open_path(opened.context, str(script))
    assert opened.notices.notice is None
    assert last(link) == (SOURCE + "y = 1\n", True)


def _examples():
    root = Path(examples.__file__).parents[2] / "assets"
    return sorted([*root.glob("examples/**/*.py"), *root.glob("lessons/*.md")])


@pytest.mark.parametrize("path", _examples(), ids=lambda path: path.name)
def test_what_comes_with_the_program_is_not_from_outside(settings, path, tmp_path):
    copy = tmp_path / path.name
    text = path.read_text(encoding="utf-8")
    assert settings.is_trusted(str(path), text)
    assert settings.is_trusted(str(copy), text), "nor is a copy of it"
    assert not settings.is_trusted(str(path), text + "import os\n")


def test_an_example_is_opened_from_its_file_and_runs(settled, link):
    path = _examples()[0]
    file.open_path(settled.context, str(path))
    assert not settled.session.doc.foreign
    assert settled.notices.notice is None
