"""The lines of a step report what torch has then."""

import torch
from torch.nn.functional import mse_loss

from gradscribe.engine.protocol import setup
from gradscribe.engine.train.runs.run import TrainingRun

LINE = {"data": "line", "model": "linear", "validate_every": 0}


def told(run):
    """Make a step line by line; returns each line's event and words."""
    found = []
    while not found or run.events is not None:
        made = run.next_event()
        found.append((made.event, made.changed))
    return found


def of(event, found):
    return [words for name, words in found if name == event]


def test_of_batches_that_are_added_up_each_tells_its_own_loss_and_the_sum():
    run = TrainingRun(setup.parse({**LINE, "batch": 8, "accumulate": 3}))
    start = run.batches.state()
    losses = [mse_loss(run.program.model(x), y).item() / 3 for x, y in run.draw()]
    run.batches.restore(start)
    words = [one for (one,) in of("loss", told(run))]
    assert words[0] == f"loss is {losses[0]:.6g}"
    assert words[2] == f"loss is {losses[2]:.6g}, {sum(losses):.6g} with those before"


def test_gradients_that_are_scaled_say_so_and_a_step_that_is_skipped_too():
    run = TrainingRun(setup.parse({**LINE, "batch": 16, "amp": "float16", "data_seed": 1}))
    scaler = torch.amp.GradScaler("cpu")
    scales = []
    for _ in range(6):
        found = told(run)
        scales.append(run.program.scaler.get_scale())
        (backward,), (step,) = of("backward", found), of("step", found)
        before = scales[-2] if len(scales) > 1 else scaler.get_scale()
        assert backward[0] == f"scaled by {before:,.0f}"
        skipped = scales[-1] < before
        assert ("nothing moved" in step) == skipped
        assert any(one.startswith("skipped") for one in step) == skipped
    assert scales[-1] < scaler.get_scale(), "some step was skipped, so that this asks for something"


def test_a_step_with_a_closure_tells_the_loss_it_began_with():
    run = TrainingRun(setup.parse({**LINE, "optimizer": "lbfgs"}))
    x, y = run.program.tensor("x_train"), run.program.tensor("y_train")
    loss = mse_loss(run.program.model(x), y).item()
    ((first, *_),) = of("step", told(run))
    assert first == f"loss was {loss:.6g}"


def test_a_step_that_moves_nothing_says_so():
    run = TrainingRun(setup.parse({**LINE, "optimizer": {"name": "sgd", "lr": 0.0}}))
    assert of("step", told(run)) == [("nothing moved",)]
