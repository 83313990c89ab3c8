import pytest
from PySide6.QtCore import Qt

from gradscribe.widgets.base.theme import Theme
from gradscribe.widgets.editor.source_edit import SourceEdit

KEY = Qt.Key
SHIFT = Qt.KeyboardModifier.ShiftModifier
CONTROL = Qt.KeyboardModifier.ControlModifier


@pytest.fixture
def edit(qtbot):
    edit = SourceEdit(Theme.load("light"))
    qtbot.addWidget(edit)
    return edit


@pytest.fixture
def press(qtbot, edit):
    """Return a function that types a key after ``text`` was put in, and gives the text after.

    ``|`` in the text is the caret; two of them are a selection.
    """

    def type_key(text, key, modifiers=Qt.KeyboardModifier.NoModifier):
        first, last = text.find("|"), text.rfind("|")
        edit.set_source(text.replace("|", ""), fresh=True)
        cursor = edit.textCursor()
        cursor.setPosition(first)
        if last > first:
            cursor.setPosition(last - 1, cursor.MoveMode.KeepAnchor)
        edit.setTextCursor(cursor)
        qtbot.keyClick(edit, key, modifiers)
        return shown(edit)

    return type_key


def shown(edit):
    text, cursor = edit.source(), edit.textCursor()
    for position in sorted({cursor.anchor(), cursor.position()}, reverse=True):
        text = text[:position] + "|" + text[position:]
    return text


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("|x", "    |x"),
        ("a|", "a   |"),
        ("abcd|", "abcd    |"),
        ("  |", "    |"),
        ("a|bc|d", "a   |d"),
    ],
)
def test_tab_fills_up_to_the_next_stop(press, before, after):
    assert press(before, KEY.Key_Tab) == after


def test_tab_indents_all_selected_lines_but_not_empty_ones(press):
    assert press("a|a\n\nbb|\ncc", KEY.Key_Tab) == "    a|a\n\n    bb|\ncc"


def test_a_line_whose_first_letter_is_not_selected_stays(press):
    assert press("|aa\n|bb", KEY.Key_Tab).replace("|", "") == "    aa\nbb"


@pytest.mark.parametrize(
    ("before", "after"),
    [("    x|", "x|"), ("      x|", "  x|"), ("  x|", "x|"), ("x|", "x|"), ("|    x", "|x")],
)
def test_shift_tab_takes_a_step_away(press, before, after):
    assert press(before, KEY.Key_Backtab, SHIFT) == after


def test_shift_tab_dedents_all_selected_lines(press):
    text = press("    |a\n        b\n  c|", KEY.Key_Backtab, SHIFT)
    assert text.replace("|", "") == "a\n    b\nc"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("if x:|", "if x:\n    |"),
        ("    for a in b:  # note|", "    for a in b:  # note\n        |"),
        ("    x = 1|", "    x = 1\n    |"),
        ("f(|", "f(\n    |"),
        ("x = [|]", "x = [\n    |\n]"),
        ("    return x|", "    return x\n|"),
        ("        pass|", "        pass\n    |"),
        ("returned = 1|", "returned = 1\n|"),
        ("    x = 1| + 2", "    x = 1\n    |+ 2"),
        ("|    x", "\n|    x"),
        ("    |x", "    \n    |x"),
        ("# a:|", "# a:\n|"),
        ("s = 'a:'|", "s = 'a:'\n|"),
        ("s = '''a:|", "s = '''a:\n|"),
        ("a|bc|d", "a\n|d"),
    ],
)
@pytest.mark.parametrize("key", [KEY.Key_Return, KEY.Key_Enter])
def test_return_indents_as_the_code_before_it_asks_for(press, before, after, key):
    assert press(before, key) == after


def test_return_looks_at_the_code_left_of_the_caret_behind_an_emoji_too(qtbot, edit):
    edit.set_source("if '😀' in a:")
    edit.go_to_line(1, 99)
    qtbot.keyClick(edit, KEY.Key_Return)
    assert edit.source() == "if '😀' in a:\n    "


def test_shift_return_breaks_the_line_like_return(press, edit):
    assert press("ab|", KEY.Key_Return, SHIFT) == "ab\n|"
    assert edit.blockCount() == 2


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("        |x", "    |x"),
        ("      |x", "    |x"),
        ("    |", "|"),
        ("   |", "|"),
        ("x    |", "x   |"),
        ("a\n|b", "a|b"),
        ("    |  x", "|  x"),
    ],
)
def test_backspace_takes_a_step_of_indentation_away(press, before, after):
    assert press(before, KEY.Key_Backspace) == after


@pytest.mark.parametrize(
    ("before", "after"),
    [("    ab|c", "    |abc"), ("    |abc", "|    abc"), ("|    abc", "    |abc"), ("ab|", "|ab")],
)
def test_home_toggles_between_the_first_letter_and_the_margin(press, before, after):
    assert press(before, KEY.Key_Home) == after


def test_shift_home_selects(press):
    assert press("    ab|c", KEY.Key_Home, SHIFT) == "    |ab|c"


def test_control_home_goes_to_the_beginning(press):
    assert press("a\n    b|", KEY.Key_Home, CONTROL) == "|a\n    b"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("x = 1|", "# x = 1"),
        ("    x|", "    # x"),
        ("# x|", "x"),
        ("#x|", "x"),
        ("    # x|", "    x"),
        ("|a\n\n    b|", "# a\n\n#     b"),
        ("|# a\n    # b|", "a\n    b"),
        ("|# a\nb|", "# # a\n# b"),
        ("|", ""),
    ],
)
def test_control_slash_comments_out_and_in(press, before, after):
    assert press(before, KEY.Key_Slash, CONTROL).replace("|", "") == after


@pytest.mark.parametrize(
    ("text", "key", "modifiers"),
    [
        ("|a\nb|", KEY.Key_Tab, Qt.KeyboardModifier.NoModifier),
        ("|    a\n    b|", KEY.Key_Backtab, SHIFT),
        ("|a\nb|", KEY.Key_Slash, CONTROL),
        ("if a:|", KEY.Key_Return, Qt.KeyboardModifier.NoModifier),
        ("        |", KEY.Key_Backspace, Qt.KeyboardModifier.NoModifier),
    ],
)
def test_each_key_is_one_step_to_undo(press, edit, text, key, modifiers):
    press(text, key, modifiers)
    edit.undo()
    assert edit.source() == text.replace("|", "")
