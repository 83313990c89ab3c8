"""Edit: the editor's own changes, from the menu."""

from PySide6.QtCore import Qt

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


def test_the_keyboard_decides_where_find_looks(settled, qtbot):
    settled.show()
    settled.graph.setFocus()
    qtbot.waitUntil(settled.graph.hasFocus)
    edit.find(settled.context)
    assert settled.over.tools.is_open()
    assert not settled.find_bar.isVisible()
    settled.editor.setFocus()
    edit.find(settled.context)
    assert settled.find_bar.isVisible()
    assert settled.find_bar.query.hasFocus()


def test_next_goes_on_in_the_search_that_is_open(settled, qtbot):
    settled.show()
    edit.find_next(settled.context)
    assert settled.find_bar.isVisible()
    qtbot.keyClicks(settled.find_bar.query, "x")
    first = settled.editor.caret()
    edit.find_next(settled.context)
    assert settled.editor.caret() != first
    edit.find_back(settled.context)
    assert settled.editor.caret() == first
    settled.find_bar.leave()
    edit.find_graph(settled.context)
    with qtbot.waitSignal(settled.over.tools.stepped) as stepped:
        edit.find_back(settled.context)
    assert stepped.args == [True]


def test_replace_opens_both_lines_and_undo_takes_all_back(settled, qtbot):
    settled.show()
    before = settled.editor.source()
    edit.replace(settled.context)
    qtbot.keyClicks(settled.find_bar.query, "x")
    qtbot.keyClicks(settled.find_bar.replacement, "xx")
    qtbot.mouseClick(settled.find_bar.all_button, Qt.MouseButton.LeftButton)
    assert settled.editor.source() == before.replace("x", "xx")
    edit.undo(settled.context)
    assert settled.editor.source() == before


def test_there_is_nothing_to_find_on_the_training_page(settled):
    settled.workspaces.show_workspace("training")
    settled.menus.perform_by("edit.find")
    assert settled.find_bar.isHidden()
