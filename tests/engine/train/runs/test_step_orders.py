"""A step in another order is what plain PyTorch does in that order, to the bit (rows 54, 81)."""

import copy
import json

import pytest
import torch
from torch import nn

from gradscribe.engine.protocol import setup
from gradscribe.engine.protocol.step_order import RIGHT_ORDER, describe_order
from gradscribe.engine.train.runs import measure, record_step
from gradscribe.engine.train.runs.export import script
from gradscribe.engine.train.runs.run import TrainingRun
from gradscribe.playback.explain.step_order import explain_order, order_effect
from tests.engine.train.runs.test_export import printed

STEPS = 6
BASE = {
    "data": {"name": "sine", "n": 40},
    "model": {"name": "mlp", "layers": [5, 4]},
    "validate_every": 0,
}
SGD = {"name": "sgd", "lr": 0.1}


def single_edits():
    """Every order with a statement left out, doubled or moved."""
    right = RIGHT_ORDER
    for at, name in enumerate(right):
        rest = right[:at] + right[at + 1 :]
        yield rest
        yield (*right[: at + 1], *right[at:])
        for to in range(len(right)):
            yield (*rest[:to], name, *rest[to:])


ORDERS = [order for order in dict.fromkeys(single_edits()) if order != RIGHT_ORDER]


def plain(order, run, optimizer, steps=STEPS):
    """Losses, moved steps and the error of a loop of plain PyTorch from a run's first weights."""
    model = copy.deepcopy(run.program.model)
    optimizer, criterion = optimizer(model.parameters()), nn.MSELoss()
    x, y = run.program.tensor("x_train"), run.program.tensor("y_train")
    losses, moved = [], []
    for _ in range(steps):
        scope, before = {}, [p.detach().clone() for p in model.parameters()]
        code = {
            "zero_grad": optimizer.zero_grad,
            "forward": lambda scope=scope: scope.update(output=model(x)),
            "loss": lambda scope=scope: scope.update(loss=criterion(scope["output"], y)),
            "backward": lambda scope=scope: scope["loss"].backward(),
            "step": optimizer.step,
        }
        try:
            for name in order:
                code[name]()
            losses.append(scope["loss"].item())
        except (KeyError, RuntimeError) as error:
            # A name that a function does not have yet.
            return losses, moved, NameError if isinstance(error, KeyError) else RuntimeError
        pairs = zip(model.parameters(), before, strict=True)
        moved.append(any(not torch.equal(new, old) for new, old in pairs))
    return losses, moved, None


def losses_of(run):
    """The losses of a run's steps; the run reports each once."""
    taken, known = run.history.take(), run.__dict__.setdefault("reported", [])
    if taken is not None:
        steps, values, _ = taken
        known += [float(value) for step, value in zip(steps, values[:, 0], strict=True) if step]
    return known


def adam(parameters):
    return torch.optim.Adam(parameters, lr=0.01)


@pytest.mark.parametrize("order", ORDERS, ids=describe_order)
def test_the_run_the_script_and_the_words_are_what_plain_torch_does(order):
    optimizer = {"name": "adam", "lr": 0.01}
    run = TrainingRun(setup.parse({**BASE, "optimizer": optimizer, "order": list(order)}))
    losses, moved, error = plain(order, run, adam)
    run.advance(STEPS)
    assert losses_of(run) == losses
    effect = order_effect(order)
    if error is None:
        assert run.problem is None
        assert printed(script(run, STEPS)) == list(enumerate(losses, 1))
        assert effect.error == ""
        assert effect.moves == any(moved)
        assert ("nothing moves" in explain_order(order)) == (not any(moved))
        right = TrainingRun(setup.parse({**BASE, "optimizer": optimizer}))
        right.advance(STEPS)
        assert ("the same losses" in explain_order(order)) == (losses_of(right) == losses)
    else:
        # Within a function, a local name without a value raises a subclass of NameError.
        raised = {"UnboundLocalError": "NameError"}.get(run.problem.type, run.problem.type)
        assert raised == error.__name__
        assert (effect.error, effect.step) == (error.__name__, len(losses) + 1)
        assert explain_order(order).rstrip(".").endswith(error.__name__)


def test_an_update_between_forward_and_backward_raises_in_the_second_step_as_in_torch():
    order = ("forward", "loss", "step", "backward")
    run = TrainingRun(setup.parse({**BASE, "optimizer": SGD, "order": list(order)}))
    losses, _, error = plain(order, run, lambda p: torch.optim.SGD(p, lr=0.1))
    run.advance(STEPS)
    assert error is RuntimeError
    assert losses_of(run) == losses
    assert len(losses) == 1
    assert "modified by an inplace operation" in run.problem.message
    assert explain_order(order).endswith("versions: RuntimeError in step 2.")


@pytest.mark.parametrize("order", ORDERS[::3], ids=describe_order)
def test_line_by_line_a_step_gives_the_same_losses_or_raises_too(order):
    given = setup.parse({**BASE, "optimizer": SGD, "order": list(order)})
    whole, lines = TrainingRun(given), TrainingRun(given)
    whole.advance(3)
    for _ in range(3):
        try:
            lines.next_event()
        except Exception:  # noqa: BLE001 - compared below
            break
        lines.finish_events()
    assert lines.step == whole.step
    assert losses_of(lines) == losses_of(whole)
    assert (lines.problem is None) == (whole.problem is None)


