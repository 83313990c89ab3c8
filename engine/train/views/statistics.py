"""Numeric views: confusion matrix, scores, gradients, histograms, weights, optimizer state."""

import math
from collections.abc import Mapping

import torch

from gradscribe.engine.protocol.setup import JsonValue
from gradscribe.engine.protocol.training.replies import MAX_VIEW_PARAMETERS
from gradscribe.engine.train.arrays import ViewData, int_option, to_array, to_dense
from gradscribe.engine.train.runs.run import TrainingRun
from gradscribe.engine.train.views import limits, maps

ROWS = 2000
ROW, LONG = 256, 1 << 20


def _rows(run: TrainingRun, part: str) -> torch.Tensor:
    return run.program.tensor(f"{part}_rows")[: limits.max_rows(run, ROWS)]


def _output(run: TrainingRun, rows: torch.Tensor) -> torch.Tensor:
    """Return the model's output for rows of the data."""
    output: torch.Tensor = run.program.model(run.program.tensor("inputs")[rows])
    return output


def _predicted(run: TrainingRun, output: torch.Tensor) -> torch.Tensor:
    """Return the predicted class of each row, or of each position of tokens."""
    program = run.program
    if program.task == "tokens":
        return output.argmax(dim=2).cpu()
    if output.shape[1] > 1:
        return output.argmax(dim=1).cpu()
    return (output[:, 0] > 0).long().cpu()


def confusion(run: TrainingRun, _options: Mapping[str, JsonValue]) -> ViewData | None:
    """Return the confusion matrices (rows: truth, columns: prediction); tokens per position."""
    program = run.program
    classes = program.shapes.outputs if program.task == "tokens" else program.classes
    if not classes:
        return None
    matrices = {}
    for part in ("train", "val"):
        rows = _rows(run, part)
        counts = torch.zeros(classes * classes, dtype=torch.long)
        if len(rows):
            pairs = program.y[rows] * classes + _predicted(run, _output(run, rows))
            counts = torch.bincount(pairs.reshape(-1), minlength=classes * classes)
        matrices[part] = to_array(counts.reshape(classes, classes), "<i8")
    return ViewData(matrices)


def scores(run: TrainingRun, _options: Mapping[str, JsonValue]) -> ViewData:
    """Return loss and, for classes and tokens, the number of correct predictions."""
    program, facts = run.program, {}
    for part in ("train", "val"):
        rows = _rows(run, part)
        if not len(rows):
            continue
        output = _output(run, rows)
        loss = program.criterion(output, program.tensor("targets")[rows])
        facts[f"{part}_loss"] = loss.item()
        if program.task == "tokens":
            right = _predicted(run, output) == program.y[rows]
            facts[f"{part}_right"], facts[f"{part}_count"] = right.sum().item(), right.numel()
        elif program.classes:
            right = _predicted(run, output) == program.y[rows]
            facts[f"{part}_right"], facts[f"{part}_count"] = right.sum().item(), len(rows)
    return ViewData({}, facts)


def gradients(run: TrainingRun, _options: Mapping[str, JsonValue]) -> ViewData:
    """Return gradient norm (NaN without a gradient), own norm and update ratio by parameter."""
    parameters = list(run.program.model.parameters())
    norms = [float("nan") if p.grad is None else _norm(to_dense(p.grad)) for p in parameters]
    has_grad = [float(p.grad is not None) for p in parameters]
    sizes = [_norm(p) for p in parameters]
    ratios = [ratio for _, ratio in run.ratios] or [float("nan")] * len(norms)
    return ViewData(
        {
            "norms": to_array(torch.tensor(norms, dtype=torch.float64), "<f8"),
            "held": to_array(torch.tensor(has_grad, dtype=torch.float64), "<f8"),
            "sizes": to_array(torch.tensor(sizes, dtype=torch.float64), "<f8"),
            "ratios": to_array(torch.tensor(ratios, dtype=torch.float64), "<f8"),
        }
    )


