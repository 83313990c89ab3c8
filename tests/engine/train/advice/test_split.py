"""A validation on less than five rows is said to be one."""

import pytest

from tests.engine.train.advice.asked import at_start, table, words

XOR = {"a": [0, 0, 1, 1], "b": [0, 1, 0, 1], "out": [0, 1, 1, 0]}


def test_one_row_of_four_validates(tmp_path):
    (one,) = at_start("split", data={**table(tmp_path, XOR), "classes": True})
    assert one.words.startswith("1 of 4 rows validates, and is never trained on")
    assert (one.place, one.button, one.change) == ("train", "Train on all 4", {"train": 1.0})


def test_a_few_rows_move_the_score_in_jumps():
    data = {"name": "moons", "n": 20}
    assert words(at_start("split", data=data)).endswith("each moves the score by 25%")
    data = {"name": "sine", "n": 15}
    assert words(at_start("split", data=data)).endswith("the validation loss hangs on them alone")


def test_of_a_large_table_the_share_is_not_changed():
    (one,) = at_start("split", data="moons", train=0.98)
    assert one.words.startswith("4 of 200 rows validate")
    assert one.change == {}


@pytest.mark.parametrize(
    "setup",
    [
        {"data": {"name": "moons", "n": 25}},
        {"data": {"name": "moons", "n": 4}, "train": 1.0},
        {"data": {"name": "moons", "n": 4}, "validate_every": 0},
    ],
)
def test_enough_rows_or_no_validation_at_all_are_left_alone(setup):
    assert at_start("split", **setup) == []
