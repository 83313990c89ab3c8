"""A run's curves: every step told once, a bounded store, and nothing left of what was forgotten."""

import csv
import io
import math

import numpy as np

from gradscribe.engine.train.runs import history
from gradscribe.engine.train.runs.history import TrainingHistory


def told(made):
    steps, values, forget = made.take()
    return steps.tolist(), values, forget


def test_bursts_are_told_as_single_steps_are():
    at_once, single = TrainingHistory(["w"]), TrainingHistory(["w"])
    losses, rates = [1 / n for n in range(1, 101)], [0.1] * 50 + [0.01] * 50
    at_once.add(1, losses[:60], rates[:60])
    at_once.add(61, losses[60:], rates[60:])
    for step, (loss, rate) in enumerate(zip(losses, rates, strict=True), 1):
        single.add(step, [loss], [rate])
    assert at_once.smoothed() == single.smoothed() == sum(losses[-20:]) / 20
    assert at_once.csv() == single.csv()
    for made in (at_once, single):
        steps, values, forget = told(made)
        assert steps == list(range(1, 101))
        assert values[:, 0].tolist() == losses
        assert values[:, 2].tolist() == rates
        assert np.isnan(values[:, 1]).all()
        assert values.shape[1] == 3, "no norms were measured"
        assert forget is None
        assert made.take() is None


def test_validation_and_norms_stand_beside_their_steps():
    made = TrainingHistory(["w"])
    made.add_validation(0, 9.0)
    made.add(1, [3.0, 2.0, 1.0], [0.1] * 3)
    made.add_validation(2, 4.0)
    made.add_norms(3, [5.0], [0.5])
    made.add_norms(7, [6.0], [0.6])
    steps, values, _ = told(made)
    assert steps == [0, 1, 2, 3]
    expected = [
        [math.nan, 9.0, math.nan, math.nan, math.nan],
        [3.0, math.nan, 0.1, math.nan, math.nan],
        [2.0, 4.0, 0.1, math.nan, math.nan],
        [1.0, math.nan, 0.1, 5.0, 0.5],
    ]
    np.testing.assert_array_equal(values, expected)


def test_what_is_forgotten_is_not_told_and_not_kept():
    made = TrainingHistory([])
    made.add(1, [float(n) for n in range(1, 31)], [0.1] * 30)
    made.add_validation(10, 1.5)
    made.add_validation(20, 2.5)
    made.forget_after(12)
    assert made.smoothed() == sum(range(1, 13)) / 12
    made.add(13, [100.0], [0.2])
    steps, values, forget = told(made)
    assert (steps, forget) == (list(range(1, 14)), 12)
    assert values[-1, 0] == 100.0
    rows = list(csv.DictReader(io.StringIO(made.csv())))
    assert [float(row["loss"]) for row in rows] == [*range(1, 13), 100.0]
    assert [row["val"] for row in rows if row["val"]] == ["1.5"]


def test_the_store_stays_bounded_and_evenly_spread(monkeypatch):
    monkeypatch.setattr(history, "MAX_STEPS", 100)
    made = TrainingHistory([])
    assert made.is_whole
    for first in range(1, 10_001, 37):
        losses = [float(step) for step in range(first, first + 37)]
        made.add(first, losses, [0.1] * 37)
        made.take()
    steps = [int(row["step"]) for row in csv.DictReader(io.StringIO(made.csv()))]
    assert 50 <= len(steps) <= 100
    assert not made.is_whole
    assert set(np.diff(steps)) == {steps[1] - steps[0]}
    # A copy for a fork tells what is kept, up to its step, and goes on by itself.
    copy = made.copied(steps[10])
    assert told(copy)[0] == steps[:11]
    copy.add(steps[10] + 1, [0.0], [0.1])
    assert copy.unsent_count() == 1
    assert made.unsent_count() == 0


def test_norms_of_the_steps_that_were_measured_stand_in_the_file_too():
    made = TrainingHistory(["0.weight", "a,b"])
    made.add(1, [0.5, 0.25, 0.125], [0.1] * 3)
    made.add_norms(2, [1.5, 2.5], [0.01, 0.02])
    made.add_norms(3, [3.5, 4.5], [0.03, 0.04])
    head, *rows = csv.reader(io.StringIO(made.csv()))
    assert head[4:] == ["grad:0.weight", "grad:a,b", "ratio:0.weight", "ratio:a,b"]
    assert rows[0] == ["1", "0.5", "", "0.1", "", "", "", ""]
    assert rows[1] == ["2", "0.25", "", "0.1", "1.5", "2.5", "0.01", "0.02"]
    # Told or not, in a fork too, and gone with the steps that one went back from.
    made.take()
    assert made.copied(2).csv().splitlines() == made.csv().splitlines()[:3]
    made.forget_after(1)
    assert made.csv() == "step,loss,val,lr\n1,0.5,,0.1\n"


def test_norms_of_a_long_run_are_bounded():
    made = TrainingHistory([str(number) for number in range(2000)])
    for step in range(1, 1001):
        made.add_norms(step, [float(step)] * 2000, [0.0] * 2000)
    rows = list(csv.DictReader(io.StringIO(made.csv())))
    assert 100 < len(rows) * 4003 <= history.MOST_NORMS
    assert rows[0]["grad:0"] == "1.0"
    assert float(rows[-1]["grad:1999"]) > 990
