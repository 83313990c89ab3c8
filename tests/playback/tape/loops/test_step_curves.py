"""Curves over steps: the numbers are torch's, at the steps that made them."""

import numpy as np
import torch

from gradscribe.playback.tape.index import index_of
from gradscribe.playback.tape.loops.loop_scalars import ScalarSeries, find_loop_scalars
from gradscribe.playback.tape.loops.step_curves import (
    StepCurve,
    grown_curves,
    step_curves,
    usual_curves,
)
from gradscribe.playback.tape.loops.steps import Steps, steps_of
from tests.playback.tape.loops.test_steps import BRANCHES, EVALUATED, GAN


def curves_of(tape, source):
    finding = find_loop_scalars(index_of(tape), source)
    try:
        while True:
            next(finding)
    except StopIteration as end:
        return step_curves(steps_of(tape), end.value)


def test_branches_of_one_loss_are_one_curve_with_the_numbers_of_torch(recorded):
    (curve,) = curves_of(recorded(BRANCHES), BRANCHES)
    w, expected = torch.tensor([2.0, 3.0], requires_grad=True), []
    for i in range(10):
        loss = (w**2).sum() if i % 2 else (w - 1).abs().sum()
        loss.backward()
        expected.append(loss.item())
        with torch.no_grad():
            w -= 0.1 * w.grad
        w.grad = None
    assert curve.name == "loss"
    assert curve.numbers.tolist() == expected
    assert curve.at.tolist() == [k + 0.5 for k in range(10)]
    assert all(curve.in_step(k).tolist() == [expected[k - 1]] for k in range(1, 11))


def test_both_losses_of_a_gan_are_drawn(recorded):
    found = curves_of(recorded(GAN), GAN)
    assert [curve.name for curve in usual_curves(found)] == ["d_loss", "g_loss"]
    assert all(len(curve.numbers) == 6 for curve in found[:2])


def test_numbers_of_one_step_are_spread_over_it(recorded):
    found = {curve.name: curve for curve in curves_of(recorded(EVALUATED), EVALUATED)}
    total = found["total"]
    assert total.at.tolist() == [k * 4 + 3 + share / 8 for k in range(3) for share in (1, 3, 5, 7)]
    assert np.all(np.diff(total.at) > 0)


def test_without_steps_there_is_no_curve(neuron):
    assert step_curves(Steps((), 5), ()) == ()
    assert usual_curves(()) == ()


def test_a_running_program_continues_the_loss_of_its_draft():
    numbers = [1.0 / k for k in range(1, 51)]
    at = np.arange(20) + 0.5
    draft = StepCurve("loss", at, np.array(numbers[:20]), is_loss=True)
    other = StepCurve("rate", at, np.array(numbers[:20]))
    series = ScalarSeries("loss", 3, "float32", numbers, list(range(50)), 1)
    (grown,) = grown_curves([draft, other], [series])
    assert grown.numbers.tolist() == numbers
    assert grown.at.tolist() == [k + 0.5 for k in range(50)]
    assert grown.is_loss


def test_a_loss_that_cannot_be_placed_does_not_grow():
    numbers = [1.0 / k for k in range(1, 51)]
    series = ScalarSeries("loss", 3, "float32", numbers, list(range(50)), 1)
    elsewhere = StepCurve("loss", np.arange(20) + 0.5, np.array(numbers[1:21]), is_loss=True)
    some = StepCurve("loss", np.arange(0, 40, 2) + 0.5, np.array(numbers[:20]), is_loss=True)
    assert grown_curves([elsewhere, some], [series]) == ()