def test_going_back_replays_an_order_whose_update_uses_the_gradient_of_the_step_before():
    order = ["step", "zero_grad", "forward", "loss", "backward"]
    run = TrainingRun(setup.parse({**BASE, "order": order}))
    run.advance(6)
    before = [p.detach().clone() for p in run.program.model.parameters()]
    run.rewind(3)
    run.rewind(6)
    for parameter, value in zip(run.program.model.parameters(), before, strict=True):
        assert torch.equal(parameter, value)


def test_a_fork_with_another_order_goes_on_from_the_same_weights_and_its_script_does():
    run = TrainingRun(setup.parse({**BASE, "optimizer": SGD}))
    run.advance(4)
    changed = setup.parse({**BASE, "optimizer": SGD, "order": list(RIGHT_ORDER[1:])})
    fork = run.fork(4, changed)
    losses, _, _ = plain(RIGHT_ORDER[1:], fork, lambda p: torch.optim.SGD(p, lr=0.1), 1)
    fork.advance(3)
    # The gradient of step 4 is there still, so only its first loss is that of the plain loop.
    assert losses_of(fork)[4] == losses[0]
    assert printed(script(fork, 7)) == list(enumerate(losses_of(fork), 1))


@pytest.mark.parametrize("schedule", [None, {"name": "step", "step_size": 2, "gamma": 0.5}])
def test_an_update_by_hand_gives_the_optimizer_s_weights_to_the_bit(schedule):
    """Row 117: an SGD step is w - lr * grad."""
    given = {**BASE, "optimizer": SGD, "schedule": schedule}
    by_hand = TrainingRun(setup.parse({**given, "manual_update": True}))
    plain_sgd = TrainingRun(setup.parse(given))
    by_hand.advance(40)
    plain_sgd.advance(40)
    assert losses_of(by_hand) == losses_of(plain_sgd)
    assert "optimizer.step" not in script(by_hand, 5)
    assert printed(script(by_hand, 5)) == list(enumerate(losses_of(plain_sgd)[:5], 1))
    pairs = zip(
        by_hand.program.model.parameters(), plain_sgd.program.model.parameters(), strict=True
    )
    assert all(torch.equal(a, b) for a, b in pairs)


@pytest.mark.parametrize(
    ("optimizer", "more", "why"),
    [
        ("adam", {}, "that of sgd"),
        ({"name": "sgd", "momentum": 0.9}, {}, "momentum is 0.9"),
        ({"name": "sgd", "weight_decay": 0.1}, {}, "weight_decay is 0.1"),
        ("sgd", {"amp": "float16"}, "GradScaler"),
    ],
)
def test_an_update_by_hand_that_the_optimizer_does_not_do_is_refused(optimizer, more, why):
    with pytest.raises(setup.SetupError, match=why) as error:
        TrainingRun(setup.parse({**BASE, "optimizer": optimizer, "manual_update": True, **more}))
    assert error.value.place == "manual_update"


def test_an_optimizer_with_a_closure_has_no_other_order():
    given = {**BASE, "optimizer": "lbfgs", "order": list(RIGHT_ORDER[1:])}
    with pytest.raises(setup.SetupError, match="closure") as error:
        TrainingRun(setup.parse(given))
    assert error.value.place == "order"


@pytest.mark.parametrize(
    "order",
    [
        ("forward", "zero_grad", "loss", "backward", "step"),
        ("zero_grad", "forward", "loss", "loss", "backward", "step"),
        ("zero_grad", "forward", "loss", "backward", "step", "step"),
    ],
)
def test_with_micro_batches_script_and_lines_follow_the_order_too(order):
    given = setup.parse({**BASE, "batch": 8, "accumulate": 3, "order": list(order)})
    run, lines = TrainingRun(given), TrainingRun(given)
    run.advance(4)
    for _ in range(4):
        lines.next_event()
        lines.finish_events()
    assert losses_of(lines) == losses_of(run)
    assert printed(script(run, 4)) == list(enumerate(losses_of(run), 1))


def test_a_step_without_gradients_is_measured_recorded_and_explained():
    given = {**BASE, "order": ["zero_grad", "forward", "loss", "step"]}
    run = TrainingRun(setup.parse(given))
    measure.measure_step(run)
    assert run.step == 1
    tape, source, _ = record_step.record_step(run)
    assert "backward" not in source
    assert tape.status == "ok"
    assert not any(execution for execution in tape.executions)
    while not (made := run.next_event()).done:
        pass
    assert made.changed[0].startswith("nothing moved: every .grad is None")


@pytest.mark.e2e
def test_a_setup_file_with_an_order_trains_from_the_command_line_and_writes_the_same(tmp_path):
    from gradscribe.app.cli import main

    order = ["forward", "loss", "backward", "step"]
    path, out = tmp_path / "setup.json", tmp_path / "script.py"
    path.write_text(json.dumps({**BASE, "optimizer": SGD, "steps": 5, "order": order}))
    assert main.main(["train", str(path), "--script", str(out)]) == 0
    run = TrainingRun(setup.parse({**BASE, "optimizer": SGD, "order": order}))
    run.advance(5)
    assert printed(out.read_text()) == list(enumerate(losses_of(run), 1))
