import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from PySide6.QtGui import QColor, QImage, QPainter

from gradscribe.playback.code.lines import LineMark
from gradscribe.widgets.base.theme import Theme
from gradscribe.widgets.editor.line_layout import VisibleRow
from gradscribe.widgets.editor.line_marks import MARGIN, LineMarks
from gradscribe.widgets.editor.style import EditorStyle

BOTH = LineMark(1, "n", "0.8814", "0.2071", reached=True)


@pytest.fixture
def marks(qtbot):
    return LineMarks(EditorStyle(Theme.load("light"), 13))


def row(line=1, text_end=100.0):
    return VisibleRow(line, (line - 1) * 25.0, 25.0, text_end)


def place(marks, *rows, width=400.0, text_end=None):
    return marks.place(rows, width, max(r.text_end for r in rows) if text_end is None else text_end)


def painted(marks, placed, bands=None, width=400):
    image = QImage(width, 60, QImage.Format.Format_RGB32)
    image.fill(QColor("white"))
    painter = QPainter(image)
    try:
        marks.paint(painter, placed, bands or {})
    finally:
        painter.end()
    return image


def pinks(image, theme):
    """Return how many pixels are the gradients' colour or near it."""
    pink = theme.backward
    return sum(
        abs(color.hslHue() - pink.hslHue()) < 12 and color.hslSaturation() > 120
        for color in (
            QColor(image.pixel(x, y)) for x in range(image.width()) for y in range(image.height())
        )
    )


def test_value_and_gradient_stand_right_of_the_text(marks):
    marks.set_marks({1: BOTH})
    (one,) = place(marks, row())
    assert (one.value_text, one.gradient_text) == ("0.8814", "0.2071")
    assert 100 < one.value.left() < one.value.right() < one.gradient.left()
    assert one.gradient.right() <= 400


def test_marks_of_lines_of_different_length_make_columns(marks):
    marks.set_marks({1: BOTH, 2: LineMark(2, "m", "−12.5000", "1.0000", reached=True)})
    first, second = place(marks, row(1, 40), row(2, 120))
    assert first.value.right() == second.value.right()
    assert first.gradient.right() == second.gradient.right()


def test_a_value_without_gradient_stands_in_the_column_of_values(marks):
    marks.set_marks({1: BOTH, 2: LineMark(2, "m", "1.0000", "", reached=True)})
    first, second = place(marks, row(1), row(2))
    assert first.value.right() == second.value.right()
    assert second.gradient is None


def test_in_a_wide_editor_marks_stay_near_the_code(marks):
    marks.set_marks({1: BOTH})
    (one,) = place(marks, row(), width=2000.0)
    assert one.gradient.right() < 400


def test_when_space_runs_out_the_gradient_is_what_stays(marks):
    marks.set_marks({1: BOTH})
    shown = []
    for end in range(100, 400, 4):
        found = place(marks, row(text_end=float(end)))
        if not found:
            shown.append("nothing")
        elif found[0].value_text == "0.8814":
            shown.append("all")
        elif found[0].value is not None:
            shown.append("some of the value")
        elif found[0].gradient_text == "0.2071":
            shown.append("gradient")
        elif found[0].gradient_text:
            shown.append("some of the gradient")
        else:
            shown.append("sign")
    order = list(dict.fromkeys(shown))
    assert order[0] == "all"
    assert order[-2:] == ["sign", "nothing"]
    assert shown == [kind for kind in order for _ in range(shown.count(kind))]


