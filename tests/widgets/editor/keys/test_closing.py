"""Brackets and quotes closed as they are typed, by real keys."""

import random
from pathlib import Path

import pytest
from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QApplication

import gradscribe.assets
from gradscribe.widgets.base.theme import Theme
from gradscribe.widgets.editor.highlight import column_text, units
from gradscribe.widgets.editor.source_edit import SourceEdit

KEY = Qt.Key
EXAMPLES = sorted((Path(gradscribe.assets.__file__).parent / "examples").rglob("*.py"))


@pytest.fixture
def edit(qtbot):
    made = SourceEdit(Theme.load("light"))
    qtbot.addWidget(made)
    return made


@pytest.fixture
def typed(qtbot, edit):
    """Return a function that types into a text, ``|`` its caret or selection; gives the text."""

    def type_text(text, keys):
        first, last = text.find("|"), text.rfind("|")
        edit.set_source(text.replace("|", ""), fresh=True)
        edit.set_caret(units(text[:first]), units(text[: max(first, last)].replace("|", "")))
        for letter in keys:
            if letter in SPECIAL:
                qtbot.keyClick(edit, SPECIAL[letter])
            else:
                press(edit, letter)
        return shown(edit)

    return type_text


SPECIAL = {"\n": KEY.Key_Return, "\b": KEY.Key_Backspace, "\x7f": KEY.Key_Delete}


def press(edit, letter, modifiers=Qt.KeyboardModifier.NoModifier):
    for kind in (QEvent.Type.KeyPress, QEvent.Type.KeyRelease):
        QApplication.sendEvent(edit, QKeyEvent(kind, 0, modifiers, letter))


def shown(edit):
    text, cursor = edit.source(), edit.textCursor()
    for position in sorted({cursor.anchor(), cursor.position()}, reverse=True):
        left = column_text(text, position)
        text = left + "|" + text[len(left) :]
    return text


@pytest.mark.parametrize(
    ("before", "keys", "after"),
    [
        ("|", "(", "(|)"),
        ("|", "f(x[1", "f(x[1|])"),
        ("|", "{", "{|}"),
        ("|", '"', '"|"'),
        ("x = |", "'", "x = '|'"),
        ("f(|)", '"', 'f("|")'),
        ("f(|, 2)", "[", "f([|], 2)"),
        ("a[|]", "'k", "a['k|']"),
        ("x = f|", '"', 'x = f"|"'),
        ("x = rb|", '"', 'x = rb"|"'),
    ],
)
def test_what_is_opened_is_closed_right_of_the_caret(typed, before, keys, after):
    assert typed(before, keys) == after


@pytest.mark.parametrize(
    ("before", "key", "after"),
    [
        ("|x", "(", "(|x"),
        ("|2", "[", "[|2"),
        ("|_a", '"', '"|_a'),
        ("|(a)", "(", "(|(a)"),
        ("|.5", "(", "(|.5"),
        ("|'a'", "(", "(|'a'"),
        ("|é", "(", "(|é"),
    ],
)
def test_nothing_is_closed_before_what_may_have_to_go_inside(typed, before, key, after):
    assert typed(before, key) == after


@pytest.mark.parametrize(
    ("before", "key", "after"),
    [
        ('"a|"', "(", '"a(|"'),
        ('"|"', "[", '"[|"'),
        ("# a|", "(", "# a(|"),
        ("x  # it|", "'", "x  # it'|"),
        ('"""a\nb |\n"""', "(", '"""a\nb (|\n"""'),
        ('"""a\n|\n"""', "'", '"""a\n\'|\n"""'),
        ('"""|\n"""', "{", '"""{|\n"""'),
        ("s = 'it|", "(", "s = 'it(|"),
        ("s = 'it|", "'", "s = 'it'|"),
        ("s = 'a\\'|", "'", "s = 'a\\''|"),
        ("don|", "'", "don'|"),
        ("f(x)# |", '"', 'f(x)# "|'),
    ],
)
def test_nothing_is_closed_in_strings_comments_and_after_words(typed, before, key, after):
    assert typed(before, key) == after


def test_before_a_comment_it_is_still_code(typed):
    assert typed("f| # a", "(") == "f(|) # a"


@pytest.mark.parametrize(
    ("before", "keys", "after"),
    [
        ("|", "()", "()|"),
        ("|", "f(g(x))", "f(g(x))|"),
        ("|", "'a'", "'a'|"),
        ("|", 'd["k"]', 'd["k"]|'),
        ("f(a|)", ")", "f(a)|"),
        ("s = 'a|'", "'", "s = 'a'|"),
        ("s = 'a\\\\|'", "'", "s = 'a\\\\'|"),
        ("    (a|)", ")", "    (a)|"),
        ("f(\n    a|)", ")", "f(\n    a)|"),
    ],
)
def test_the_closing_key_goes_over_what_is_there(typed, before, keys, after):
    assert typed(before, keys) == after


@pytest.mark.parametrize(
    ("before", "key", "after"),
    [
        ("f(g(x|)", ")", "f(g(x)|)"),
        ("'(|)'", ")", "'()|)'"),
        ("# (|)", ")", "# ()|)"),
        ("'it\\|'s", "'", "'it\\'|'s"),
    ],
)
def test_a_bracket_that_is_missing_or_is_text_is_inserted(typed, before, key, after):
    assert typed(before, key) == after


