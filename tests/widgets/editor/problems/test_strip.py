import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from PySide6.QtCore import Qt
from PySide6.QtGui import QFontMetricsF, QGuiApplication

from gradscribe.engine.protocol.tape import Place, Problem
from gradscribe.widgets.base.theme import Theme, contrast, ui_font
from gradscribe.widgets.editor.problems.strip import PAD_Y, ProblemStrip, problem_text, wrap_text
from gradscribe.widgets.editor.style import EditorStyle

PROBLEM = Problem(
    "RuntimeError",
    "mat1 and mat2 shapes cannot be multiplied (16x8 and 2x1)",
    "The inner sizes must match",
    Place(6, 4, 6, 21),
)


@pytest.fixture
def strip(qtbot):
    strip = ProblemStrip(None)
    qtbot.addWidget(strip)
    strip.set_style(EditorStyle(Theme.load("light"), 13))
    return strip


@pytest.fixture
def metrics(qtbot):
    return QFontMetricsF(ui_font(12))


def test_a_problem_is_told_with_line_type_message_and_hint():
    assert problem_text(PROBLEM) == (
        "Line 6, RuntimeError: mat1 and mat2 shapes cannot be multiplied (16x8 and 2x1)\n"
        "The inner sizes must match"
    )


def test_a_problem_without_a_place_names_no_line():
    assert problem_text(Problem("Timeout", "stopped after 10 s")) == "Timeout: stopped after 10 s"


def test_without_a_problem_the_strip_takes_no_room(strip):
    assert strip.height_for(300) == 0
    assert not strip.isVisible()


def test_a_problem_shows_and_none_hides_the_strip(strip):
    strip.set_problem(PROBLEM)
    assert strip.isVisible()
    assert strip.accessibleDescription() == problem_text(PROBLEM)
    strip.set_problem(None)
    assert not strip.isVisible()
    assert strip.accessibleDescription() == ""


def test_a_narrow_strip_is_higher_but_never_high(strip):
    strip.set_problem(PROBLEM)
    wide, narrow = strip.height_for(900), strip.height_for(260)
    assert wide < narrow
    strip.set_problem(Problem("E", "long " * 10_000, "hint " * 10_000))
    assert strip.height_for(260) <= narrow + 40


def test_a_long_error_in_a_low_editor_leaves_message_and_hint_a_line_each(strip):
    strip.set_problem(Problem("RuntimeError", "Missing keys " * 20, "b.weight is (2, 4) " * 20))
    whole = strip.height_for(240)
    assert strip.height_for(240, whole) == whole
    low = strip.height_for(240, whole - 1)
    # Title, message and hint; without a limit message and hint have two lines each.
    line = (whole - low) / 2
    assert whole == pytest.approx(2 * PAD_Y + 5 * line, abs=4)
    assert "Missing keys" in strip.toolTip()
    assert strip.toolTip().count("Missing keys") == 20


def test_the_tooltip_holds_the_whole_message_as_plain_text(strip):
    strip.set_problem(Problem("TypeError", "'<' not supported between <b>int</b> & str"))
    assert "&lt;b&gt;int&lt;/b&gt; &amp; str" in strip.toolTip()


@pytest.mark.parametrize("width", [1, 40, 260, 900])
def test_it_can_be_painted_at_any_width(strip, width):
    strip.set_problem(Problem("E" * 300, "m\nn\n" * 50, "日本 😀", Place(99, 0, 0, 0)))
    strip.resize(width, max(1, strip.height_for(width)))
    assert not strip.grab().isNull()


def test_a_click_is_told_of(qtbot, strip):
    strip.set_problem(PROBLEM)
    with qtbot.waitSignal(strip.picked):
        qtbot.mouseClick(strip, Qt.MouseButton.LeftButton)


def test_the_message_can_be_copied(strip):
    strip.set_problem(PROBLEM)
    strip.copy()
    assert QGuiApplication.clipboard().text() == f"{PROBLEM.type}: {PROBLEM.message}"


@pytest.mark.parametrize("name", ["light", "dark"])
def test_the_text_can_be_read_on_its_ground(qtbot, name):
    style = EditorStyle(Theme.load(name), 13)
    for ink in (style.error, style.theme.ink, style.theme.ink2):
        assert contrast(ink, style.error_soft) >= 4.5


def test_short_text_is_one_line(metrics):
    assert wrap_text("abc", metrics, 200, 2) == ["abc"]


def test_long_text_breaks_at_spaces_and_is_elided_at_the_end(metrics):
    text = "one two three four five six seven eight nine ten eleven twelve"
    first, second = wrap_text(text, metrics, 120, 2)
    assert text.startswith(first)
    assert first[-1] != " "
    assert second.endswith("…")


def test_empty_text_has_no_lines(metrics):
    assert wrap_text(" \n ", metrics, 120, 2) == []


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.text(alphabet="ab \n日", max_size=80), st.floats(30, 400), st.integers(1, 3))
def test_lines_fit_and_are_no_more_than_asked(metrics, text, width, most):
    found = wrap_text(text, metrics, width, most)
    assert len(found) <= most
    assert all(metrics.horizontalAdvance(line) <= width + 1 for line in found)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.text(alphabet="ab ", max_size=30))
def test_nothing_is_lost_where_there_is_room(metrics, text):
    assert " ".join(wrap_text(text, metrics, 10_000, 1)).split() == text.split()


EDIT = ("- y = x.sume()", "+ y = x.sum()")


def test_an_edit_has_a_button_and_none_has_none(qtbot, strip):
    strip.set_problem(PROBLEM)
    without = strip.height_for(400)
    assert strip.apply.isHidden()
    strip.set_edit(EDIT)
    assert strip.height_for(400) > without
    strip.resize(400, strip.height_for(400))
    with qtbot.waitSignal(strip.fix_requested):
        qtbot.mouseClick(strip.apply, Qt.MouseButton.LeftButton)
    assert strip.apply.accessibleDescription() == "remove y = x.sume(), add y = x.sum()"
    strip.set_edit(())
    assert strip.height_for(400) == without
    assert strip.apply.isHidden()


def test_the_button_works_by_keyboard_and_is_inside(qtbot, strip):
    strip.set_problem(PROBLEM)
    strip.set_edit(EDIT)
    for width in (240, 900):
        strip.resize(width, strip.height_for(width))
        assert strip.rect().contains(strip.apply.geometry())
    with qtbot.waitSignal(strip.fix_requested):
        qtbot.keyClick(strip.apply, Qt.Key.Key_Space)


def test_where_there_is_little_space_the_edit_takes_the_hints_place(strip):
    strip.set_problem(Problem("E", "message " * 20, "hint " * 30, Place(1, 0, 1, 1)))
    strip.set_edit(EDIT)
    whole = strip.height_for(300)
    assert strip.height_for(300, whole - 1) < whole
    assert strip.height_for(300, whole) == whole


def test_many_lines_are_counted(strip):
    strip.set_problem(PROBLEM)
    strip.set_edit(EDIT)
    two = strip.height_for(400)
    strip.set_edit([f"+ line {n}" for n in range(1000)])
    assert strip.height_for(400) <= two + 60
    strip.resize(400, strip.height_for(400))
    assert not strip.grab().isNull()
