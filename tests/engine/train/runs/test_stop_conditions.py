"""A run pauses at the first step at which what it trains until holds."""

import math

import pytest
from msgspec.structs import replace

from gradscribe.engine.protocol.setup import Part, Setup
from gradscribe.engine.protocol.training.requests import StopCondition
from gradscribe.engine.train.runs.run import TrainingRun
from gradscribe.engine.train.runs.stop_conditions import StopConditions, solved_below


def reached(losses, *until, recent=()):
    goals = StopConditions([StopCondition(kind, value) for kind, value in until], recent)
    for step, loss in enumerate(losses, 1):
        if goals(loss):
            return step, goals.reached
    return None


def test_the_mean_of_the_last_twenty_counts():
    assert reached([1.0] * 20 + [0.0] * 30, ("loss_below", 0.5)) == (31, "loss_below")
    assert reached([0.0], ("loss_below", 0.5), recent=[1.0] * 40) is None
    assert reached([0.0] * 11, ("loss_below", 0.5), recent=[1.0] * 40) == (11, "loss_below")


def test_a_plateau_is_counted_from_the_best_loss():
    assert reached([1.0] * 9, ("plateau", 5)) == (6, "plateau")
    assert reached([1.0 / n for n in range(1, 50)], ("plateau", 5)) is None


def test_less_than_a_ten_thousandth_is_no_better():
    assert reached([1 - n * 1e-6 for n in range(50)], ("plateau", 5)) == (6, "plateau")
    assert reached([1 - n * 1e-2 for n in range(50)], ("plateau", 5)) is None


def test_whichever_comes_first_is_told():
    both = (("plateau", 3), ("loss_below", 0.5))
    assert reached([1.0] * 9, *both) == (4, "plateau")
    assert reached([0.1], *both) == (1, "loss_below")


@pytest.mark.parametrize("kind", ["step", "nan"])
def test_steps_and_nan_are_looked_out_for_elsewhere(kind):
    assert not StopConditions([StopCondition(kind, 1.0)])
    assert reached([1.0] * 50, (kind, 1.0)) is None
    assert StopConditions([StopCondition("plateau", 9.0)])


SETUP = Setup(
    Part("sine", {"n": 60}), Part("mlp", {"layers": [4]}), optimizer=Part("adam", {"lr": 0.02})
)


def first(losses, kind, value):
    """Return the step at which the mean of the last twenty first fits, step by step."""
    best, at = math.inf, 0
    for step in range(1, len(losses) + 1):
        last = losses[max(0, step - 20) : step]
        mean = sum(last) / len(last)
        if kind == "loss_below" and mean < value:
            return step
        if mean < best * (1 - 1e-4):
            best, at = mean, step
        if kind == "plateau" and step - at >= value:
            return step
    return None


@pytest.mark.parametrize("mode", ["reference", "captured"])
@pytest.mark.parametrize(("kind", "value"), [("loss_below", 0.3), ("plateau", 3.0)])
@pytest.mark.parametrize("schedule", [None, Part("exponential", {"gamma": 0.99})])
def test_a_run_stops_at_the_very_step_in_either_mode(kind, value, mode, schedule):
    setup = replace(SETUP, mode=mode, batch=0 if schedule else 20, schedule=schedule)
    run, plain = TrainingRun(setup), TrainingRun(replace(setup, mode="reference"))
    losses = [plain.program.step(plain.draw()) for _ in range(700)]
    made = run.advance(100_000, goals=StopConditions([StopCondition(kind, value)]))
    assert run.mode == mode
    assert made == run.step == first(losses, kind, value)


def test_solved_takes_twenty_losses_below_its_own_bound():
    def solved(losses, bound=0.5, **more):
        goals = StopConditions([StopCondition("solved")], solved=bound, **more)
        return next((at for at, loss in enumerate(losses, 1) if goals(loss)), None)

    assert solved([0.0] * 30) == 20
    assert solved([0.0], recent=[0.0] * 19) == 1
    assert solved([1.0] * 30) is None
    assert solved([0.0] * 30, bound=-math.inf) is None
    assert not StopConditions([StopCondition("nan")], solved=0.5)


@pytest.mark.parametrize(
    ("loss", "share", "constant"),
    [
        ("mse", 0.01, lambda d: (d * d).mean()),
        ("half", 0.01, lambda d: (d * d).mean() / 2),
        ("l1", 0.1, lambda d: d.abs().mean()),
    ],
)
def test_a_regression_is_solved_below_a_share_of_the_best_constant(loss, share, constant):
    run = TrainingRun(Setup(data=Part("sine"), model=Part("linear"), loss=Part(loss)))
    y = run.program.tensor("y_train")
    assert solved_below(run.program) == pytest.approx(share * constant(y - y.mean()).item())


def test_classes_are_solved_below_a_twentieth_and_a_constant_target_never():
    assert solved_below(TrainingRun(Setup(data=Part("moons"))).program) == 0.05
    run = TrainingRun(Setup(data=Part("sine"), model=Part("linear")))
    run.program.tensor("y_train").fill_(3.0)
    assert solved_below(run.program) == -math.inf
