import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QColor

from gradscribe.engine.protocol.tape import Place, Problem
from gradscribe.playback.code.lines import LineMark
from gradscribe.widgets.base.theme import Theme
from gradscribe.widgets.editor import line_layout
from gradscribe.widgets.editor.code_edit import CodeEdit
from gradscribe.widgets.editor.problems.strip import ProblemStrip

LEFT = Qt.MouseButton.LeftButton
NEURON = """\
x1, x2 = 2.0, 0.0
w1 = param(-3.0)
w2 = param(1.0)
b  = param(6.8814)

n = x1*w1 + x2*w2 + b
o = tanh(n)
L = (o - 0.5)**2
"""
MARKS = {
    4: LineMark(4, "b", "6.8814", "", reached=True),
    6: LineMark(6, "n", "0.8814", "0.2071", reached=True, active="backward"),
    7: LineMark(7, "o", "0.7071", "0.4142", reached=True),
    8: LineMark(8, "L", "", "", reached=False),
}
MISMATCH = Problem("RuntimeError", "shapes differ", "try .T", Place(6, 4, 6, 9))


@pytest.fixture
def edit(qtbot):
    edit = CodeEdit(Theme.load("light"))
    qtbot.addWidget(edit)
    edit.resize(520, 320)
    edit.set_source(NEURON)
    edit.show()
    return edit


def spot(edit, line, column):
    """Return the middle of a character in the viewport."""
    block = edit.document().findBlockByNumber(line - 1)
    left, right = line_layout.span_x(edit, block, column, column + 1)
    row = next(row for row in edit.rows() if row.line == line)
    return QPointF((left + right) / 2, row.middle).toPoint()


def colour_at(edit, x, line):
    row = next(row for row in edit.rows() if row.line == line)
    return edit.viewport().grab().toImage().pixelColor(int(x), int(row.top) + 3)


def underlined(edit):
    lines = edit.source().split("\n")
    return [lines[line - 1][start:end] for line, start, end in edit.problem_ranges()]


def test_without_a_theme_the_light_one_is_used(qtbot):
    edit = CodeEdit()
    qtbot.addWidget(edit)
    assert edit.look.theme is Theme.load("light")


def test_marks_stand_at_their_lines(edit):
    edit.set_marks(MARKS)
    edit.grab()
    shown = {one.line: (one.value_text, one.gradient_text) for one in edit.placed_marks()}
    assert shown == {
        4: ("6.8814", ""),
        6: ("0.8814", "0.2071"),
        7: ("0.7071", "0.4142"),
        8: ("", ""),
    }


def test_marks_of_lines_that_do_not_exist_do_no_harm(edit):
    edit.set_marks(dict.fromkeys((-1, 0, 6, 10, 10000), MARKS[6]))
    edit.grab()
    assert [one.line for one in edit.placed_marks()] == [6]
    edit.set_source("x")
    edit.grab()
    assert edit.placed_marks() == []


def test_marks_stay_with_their_lines_while_lines_come_and_go(qtbot, edit):
    edit.set_marks(MARKS)
    edit.go_to_line(5)
    qtbot.keyClick(edit, Qt.Key.Key_Return)
    edit.grab()
    assert [one.line for one in edit.placed_marks()] == [4, 7, 8, 9]
    edit.undo()
    edit.grab()
    assert [one.line for one in edit.placed_marks()] == [4, 6, 7, 8]


@pytest.mark.parametrize("width", [120, 200, 260, 400, 1200])
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_marks_never_cover_code_however_narrow_it_is(edit, width, theme):
    edit.set_theme(Theme.load(theme))
    edit.set_marks(MARKS)
    edit.resize(width, 320)
    edit.grab()
    ends = {row.line: row.text_end for row in edit.rows()}
    for one in edit.placed_marks():
        assert one.area.left() > ends[one.line]
        assert one.area.right() <= edit.viewport().width()


@pytest.mark.parametrize(
    ("phase", "fill"),
    [("forward", "forward_soft"), ("backward", "backward_soft"), ("update", "parameter_soft")],
)
def test_the_playing_line_is_lit_over_its_whole_width(edit, phase, fill):
    edit.set_playing_line(3, phase)
    theme = Theme.load("light")
    for x in (2, 250, edit.viewport().width() - 12):
        assert colour_at(edit, x, 3) == theme.color(fill)
        assert colour_at(edit, x, 2) == theme.panel
    edit.set_playing_line(0, "")
    assert colour_at(edit, 250, 3) == theme.panel


def test_the_playing_line_comes_into_view(edit):
    edit.set_source("\n".join(f"a{i} = {i}" for i in range(300)))
    edit.set_playing_line(200, "forward")
    assert 200 in [row.line for row in edit.rows()]
    assert edit.textCursor().blockNumber() == 0
    edit.set_playing_line(3, "backward")
    assert 3 in [row.line for row in edit.rows()]


