import io
import keyword
import sys
import time
import tokenize

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtGui import QInputMethodEvent, QTextCursor, QTextDocument
from PySide6.QtWidgets import QApplication, QPlainTextDocumentLayout

from gradscribe.widgets.base.theme import Theme
from gradscribe.widgets.editor import highlight
from gradscribe.widgets.editor.highlight import (
    Highlighter,
    LexerState,
    code_spans,
    column_text,
    spans,
    units,
)
from gradscribe.widgets.editor.source_edit import SourceEdit

PROGRAM = '''\
import torch
from torch import nn


class Net(nn.Module):
    """Two layers.

    x = 1.0 in a docstring is no number"""

    def __init__(self, hidden=8):
        super().__init__()
        self.fc = nn.Linear(2, hidden)  # 2 numbers

    @torch.no_grad()
    def forward(self, x):
        return torch.tanh(self.fc(x)) * 2.5e-3 + .5 - 1_000 + 0x1F


net = Net()
loss = net(torch.randn(16, 2)).pow(2).mean()
print(f"loss {loss.item():.4f}", 'it\\'s', r"\\d", b"raw", None, True)
'''


def kinds(line, state=LexerState.CODE):
    return [(line[start:end], kind) for start, end, kind in spans(line, state)[0]]


def all_spans(source):
    """Return (line, start, end, kind) of a whole program."""
    found, state = [], LexerState.CODE
    for number, line in enumerate(source.split("\n"), 1):
        here, state = spans(line, state)
        found += [(number, *span) for span in here]
    return found


def test_a_called_name_is_a_function_and_a_number_a_number():
    assert kinds("w1 = param(-3.0)") == [
        ("param", "function"),
        ("(", "bracket"),
        ("3.0", "number"),
        (")", "bracket"),
    ]


def test_plain_names_and_operators_have_no_colour():
    assert kinds("n = x1*w1 + x2*w2 + b") == []


def test_a_digit_in_a_name_is_no_number():
    assert kinds("x1, w_2e5 = a") == []


def test_keywords_and_constants_are_not_functions_though_a_bracket_follows():
    assert [kind for _, kind in kinds("if (None) or not (True)")] == [
        *("keyword", "bracket", "constant", "bracket", "keyword", "keyword"),
        *("bracket", "constant", "bracket"),
    ]


def test_the_names_of_classes_and_functions_that_are_defined_stand_out():
    assert kinds("class Net:") == [("class", "keyword"), ("Net", "function")]


def test_a_decorator_is_told_from_a_matrix_product():
    assert kinds("    @torch.no_grad()")[0] == ("    @torch.no_grad", "decorator")
    assert kinds("y = x @w") == []


@pytest.mark.parametrize("quote", ['"""', "'''"])
def test_a_string_in_triple_quotes_reaches_over_lines(quote):
    lines = [f"s = {quote}1.0", "2.0 # no", f"3.0{quote} + 4.0"]
    state, found = LexerState.CODE, []
    for line in lines:
        here, state = spans(line, state)
        found += [line[a:b] for a, b, kind in here if kind == "number"]
    assert found == ["4.0"]
    assert state == LexerState.CODE


def test_a_quote_that_is_escaped_does_not_close_a_long_string():
    assert spans(r'a\"""', LexerState.DOUBLE)[1] == LexerState.DOUBLE
    assert spans(r's = """a\"""')[1] == LexerState.DOUBLE
    assert spans(r'a\\"""', LexerState.DOUBLE)[1] == LexerState.CODE


def test_other_quotes_inside_a_long_string_do_not_close_it():
    assert spans("'''", LexerState.DOUBLE)[1] == LexerState.DOUBLE
    assert spans('"" "', LexerState.DOUBLE)[1] == LexerState.DOUBLE


@pytest.mark.parametrize(
    "line", ['s = "abc', "s = 'abc\\", "x = (", "1e", "0x", '"', "\\", "@", "f"]
)
def test_half_typed_lines_do_no_harm_to_the_next(line):
    assert spans(line)[1] == LexerState.CODE


def test_a_hash_in_a_string_is_no_comment():
    assert [kind for _, kind in kinds('s = "#a" # b')] == ["string", "comment"]


def test_prefixes_belong_to_their_strings():
    assert kinds("""rb'a' + f"{x}" + Rf'b'""") == [
        ("rb'a'", "string"),
        ('f"{x}"', "string"),
        ("Rf'b'", "string"),
    ]


