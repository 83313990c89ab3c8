"""Edit: the editor's own changes, from the menu."""

from gradscribe.app.commands import edit


def test_undo_and_redo_run_again(settled, qtbot, link):
    before = settled.editor.source()
    qtbot.keyClicks(settled.editor, "#")
    edit.undo(settled.context)
    assert settled.editor.source() == before
    edit.redo(settled.context)
    assert settled.editor.source() == "#" + before
    qtbot.waitUntil(lambda: link.sources[-1] == "#" + before)


def test_a_line_is_commented_and_back(settled):
    before = settled.editor.source()
    line = next(n for n, text in enumerate(before.split("\n")) if text.startswith("x = "))
    settled.editor.go_to_line(line + 1)
    edit.comment(settled.context)
    assert settled.editor.source().split("\n")[line].lstrip().startswith("#")
    edit.comment(settled.context)
    assert settled.editor.source() == before


def test_everything_can_be_cut_and_pasted_back(settled):
    before = settled.editor.source()
    edit.select_all(settled.context)
    edit.copy(settled.context)
    edit.cut(settled.context)
    assert settled.editor.source() == ""
    edit.paste(settled.context)
    assert settled.editor.source() == before


def test_find_opens_the_search_line(settled):
    settled.show()
    edit.find(settled.context)
    assert settled.find_bar.isVisible()
