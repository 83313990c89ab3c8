"""Find and replace in the program, by real keys and clicks."""

import re

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QWidget

from gradscribe.app.ui.find_bar import FindBar
from gradscribe.widgets.editor.code_edit import CodeEdit

RETURN, ESCAPE = Qt.Key.Key_Return, Qt.Key.Key_Escape
SHIFT = Qt.KeyboardModifier.ShiftModifier
LEFT = Qt.MouseButton.LeftButton
TEXT = "grad\nx.grad\nGRAD\n"


@pytest.fixture
def bar(qtbot):
    over = QWidget()
    qtbot.addWidget(over)
    over.resize(400, 500)
    editor = CodeEdit(parent=over)
    editor.resize(400, 300)
    editor.set_source(TEXT, fresh=True)
    made = FindBar(editor, over)
    made.setGeometry(0, 300, 400, 200)
    over.show()
    over.activateWindow()
    made.over = over
    made.editor = editor
    return made


def line(bar):
    return bar.editor.textCursor().blockNumber()


def type_text(qtbot, entry, text):
    if text.isascii():
        qtbot.keyClicks(entry, text)
    else:
        entry.insert(text)


def find(bar, qtbot, text, **options):
    bar.open(replace="by" in options)
    bar.query.clear()
    for name, on in options.items():
        if name != "by" and getattr(bar, name).isChecked() != on:
            qtbot.mouseClick(getattr(bar, name), LEFT)
    type_text(qtbot, bar.query, text)
    if "by" in options:
        bar.replacement.clear()
        type_text(qtbot, bar.replacement, options["by"])


def test_tab_leads_from_what_is_searched_to_what_replaces_it(bar, qtbot):
    bar.open(replace=True)
    bar.query.setFocus()
    qtbot.keyClicks(bar.query, "grad")
    qtbot.keyClick(bar.query, Qt.Key.Key_Tab)
    assert QApplication.focusWidget() is bar.replacement
    reached = {bar.query, bar.replacement}
    for _ in range(8):
        qtbot.keyClick(QApplication.focusWidget(), Qt.Key.Key_Tab)
        reached.add(QApplication.focusWidget())
    buttons = (bar.replace_button, bar.all_button, bar.back_button, bar.next_button)
    assert reached >= {*buttons, bar.close_button, bar.match_case, bar.whole_word, bar.regex}
    assert QApplication.focusWidget() is bar.regex, "the last, from which it goes on"
    bar.replacement.setFocus()
    qtbot.keyClick(bar.replacement, Qt.Key.Key_Tab, SHIFT)
    assert QApplication.focusWidget() is bar.query


def test_it_counts_and_goes_round(bar, qtbot):
    find(bar, qtbot, "grad")
    assert bar.count.text() == "1 of 3"
    seen = [line(bar)]
    for _ in range(3):
        qtbot.keyClick(bar.query, RETURN)
        seen.append(line(bar))
    assert seen == [0, 1, 2, 0]


def test_shift_return_goes_back(bar, qtbot):
    find(bar, qtbot, "grad")
    qtbot.keyClick(bar.query, RETURN, SHIFT)
    assert line(bar) == 2
    assert bar.count.text() == "3 of 3"
    qtbot.keyClick(bar.query, RETURN, SHIFT)
    assert line(bar) == 1


def test_the_buttons_go_on_and_back(bar, qtbot):
    find(bar, qtbot, "grad")
    qtbot.mouseClick(bar.next_button, LEFT)
    assert line(bar) == 1
    qtbot.mouseClick(bar.back_button, LEFT)
    assert line(bar) == 0


def test_it_starts_with_the_selected_word(bar):
    bar.editor.selectAll()
    bar.open()
    assert bar.query.text() == ""
    bar.editor.set_caret(5, 6)
    bar.editor.setFocus()
    bar.open()
    assert bar.query.text() == "x"


def test_typing_on_narrows_down_from_where_the_caret_was(bar, qtbot):
    bar.editor.set_caret(5, 5)
    find(bar, qtbot, "grad")
    assert line(bar) == 1
    bar.editor.set_source("a ab abc", fresh=True)
    find(bar, qtbot, "abc")
    assert bar.editor.textCursor().selectedText() == "abc"


def test_nothing_found_says_so_and_escape_gives_the_focus_back(bar, qtbot):
    find(bar, qtbot, "zzz")
    assert bar.count.text() == "None found"
    qtbot.keyClick(bar.query, ESCAPE)
    assert not bar.isVisible()
    assert bar.editor.hasFocus()