def test_strings_numbers_and_comments_are_those_of_pythons_own_tokenizer():
    wanted = set()
    for token in tokenize.generate_tokens(io.StringIO(PROGRAM).readline):
        (line, start), (end_line, end) = token.start, token.end
        if token.type == tokenize.NUMBER:
            wanted.add((line, start, end, "number"))
        elif token.type == tokenize.COMMENT:
            wanted.add((line, start, end, "comment"))
        elif token.type == tokenize.NAME and token.string in keyword.kwlist:
            constant = token.string in ("None", "True", "False")
            wanted.add((line, start, end, "constant" if constant else "keyword"))
        assert end_line == line or token.type in (tokenize.STRING, tokenize.NEWLINE)
    found = {s for s in all_spans(PROGRAM) if s[3] in ("number", "comment", "constant", "keyword")}
    assert found == wanted


@given(st.text(alphabet="ab1.e-+'\"\\#()[ @\té😀"), st.sampled_from(list(LexerState)))
def test_spans_of_any_text_stand_in_order_and_inside_the_line(line, state):
    found, after = spans(line, state)
    ends = [0]
    for start, end, _ in found:
        assert ends[-1] <= start < end or (start == end == 0)
        ends.append(end)
    assert ends[-1] <= len(line)
    assert after in list(LexerState)


def test_code_spans_leave_strings_and_comments_out():
    assert [kind for *_, kind in code_spans("f('a', 1) # 2")] == [
        *("function", "bracket", "number", "bracket")
    ]


def test_a_minus_belongs_to_a_number_unless_it_subtracts():
    assert highlight.sign_before("f(-3)", 3) == 2
    assert highlight.sign_before("return -3", 8) == 7
    assert highlight.sign_before("x -3", 3) == 3
    assert highlight.sign_before("f(x) - 3", 7) == 7


def test_columns_are_counted_as_qt_does():
    assert units("a😀b") == 4
    assert units("日本") == 2
    assert column_text("a😀b", 3) == "a😀"
    assert column_text("a😀b", 99) == "a😀b"