def test_a_shortened_number_shows_that_it_is(marks):
    marks.set_marks({1: LineMark(1, "n", "123456.7891", "", reached=True)})
    texts = {
        found[0].value_text
        for end in range(100, 400, 2)
        if (found := place(marks, row(text_end=float(end))))
    }
    shown = [text for text in texts if text not in ("123456.7891", "")]
    assert shown
    # A mark stands for the digits that follow, an exponent for those before the point.
    assert all(text.endswith("…") or "e" in text for text in shown)
    assert {float(text.rstrip("…")) // 1000 for text in shown} <= {100.0, 120.0, 123.0}


def test_a_shape_is_never_cut_to_another_shape(marks):
    marks.set_marks({1: LineMark(1, "y", "100 × 1", "", reached=True)})
    texts = {
        found[0].value_text
        for end in range(100, 400)
        if (found := place(marks, row(text_end=float(end))))
    }
    assert {"100 × 1", ""} <= texts <= {"100 × 1", "100×1", ""}


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@example(ends=[0.0], width=39.0, value="×", gradient="0", reached=True)
@given(
    st.lists(st.floats(0, 3000), min_size=1, max_size=6),
    st.floats(0, 2500),
    st.text(alphabet="0123456789.× …", max_size=60),
    st.text(alphabet="0123456789.−", max_size=30),
    st.booleans(),
)
def test_marks_never_cover_text_nor_leave_the_view(marks, ends, width, value, gradient, reached):
    rows = [row(line, end) for line, end in enumerate(ends, 1)]
    marks.set_marks({r.line: LineMark(r.line, "x", value, gradient, reached) for r in rows})
    for one in place(marks, *rows, width=width):
        area = one.area
        assert area.left() > rows[one.line - 1].text_end
        assert area.right() <= width
        assert rows[one.line - 1].top <= area.top() <= area.bottom() <= rows[one.line - 1].bottom
        if one.value is not None and one.gradient is not None:
            assert one.value.right() < one.gradient.left()


def test_a_line_that_was_not_reached_shows_no_number(marks):
    marks.set_marks({1: LineMark(1, "o", "0.7071", "0.4142", reached=False)})
    (one,) = place(marks, row())
    assert one.value_text == one.gradient_text == ""
    assert one.gradient is None
    assert "0.7071" not in marks.about(1)


def test_a_line_with_nothing_to_say_has_no_mark(marks):
    marks.set_marks({1: LineMark(1, "", "", "", reached=True)})
    assert place(marks, row()) == []


def test_lines_that_are_not_shown_are_not_placed(marks):
    marks.set_marks({7: BOTH, -1: BOTH, 0: BOTH})
    assert place(marks, row(1), row(2)) == []


def test_the_tooltip_tells_all_with_the_name(marks):
    marks.set_marks({1: BOTH})
    assert marks.about(1) == "n = 0.8814\ngradient 0.2071"
    assert marks.about(2) == ""


def test_marks_move_with_their_lines(marks):
    marks.set_marks(dict.fromkeys((1, 2, 5), BOTH))
    marks.shift(2, 3)
    assert marks.lines() == [1, 5, 8]
    marks.shift(5, -4)
    assert marks.lines() == [1]


def test_only_gradients_are_pink(marks):
    theme = Theme.load("light")
    marks.set_marks({1: LineMark(1, "n", "0.8814", "", reached=True, active="forward")})
    assert pinks(painted(marks, place(marks, row())), theme) == 0
    marks.set_marks({1: BOTH})
    assert pinks(painted(marks, place(marks, row())), theme) > 20


def test_stale_marks_are_dimmed(marks):
    marks.set_marks({1: BOTH})
    placed = place(marks, row())

    def darkest():
        image = painted(marks, placed)
        box = placed[0].value.toAlignedRect()
        return min(
            QColor(image.pixel(x, y)).lightness()
            for x in range(box.left(), box.right())
            for y in range(box.top(), box.bottom())
        )

    fresh = darkest()
    marks.stale = True
    assert darkest() > fresh + 40


def test_a_pill_on_a_lit_row_is_not_filled_with_the_rows_colour(marks):
    style = EditorStyle(Theme.load("light"), 13)
    marks.set_marks({1: BOTH})
    placed = place(marks, row())
    inside = placed[0].gradient
    spot = (int(inside.right()) - 4, int(inside.center().y()))
    plain = QColor(painted(marks, placed).pixel(*spot))
    lit = QColor(painted(marks, placed, {1: style.band("backward")}).pixel(*spot))
    assert plain.name() == style.theme.backward_soft.name()
    assert lit.name() == style.theme.panel.name()


def test_bigger_text_has_bigger_marks(marks):
    marks.set_marks({1: BOTH})
    (small,) = place(marks, row())
    marks.set_style(EditorStyle(Theme.load("dark"), 26))
    (big,) = place(marks, row(), width=900.0)
    assert big.gradient.width() > 1.5 * small.gradient.width()


@pytest.mark.parametrize("px", [13, 20, 26, 39])
def test_a_number_that_has_no_room_leaves_no_empty_box(qtbot, px):
    """A box without text is painted as a dot as wide as the box: a large disc over the code."""
    marks = LineMarks(EditorStyle(Theme.load("light"), px))
    for value in ("3.0000", "−12.0000", "32 × 128"):
        marks.set_marks({1: LineMark(1, "q", value, "−4.0000", reached=True)})
        for width in range(110, 600, 3):
            for one in place(marks, row(), width=float(width)):
                assert one.value is None or one.value_text, width


def test_a_gradient_that_has_no_room_is_a_mark_as_narrow_as_its_sign(marks):
    marks.set_marks({1: LineMark(1, "out", "", "∇ 1.6761", reached=True)})
    bare = set()
    for width in range(110, 400):
        for one in place(marks, row(), width=float(width)):
            if one.gradient is not None and not one.gradient_text:
                bare.add(one.gradient.width())
                assert one.gradient.right() == pytest.approx(width - MARGIN)
    (sign,) = bare
    assert sign < 25