@pytest.mark.parametrize("part", ["replacement", "match_case", "regex", "all_button"])
def test_escape_closes_from_every_part(bar, qtbot, part):
    find(bar, qtbot, "grad", by="x")
    getattr(bar, part).setFocus()
    qtbot.keyClick(getattr(bar, part), ESCAPE)
    assert not bar.isVisible()
    assert bar.editor.hasFocus()
    assert bar.editor.found.spans() == []


@pytest.mark.parametrize(
    ("text", "options", "query", "expected"),
    [
        (TEXT, {"match_case": True}, "grad", r"grad"),
        ("a ab a_b a.b", {"whole_word": True}, "a", r"\ba\b"),
        ("été é", {"whole_word": True}, "é", r"\bé\b"),
        ("x.grad y.grads", {"whole_word": True}, ".grad", r"\.grad\b"),
        ("a1 b22", {"regex": True}, r"\d+", r"\d+"),
        ("a.b axb", {}, "a.b", r"a\.b"),
        ("def f\n  def g", {"regex": True}, r"^ *def", r"(?m)^ *def"),
        ("a(b", {}, "a(", r"a\("),
    ],
)
def test_the_matches_are_those_of_re(bar, qtbot, text, options, query, expected):
    bar.editor.set_source(text, fresh=True)
    find(bar, qtbot, query, **options)
    flags = 0 if options.get("match_case") else re.IGNORECASE
    assert bar.editor.found.spans() == [m.span() for m in re.finditer(expected, text, flags)]


def test_a_wrong_pattern_is_said_and_underlined_where_it_is_wrong(bar, qtbot):
    find(bar, qtbot, "ab[c", regex=True)
    assert bar.problem.text() == "Unterminated character set, at character 3"
    assert bar.problem.isVisible()
    assert bar.query.underlined == (2, 3)
    assert bar.editor.source() == TEXT
    qtbot.keyClicks(bar.query, "]")
    assert not bar.problem.isVisible()
    assert bar.query.underlined == (0, 0)
    assert bar.query.text() == "ab[c]"


@pytest.mark.parametrize(
    "pattern", ["(", "*", "(?P<a", "[z-a]", "\\", "a{99999999999}", "(?i", "x**"]
)
def test_no_pattern_raises(bar, qtbot, pattern):
    find(bar, qtbot, pattern, regex=True)
    qtbot.keyClick(bar.query, RETURN)
    assert bar.problem.text()
    assert bar.editor.source() == TEXT


def test_a_pattern_that_takes_forever_is_given_up(bar, qtbot):
    bar.editor.set_source("a" * 40 + "!", fresh=True)
    find(bar, qtbot, "(a+)+$", regex=True)
    assert "too long" in bar.problem.text()


def test_a_pattern_that_matches_nothing_long_goes_on(bar, qtbot):
    find(bar, qtbot, "^", regex=True)
    seen = [line(bar)]
    for _ in range(4):
        qtbot.keyClick(bar.query, RETURN)
        seen.append(line(bar))
    assert seen == [0, 1, 2, 3, 0]


def test_replace_changes_this_match_and_goes_to_the_next(bar, qtbot):
    find(bar, qtbot, "grad", by="g")
    qtbot.keyClick(bar.replacement, RETURN)
    assert bar.editor.source() == "g\nx.grad\nGRAD\n"
    assert line(bar) == 1
    qtbot.mouseClick(bar.replace_button, LEFT)
    assert bar.editor.source() == "g\nx.g\nGRAD\n"
    bar.editor.undo()
    assert bar.editor.source() == "g\nx.grad\nGRAD\n"


def test_replace_first_goes_to_a_match(bar, qtbot):
    find(bar, qtbot, "grad", by="g")
    bar.editor.set_caret(2, 2)
    qtbot.mouseClick(bar.replace_button, LEFT)
    assert bar.editor.source() == TEXT
    assert line(bar) == 1


def test_replacing_a_text_by_itself_and_more_ends(bar, qtbot):
    bar.editor.set_source("aa", fresh=True)
    find(bar, qtbot, "a", by="aa")
    qtbot.keyClick(bar.replacement, RETURN)
    qtbot.keyClick(bar.replacement, RETURN)
    assert bar.editor.source() == "aaaa"


def test_all_are_replaced_as_one_step(bar, qtbot):
    find(bar, qtbot, "grad", by="🙂")
    with qtbot.waitSignal(bar.editor.edited):
        qtbot.mouseClick(bar.all_button, LEFT)
    assert bar.editor.source() == "🙂\nx.🙂\n🙂\n"
    assert bar.count.text() == "3 places changed"
    bar.editor.undo()
    assert bar.editor.source() == TEXT
    bar.editor.redo()
    assert bar.editor.source() == "🙂\nx.🙂\n🙂\n"


