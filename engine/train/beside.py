"""A run with a mistake beside the right one: both at the same step, and what can be measured."""

import msgspec
import torch

from engine.setup import Setup
from engine.train import views
from engine.train.memory import resident
from engine.train.run import Run
from engine.training import asks

Mirrored = asks.Alter | asks.Rewind | asks.Reset | asks.EditWeight
MOST_NODES = 10_000


def right(setup: Setup) -> Setup:
    """Return the setup without mistakes."""
    return msgspec.structs.replace(setup, mistakes=())


def mirrored(request: object, run_id: int) -> Mirrored | None:
    """Return what to ask of the right run where the other one is asked something; None: nothing."""
    match request:
        case asks.Alter():
            return msgspec.structs.replace(request, run_id=run_id, setup=right(request.setup))
        case asks.Rewind() | asks.Reset() | asks.EditWeight():
            return msgspec.structs.replace(request, run_id=run_id)
    return None


def facts(run: Run, other: Run, before: int) -> dict[str, float]:
    """Return what was measured of a run and of the right one (``right_...``).

    ``loss`` is the mean of the last 20 steps, ``highest`` the highest loss that is known, ``grad``
    the norm of all gradients together, ``first`` how far the first parameter that is frozen by
    mistake is from where it began and ``lr`` the rate without what a schedule makes of it.
    ``before`` is what `memory.resident` told at the beginning.
    """
    found: dict[str, float] = {}
    both = zip(*(one.program.model.parameters() for one in (run, other)), strict=True)
    held = [not mine.requires_grad and its.requires_grad for mine, its in both]
    first = held.index(True) if any(held) else 0
    for prefix, one in (("", run), ("right_", other)):
        found[f"{prefix}step"] = one.step
        found[f"{prefix}loss"] = one.history.smoothed()
        found[f"{prefix}highest"] = one.history.highest()
        found[f"{prefix}val"] = one.history.last_val()
        grads = [p.grad for p in one.program.model.parameters() if p.grad is not None]
        found[f"{prefix}grad"] = float(sum(g.double().square().sum().item() for g in grads) ** 0.5)
        now = list(one.program.model.parameters())[first].detach()
        start = one.past.before(0).parameters[first]
        found[f"{prefix}first"] = (now - start).norm().item()
        group = one.program.optimizer.param_groups[0]
        found[f"{prefix}lr"] = group.get("max_lr", group.get("initial_lr", group["lr"]))
    return found | _of_mistakes(run, before)


def _of_mistakes(run: Run, before: int) -> dict[str, float]:
    mistakes = run.setup.mistakes
    found: dict[str, float] = {}
    if "keep_graphs" in mistakes:
        kept = run.program.names["kept"]
        assert isinstance(kept, list)
        found["kept"] = len(kept)
        found["nodes"] = _nodes(kept[-1]) if kept else 0
        found["bytes"] = max(0, resident() - before)
    if run.setup.validate_every and run.program.has_validation and run.problem is None:
        if "validate_with_grad" in mistakes:
            found["saved"] = _saved(run)
        if "validate_in_train_mode" in mistakes:
            found["in_train"], found["in_eval"] = _in_modes(run)
    if "column_target" in mistakes:
        found["rows"] = run.batches.size
    if "softmax_first" in mistakes:
        found["outputs"] = run.program.shapes.outputs
    if "huge_lr" in mistakes:
        found["peaks"] = float(run.history.is_whole)
    return found


def _nodes(loss: torch.Tensor) -> int:
    """Return how many backward nodes a loss holds."""
    seen: set[object] = set()
    waiting = [loss.grad_fn]
    while waiting and len(seen) < MOST_NODES:
        node = waiting.pop()
        if node is not None and node not in seen:
            seen.add(node)
            waiting += [after for after, _ in node.next_functions]
    return len(seen)


def _in_modes(run: Run) -> tuple[float, float]:
    """Return the validation loss of the present weights in train mode, and in eval mode."""
    program, found = run.program, []
    buffers = [(buffer, buffer.clone()) for buffer in program.model.buffers()]
    for training in (True, False):
        with views.looking(run):
            program.model.train(training)
            output = program.model(program.tensor("x_val"))
            found.append(program.criterion(output, program.tensor("y_val")).item())
            # Batch norm counts what it has seen in train mode.
            for buffer, before in buffers:
                buffer.copy_(before)
    return found[0], found[1]


def _saved(run: Run) -> int:
    """Return the bytes of tensors that one validation saves for a backward pass."""
    sizes: dict[int, int] = {}

    def note(tensor: torch.Tensor) -> torch.Tensor:
        sizes[tensor.data_ptr()] = tensor.untyped_storage().nbytes()
        return tensor

    x, y = run.program.tensor("x_val"), run.program.tensor("y_val")
    model = run.program.model
    own = {p.data_ptr() for p in model.parameters()} | {x.data_ptr(), y.data_ptr()}
    with (
        views.looking(run),
        torch.enable_grad(),
        torch.autograd.graph.saved_tensors_hooks(note, lambda tensor: tensor),
    ):
        run.program.criterion(model(x), y)
    return sum(size for place, size in sizes.items() if place not in own)
