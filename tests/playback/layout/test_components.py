"""Parts that do not hang together keep their places when one of them changes."""

from gradscribe.playback.graph.picture import Picture
from gradscribe.playback.layout.place import place
from tests.bench.layout_measure import swapped
from tests.playback.drafts import Draft, assert_sound


def parts(*sizes: int, wide: int = 0) -> Picture:
    """Chains side by side; the chain numbered ``wide`` starts with a sum of as many leaves."""
    d = Draft()
    for number, size in enumerate(sizes):
        x = d.leaf(f"{number}.x")
        for step in range(size):
            x = d.op(f"{number}.{step}", x, d.leaf(f"{number}.{step}.w"))
    for extra in range(wide):
        d.op(f"extra{extra}", d.leaf(f"extra{extra}.a"), d.leaf(f"extra{extra}.b"))
    return d.picture()


def test_a_new_part_comes_after_those_that_were_there():
    old = parts(2, 3)
    before = place(old)
    after = parts(2, 3, 2)
    kept = place(after, previous=(old, before))
    assert swapped(old, before.cards, kept.cards) == 0
    assert_sound(after, kept)


def test_parts_stay_in_their_lines_when_more_room_is_needed():
    old = parts(*[2] * 9)
    before = place(old)
    assert len({seat.line for seat in before.seats.values()}) > 1
    after = parts(*[2] * 9, wide=2)
    kept = place(after, previous=(old, before))
    assert swapped(old, before.cards, kept.cards) == 0
    assert_sound(after, kept)


def joined(*, together: bool) -> Picture:
    """Two branches with a third between them, and their sum or not."""
    d = Draft()
    ends = []
    for name in "abc":
        x = d.leaf(name)
        for step in range(3):
            x = d.op(f"{name}{step}", x, d.leaf(f"{name}{step}w"))
        ends.append(x)
    if together:
        d.op("sum", ends[0], ends[2])
    return d.picture()


def test_parts_that_come_to_hang_together_take_what_stands_between_along():
    old, after = joined(together=False), joined(together=True)
    before = place(old)
    kept = place(after, previous=(old, before))
    assert swapped(old, before.cards, kept.cards) == 0
    assert_sound(after, kept)


def test_a_part_that_falls_in_two_keeps_its_order():
    old, after = joined(together=True), joined(together=False)
    before = place(old)
    kept = place(after, previous=(old, before))
    assert swapped(old, before.cards, kept.cards) == 0
    assert_sound(after, kept)
