"""A run pauses at the first step at which what it trains until holds."""

import pytest

from engine.train.goals import Goals
from engine.training.asks import Until


def reached(losses, *until, recent=()):
    goals = Goals([Until(kind, value) for kind, value in until], recent)
    for step, loss in enumerate(losses, 1):
        if goals(loss):
            return step, goals.reached
    return None


def test_the_mean_of_the_last_twenty_counts():
    assert reached([1.0] * 20 + [0.0] * 30, ("loss_below", 0.5)) == (31, "loss_below")
    assert reached([0.0], ("loss_below", 0.5), recent=[1.0] * 40) is None
    assert reached([0.0] * 11, ("loss_below", 0.5), recent=[1.0] * 40) == (11, "loss_below")


def test_a_plateau_is_counted_from_the_best_loss():
    assert reached([1.0] * 9, ("plateau", 5)) == (6, "plateau")
    assert reached([1.0 / n for n in range(1, 50)], ("plateau", 5)) is None


def test_less_than_a_ten_thousandth_is_no_better():
    assert reached([1 - n * 1e-6 for n in range(50)], ("plateau", 5)) == (6, "plateau")
    assert reached([1 - n * 1e-2 for n in range(50)], ("plateau", 5)) is None


def test_whichever_comes_first_is_told():
    both = (("plateau", 3), ("loss_below", 0.5))
    assert reached([1.0] * 9, *both) == (4, "plateau")
    assert reached([0.1], *both) == (1, "loss_below")


@pytest.mark.parametrize("kind", ["step", "nan"])
def test_steps_and_nan_are_looked_out_for_elsewhere(kind):
    assert not Goals([Until(kind, 1.0)])
    assert reached([1.0] * 50, (kind, 1.0)) is None
    assert Goals([Until("plateau", 9.0)])