def _norm(tensor: torch.Tensor) -> float:
    """Return a norm summed in float64; for large tensors by short rows, which is much faster."""
    if tensor.dtype == torch.float32 and tensor.numel() >= LONG and tensor.numel() % ROW == 0:
        norm: float = tensor.reshape(-1, ROW).norm(dim=1).double().norm().item()
        if math.isfinite(norm):
            return norm
    return float(tensor.double().norm().item())


def histograms(run: TrainingRun, options: Mapping[str, JsonValue]) -> ViewData | None:
    """Return histograms with equal bins from the minimum to the maximum of each row."""
    bins = int_option(options, "bins", 32, 4, 256)
    match options.get("of", "weight"):
        case "gradient":
            pairs = [(p, p.grad) for p in run.program.model.parameters()]
            tensors = [torch.zeros(0) if g is None else to_dense(g) for _, g in pairs]
        case "activation":
            x = run.program.x[: limits.max_rows(run, ROWS)]
            tensors = [output for _, _, output in maps.layers(run, x)]
        case _:
            tensors = [p.detach() for p in run.program.model.parameters()]
    if not tensors:
        return None
    counts, edges = torch.zeros(len(tensors), bins), torch.zeros(len(tensors), 2)
    for row, values in enumerate(tensors):
        finite = values.float().cpu().reshape(-1)
        finite_mask = torch.isfinite(finite)
        finite = finite if bool(finite_mask.all()) else finite[finite_mask]
        if len(finite):
            edges[row] = torch.stack([finite.min(), finite.max()])
            low, high = edges[row].tolist()
            counts[row] = torch.histc(finite, bins, low, high if high > low else low + 1e-6)
    return ViewData({"counts": to_array(counts), "edges": to_array(edges)})


def weights(run: TrainingRun, options: Mapping[str, JsonValue]) -> ViewData | None:
    """Return all parameters and all gradients as two flat vectors; a missing gradient is NaN.

    In float64 if any parameter is, so that a manual edit can be undone exactly. None if there are
    more than ``most`` parameters: the window receives them many times a second.
    """
    most = int_option(options, "most", MAX_VIEW_PARAMETERS, 0, limits.MOST_SENT)
    if limits.parameter_count(run) > most:
        return None
    parameters = list(run.program.model.parameters())
    grads = [
        torch.full((p.numel(),), float("nan"))
        if p.grad is None
        else to_dense(p.grad).reshape(-1).cpu()
        for p in parameters
    ]
    is_double = any(p.dtype == torch.float64 for p in parameters)
    wide, sent = (torch.float64, "<f8") if is_double else (torch.float32, "<f4")
    flat = torch.cat([p.detach().reshape(-1).cpu().to(wide) for p in parameters])
    flat_grads = torch.cat([g.to(wide) for g in grads])
    return ViewData({"flat": to_array(flat, sent), "grads": to_array(flat_grads, sent)})


def optimizer(run: TrainingRun, _options: Mapping[str, JsonValue]) -> ViewData | None:
    """Return each state tensor of the optimizer as one flat vector over all parameters.

    None if there are too many to send.
    """
    if limits.parameter_count(run) > MAX_VIEW_PARAMETERS:
        return None
    instance, state = run.program.optimizer, run.program.optimizer.state
    names: dict[str, None] = {}
    for memory in state.values():
        names.update({k: None for k, v in memory.items() if isinstance(v, torch.Tensor)})
    arrays, facts = {}, {"lr": float(instance.param_groups[0]["lr"])}
    for name in names:
        parts = [
            state[p][name].reshape(-1).float().cpu()
            if isinstance(state.get(p, {}).get(name), torch.Tensor)
            and state[p][name].numel() == p.numel()
            else torch.full((p.numel(),), float("nan"))
            for p in run.program.model.parameters()
        ]
        flat = torch.cat(parts)
        if not bool(flat.isnan().all()):
            arrays[name] = to_array(flat)
    for memory in state.values():
        step = memory.get("step")
        if step is not None:
            facts["step"] = float(step)
    arrays.pop("step", None)
    return ViewData(arrays, facts)
