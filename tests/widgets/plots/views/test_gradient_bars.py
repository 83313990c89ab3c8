import math

import pytest

from gradscribe.widgets.plots.views.gradient_bars import GradientBars, bar_length
from tests.widgets.pixels import near


def test_bars_are_as_long_as_the_logarithm_says():
    assert bar_length(1.0, 1.0) == pytest.approx(0.85)
    one, two = bar_length(0.1, 1.0), bar_length(0.01, 1.0)
    assert 0.85 - one == pytest.approx(one - two)


@pytest.mark.parametrize(("norm", "share"), [(0.0, 0.0), (math.nan, 0.0), (math.inf, 1.0)])
def test_norms_that_are_no_length_are_told_apart(norm, share):
    assert bar_length(norm, 1.0) == share


def test_a_bar_is_pink_and_none_is_there_for_zero(shown, look):
    bars = shown(GradientBars(), 400, 200)
    bars.show_norms(["a"], [0.0])
    assert near(look(bars), bars.theme.backward) == 0
    bars.show_norms(["a", "b"], [0.5, 0.001])
    assert near(look(bars), bars.theme.backward) > 300
    assert bars.accessibleDescription() == "a 0.5000, b 0.0010"


def test_gradients_that_were_cleared_are_no_mistake(shown, look):
    bars = shown(GradientBars(), 400, 200)
    bars.show_norms(["a", "b"], [math.nan, 1.0])
    assert near(look(bars), bars.theme.error, 60) > 10
    bars.show_norms(["a", "b"], [None, 1.0])
    assert near(look(bars), bars.theme.error, 30) == 0
    assert bars.accessibleDescription() == "a None, b 1.0000"


def test_names_without_a_norm_have_no_bar(qtbot):
    bars = GradientBars()
    qtbot.addWidget(bars)
    bars.show_norms(["a", "b", "c"], [0.5, 0.25])
    bars.grab()
    assert "c" not in bars.accessibleDescription()
