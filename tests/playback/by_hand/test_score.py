"""The score counts by kind of op, and survives a damaged file."""

import pytest

from gradscribe.playback.by_hand import score
from gradscribe.playback.by_hand.score import KindScore


def test_results_are_counted_by_kind():
    known = {}
    for kind, outcome in [("mul", "first"), ("mul", "later"), ("exp", "shown"), ("mul", "first")]:
        known = score.with_result(known, kind, outcome)
    assert known == {"mul": KindScore(2, 1, 0), "exp": KindScore(0, 0, 1)}
    assert score.decode(score.encode(known)) == known
    assert [kind for kind, _ in score.rows(known)] == ["exp", "mul"]


@pytest.mark.parametrize("text", ["", "[]", "{", '{"mul": 3}', '{"mul": {"first": "x"}}', "\ud800"])
def test_a_damaged_score_is_empty(text):
    assert score.decode(text) == {}


def test_negative_counts_are_dropped():
    assert score.decode('{"mul": {"first": -5}, "add": {"first": 1}}') == {"add": KindScore(1)}
