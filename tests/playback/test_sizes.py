import pytest

from playback import sizes


def test_short_names_get_the_standard_cards():
    assert sizes.op("mul", "u", "", scalar=True) == (164.0, 58.0)
    assert sizes.pill("w1", scalar=True) == (128.0, 40.0)


@pytest.mark.parametrize(
    "make",
    [
        lambda t: sizes.op(t, "", "", True),
        lambda t: sizes.pill(t, True),
        lambda t: sizes.module(t, ""),
    ],
)
def test_long_names_get_wider_cards(make):
    assert make("a_rather_long_name_of_a_tensor_in_a_program")[0] > make("a")[0]


def test_tensors_get_room_for_their_thumbnail():
    assert sizes.op("linear", "", "", False) > sizes.op("linear", "", "", True)
    assert sizes.pill("x", False) > sizes.pill("x", True)


def test_a_note_makes_a_card_higher():
    assert sizes.op("linear", "", "x Wᵀ + b", False)[1] > sizes.op("linear", "", "", False)[1]
