"""The views of a run that plays share a part of its time, and none is forgotten."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradscribe.engine.train.views.scheduler import MOST, STALE_S, ViewScheduler, fair_share

seconds = st.floats(1e-5, 1.0)


def played(costs, wanted, budget, length):
    """Return the count of each view, on a fake clock, and the time that all of it took."""
    pace, now, made, spent = ViewScheduler(), 0.0, dict.fromkeys(costs, 0), 0.0
    pace.set_intervals(wanted)
    while now < length:
        now += 0.004
        for key, cost in costs.items():
            if pace.is_due(key, now):
                now += cost
                pace.record_cost(key, cost, now, budget)
                made[key] += 1
                spent += cost
    return made, spent / now


def test_what_fits_is_made_as_often_as_it_is_wanted():
    made, _ = played({"a": 0.0001, "b": 0.0001}, {"a": 1 / 30, "b": 0.2}, 0.02, 20.0)
    assert 20 * 30 * 0.85 <= made["a"] <= 20 * 30
    assert 20 * 5 * 0.95 <= made["b"] <= 20 * 5


def test_one_that_is_dear_does_not_starve_the_cheap_ones():
    costs = {"boundary": 0.001, "scores": 0.0002, "surface": 0.02}
    wanted = {"boundary": 1 / 30, "scores": 0.2, "surface": 0.5}
    made, share = played(costs, wanted, 0.02, 60.0)
    assert share <= 0.021
    assert made["scores"] >= 60 * 5 * 0.95
    # What the scores leave of a third goes to the two others.
    assert made["boundary"] / 60 == pytest.approx(0.0095 / 0.001, rel=0.1)
    assert 60 * 0.0095 / 0.02 * 0.8 <= made["surface"] <= 60 * 0.0095 / 0.02 * 1.2


@given(st.lists(st.tuples(seconds, seconds), min_size=1, max_size=12), st.floats(0.005, 0.5))
def test_shares_fill_the_budget_and_no_more(loads, budget):
    share = fair_share(loads, budget)
    taken = sum(min(cost / every, share) for cost, every in loads)
    wanted = sum(cost / every for cost, every in loads)
    assert taken == pytest.approx(min(budget, wanted), rel=1e-6)


def test_the_first_is_the_dearest_and_no_measure_for_the_rest():
    pace = ViewScheduler()
    pace.set_intervals({"a": 0.033})
    pace.record_cost("a", 0.5, 1.0, 0.02)
    assert not pace.is_due("a", 1.0)
    assert pace.is_due("a", 1.0 + STALE_S)
    pace.record_cost("a", 0.0001, 3.0, 0.02)
    assert pace.is_due("a", 3.034)
    # Nor is one that the machine held up later.
    pace.record_cost("a", 0.1, 4.0, 0.02)
    assert pace.is_due("a", 4.034)


def test_a_cheap_view_is_never_stale_for_long_however_many_there_are():
    costs = {str(n): 0.001 for n in range(60)}
    made, share = played(costs, dict.fromkeys(costs, 0.033), 0.01, 30.0)
    assert min(made.values()) >= 30 / STALE_S * 0.9
    assert share <= 60 * MOST


def test_what_cannot_be_shown_waits_until_something_else_is_wanted():
    pace = ViewScheduler()
    pace.set_intervals({"a": 0.033})
    pace.disable("a")
    assert not pace.is_due("a", 1e9)
    pace.set_intervals({"a": 0.033})
    assert pace.is_due("a", 0.0)


def test_a_view_is_made_at_each_turn_of_a_rhythm_that_is_no_quicker_than_its_own():
    """Turns come every thirtieth of a second, and the view is not the first of each."""
    pace, made = ViewScheduler(), 0
    pace.set_intervals({"a": 0.033})
    for turn in range(300):
        now = turn / 30 + 0.002 * (turn % 3)
        if pace.is_due("a", now):
            pace.record_cost("a", 0.0005, now, 0.1)
            made += 1
    assert made >= 290
