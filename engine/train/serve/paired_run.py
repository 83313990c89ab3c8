"""Compare a run with a deliberate mistake with a paired correct run at the same step."""

import msgspec
import torch

from gradscribe.engine.protocol.training import requests
from gradscribe.engine.train.memory import resident_bytes
from gradscribe.engine.train.runs.run import TrainingRun
from gradscribe.engine.train.user_module import attributes

MirroredRequest = requests.ChangeSetup | requests.Rewind | requests.ResetRun | requests.EditWeight
MOST_NODES = 10_000


def mirrored_request(request: object, run_id: int) -> MirroredRequest | None:
    """Return the request for the correct run that mirrors one for the other; None for none."""
    match request:
        case requests.ChangeSetup():
            base = request.base and request.base.corrected()
            return msgspec.structs.replace(
                request, run_id=run_id, setup=request.setup.corrected(), base=base
            )
        case requests.Rewind() | requests.ResetRun() | requests.EditWeight():
            return msgspec.structs.replace(request, run_id=run_id)
    return None


def comparison_facts(run: TrainingRun, other: TrainingRun, before: int) -> dict[str, float]:
    """Return measurements of a run and of the correct one (``right_...``).

    ``loss`` is the mean of the last 20 steps, ``highest`` the highest known loss, ``grad`` the norm
    of all gradients together, ``first`` the distance of the first parameter frozen by mistake from
    its initial value and ``lr`` the learning rate without a schedule's effect. ``before`` is
    `memory.resident` at the start.
    """
    measured: dict[str, float] = {}
    both = zip(*(each.program.model.parameters() for each in (run, other)), strict=True)
    frozen = [not parameter.requires_grad and correct.requires_grad for parameter, correct in both]
    first = frozen.index(True) if any(frozen) else 0
    for prefix, each in (("", run), ("right_", other)):
        measured[f"{prefix}step"] = each.step
        measured[f"{prefix}loss"] = each.history.smoothed()
        measured[f"{prefix}highest"] = each.history.highest()
        measured[f"{prefix}val"] = each.history.last_val()
        grads = [p.grad for p in each.program.model.parameters() if p.grad is not None]
        measured[f"{prefix}grad"] = float(
            sum(g.double().square().sum().item() for g in grads) ** 0.5
        )
        now = list(each.program.model.parameters())[first].detach()
        start = each.checkpoints.before(0).parameters[first]
        measured[f"{prefix}first"] = (now - start).norm().item()
        group = each.program.optimizer.param_groups[0]
        measured[f"{prefix}lr"] = group.get("max_lr", group.get("initial_lr", group["lr"]))
    if run.setup.manual_update and run.step == other.step:
        measured |= _weight_facts(run, other)
    return measured | _mistake_facts(run, before)


def _weight_facts(run: TrainingRun, other: TrainingRun) -> dict[str, float]:
    """Return how many weights are those of the other run to the bit, and the largest difference."""
    weights, right = (
        torch.cat([p.detach().flatten() for p in each.program.model.parameters()])
        for each in (run, other)
    )
    apart = (weights - right).abs().max().item()
    return {"weights": len(weights), "equal": int((weights == right).sum()), "apart": apart}


def _mistake_facts(run: TrainingRun, before: int) -> dict[str, float]:
    mistakes = run.setup.mistakes
    measured: dict[str, float] = {}
    if "keep_graphs" in mistakes:
        losses = run.program.names["kept"]
        assert isinstance(losses, list)
        measured["kept"] = len(losses)
        measured["nodes"] = _count_nodes(losses[-1]) if losses else 0
        measured["bytes"] = max(0, resident_bytes() - before)
    if run.setup.validate_every and run.program.has_validation and run.problem is None:
        if "validate_with_grad" in mistakes:
            measured["saved"] = _saved_bytes(run)
        if "validate_in_train_mode" in mistakes:
            measured["in_train"], measured["in_eval"] = _loss_in_modes(run)
    if "column_target" in mistakes:
        measured["rows"] = run.batches.size
    if "softmax_first" in mistakes:
        measured["outputs"] = run.program.shapes.outputs
    if "huge_lr" in mistakes:
        measured["peaks"] = float(run.history.is_whole)
    return measured


def _count_nodes(loss: torch.Tensor) -> int:
    """Return the number of backward nodes of a loss, at most about `MOST_NODES`."""
    seen: set[object] = set()
    waiting = [loss.grad_fn]
    while waiting and len(seen) < MOST_NODES:
        node = waiting.pop()
        if node is not None and node not in seen:
            seen.add(node)
            waiting += [after for after, _ in node.next_functions]
    return len(seen)


def _loss_in_modes(run: TrainingRun) -> tuple[float, float]:
    """Return the validation loss of the current weights in train mode, and in eval mode."""
    program, losses = run.program, []
    buffers = [(buffer, buffer.clone()) for buffer in program.model.buffers()]
    for training in (True, False):
        with attributes.evaluating(run.program):
            program.model.train(training)
            output = program.model(program.tensor("x_val"))
            losses.append(program.criterion(output, program.tensor("y_val")).item())
            # Batch norm updates its statistics in train mode.
            for buffer, before in buffers:
                buffer.copy_(before)
    return losses[0], losses[1]


def _saved_bytes(run: TrainingRun) -> int:
    """Return the bytes of tensors that one validation saves for a backward pass."""
    sizes: dict[int, int] = {}

    def note(tensor: torch.Tensor) -> torch.Tensor:
        sizes[tensor.data_ptr()] = tensor.untyped_storage().nbytes()
        return tensor

    x, y = run.program.tensor("x_val"), run.program.tensor("y_val")
    model = run.program.model
    excluded = {p.data_ptr() for p in model.parameters()} | {x.data_ptr(), y.data_ptr()}
    with (
        attributes.evaluating(run.program),
        torch.enable_grad(),
        torch.autograd.graph.saved_tensors_hooks(note, lambda tensor: tensor),
    ):
        run.program.criterion(model(x), y)
    return sum(size for place, size in sizes.items() if place not in excluded)
