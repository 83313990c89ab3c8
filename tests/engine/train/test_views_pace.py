"""How often a view is made while a run plays."""

import pytest

from engine.train import views


@pytest.mark.parametrize("kind", sorted(views.KINDS))
def test_a_cheap_view_is_made_as_often_as_it_is_wanted(kind):
    assert views.pause(kind, 1e-5, 0.033) == 0.033


@pytest.mark.parametrize("kind", sorted(views.KINDS))
def test_a_view_that_was_slow_once_is_not_stale_for_long(kind):
    assert views.pause(kind, 0.04, 0.033) <= views.STALE_S


@pytest.mark.parametrize("cost", [0.1, 1.0, 20.0])
def test_a_dear_view_takes_a_small_share_of_the_time(cost):
    for kind, made in views.KINDS.items():
        share = cost / views.pause(kind, cost, 0.0)
        assert share <= max(views.MOST, made.share) * 1.7
