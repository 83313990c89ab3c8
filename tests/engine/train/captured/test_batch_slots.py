"""Batches gathered ahead are those that the plain loop draws, and lie as well in memory."""

import pytest
import torch

from gradscribe.engine.protocol import setup
from gradscribe.engine.train.batches import Batches
from gradscribe.engine.train.captured.batch_slots import ALIGNED, BatchSlots
from gradscribe.engine.train.source.program import TrainingProgram


def batches(**given):
    given = {"data": {"name": "moons", "n": 50}, "train": 1.0, "batch": 8, "seed": 3, **given}
    return Batches(TrainingProgram(setup.parse(given)))


def plain(made, epochs, size, shuffle=True):
    """The rows of so many epochs as the exported script draws them."""
    rng = torch.Generator().manual_seed(3)
    orders = (
        torch.randperm(50, generator=rng) if shuffle else torch.arange(50) for _ in range(epochs)
    )
    return [made.x[rows] for order in orders for rows in order.split(size)]


@pytest.mark.parametrize("shuffle", [True, False])
@pytest.mark.parametrize("size", [8, 10, 49])
def test_slots_hold_the_batches_of_the_plain_loop(size, shuffle):
    ahead = batches(batch=size, shuffle=shuffle)
    slots, found = BatchSlots(ahead, size), []
    pairs = slots.pairs()
    for _ in range(3):
        left = ahead.left()
        first, end = slots.next(left)
        found += [pairs[i][0].clone() for i in range(first, end)]
        ahead.skip(left - left % size)
        if left % size:
            found.append(ahead.draw()[0])
    assert all(map(torch.equal, found, plain(ahead, 3, size, shuffle)))
    assert len(found) == 3 * -(-50 // size)


def test_every_slot_begins_where_a_tensor_of_its_own_would():
    for given in ({}, {"features": ["x1", "x2", "x1*x2"]}, {"dtype": "float64"}):
        for x, y in BatchSlots(batches(**given), 8).pairs():
            assert x.is_contiguous()
            assert x.data_ptr() % ALIGNED == y.data_ptr() % ALIGNED == 0


def test_slots_follow_a_run_back_and_into_another_size():
    ahead, twin = batches(), batches()
    slots = BatchSlots(ahead, 8)
    pairs = slots.pairs()
    ahead.draw()
    saved = ahead.state()
    twin.draw()
    first, _ = slots.next(ahead.left())
    expected = twin.draw()[0]
    assert torch.equal(pairs[first][0], expected)
    ahead.skip(16)
    first, _ = slots.next(ahead.left())
    twin.draw()
    assert torch.equal(pairs[first][0], twin.draw()[0])
    ahead.restore(saved)
    first, _ = slots.next(ahead.left())
    assert torch.equal(pairs[first][0], expected)
    # Three rows further the batches lie askew.
    ahead.skip(3)
    assert ahead.order is not None
    first, end = slots.next(ahead.left())
    assert torch.equal(pairs[first][0], ahead.x[ahead.order[11:19]])
    assert end - first == 39 // 8


def test_what_is_dropped_at_the_end_of_an_epoch_is_never_seen():
    ahead, drawn = batches(drop_last=True), batches(drop_last=True)
    assert ahead.left() == 48
    ahead.skip(48)
    for _ in range(6):
        drawn.draw()
    assert ahead.left() == 48
    assert torch.equal(ahead.x[ahead.order[:8]], drawn.draw()[0])


def test_big_data_is_not_doubled():
    assert BatchSlots.fits(batches(), 8)
    big = batches()
    big.rows = 10_000_000
    assert not BatchSlots.fits(big, 8)
