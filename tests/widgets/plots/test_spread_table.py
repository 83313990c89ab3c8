"""The table of spreads: each step that came, bounded, cut by rewinds, copied by forks."""

import numpy as np

from gradscribe.engine.protocol.regions import encode
from gradscribe.engine.protocol.training import ViewReply
from gradscribe.engine.protocol.training.replies import QUANTILES
from gradscribe.widgets.plots import spread_table
from gradscribe.widgets.plots.spread_table import SpreadTable

MANY = len(QUANTILES)


def reply(step, rows=2):
    quantiles = step + np.arange(rows * float(MANY)).reshape(rows, MANY) / 10
    counts = np.full((rows, 3), (step, 1, 2), np.int64)
    arrays = {"quantiles": encode(quantiles), "counts": encode(counts)}
    return ViewReply(1, "spread", step, arrays)


def filled(steps):
    table = SpreadTable()
    for step in steps:
        table.add(reply(step))
    return table


def test_each_step_has_the_quantiles_that_came():
    table = filled(range(0, 500, 5))
    steps, numbers = table.rows(1)
    assert steps.tolist() == list(range(0, 500, 5))
    want = np.arange(0, 500, 5)[:, np.newaxis] + np.arange(MANY, 2 * MANY) / 10
    assert np.array_equal(numbers, want.astype(np.float32))
    assert table.counts(0) == (495, 1, 2)


def test_the_same_step_is_replaced_and_an_earlier_one_dropped():
    table = filled([0, 10, 10, 4])
    assert table.rows(0)[0].tolist() == [0, 10]


def test_a_rewind_truncates():
    table = filled(range(10))
    before = table.generation
    table.cut(4)
    assert table.rows(0)[0].tolist() == [0, 1, 2, 3]
    assert table.generation > before
    table.add(reply(4))
    assert table.last == 4


def test_a_fork_shares_the_past_and_nothing_else():
    table = filled(range(10))
    fork = table.upto(6)
    fork.add(reply(9))
    table.add(reply(11))
    assert fork.rows(0)[0].tolist() == [*range(7), 9]
    assert table.rows(0)[0].tolist() == [*range(10), 11]


def test_it_is_thinned_by_halves_and_begins_with_step_0(monkeypatch):
    monkeypatch.setattr(spread_table, "MOST_STEPS", 64)
    table = filled(range(1000))
    steps = table.rows(0)[0]
    assert 16 <= len(steps) <= 64
    assert steps[0] == 0
    assert 900 < steps[-1] < 1000
    gaps = np.diff(steps)
    assert gaps.max() <= 2 * gaps.min() + 1


def test_other_tensors_begin_anew():
    table = filled(range(5))
    table.add(reply(9, rows=3))
    assert table.rows(2)[0].tolist() == [9]


def test_a_reply_of_another_size_is_dropped():
    table = SpreadTable()
    arrays = {"quantiles": encode(np.zeros((2, 3))), "counts": encode(np.zeros((2, 3), np.int64))}
    table.add(ViewReply(1, "spread", 0, arrays))
    assert len(table) == 0
    assert table.counts(0) == (0, 0, 0)
