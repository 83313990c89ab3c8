"""Completion in the window: when its process starts, and from which run its names come."""

from PySide6.QtCore import Qt

from gradscribe.app.document.state import Doc
from gradscribe.engine.protocol.language import Locate, Located
from tests.app.fakes import FakeLanguage

CONTROL = Qt.KeyboardModifier.ControlModifier


def process(window):
    return window.typing.findChild(FakeLanguage)


def type_text(qtbot, window, text):
    window.editor.setFocus()
    window.editor.moveCursor(window.editor.textCursor().MoveOperation.End)
    qtbot.keyClicks(window.editor, text)
    turn = window.editor.assistance._turn
    qtbot.waitUntil(lambda: not turn.isActive())


def test_the_process_starts_with_the_first_letter(qtbot, settled):
    assert process(settled).started == 0
    settled.editor.set_source("x = 1\n")
    assert process(settled).started == 0
    type_text(qtbot, settled, "x")
    assert process(settled).started == 1


def test_it_does_not_start_before_the_engine_is_ready(qtbot, window, link):
    type_text(qtbot, window, "x")
    assert process(window).started == 0
    link.greet()
    assert process(window).started == 1


def test_names_come_with_the_shapes_of_the_run_that_is_shown(qtbot, settled, link, record):
    source = "big = torch.ones(7, 5)\nbag = big.sum()\n"
    settled.session.load(Doc(source=source))
    link.answer(record(source))
    settled.show()
    type_text(qtbot, settled, "bi")
    names = settled.editor.assistance.completion.list.candidates()
    assert names[0].name == "big"
    assert names[0].detail == "7 × 5"


def test_questions_reach_the_process_and_answers_the_editor(qtbot, settled):
    settled.editor.set_source("first = 1\nsecond = first\n")
    settled.editor.go_to_line(2, 9)
    process(settled).ready_changed.emit(True)
    settled.menus.perform_by("edit.definition")
    asked = process(settled).asked[-1]
    assert isinstance(asked, Locate)
    process(settled).received.emit(Located(asked.serial, 1, 0))
    assert settled.editor.textCursor().blockNumber() == 0


def test_without_a_process_the_text_is_searched(qtbot, settled):
    settled.editor.set_source("first = 1\nsecond = first\n")
    settled.editor.go_to_line(2, 9)
    process(settled).ready_changed.emit(True)
    process(settled).ready_changed.emit(False)
    settled.menus.perform_by("edit.definition")
    assert settled.editor.textCursor().blockNumber() == 0
    assert process(settled).asked == []


def test_a_remark_stands_in_the_status_line(settled):
    settled.editor.set_source("nowhere\n")
    settled.editor.go_to_line(1, 0)
    settled.menus.perform_by("edit.definition")
    assert settled.status.message.text() == "No definition of nowhere in this program"


def test_the_commands_work_by_their_keys(qtbot, settled):
    settled.show()
    settled.editor.set_source("first = torch.matmul(\n")
    settled.editor.setFocus()
    settled.editor.go_to_line(1, 21)
    settled.menus.perform_by("edit.complete")
    assert settled.editor.assistance.completion.is_open
    settled.menus.perform_by("edit.arguments")
    assert settled.editor.assistance.call_help.is_active


def test_the_setting_is_obeyed_and_survives(qtbot, settled):
    settled.menus.perform_by("edit.complete_typing")
    assert not settled.settings.flag("complete")
    assert not settled.editor.assistance.is_automatic
    settled.menus.perform_by("edit.complete_typing")
    assert settled.editor.assistance.is_automatic


def test_the_process_reads_the_folder_of_the_file_unless_that_is_foreign(qtbot, settled, tmp_path):
    path = tmp_path / "mine.py"
    path.write_text("x = 1\n")
    settled.session.load(Doc(source="x = 1\n", path=str(path)))
    assert process(settled).folder == str(tmp_path)
    settled.session.load(Doc(source="x = 1\n", path=str(path), foreign=True))
    assert process(settled).folder == ""


def test_closing_the_window_ends_the_process(settled):
    settled.close()
    assert process(settled).closed