def test_while_the_user_types_the_view_does_not_run_away(qtbot, edit):
    edit.set_source("\n".join(f"a{i} = {i}" for i in range(300)))
    edit.activateWindow()
    edit.setFocus()
    qtbot.waitUntil(edit.hasFocus)
    qtbot.keyClicks(edit, "x")
    edit.set_playing_line(200, "forward")
    assert edit.rows()[0].line == 1


@pytest.mark.parametrize("line", [-5, 0, 99, 10**6])
def test_a_playing_line_that_does_not_exist_lights_nothing(edit, line):
    edit.set_playing_line(line, "forward")
    edit.grab()
    assert edit.bands().keys() <= {line}


def test_an_error_is_underlined_at_its_columns(edit):
    edit.set_problem(MISMATCH)
    assert underlined(edit) == ["x1*w1"]
    edit.set_problem(None)
    assert underlined(edit) == []


def test_columns_of_an_error_are_characters_not_qts_units(edit):
    edit.set_source("s = '😀日' + bad\n")
    edit.set_problem(Problem("NameError", "bad", "", Place(1, 11, 1, 14)))
    assert underlined(edit) == ["bad"]


def test_an_error_over_several_lines_is_underlined_on_all(edit):
    edit.set_problem(Problem("TypeError", "m", "", Place(6, 4, 8, 3)))
    assert underlined(edit) == ["x1*w1 + x2*w2 + b", "o = tanh(n)", "L ="]


@pytest.mark.parametrize(
    ("place", "text"),
    [
        (Place(7, 3, 7, 3), " "),
        (Place(7, 11, 7, 11), ")"),
        (Place(7, 500, 7, 600), ")"),
        (Place(500, 0, 500, 5), "2"),
        (Place(5, 0, 5, 0), ")"),
    ],
)
def test_empty_and_impossible_places_are_underlined_nearby(edit, place, text):
    edit.set_problem(Problem("E", "m", "", place))
    assert underlined(edit) == [text]


def test_an_error_without_a_place_is_told_all_the_same(edit):
    edit.set_problem(Problem("Timeout", "stopped after 10 s"))
    assert underlined(edit) == []
    assert edit.findChild(ProblemStrip).isVisible()


def test_an_underline_moves_with_its_text_and_goes_with_it(qtbot, edit):
    edit.set_problem(MISMATCH)
    edit.go_to_line(1)
    qtbot.keyClick(edit, Qt.Key.Key_Return)
    assert edit.problem_ranges() == [(7, 4, 9)]
    edit.set_source("")
    assert edit.problem_ranges() == []
    edit.grab()


def test_the_same_error_told_again_stays_at_its_text(qtbot, edit):
    edit.set_problem(MISMATCH)
    edit.go_to_line(1)
    qtbot.keyClick(edit, Qt.Key.Key_Return)
    edit.set_problem(MISMATCH)
    assert underlined(edit) == ["x1*w1"]
    edit.set_source("")
    edit.set_source(NEURON)
    edit.set_problem(MISMATCH)
    assert underlined(edit) == ["x1*w1"]


def test_an_error_is_said_under_the_code_and_to_screen_readers(edit):
    before = edit.viewport().height()
    edit.set_problem(MISMATCH)
    strip = edit.findChild(ProblemStrip)
    assert strip.isVisible()
    assert strip.y() >= edit.viewport().geometry().bottom()
    assert edit.viewport().height() < before
    assert "shapes differ" in edit.accessibleDescription()
    edit.set_problem(None)
    assert edit.viewport().height() == before
    assert edit.accessibleDescription() == ""


def test_a_click_on_the_message_leads_to_the_error(qtbot, edit):
    edit.set_problem(MISMATCH)
    qtbot.mouseClick(edit.findChild(ProblemStrip), LEFT)
    cursor = edit.textCursor()
    assert (cursor.blockNumber(), cursor.positionInBlock()) == (5, 4)


def test_the_wave_is_painted_in_the_error_colour(edit):
    edit.set_problem(MISMATCH)
    image = edit.viewport().grab().toImage()
    here = spot(edit, 6, 6)
    colours = [
        QColor(image.pixel(x, y))
        for x in range(here.x() - 10, here.x() + 10)
        for y in range(here.y() + 4, here.y() + 13)
    ]
    error = edit.look.error
    assert any(abs(c.hslHue() - error.hslHue()) < 8 and c.hslSaturation() > 100 for c in colours)


def test_a_click_into_another_line_picks_it(qtbot, edit):
    told = []
    edit.line_picked.connect(told.append)
    qtbot.mouseClick(edit.viewport(), LEFT, pos=spot(edit, 6, 3))
    qtbot.mouseClick(edit.viewport(), LEFT, pos=spot(edit, 6, 8))
    qtbot.mouseClick(edit.viewport(), LEFT, pos=spot(edit, 4, 5))
    assert told == [6, 4]


def test_moving_the_caret_by_key_picks_nothing(qtbot, edit):
    told = []
    edit.line_picked.connect(told.append)
    qtbot.keyClick(edit, Qt.Key.Key_Down)
    assert told == []


