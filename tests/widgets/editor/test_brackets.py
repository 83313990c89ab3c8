import pytest
from PySide6.QtGui import QTextCursor
from PySide6.QtWidgets import QPlainTextEdit

from gradscribe.widgets.base.theme import Theme
from gradscribe.widgets.editor import brackets
from gradscribe.widgets.editor.highlight import Highlighter


@pytest.fixture
def pair(qtbot):
    """Return a function from source and position to the pair of brackets there."""
    edit = QPlainTextEdit()
    qtbot.addWidget(edit)
    highlighter = Highlighter(edit.document())
    highlighter.set_theme(Theme.load("light"))

    def find(source, position):
        edit.setPlainText(source)
        cursor = QTextCursor(edit.document())
        cursor.setPosition(position)
        return brackets.matching_pair(cursor)

    return find


@pytest.mark.parametrize("position", [1, 2])
def test_the_partner_of_an_opening_bracket_is_found_from_either_side(pair, position):
    assert pair("f(a)", position) == (1, 3)


@pytest.mark.parametrize("position", [3, 4])
def test_the_partner_of_a_closing_bracket_is_found_from_either_side(pair, position):
    assert pair("f(a)", position) == (3, 1)


def test_nested_brackets_of_all_kinds_are_counted(pair):
    source = "f([{'a': (1)}], (2))"
    assert pair(source, 1) == (1, len(source) - 1)
    assert pair(source, len(source)) == (len(source) - 1, 1)


def test_partners_on_other_lines_are_found(pair):
    source = "f(\n    a,\n    b,\n)"
    assert pair(source, 1) == (1, len(source) - 1)
    assert pair(source, len(source)) == (len(source) - 1, 1)


def test_brackets_in_strings_and_comments_do_not_count(pair):
    source = 'f(\')\', """\n)\n"""  # )\n)'
    assert pair(source, 1) == (1, len(source) - 1)
    assert pair("'(' + (a)", 1) is None


@pytest.mark.parametrize("source", ["f(a]", "f(a", "a)", "a", "", "(((", ")("])
def test_what_has_no_right_partner_has_none(pair, source):
    for position in range(len(source) + 1):
        assert pair(source, position) is None


def test_positions_behind_an_emoji_are_qts(pair):
    assert pair("s = '😀' + f(a)", 12) == (12, 14)


def test_the_search_ends_in_a_long_document(pair):
    source = "f(\n" + "a\n" * (brackets.MAX_LINES + 10) + ")"
    assert pair(source, 1) is None


def test_lines_without_a_bracket_are_not_taken_apart(pair, monkeypatch):
    seen = []
    spans = brackets.code_spans
    monkeypatch.setattr(brackets, "code_spans", lambda *a: seen.append(a[0]) or spans(*a))
    brackets._brackets_in.cache_clear()
    source = "f('q',\n" + "a = 'b'\n" * 100 + "'q')"
    assert pair(source, 1) == (1, len(source) - 1)
    assert set(seen) == {"f('q',", "'q')"}


def test_a_partner_that_is_pages_away_is_not_looked_for(pair):
    line = "a" * 1000 + "\n"
    few, many = brackets.MAX_CHARACTERS // 1001, 2 * brackets.MAX_CHARACTERS // 1001
    assert pair("(" + few * line + ")", 0) is not None
    assert pair("(" + many * line + ")", 0) is None


def test_brackets_within_each_other_are_gone_through_up_to_a_depth(pair):
    deep = brackets.MAX_DEPTH
    within = "(" * deep + ")" * deep
    assert pair(within, 0) == (0, 2 * deep - 1)
    assert pair("(" + within + ")", 0) is None
    assert pair("(" + within + ")", 1) == (1, 2 * deep)


def test_a_line_is_read_once_for_all_its_brackets(pair, monkeypatch):
    read = []
    real = brackets.code_spans

    def count(line, state):
        read.append(line)
        return real(line, state)

    monkeypatch.setattr(brackets, "code_spans", count)
    brackets._brackets_in.cache_clear()
    plain, quoted = "(" * 5000 + ")", "(')'" * 500 + ")"
    assert pair(plain, 5001) == (5000, 4999)
    assert read == []
    assert pair(quoted, len(quoted)) == (2000, 1996)
    assert read == [quoted]