def test_a_thousand_lines_take_less_than_python_takes_itself():
    lines = (PROGRAM.split("\n") * 50)[:1000]
    text = PROGRAM * (1000 // PROGRAM.count("\n"))

    def ours():
        state = LexerState.CODE
        for line in lines:
            _, state = spans(line, state)

    def python_s():
        for _ in tokenize.generate_tokens(io.StringIO(text).readline):
            pass

    def once(work):
        start = time.thread_time()
        work()
        return time.thread_time() - start

    # A third of it on a quiet machine; the best of several turns, one after the other.
    turns = [(once(ours), once(python_s)) for _ in range(5)]
    assert min(one for one, _ in turns) < min(other for _, other in turns)


def test_a_very_long_line_takes_milliseconds():
    line = "x = " + " + ".join(f"a{i}*{i}.5" for i in range(2_000)) + ' + """' + '"' * 1_000
    start = time.process_time()
    spans(line)
    assert time.process_time() - start < 0.5


def painted(theme):
    """Return a document and its highlighter, which must both be held."""
    document = QTextDocument()
    # A document tells of changes only once it has a layout.
    assert document.documentLayout() is not None
    highlighter = Highlighter(document)
    highlighter.set_theme(theme)
    return document, highlighter


def colours(document, line):
    """Return (text, colour name) of the coloured stretches of a line."""
    block = document.findBlockByNumber(line)
    raw = block.text().encode("utf-16-le")
    return [
        (
            raw[2 * r.start : 2 * (r.start + r.length)].decode("utf-16-le"),
            r.format.foreground().color().name(),
        )
        for r in block.layout().formats()
    ]


def test_the_document_is_painted_in_the_themes_colours(qtbot):
    theme = Theme.load("light")
    document, _highlighter = painted(theme)
    document.setPlainText("w1 = param(-3.0)\n# note\n")
    assert ("param", theme.forward.name()) in colours(document, 0)
    assert ("-3.0", theme.data.name()) in colours(document, 0)
    # The second line may be left for the next turn of the loop.
    qtbot.waitUntil(lambda: ("# note", theme.ink3.name()) in colours(document, 1), timeout=60_000)


def test_colours_stand_right_behind_letters_that_qt_counts_twice(qtbot):
    theme = Theme.load("dark")
    document, _highlighter = painted(theme)
    document.setPlainText("s = '😀' + f(2.5)")
    assert ("'😀'", theme.parameter.name()) in colours(document, 0)
    assert ("2.5", theme.data.name()) in colours(document, 0)


def test_another_theme_recolours_what_is_there(qtbot):
    document, highlighter = painted(Theme.load("light"))
    document.setPlainText("f(1)")
    highlighter.set_theme(Theme.load("dark"))
    assert ("1", Theme.load("dark").data.name()) in colours(document, 0)


def formats(document):
    """Return the number of coloured stretches of each line."""
    found, block = [], document.begin()
    while block.isValid():
        found.append(len(block.layout().formats()))
        block = block.next()
    return found


@pytest.mark.parametrize("turn_ms", [0, 20])
def test_many_lines_are_coloured_in_several_turns_and_all_in_the_end(qtbot, monkeypatch, turn_ms):
    monkeypatch.setattr(highlight, "TURN_MS", turn_ms)
    document = QTextDocument()
    document.setDocumentLayout(QPlainTextDocumentLayout(document))
    painted = Highlighter(document)
    painted.set_theme(Theme.load("light"))
    lines = ["x = 1  # one", "s = '''a", "b = 2", "c'''", "y = 2"] * 40
    document.setPlainText("\n".join(lines))
    expected = [2, 1, 1, 1, 1] * 40
    qtbot.waitUntil(lambda: formats(document) == expected)
    QTextCursor(document).insertText("'''\n")
    qtbot.waitUntil(lambda: formats(document)[:3] == [1, 1, 1])


def test_lines_that_wait_get_their_colours_though_they_move_up(qtbot):
    document = QTextDocument()
    document.setDocumentLayout(QPlainTextDocumentLayout(document))
    painted = Highlighter(document)
    painted.set_theme(Theme.load("light"))
    document.setPlainText("x = 1  # one\n" * 4000)
    cursor = QTextCursor(document)
    cursor.setPosition(13 * 30, QTextCursor.MoveMode.KeepAnchor)
    cursor.removeSelectedText()
    qtbot.waitUntil(lambda: formats(document) == [2] * 3970 + [0], timeout=60_000)


def calls_in(act):
    """Return the number of Python functions called in ``act``."""
    calls = [0]

    def note(_frame, happening, _given):
        calls[0] += happening == "call"

    sys.setprofile(note)
    try:
        act()
    finally:
        sys.setprofile(None)
    return calls[0]


def test_a_text_of_very_many_lines_is_not_gone_through_line_by_line_at_once(qtbot, monkeypatch):
    monkeypatch.setattr(highlight, "TURN_MS", 0)
    document, highlighter = painted(Theme.load("light"))
    text = "x = 1\n" * 50_000
    assert calls_in(lambda: document.setPlainText(text)) < 25_000
    assert calls_in(lambda: highlighter.set_theme(Theme.load("dark"))) < 25_000


def test_colours_stand_around_what_an_input_method_composes(qtbot):
    theme = Theme.load("light")
    edit = SourceEdit(theme)
    qtbot.addWidget(edit)
    edit.setPlainText("f(1) + 2.5")
    edit.set_caret(5, 5)
    composed = QInputMethodEvent("あい", [])
    QApplication.sendEvent(edit, composed)
    assert edit.source() == "f(1) + 2.5"
    one = edit.document().begin().layout()
    assert one.preeditAreaText() == "あい"
    places = {(r.start, r.length) for r in one.formats()}
    assert places == {(0, 1), (2, 1), (5, 2), (7 + 2, 3)}
    finished = QInputMethodEvent()
    finished.setCommitString("x")
    QApplication.sendEvent(edit, finished)
    assert colours(edit.document(), 0)[-1] == ("2.5", theme.data.name())


def test_only_the_beginning_of_a_very_long_line_is_coloured(qtbot):
    document = QTextDocument()
    document.setDocumentLayout(QPlainTextDocumentLayout(document))
    painted = Highlighter(document)
    painted.set_theme(Theme.load("light"))
    document.setPlainText("1 + " * highlight.MAX_COLOURED)
    ends = [one.start + one.length for one in document.begin().layout().formats()]
    assert max(ends) <= highlight.MAX_COLOURED
    assert len(ends) == highlight.MAX_COLOURED // 4


def test_brackets_in_a_row_are_one_stretch():
    assert spans("(" * 5000 + "x)]}") == ([(0, 5000, "bracket"), (5001, 5004, "bracket")], 0)