def test_a_click_on_a_mark_picks_its_line_and_leaves_the_caret(qtbot, edit):
    edit.set_marks(MARKS)
    edit.grab()
    told = []
    edit.line_picked.connect(told.append)
    mark = next(one for one in edit.placed_marks() if one.line == 7)
    qtbot.mouseClick(edit.viewport(), LEFT, pos=mark.gradient.center().toPoint())
    assert told == [7]
    assert edit.textCursor().blockNumber() == 0


def test_a_click_sets_the_caret_at_the_letter_wherever_in_the_row_it_is(qtbot, edit):
    row = edit.rows()[5]
    x = spot(edit, 6, 5).x() - 2
    for y in (row.top + 1, row.middle, row.bottom - 2):
        edit.go_to_line(1)
        qtbot.mouseClick(edit.viewport(), LEFT, pos=QPoint(x, int(y)))
        cursor = edit.textCursor()
        assert (cursor.blockNumber(), cursor.positionInBlock()) == (5, 5)


def test_marks_tell_all_in_their_tooltip(qtbot, edit):
    edit.set_marks(MARKS)
    edit.grab()
    mark = next(one for one in edit.placed_marks() if one.line == 6)
    assert edit.tip_at(mark.area.center().toPoint()) == "n = 0.8814\ngradient 0.2071"
    assert edit.tip_at(spot(edit, 2, 2)) == ""


def test_underlined_code_tells_the_error_in_its_tooltip(edit):
    edit.set_problem(MISMATCH)
    assert "shapes differ" in edit.tip_at(spot(edit, 6, 6))


def test_the_pair_of_brackets_at_the_caret_is_marked(edit):
    edit.go_to_line(2, 10)
    marked = sorted(s.cursor.selectionStart() for s in edit.extraSelections())
    start = NEURON.index("param(-3.0)")
    assert marked == [start + 5, start + 10]
    edit.go_to_line(2, 0)
    assert edit.extraSelections() == []


def test_stale_marks_look_other_than_fresh_ones(edit):
    edit.set_marks(MARKS)
    fresh = edit.viewport().grab().toImage()
    edit.set_stale(True)
    assert edit.viewport().grab().toImage() != fresh
    edit.set_stale(False)
    assert edit.viewport().grab().toImage() == fresh


def test_themes_can_be_changed_with_everything_shown(edit):
    edit.set_marks(MARKS)
    edit.set_playing_line(6, "backward")
    edit.set_problem(MISMATCH)
    edit.set_theme(Theme.load("dark"))
    assert colour_at(edit, 250, 2) == Theme.load("dark").panel


@pytest.mark.parametrize(
    "source", ["", "\n", "\t\tx", "日本 = '😀😀'", "x = [" + "1.5, " * 2000 + "]", "\u2028", "\0"]
)
def test_odd_texts_can_be_shown_with_everything_on(edit, source):
    edit.set_source(source)
    edit.set_marks({1: MARKS[6], 2: MARKS[8]})
    edit.set_playing_line(1, "forward")
    edit.set_problem(Problem("E", "m" * 5000, "h", Place(1, 1, 2, 9)))
    edit.set_text_size(30)
    assert not edit.grab().isNull()
    edit.resize(30, 30)
    assert not edit.grab().isNull()


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=25)
@given(
    st.lists(st.text(alphabet="ab1.5 \n\t()[]'\"#-+😀日", max_size=25), min_size=1, max_size=6),
    st.builds(Place, *[st.integers(-1, 6)] * 4),
)
def test_any_texts_in_any_order_come_back_and_undo_in_order(edit, texts, place):
    edit.set_source("start", fresh=True)
    edit.set_marks(MARKS)
    for text in texts:
        edit.set_source(text)
        edit.set_problem(Problem("E", "m", "", place))
        assert edit.source() == text
        edit.grab()
    while edit.document().isUndoAvailable():
        edit.undo()
    assert edit.source() == "start"


def test_the_strip_is_as_tall_with_a_scroll_bar_as_without(edit, qapp):
    edit.set_problem(Problem("E", "much or little, too much " * 2, "too little or too much " * 3))
    strip = edit.findChild(ProblemStrip)
    for width in range(330, 420):
        edit.resize(width, 400)
        heights = set()
        for lines in (1, 40):
            edit.set_source("x = 1\n" * lines)
            qapp.processEvents()
            heights.add(strip.height())
        assert len(heights) == 1, width


def test_an_error_that_appears_does_not_cover_the_line_being_typed(edit, qtbot):
    edit.set_source("x = 1\n" * 40)
    edit.moveCursor(edit.textCursor().MoveOperation.End)
    edit.setFocus()
    qtbot.waitUntil(edit.hasFocus)
    edit.ensureCursorVisible()
    edit.set_problem(MISMATCH)
    assert edit.viewport().rect().contains(edit.cursorRect())
