import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gradscribe.widgets.base.theme import Theme
from gradscribe.widgets.inspector.panes.rows import RowContent, RowList, RowWidget

TONES = ("plain", "backward", "forward", "fact", "fact-backward", "warning")


@pytest.fixture
def row(shown):
    return shown(RowWidget(), 280, 60)


@pytest.mark.parametrize("tone", TONES)
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_a_row_says_itself_aloud_and_paints(row, tone, theme):
    row.theme = Theme.load(theme)
    row.say(RowContent("∂L/∂s", "= ∂L/∂n × 1", "0.2071", tone))
    assert row.accessibleName() == "∂L/∂s = ∂L/∂n × 1 0.2071"
    assert not row.grab().isNull()


def test_a_short_row_is_one_line(row):
    row.say(RowContent("∂L/∂s", "from tanh", "0.2071"))
    assert row.heightForWidth(280) == row.heightForWidth(1000)


def test_a_narrow_row_is_taller(row):
    row.say(RowContent("∂loss/∂net.0.weight", "= a sentence that is too long for it", "∇ 3.46e−28"))
    assert row.heightForWidth(220) > row.heightForWidth(900)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=40)
@given(
    st.text(max_size=40), st.text(max_size=80), st.text("0123456789.−e[],", max_size=40),
    st.integers(120, 600), st.sampled_from(TONES),
)  # fmt: skip
def test_nothing_of_a_row_is_outside_it(row, label, text, number, width, tone):
    row.say(RowContent(label, text, number, tone))
    place = row.place(width)
    for box in (place.label, place.text, place.number):
        assert box.left() >= 0
        assert box.right() <= width + 1
        assert box.bottom() <= place.height + 1
    if label and number:
        assert not place.label.intersects(place.number.adjusted(1, 1, -1, -1))


def test_rows_are_kept_and_filled_anew(shown):
    rows = shown(RowList(), 280, 300)
    rows.say([RowContent("a"), RowContent("b"), RowContent("c")])
    first = rows.findChildren(RowWidget)
    rows.say([RowContent("d")])
    assert rows.lines() == [RowContent("d")]
    rows.say([RowContent("a"), RowContent("b")])
    assert rows.lines() == [RowContent("a"), RowContent("b")]
    assert rows.findChildren(RowWidget) == first
    rows.say([])
    assert rows.lines() == []


@pytest.mark.checklist(2)
def test_a_number_can_be_copied(shown, qapp):
    row = shown(RowWidget(), 280, 60)
    row.say(RowContent("shape", "", "3 × 4", "fact"))
    menu = row.menu()
    texts = [action.text() for action in menu.actions()]
    assert texts == ["Copy number", "Copy row"]
    menu.actions()[0].trigger()
    menu.deleteLater()
    assert qapp.clipboard().text() == "3 × 4"
