import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QPushButton

from gradscribe.engine.protocol.tape import Place, Problem
from gradscribe.widgets.base.theme import Theme
from gradscribe.widgets.tables.console import LIMIT, LINE_LIMIT, LINES, Console, count_warnings


@pytest.fixture
def console(shown):
    return shown(Console(), 300, 300)


def test_it_shows_what_was_printed_as_plain_text(console):
    console.set_text("<b>1</b>\n  2\t3\n")
    assert console.text() == "<b>1</b>\n  2\t3\n"
    assert console.view.isReadOnly()
    assert console.view.textInteractionFlags() & Qt.TextInteractionFlag.TextSelectableByMouse


@pytest.mark.parametrize(
    ("pieces", "lines"),
    [
        ([""], 0),
        (["one\n"], 1),
        (["one"], 1),
        (["one", " still one", "\n"], 1),
        (["one\ntwo"], 2),
        (["one\n", "\n", "three"], 3),
        (["a\r\nb\r\n"], 2),
    ],
)
def test_it_counts_lines_however_they_arrive(console, pieces, lines):
    for piece in pieces:
        console.append(piece)
    note = console.heading.text()[1]
    assert note == {0: "what the script prints", 1: "1 line"}.get(lines, f"{lines} lines")


def test_it_forgets_the_oldest_beyond_its_bound(console):
    for number in range(3000):
        console.append(f"{number:0199d}\n")
    kept = console.text()
    assert len(kept) <= LIMIT
    assert len(kept) > LIMIT // 2
    assert kept.endswith(f"{2999:0199d}\n")
    assert all(len(line) in (0, 199) for line in kept.split("\n"))
    assert console.heading.text()[1] == "3,000 lines, the earliest left out"


def test_many_short_lines_are_bounded_too(console):
    console.set_text("".join(f"{number}\n" for number in range(LINES * 10)))
    console.append("".join(f"{number}\n" for number in range(LINES)))
    kept = console.text().split("\n")
    assert LINES // 2 < len(kept) <= LINES + 1
    assert kept[-2:] == [str(LINES - 1), ""]
    assert console.heading.text()[1] == f"{LINES * 11:,} lines, the earliest left out"


def test_output_that_only_grows_stays_where_it_is_read(console):
    console.set_text("line\n" * 300)
    console.view.verticalScrollBar().setValue(10)
    console.set_text("line\n" * 301)
    assert console.view.verticalScrollBar().value() == 10
    assert console.heading.text()[1] == "301 lines"
    console.set_text("other\n")
    assert console.text() == "other\n"


def test_one_huge_line_is_bounded_too(console):
    console.append("x" * (LIMIT * 3))
    console.append("x" * LIMIT + "\nnext\n")
    first, second, _ = console.text().split("\n")
    assert first == "x" * LINE_LIMIT + " …"
    assert second == "next"
    assert console.heading.text()[1] == "2 lines, the earliest left out"


def test_a_line_that_comes_in_pieces_is_cut_once(console):
    for _ in range(LINE_LIMIT // 100 + 20):
        console.append("y" * 100)
    assert console.text() == "y" * LINE_LIMIT + " …"


def test_it_follows_new_output_unless_one_has_scrolled_up(console):
    console.set_text("line\n" * 300)
    bar = console.view.verticalScrollBar()
    assert bar.value() == bar.maximum()
    bar.setValue(10)
    console.append("more\n" * 50)
    assert bar.value() == 10


def test_clearing_forgets_all_output(console):
    console.append("x\n")
    console.clear()
    assert console.text() == ""
    console.append("y\n")
    assert console.heading.text()[1] == "1 line"


def test_a_problem_is_told_with_its_line(console, qtbot):
    problem = Problem("NameError", "name 'q' is not defined", "define q first", Place(7, 0, 7, 1))
    console.set_problem(problem)
    assert console.problem_text() == "NameError: name 'q' is not defined"
    link = console.findChild(QPushButton, "problem-link")
    with qtbot.waitSignal(console.line_requested) as heard:
        link.click()
    assert heard.args == [7]
    console.set_problem(None)
    assert console.problem_text() == ""
    assert not link.isVisible()


def test_a_message_that_looks_like_marks_loads_no_picture(console):
    console.set_problem(Problem("ValueError", "<img src='file:///a.png'>"))
    assert "<img" not in console._message.toolTip()
    assert "&lt;img src" in console._message.toolTip()


def test_a_problem_without_a_place_has_no_link(console):
    console.set_problem(Problem("MemoryError", "x" * 5000))
    assert not console.findChild(QPushButton, "problem-link").isVisible()
    assert console.grab().width() == 300


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_it_paints_in_both_themes(console, theme):
    console.set_theme(Theme.load(theme))
    console.set_text("hello\0\n")
    assert not console.grab().isNull()


WARNED = "line 3: UserWarning: Using a target size\nthat differs\nline 5: FutureWarning: soon"


def colors(console):
    """The colour of each line that is shown."""
    found = []
    block = console.view.document().begin()
    while block.isValid():
        fragment = block.begin().fragment()
        brush = fragment.charFormat().foreground() if fragment.isValid() else None
        found.append(brush.color().name() if brush is not None and brush.style().value else "")
        block = block.next()
    return found


def test_warnings_stand_below_the_output_in_a_colour_of_their_own(console):
    console.set_warnings(WARNED)
    console.set_text("one\n")
    console.append("two")
    assert console.text() == "one\ntwo"
    assert console.warnings() == WARNED
    assert console.view.toPlainText() == "one\ntwo\n" + WARNED
    amber = Theme.load("light").data.name()
    assert colors(console) == ["", "", amber, amber, amber]
    console.set_theme(Theme.load("dark"))
    assert colors(console)[-1] == Theme.load("dark").data.name()


def test_output_that_goes_on_keeps_the_warnings_at_the_end(console):
    console.set_text("a😀\n")
    console.set_warnings("line 1: UserWarning: 😀 x")
    console.set_text("a😀\nb\n")
    assert console.text() == "a😀\nb\n"
    assert console.view.toPlainText().endswith("b\nline 1: UserWarning: 😀 x")
    console.set_warnings("")
    assert console.view.toPlainText() == "a😀\nb\n"
    console.set_warnings(WARNED)
    console.clear()
    assert (console.text(), console.warnings()) == ("", WARNED)


@pytest.mark.parametrize(
    ("text", "count"), [("", 0), ("  \n", 0), (WARNED, 2), ("something odd\non two lines", 1)]
)
def test_warnings_are_counted(text, count):
    assert count_warnings(text) == count


@pytest.mark.parametrize("width", [180, 226, 600])
@pytest.mark.parametrize("line", [7, 12345, 0])
def test_the_words_of_a_problem_have_most_of_the_width(shown, width, line):
    console = shown(Console(), width, 300)
    console.set_problem(
        Problem(
            "RuntimeError", "mat1 and mat2 shapes cannot be multiplied", "transpose", Place(line)
        )
    )
    QApplication.sendPostedEvents()
    message, row = console._message, console._bar
    assert message.width() >= 0.5 * row.width()
    lines = message.height() / message.fontMetrics().height()
    assert lines <= 5 if width < 300 else lines <= 2.5
