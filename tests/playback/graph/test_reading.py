import math

import numpy as np
import pytest

from gradscribe.engine.protocol.structs import replace
from gradscribe.engine.protocol.tape import Snapshot, Tape
from gradscribe.playback.graph.picture import Card, CardLook, WireLook
from gradscribe.playback.graph.reading import CardReader
from gradscribe.playback.text import formatting
from tests.widgets.scenes import Maker, neuron


def read(numbers, look=None, kind="op", **rest):
    m = Maker()
    m.card("c", kind, "c", (0, 0), numbers, **rest)
    look = CardLook(reached=True) if look is None else look(m)
    card = m.picture.cards[0]
    return CardReader(m.tape, m.picture.cards).card(card, look)


def with_gradient(numbers, shares=()):
    def look(m):
        arrived = tuple(m.snapshot(share) for share in shares)
        return CardLook(reached=True, gradient=m.snapshot(numbers), shares=arrived)

    return look


def test_what_is_not_reached_never_shows_a_number():
    for look in (None, CardLook()):
        reader, card = CardReader(Tape()), Card("c", "op", "mul")
        assert reader.card(card, look).state == "waiting"
        assert reader.card(card, look).number == ""
    reading = read(0.0, lambda m: CardLook(snapshot=0))
    assert (reading.state, reading.number, reading.share) == ("waiting", "", None)


def test_a_result_has_four_decimals_and_a_true_minus():
    assert read(-6.0).number == "−6.0000"
    assert read(0.0).number == "0.0000"


@pytest.mark.parametrize(
    ("x", "shown"), [(2.0, "2.0"), (-3.0, "−3.0"), (6.8814, "6.8814"), (0.5, "0.5"), (1e2, "100.0")]
)
def test_a_leaf_has_only_the_decimals_that_say_something(x, shown):
    assert read(x, kind="parameter").number == shown


def test_a_literal_is_shown_as_it_was_written():
    card = Card("c", "constant", "", literal="0.5")
    assert CardReader(Tape()).card(card, CardLook(reached=True)).number == "0.5"


def test_the_snapshot_of_the_look_wins_over_the_first_value():
    def updated(m):
        return CardLook(reached=True, snapshot=m.snapshot(9.0))

    assert read(2.0, updated, kind="parameter").number == "9.0"


def test_the_stripe_is_the_share_of_the_largest_scalar():
    m, look = neuron()
    reader = CardReader(m.tape, m.picture.cards)
    shares = {c.key: reader.card(c, look.cards[c.key]).share for c in m.picture.cards}
    assert shares["b"] == pytest.approx(1)
    assert shares["u"] == pytest.approx(-6 / 6.8814, rel=1e-5)
    assert shares["v"] == 0


def test_a_tensor_shows_a_grid_and_its_shape_and_no_number():
    reading = read(np.arange(6.0).reshape(2, 3))
    assert (reading.shape, reading.number, reading.share) == ("2 × 3", "", None)
    assert reading.grid.tolist() == [[0, 1, 2], [3, 4, 5]]


def test_a_gradient_alone_is_its_number():
    assert read(1.0, with_gradient(0.2071)).gradient == "0.2071"


def test_where_several_shares_arrive_the_sum_is_written_out():
    assert read(2.0, with_gradient(64.0, (48.0, 16.0))).gradient == "48 + 16 = 64"
    assert read(2.0, with_gradient(2.5, (3.0, -0.5))).gradient == "3 − 0.5 = 2.5"
    assert read(2.0, with_gradient(48.0, (48.0,))).gradient == "48.0000"


def test_no_sum_is_written_that_is_wrong():
    # A hook changed what arrived, or the leaf had a gradient before.
    assert read(2.0, with_gradient(1.0, (48.0, 16.0))).gradient == "1.0000"
    assert read(2.0, with_gradient(math.nan, (48.0, math.nan))).gradient == "NaN"


def test_a_long_sum_is_its_result_and_how_many_made_it():
    told = read(2.0, with_gradient(10.0, (1.0, 2.0, 3.0, 4.0))).gradient
    assert told == "10.0000 · 4 shares"


def test_the_gradient_of_a_tensor_is_its_norm():
    reading = read([1.0, 2.0], with_gradient([3.0, 4.0]))
    assert reading.gradient == "∇ 5.0000"
    several = with_gradient([3.0, 4.0], ([3.0, 0.0], [0.0, 4.0]))
    assert read([1.0, 2.0], several).gradient == "∇ 5.0000 · 2 shares"


def test_the_norm_that_torch_told_is_not_computed_again():
    tape = Tape(snapshots=(Snapshot((5000,), "float32", norm=12.5),))
    assert CardReader(tape).norm(0) == 12.5


@pytest.mark.parametrize(
    ("numbers", "told"),
    [
        (math.nan, "NaN"),
        (math.inf, "∞"),
        ([1.0, math.nan, math.nan], "2 NaN"),
        ([math.inf, -math.inf, math.nan], "1 NaN · 2 ∞"),
        ([1.0, 2.0], ""),
    ],
)
def test_what_is_not_finite_is_counted(numbers, told):
    assert read(numbers).bad == told


