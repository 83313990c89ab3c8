import pytest

from gradscribe.playback.graph import sizes


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


def test_a_folded_module_has_room_for_the_name_of_its_result():
    """The title was cut for a name of one letter."""
    without, named = (
        sizes.module("up.1: ConvTranspose2d", "", "2 × 4", name) for name in ("", "x")
    )
    assert named[0] >= without[0] + 14


def test_a_note_makes_a_card_higher():
    assert sizes.op("linear", "", "x Wᵀ + b", False)[1] > sizes.op("linear", "", "", False)[1]


@pytest.mark.parametrize("number", ["0.5", "1e−09", "0.7071", "2.8284271247461903"])
def test_a_constant_without_a_name_has_room_for_its_number_beside_its_ring(number):
    width, _ = sizes.pill("", scalar=True, number=number)
    assert width >= 45 + 8.4 * len(number)  # 30 up to the number, 15 behind it