def test_groups_are_put_in(bar, qtbot):
    bar.editor.set_source("f(a, b)\nf(c, d)\n", fresh=True)
    find(bar, qtbot, r"f\((\w), (\w)\)", regex=True, by=r"g(\2, \1)")
    qtbot.mouseClick(bar.all_button, LEFT)
    assert bar.editor.source() == re.sub(r"f\((\w), (\w)\)", r"g(\2, \1)", "f(a, b)\nf(c, d)\n")


def test_without_a_regular_expression_a_backslash_is_a_backslash(bar, qtbot):
    find(bar, qtbot, "grad", by=r"\1")
    qtbot.mouseClick(bar.all_button, LEFT)
    assert bar.editor.source() == "\\1\nx.\\1\n\\1\n"


@pytest.mark.parametrize("template", [r"\9", "\\", r"\g<no>", r"\q"])
def test_a_wrong_replacement_is_said_and_nothing_is_lost(bar, qtbot, template):
    find(bar, qtbot, "g", regex=True, by=template)
    qtbot.mouseClick(bar.all_button, LEFT)
    assert bar.problem.text()
    assert bar.editor.source() == TEXT


def test_a_replacement_that_would_be_too_long_is_refused(bar, qtbot):
    bar.editor.set_source("a" * 5000, fresh=True)
    find(bar, qtbot, "a", by="b" * 50)
    qtbot.mouseClick(bar.all_button, LEFT)
    assert "characters" in bar.problem.text()
    assert bar.editor.source() == "a" * 5000
    bar.editor.set_source("a\n" * 20_000, fresh=True)
    bar.replacement.setText("b" * 9000)
    qtbot.mouseClick(bar.all_button, LEFT)
    assert "characters" in bar.problem.text()


def test_very_many_are_replaced_as_re_does(bar, qtbot):
    text = "x = 1  # 🙂\n" * 3000
    bar.editor.set_source(text, fresh=True)
    find(bar, qtbot, r"(\d)", regex=True, by=r"\1\n")
    qtbot.mouseClick(bar.all_button, LEFT)
    assert bar.editor.source() == re.sub(r"(\d)", r"\1\n", text)
    bar.editor.undo()
    assert bar.editor.source() == text


def test_highlights_are_those_of_the_lines_in_view(bar, qtbot):
    bar.editor.set_source("a\n" * 4000, fresh=True)
    find(bar, qtbot, "a")
    assert len(bar.editor.found.spans()) == 4000
    bar.editor.grab()
    rows = bar.editor.rows()
    assert len(bar.editor.found.areas) == len(rows) < 50
    for row, area in zip(rows, bar.editor.found.areas, strict=True):
        assert row.top <= area.center().y() <= row.bottom


def test_a_highlight_stands_at_its_letters(bar, qtbot):
    bar.editor.set_source("🙂 ab\n", fresh=True)
    find(bar, qtbot, "ab")
    bar.editor.grab()
    (area,) = bar.editor.found.areas
    bar.editor.set_caret(3, 3)
    left = bar.editor.cursorRect().center().x()
    assert area.left() == pytest.approx(left, abs=3)


def test_typing_in_the_program_counts_again(bar, qtbot):
    find(bar, qtbot, "grad")
    bar.editor.set_caret(0, 0)
    bar.editor.setFocus()
    qtbot.keyClicks(bar.editor, "grad ")
    assert len(bar.editor.found.spans()) == 4
    assert bar.count.text() == "4 found"
    bar.editor.set_source("grad\n" * 40_000, fresh=True)
    qtbot.waitUntil(lambda: len(bar.editor.found.spans()) == 40_000)


def test_find_again_takes_the_search_line_and_leaves_the_replacement(bar, qtbot):
    find(bar, qtbot, "grad", by="x")
    bar.editor.setFocus()
    bar.open()
    assert QApplication.focusWidget() is bar.query
    assert bar.replacement.isVisible()
    bar.leave()
    bar.open()
    assert not bar.replacement.isVisible()


def test_every_part_has_a_name(bar):
    bar.open(replace=True)
    for part in (bar.query, bar.replacement, bar.next_button, bar.back_button, bar.close_button):
        assert part.accessibleName()
    assert bar.match_case.accessibleName() == "Match case"
    assert bar.regex.accessibleName() == "Regular expression"
