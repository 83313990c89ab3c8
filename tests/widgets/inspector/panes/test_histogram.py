import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradscribe.engine.protocol.tape import Snapshot
from gradscribe.widgets.base.labels import Label
from gradscribe.widgets.base.theme import Theme
from gradscribe.widgets.inspector.panes.histogram import (
    BINS,
    HistogramPane,
    axis_label,
    binned,
    statistics,
)
from gradscribe.widgets.inspector.panes.rows import RowList
from tests.widgets.inspector.panes.programs import FAN, ODD, TRAIN, page


def snapshot(*numbers):
    return Snapshot((len(numbers),), "float32", "<f4", np.array(numbers, "<f4").tobytes())


def told(lines):
    return {line.label: line.number for line in lines}


@pytest.fixture
def pane(shown):
    return shown(HistogramPane(), 260, 400)


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), max_size=80))
def test_every_finite_number_is_counted_once(numbers):
    counts, low, high = binned(np.array(numbers, np.float64))
    assert counts.sum() == len(numbers)
    if numbers:
        assert (low, high) == (min(numbers), max(numbers))


def test_numbers_fall_into_equal_bins():
    counts, _, _ = binned(np.linspace(0, 1, 2400, endpoint=False))
    assert counts.tolist() == pytest.approx([100] * BINS, abs=1)


def test_equal_numbers_are_one_bar_and_none_are_no_bars():
    assert np.count_nonzero(binned(np.full(9, 3.5))[0]) == 1
    assert binned(np.zeros(0))[0].size == 0


def test_whole_numbers_have_a_bar_each():
    counts, low, high = binned(np.array([2.0, 3.0, 3.0, 5.0]), whole=True)
    assert counts.tolist() == [1, 2, 0, 1]
    assert (low, high) == (2, 5)


def test_statistics_are_torchs_own():
    lines = told(statistics(snapshot(1.0, 2.0, 4.0)))
    assert lines == {
        "mean · std": "2.3333 · 1.5275",
        "min · max": "1.0000 · 4.0000",
        "norm": "4.5826",
    }


def test_what_is_not_finite_is_counted_with_a_warning():
    lines = statistics(snapshot(float("nan"), float("inf"), -float("inf"), 1.0))
    assert told(lines)["NaN · ∞"] == "1 · 2"
    assert lines[-1].tone == "warning"
    assert told(lines)["mean · std"] == "NaN · NaN"


def test_a_summary_is_taken_as_it_came():
    lines = told(statistics(page(ODD, "big").snapshot()))
    assert lines["mean · std"].startswith("1999.50 · ")
    assert lines["min · max"] == "0.0000 · 3999.00"


@pytest.mark.parametrize(("x", "text"), [(-1.12, "−1.12"), (0.0, "0"), (1e-30, "1e−30")])
def test_axes_end_in_three_figures(x, text):
    assert axis_label(x) == text


def test_value_and_gradient_stand_side_by_side(pane):
    theme = Theme.load("dark")
    pane.set_theme(theme)
    assert pane.show_page(page(TRAIN, "net.0.weight"))
    assert pane.bars["value"].color.name() == theme.forward.name()
    assert pane.bars["gradient"].color.name() == theme.backward.name()
    assert pane.bars["gradient"].counts.sum() == 8
    rows = {line.label: line for line in pane.findChild(RowList).lines()}
    assert rows["gradient norm"].tone == "fact-backward"


def test_a_gradient_that_is_not_there_has_no_bars(pane):
    pane.show_page(page(ODD, "whole"))
    assert pane.boxes["gradient"].isHidden()
    assert not pane.boxes["value"].isHidden()


def test_the_statistics_follow_the_side(pane):
    pane.show_page(page(TRAIN, "net.0.weight", side="gradient"))
    rows = pane.findChild(RowList).lines()
    assert {row.tone for row in rows} == {"fact-backward"}


def test_a_sample_says_that_it_is_one(pane):
    pane.show_page(page(ODD, "big"))
    said = [label.said() for label in pane.findChildren(Label) if not label.isHidden()]
    assert "The histograms count a sample" in said


@pytest.mark.parametrize("name", ["bad", "whole", "wave", "six", "big", "huge"])
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_odd_tensors_paint(pane, name, theme):
    pane.set_theme(Theme.load(theme))
    assert pane.show_page(page(ODD, name))
    assert not pane.grab().isNull()


def test_scalars_and_empty_tensors_have_none(pane):
    assert not pane.show_page(page(FAN, "x"))
    assert not pane.show_page(page(ODD, "empty"))
