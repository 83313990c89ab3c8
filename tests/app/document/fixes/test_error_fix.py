"""The fix of an error in the window: shown as a difference, applied as one step, then run."""

from PySide6.QtCore import Qt

from gradscribe.engine.protocol.tape import Place, Problem, Tape
from gradscribe.widgets.editor.problems.strip import ProblemStrip

BAD = "import torch\ny = torch.one(3)\nz = 1\n"
GOOD = BAD.replace("one(", "ones(")


def fail(window, link, source=BAD, fix=GOOD):
    """Let the window's program be ``source`` and its run end with an error."""
    window.editor.selectAll()
    window.editor.insertPlainText(source)
    window.session.run_now()
    error = Problem("AttributeError", "no one", "Did you mean .ones?", Place(2, 4, 2, 13), fix=fix)
    link.answer(Tape(status="error", error=error))


def strip_of(window):
    return window.editor.findChild(ProblemStrip)


def test_the_edit_is_shown_and_applied_as_one_step_that_runs(settled, qtbot, link):
    settled.show()
    settled.activateWindow()
    qtbot.waitUntil(settled.isActiveWindow)
    fail(settled, link)
    strip = strip_of(settled)
    assert strip.edit_rows() == ("- y = torch.one(3)", "+ y = torch.ones(3)")
    qtbot.mouseClick(strip.apply, Qt.MouseButton.LeftButton)
    assert settled.editor.source() == GOOD
    assert settled.session.doc.source == GOOD
    assert link.sources[-1] == GOOD
    assert settled.editor.hasFocus()
    assert strip.apply.isHidden()
    settled.editor.undo()
    assert settled.editor.source() == BAD


def test_the_shortcut_applies_it_and_is_off_without_one(settled, qtbot, link):
    settled.show()
    settled.activateWindow()
    action = next(a for a in settled.actions() if a.text() == "Apply the error's fix")
    assert not action.isEnabled()
    fail(settled, link)
    assert action.isEnabled()
    settled.menus.perform_by("run.fix")
    assert settled.editor.source() == GOOD


def test_a_text_that_was_changed_since_is_not_overwritten(settled, qtbot, link):
    settled.show()
    fail(settled, link)
    qtbot.keyClicks(settled.editor, "#")
    changed = settled.editor.source()
    assert strip_of(settled).edit_rows() == ()
    settled.error_fix.apply()
    assert settled.editor.source() == changed
    settled.editor.undo()
    assert settled.editor.source() == BAD
    assert strip_of(settled).edit_rows()


def test_a_line_that_only_comes_in_or_goes_is_shown_alone(settled, link):
    fail(settled, link, "y = torch.ones(3)\n", "import torch\ny = torch.ones(3)\n")
    assert strip_of(settled).edit_rows() == ("+ import torch",)
    fail(settled, link, "a\nb\nc\n", "a\nc\n")
    assert strip_of(settled).edit_rows() == ("- b",)


def test_without_a_fix_there_is_no_button(settled, link):
    fail(settled, link, fix="")
    assert strip_of(settled).apply.isHidden()
