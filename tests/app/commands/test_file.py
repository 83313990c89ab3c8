"""File: open, save, export; nothing typed is ever lost."""

import os

import pytest

from gradscribe.app.commands import file
from gradscribe.app.files.documents import Refused
from tests.app.homes import said, save


@pytest.mark.checklist(30)
def test_saving_writes_the_text_and_remembers_the_file(settled, tmp_path):
    settled.session.edit("x = param(1.0)")
    settled.answers["save"] = tmp_path / "mine"
    save(settled)
    path = tmp_path / "mine.py"
    assert path.read_text() == "x = param(1.0)"
    assert not settled.session.doc.modified
    assert settled.settings.recent() == (str(path),)
    settled.session.edit("x = param(2.0)")
    settled.answers.clear()
    save(settled)
    assert path.read_text() == "x = param(2.0)"


def test_saving_without_a_name_can_be_called_off(settled):
    save(settled)
    assert settled.session.doc.path == ""


def test_a_folder_that_is_gone_is_refused(settled, tmp_path):
    settled.answers["save"] = tmp_path / "gone" / "x.py"
    save(settled)
    assert "cannot be written" in said(settled)


def test_another_file_leaves_a_draft_of_the_first(settled, tmp_path):
    first, second = tmp_path / "first.py", tmp_path / "second.py"
    first.write_text("a = 1")
    second.write_text("b = 1")
    file.open_path(settled.context, str(first))
    settled.session.edit("a = 2")
    file.open_path(settled.context, str(second))
    assert first.read_text() == "a = 1"
    file.open_path(settled.context, str(first))
    assert settled.editor.source() == "a = 2"
    assert settled.session.doc.modified


def test_a_program_that_is_opened_in_the_training_room_is_seen(settled, tmp_path):
    """Whoever is asked whether it may run must have it before their eyes."""
    path = tmp_path / "stranger.py"
    path.write_text("a = 1")
    for open_it in (
        lambda: file.open_path(settled.context, str(path)),
        lambda: file.open_example(settled.context, "Other", "y = 1"),
        lambda: file.new(settled.context),
    ):
        settled.workspaces.show_workspace("training")
        assert settled.workspaces.current == "training"
        open_it()
        assert settled.workspaces.current == "program"


def test_undo_never_leads_from_one_file_into_another(settled, tmp_path):
    path = tmp_path / "first.py"
    path.write_text("a = 1")
    file.open_path(settled.context, str(path))
    settled.editor.undo()
    assert settled.editor.source() == "a = 1"


def test_undo_leads_back_from_an_example(settled):
    before = settled.editor.source()
    file.open_example(settled.context, "Other", "y = 1")
    assert settled.editor.source() == "y = 1"
    settled.editor.undo()
    assert settled.editor.source() == before


@pytest.mark.checklist(245)
def test_a_new_program_is_empty(settled, link):
    file.new(settled.context)
    assert settled.editor.source() == ""
    assert link.sources[-1] == ""
    assert settled.session.doc.title == "Untitled"


def test_recent_files_can_be_opened(settled, tmp_path):
    path = tmp_path / "mine.py"
    path.write_text("a = 1")
    file.open_path(settled.context, str(path))
    file.new(settled.context)
    (choice,) = file.recent(settled.context)
    assert choice.tip == str(path)
    choice.run(settled.context)
    assert settled.session.doc.path == str(path)


def test_a_file_with_an_endless_line_is_refused_and_nothing_changes(settled, tmp_path):
    before = settled.session.doc
    path = tmp_path / "blob.py"
    path.write_text("x = 1\nblob = '" + "A" * 100_000 + "'\n")
    with pytest.raises(Refused, match=r"blob\.py is not opened: line 2 has 100,009 characters"):
        file.open_path(settled.context, str(path))
    assert settled.session.doc == before
    assert str(path) not in settled.settings.recent()


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes with names here")
@pytest.mark.parametrize("name", ["waits.py", "waits.gradscribe"])
def test_a_pipe_is_neither_waited_for_nor_opened(settled, tmp_path, name):
    before, path = settled.session.doc, tmp_path / name
    os.mkfifo(path)
    with pytest.raises(Refused, match="no plain file"):
        file.open_path(settled.context, str(path))
    assert settled.session.doc == before


def test_a_table_is_no_program_and_it_is_said_where_it_belongs(settled, tmp_path):
    before, path = settled.session.doc, tmp_path / "points.CSV"
    path.write_text("a,b\n1,2\n")
    with pytest.raises(Refused, match=r"points\.CSV holds data: choose it in Training"):
        file.open_path(settled.context, str(path))
    assert settled.session.doc == before
    assert str(path) not in settled.settings.recent()


def test_what_another_program_made_of_the_file_is_refused_where_it_is_too_much(settled, tmp_path):
    path = tmp_path / "mine.py"
    path.write_text("x = 1\n")
    file.open_path(settled.context, str(path))
    path.write_text("x = 1  # " + "A" * 100_000)
    settled.recovery.file.check_disk()
    with pytest.raises(Refused, match="is not taken over: line 1"):
        settled.notices.notice.choices[0][1]()
    assert settled.session.doc.source == "x = 1\n"


def test_a_name_that_no_file_can_have_is_refused_in_words(settled):
    before = settled.editor.source()
    with pytest.raises(Refused, match="No file is called"):
        file.open_path(settled.context, "a\0b.py")
    assert settled.editor.source() == before


def test_a_link_in_a_circle_is_refused_in_words(window, tmp_path):
    for name in ("loop.py", "loop.gradscribe"):
        (tmp_path / name).symlink_to(name)
        with pytest.raises(Refused):
            file.open_path(window.context, tmp_path / name)
