"""Full Jacobians of the lab's results by its inputs, if they have few cells."""

import numpy as np
import torch

from gradscribe.engine.inspect.lab.evaluator import ExpressionEvaluator, NamedTensor, TooSlow
from gradscribe.engine.protocol.check_replies import MAX_DERIVED
from gradscribe.engine.protocol.messages import Jacobian


def find_jacobians(
    trial: ExpressionEvaluator, inputs: list[NamedTensor], results: list[NamedTensor]
) -> tuple[Jacobian, ...]:
    """Return a matrix for each pair of a real result and a real tensor that it depends on.

    By autograd, with one backward pass for each cell of the result: a row is torch's own gradient.
    """
    found = []
    for k, result in enumerate(results):
        if not result.tensor.is_floating_point() or not 0 < result.tensor.numel() <= MAX_DERIVED:
            continue
        for index, source in enumerate(inputs):
            small = source.tensor.is_floating_point() and 0 < source.tensor.numel() <= MAX_DERIVED
            matrix = _matrix(trial, index, k) if small and source.kind == "tensor" else None
            if matrix is not None:
                found.append(Jacobian(k, index, matrix.shape, matrix.tobytes()))
    return tuple(found)


def _matrix(trial: ExpressionEvaluator, index: int, k: int) -> np.ndarray | None:
    """Return result cells x input cells in double precision; None if no gradient flows back."""
    try:
        rows = trial.gradients(index, k)
    except (RuntimeError, IndexError, TooSlow):
        # In-place on a leaf, or nothing to differentiate: there is no matrix to show.
        return None
    matrix: np.ndarray = torch.stack(rows).double().cpu().numpy()
    return matrix