def test_a_bracket_is_not_closed_twice(typed):
    assert typed("f|x)", "(") == "f(|x)"
    assert typed("f| )", "(") == "f(| )"


def test_three_quotes_open_and_close_a_long_string(typed):
    assert typed("|", '"""') == '"""|"""'
    assert typed("x = r|", "'''") == "x = r'''|'''"
    assert typed("|", '"""a\nb"""') == '"""a\nb"""|'
    assert typed("|", '""') == '""|'


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("f(|)", "f|"),
        ("[|]", "|"),
        ("'|'", "|"),
        ('x = f"|"', "x = f|"),
        ('"""|"""', "|"),
        ("f((|)", "f(|)"),
        ("'a|'", "'|'"),
        ("'(|)'", "'|)'"),
        ("# (|)", "# |)"),
        ("(|]", "|]"),
        ("'a'|'b'", "'a|'b'"),
        ("''|", "'|"),
    ],
)
def test_backspace_removes_an_empty_pair_and_nothing_else(typed, before, after):
    assert typed(before, "\b") == after


@pytest.mark.parametrize(
    ("before", "key", "after"),
    [
        ("a |b + c|", "(", "a (|b + c|)"),
        ("|x|", '"', '"|x|"'),
        ("|a\nb|", "[", "[|a\nb|]"),
        ("|a\nb|", '"', '"""|a\nb|"""'),
        ("|'|x'", '"', "\"|x'"),
        ("|ab|", ")", ")|"),
        ('"a |b|"', "(", '"a (|b|)"'),
        ("|x = 🙂|", "(", "(|x = 🙂|)"),
    ],
)
def test_a_selection_is_surrounded(typed, before, key, after):
    assert typed(before, key) == after


def test_a_selection_from_right_to_left_stays_as_it_is(edit):
    edit.set_source("abc", fresh=True)
    edit.set_caret(3, 1)
    press(edit, "(")
    assert edit.source() == "a(bc)"
    assert edit.caret() == (4, 2)


def test_return_between_brackets_gives_the_closing_one_a_line(typed):
    assert typed("f(|)", "\n") == "f(\n    |\n)"
    assert typed("    x = [|]", "\n") == "    x = [\n        |\n    ]"


def test_a_closing_bracket_typed_on_a_new_line_is_the_one_inserted_before(typed):
    assert typed("|", "f(\na,\n\b)") == "f(\n    a,\n)|"
    assert typed("|", "f([\na])") == "f([\n    a])|"


def test_a_bracket_of_the_file_is_not_reached_over_blank_space(typed):
    assert typed("f(a, |\n)", ")") == "f(a, )|\n)"


@pytest.mark.parametrize("keys", ["(", "[", '"', '"""'])
def test_each_key_is_one_step_of_undo(edit, typed, keys):
    typed("x = |", keys)
    for _ in range(len(keys)):
        edit.undo()
    assert edit.source() == "x = "


def test_a_surrounded_selection_is_one_step_of_undo(edit, typed):
    typed("|ab|", "(")
    edit.undo()
    assert edit.source() == "ab"


def test_astral_letters_before_the_caret_do_not_shift_it(typed):
    assert typed("s = '🙂🙂' + f|", "(x)") == "s = '🙂🙂' + f(x)|"


def test_a_bracket_by_altgr_is_closed_and_a_shortcut_is_not_typed(edit):
    control, alt = Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.AltModifier
    press(edit, "[", control | alt)
    assert edit.source() == "[]"
    press(edit, "(", control)
    assert edit.source() == "[]"


def test_a_read_only_text_stays(edit):
    edit.set_source("a", fresh=True)
    edit.setReadOnly(True)
    press(edit, "(")
    assert edit.source() == "a"


def type_blindly(qtbot, edit, text):
    """Type a program as it stands, with its indentation set by Space and Backspace."""
    for number, line in enumerate(text.split("\n")):
        if number:
            qtbot.keyClick(edit, KEY.Key_Return)
        words = line.lstrip(" ")
        lead = len(line) - len(words)
        while edit.textCursor().positionInBlock() > lead:
            qtbot.keyClick(edit, KEY.Key_Backspace)
        for letter in " " * (lead - edit.textCursor().positionInBlock()) + words:
            press(edit, letter)


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_a_program_typed_without_looking_is_the_program(qtbot, edit, path):
    text = path.read_text("utf-8").rstrip("\n")[:1500]
    text = text[: text.rfind("\n")]
    type_blindly(qtbot, edit, text)
    assert [line.rstrip() for line in edit.source().rstrip().split("\n")] == [
        line.rstrip() for line in text.rstrip().split("\n")
    ]


def test_random_keys_lose_nothing_and_undo_leads_back(qtbot, edit):
    draw = random.Random(7)
    for _ in range(30):
        edit.set_source("", fresh=True)
        keys = [draw.choice("()[]{}\"'a #\\\n\b\x7f") for _ in range(60)]
        for letter in keys:
            if letter in SPECIAL:
                qtbot.keyClick(edit, SPECIAL[letter])
            else:
                press(edit, letter)
        last = edit.source()
        while edit.document().isUndoAvailable():
            edit.undo()
        assert edit.source() == ""
        while edit.document().isRedoAvailable():
            edit.redo()
        assert edit.source() == last
