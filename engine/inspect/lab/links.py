"""Find the input cells that each cell of a result depends on, by experiments with torch itself.

One input cell at a time becomes NaN, and every result cell that becomes NaN depends on it. Where a
NaN only reorders other numbers (``sort``, ``topk``) or cannot come out (``argmax``, ``x > 0``),
gradients or changed results are used instead.
"""

import math

import numpy as np
import torch

from gradscribe.engine.inspect.lab.evaluator import (
    ExpressionEvaluator,
    NamedTensor,
    clone_with_strides,
)
from gradscribe.engine.protocol.check_replies import MAX_LINKED, MAX_REACHED
from gradscribe.engine.protocol.messages import Links
from gradscribe.engine.protocol.safe_text import MAX_NAME_CHARS
from gradscribe.engine.run import watchdog


def find_links(
    trial: ExpressionEvaluator, inputs: list[NamedTensor], results: list[NamedTensor]
) -> tuple[tuple[Links, ...], str]:
    """Return the links of every pair of tensors, and a note about what could not be traced."""
    cells = sum(named.tensor.numel() for named in inputs)
    if cells > MAX_LINKED or sum(named.tensor.numel() for named in results) > MAX_REACHED:
        return (), f"Links are looked for up to {MAX_LINKED} cells; these are {cells:,}."
    links: list[Links] = []
    lost = []
    for index, named in enumerate(inputs):
        try:
            pairs = _reach(trial, index, named.tensor, [r.tensor for r in results])
        except watchdog.Interrupted:
            raise
        except Exception:  # noqa: BLE001 - the op refuses other numbers than the user's
            lost.append(named.name[:MAX_NAME_CHARS])
            continue
        links += [Links(k, index, *_packed(pair)) for k, pair in enumerate(pairs)]
    note = f"Links of {', '.join(lost)} could not be determined." if lost else ""
    return tuple(links), note


def _packed(reaches: np.ndarray) -> tuple[bytes, bytes]:
    result, source = np.nonzero(reaches)
    return result.astype("<i4").tobytes(), source.astype("<i4").tobytes()


def _reach(
    trial: ExpressionEvaluator, index: int, tensor: torch.Tensor, results: list[torch.Tensor]
) -> list[np.ndarray]:
    """Return for each result a matrix: result cell x input cell, True where they are linked."""
    if tensor.is_floating_point() or tensor.is_complex():
        try:
            return _by_numbers(trial, index, trial.originals[index], results)
        except RuntimeError:
            # Other numbers give another shape, as in x[x > 0].
            return [_by_gradient(trial, index, k) for k in range(len(results))]
    mask = _by_mask(tensor, results) if tensor.dtype is torch.bool else None
    if mask is not None:
        return mask
    try:
        return _by_numbers(trial, index, trial.originals[index].double(), results)
    except (RuntimeError, IndexError, TypeError):
        return _by_steps(trial, index, results)


def _by_numbers(
    trial: ExpressionEvaluator, index: int, original: torch.Tensor, results: list[torch.Tensor]
) -> list[np.ndarray]:
    base = _evaluated(trial, {index: clone_with_strides(original)}, results)
    size = original.numel()
    # Results that cannot be NaN are also tested with both infinities.
    whole = all(r.is_floating_point() or r.is_complex() for r in results)
    numbers = (math.nan,) if whole else (math.nan, math.inf, -math.inf)
    born = [np.zeros((r.size, size), bool) for r in base]
    moved = [np.zeros((r.size, size), bool) for r in base]
    for cell in range(size):
        for number in numbers:
            other = _replaced(original, cell, number)
            for k, now in enumerate(_evaluated(trial, {index: other}, results)):
                came = np.isnan(now) & ~np.isnan(base[k])
                changed = (now != base[k]) & ~came & ~(np.isnan(now) & np.isnan(base[k]))
                if math.isnan(number):
                    born[k][:, cell] |= came
                    moved[k][:, cell] |= changed
                elif not results[k].is_floating_point():
                    moved[k][:, cell] |= changed
    return [_chosen(trial, index, k, results, born[k], moved[k]) for k in range(len(base))]


def _chosen(
    trial: ExpressionEvaluator,
    index: int,
    k: int,
    results: list[torch.Tensor],
    born: np.ndarray,
    moved: np.ndarray,
) -> np.ndarray:
    if not results[k].is_floating_point() and not results[k].is_complex():
        either: np.ndarray = born | moved
        return either
    return _by_gradient(trial, index, k) if moved.any() else born


def _by_gradient(trial: ExpressionEvaluator, index: int, k: int) -> np.ndarray:
    found: np.ndarray = (torch.stack(trial.gradients(index, k)) != 0).numpy()
    return found


def _by_mask(mask: torch.Tensor, results: list[torch.Tensor]) -> list[np.ndarray] | None:
    """Return links of a selection mask: each True cell leads to what it selected."""
    chosen = mask.reshape(-1).nonzero().reshape(-1).tolist()
    if len(results) != 1 or results[0].dim() == 0 or len(results[0]) != len(chosen) or not chosen:
        return None
    if results[0].shape == mask.shape:
        return None
    reaches = np.zeros((len(chosen), results[0][0].numel(), mask.numel()), bool)
    for row, cell in enumerate(chosen):
        reaches[row, :, cell] = True
    return [reaches.reshape(-1, mask.numel())]


def _by_steps(
    trial: ExpressionEvaluator, index: int, results: list[torch.Tensor]
) -> list[np.ndarray]:
    """Return links of integers such as indices, by changing each of them by one."""
    original = trial.originals[index]
    base = _evaluated(trial, {index: clone_with_strides(original)}, results)
    found = [np.zeros((r.size, original.numel()), bool) for r in base]
    for cell in range(original.numel()):
        at = int(original.reshape(-1)[cell])
        for number in (at + 1, at - 1) if original.dtype is not torch.bool else (not at,):
            try:
                now = _evaluated(trial, {index: _replaced(original, cell, number)}, results)
            except (RuntimeError, IndexError):
                continue
            for k in range(len(base)):
                found[k][:, cell] |= now[k] != base[k]
    return found


def _replaced(original: torch.Tensor, cell: int, number: float) -> torch.Tensor:
    other = clone_with_strides(original)
    other[tuple(int(i) for i in np.unravel_index(cell, original.shape))] = number
    return other


def _evaluated(
    trial: ExpressionEvaluator, other: dict[int, torch.Tensor], results: list[torch.Tensor]
) -> list[np.ndarray]:
    """Return the expression's results, flattened; raise if their shapes changed."""
    with torch.no_grad():
        found, _ = trial.results(trial.evaluate(other))
        if [named.tensor.shape for named in found] != [result.shape for result in results]:
            raise RuntimeError("another shape")
        flat = [named.tensor.detach().cpu().resolve_conj().reshape(-1) for named in found]
        wide = [t.to(torch.complex128 if t.is_complex() else torch.float64) for t in flat]
        arrays: list[np.ndarray] = [t.numpy() for t in wide]
        return arrays
