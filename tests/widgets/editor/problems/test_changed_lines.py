"""Of lines that an edit changes, the difference is visible at any width."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from PySide6.QtGui import QFontMetricsF

from gradscribe.widgets.base.theme import mono_font
from gradscribe.widgets.editor.problems.changed_lines import fit_changes

OLD = "- model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(6, 2))"
NEW = "+ model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))"


@pytest.fixture
def metrics(qapp):
    return QFontMetricsF(mono_font(12))


def test_lines_that_fit_are_whole_and_without_the_common_indent(metrics):
    assert fit_changes(["-     a = 1", "+     a = 2"], metrics, 500) == ["− a = 1", "+ a = 2"]


def test_the_difference_of_long_lines_is_seen(metrics):
    """Both lines ended before it, and looked the same."""
    room = 40 * metrics.horizontalAdvance("m")
    old, new = fit_changes([OLD, NEW], metrics, room)
    assert old == "− …nn.Linear(6, 2))"
    assert new == "+ …nn.Linear(8, 2))"


def test_a_difference_near_the_beginning_keeps_it(metrics):
    room = 30 * metrics.horizontalAdvance("m")
    rows = fit_changes([OLD.replace("model", "modle"), NEW.replace("6", "8")], metrics, room)
    assert [row[:7] for row in rows] == ["− modle", "+ model"]
    assert all(row.endswith("…") for row in rows)


def test_lines_without_a_partner_begin_at_their_beginning(metrics):
    room = 30 * metrics.horizontalAdvance("m")
    rows = fit_changes([NEW, "+ optimizer.zero_grad()"], metrics, room)
    assert rows[0].startswith("+ model = nn.Seq")
    assert rows[1] == "+ optimizer.zero_grad()"


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.text("ab() ", max_size=60), st.text("ab() ", max_size=60), st.integers(1, 60))
def test_no_line_is_wider_than_its_room(metrics, old, new, letters):
    room = letters * metrics.horizontalAdvance("m") + 30
    for row in fit_changes([f"- {old}", f"+ {new}"], metrics, room):
        assert metrics.horizontalAdvance(row) <= room + 1