def test_a_gradient_that_is_not_finite_is_marked():
    assert read(1.0, with_gradient(math.inf)).bad_gradient
    assert not read(1.0, with_gradient(1.0)).bad_gradient


def test_a_label_tells_the_factor_and_the_share_only_where_shares_meet():
    m = Maker()
    look = WireLook(share=m.snapshot(16.0), factor="× 2w")
    reader = CardReader(m.tape)
    assert reader.label(look, several=False) == "× 2w"
    assert reader.label(look, several=True) == "× 2w → 16"
    assert reader.label(WireLook(share=0), several=True) == "16"
    assert reader.label(WireLook(share=0, active="backward"), several=False) == "16"
    assert reader.label(WireLook(share=0), several=False) == "", "it is in the source's bubble"
    assert reader.label(WireLook(), several=True) == ""


def test_the_label_of_a_tensor_is_the_norm_of_its_share():
    m = Maker()
    look = WireLook(share=m.snapshot([3.0, 4.0]))
    reader = CardReader(m.tape)
    assert reader.label(look, several=True) == "∇ 5.0000"
    assert reader.label(replace(look, active="backward"), several=False) == "∇ 5.0000"
    assert reader.label(look, several=False) == ""


def test_a_snapshot_that_is_not_there_is_no_error():
    reader = CardReader(Tape())
    assert reader.snapshot(5) is None
    assert reader.bad(5) == ""
    assert reader.grid(5) is None
    assert reader.norm(5) is None


def test_a_sum_that_is_being_made_is_never_a_number():
    def look(m):
        return CardLook(True, shares=(m.snapshot(48.0),), pending=True)

    told = read(2.0, look)
    assert (told.gradient, told.pending) == ("48 + …", True)


def test_shares_of_tensors_are_counted_because_norms_do_not_add():
    def look(m):
        return CardLook(True, shares=(m.snapshot([3.0, 4.0]), m.snapshot([1.0, 1.0])), pending=True)

    assert read([1.0, 2.0], look).gradient == "∇ … · 2 shares"


@pytest.mark.parametrize(("reset", "told"), [("zeros", "0"), ("none", "None"), ("", "")])
def test_zeros_differ_from_none(reset, told):
    assert read(2.0, lambda _: CardLook(True, reset=reset)).gradient == told


def test_an_update_tells_before_and_after_and_of_a_tensor_how_far_it_moved():
    def scalar(m):
        return CardLook(True, changed=True, before=m.snapshot(2.0), snapshot=m.snapshot(0.8))

    def tensor(m):
        before, after = m.snapshot([1.0, 1.0]), m.snapshot([4.0, 5.0])
        return CardLook(True, changed=True, before=before, snapshot=after)

    assert read(2.0, scalar, "parameter").update == "2.0 → 0.8"

    def still(m):
        before, after = m.snapshot([1.0, 1.0]), m.snapshot([1.0, 1.0])
        return CardLook(True, changed=True, before=before, snapshot=after)

    assert read([1.0, 1.0], tensor, "parameter").update == "moved by 5.0000"
    assert read([1.0, 1.0], still, "parameter").update == "unchanged"
    assert read(2.0, lambda _: CardLook(True)).update == ""


def test_an_update_too_small_for_its_digits_tells_how_far_it_moved():
    def small(m):
        return CardLook(
            True, changed=True, before=m.snapshot(1.0000305), snapshot=m.snapshot(1.0000153)
        )

    def none(m):
        return CardLook(True, changed=True, before=m.snapshot(1.0), snapshot=m.snapshot(1.0))

    moved = abs(float(np.float32(1.0000153)) - float(np.float32(1.0000305)))
    assert read(1.0, small, "parameter").update == f"moved by {formatting.number(moved)}"
    assert read(1.0, none, "parameter").update == "unchanged"


def test_the_tag_tells_the_version_that_memory_holds_by_now():
    assert read(2.0, lambda _: CardLook(True, version=2), mark="⧉ b").tag == "⧉ b · now v2"
    assert read(2.0, lambda _: CardLook(True), mark="×3").tag == "×3"


def test_several_shares_on_one_wire_are_added_or_counted():
    m = Maker()
    parts = tuple(m.snapshot(x) for x in (3.0, -1.0))
    reader = CardReader(m.tape)
    assert reader.label(WireLook(True, shares=parts), False) == "3 − 1"
    wide = tuple(m.snapshot([x, x]) for x in (3.0, 1.0))
    assert CardReader(m.tape).label(WireLook(True, shares=wide), False) == "2 shares"


def test_the_tag_counts_passes_that_have_added_up_from_the_second_on():
    def look(added):
        return lambda m: CardLook(reached=True, gradient=m.snapshot(8.0), added=added)

    assert read(2.0, look(1), kind="parameter").tag == ""
    assert read(2.0, look(3), kind="parameter").tag == "grad of 3 passes"
