"""Tensors as raw buffers for the wire."""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import torch

from engine.setup import Plain
from engine.training.answers import Array


class Picture(NamedTuple):
    """A view's arrays and single numbers; see `engine.training.answers.View`."""

    arrays: dict[str, Array]
    facts: dict[str, float] = {}


def packed(values: torch.Tensor | np.ndarray, dtype: str = "<f4") -> Array:
    """Return a buffer of ``dtype`` with the numbers of a tensor or an array."""
    if isinstance(values, torch.Tensor):
        tensor = values.detach().cpu()
        values = (tensor.float() if tensor.dtype == torch.bfloat16 else tensor).numpy()
    array = np.ascontiguousarray(values, dtype=dtype)
    return Array(tuple(int(n) for n in np.shape(values)), dtype, array.tobytes())


def whole(options: Mapping[str, Plain], name: str, default: int, low: int, high: int) -> int:
    """Return a whole number among a view's options, within bounds."""
    value = options.get(name, default)
    is_number = isinstance(value, int | float) and not isinstance(value, bool) and value == value
    return max(low, min(high, int(value))) if is_number else default  # type: ignore[arg-type]
