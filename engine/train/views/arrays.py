"""Convert tensors to raw buffers for messages, and back."""

from collections.abc import Iterator, Mapping, Sequence
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
    """Return a tensor or an array as a raw buffer of ``dtype``."""
    if isinstance(values, torch.Tensor):
        tensor = values.detach().cpu()
        values = (tensor.float() if tensor.dtype == torch.bfloat16 else tensor).numpy()
    array = np.ascontiguousarray(values, dtype=dtype)
    return Array(tuple(int(n) for n in np.shape(values)), dtype, array.tobytes())


def dense(tensor: torch.Tensor) -> torch.Tensor:
    """Return a detached tensor, a sparse one converted to dense."""
    tensor = tensor.detach()
    return tensor if tensor.layout == torch.strided else tensor.to_dense()


def dtype_of(tensor: torch.Tensor) -> str:
    """Return the dtype of messages that represents a tensor's numbers without rounding."""
    if not tensor.is_floating_point():
        return "<i8"
    return "<f8" if tensor.dtype == torch.float64 else "<f4"


def joined(tensors: Sequence[torch.Tensor]) -> tuple[Array, ...]:
    """Return one flat array for each dtype among tensors, their numbers concatenated.

    For a small model, one buffer per tensor would take longer than copying its numbers.
    """
    flat: dict[str, list[torch.Tensor]] = {}
    for tensor in tensors:
        flat.setdefault(dtype_of(tensor), []).append(dense(tensor).reshape(-1))
    return tuple(packed(torch.cat(parts), dtype) for dtype, parts in flat.items())


def parted(arrays: Sequence[Array], like: Sequence[torch.Tensor]) -> Iterator[torch.Tensor]:
    """Yield the tensors that were `joined`, each in the shape of its tensor in ``like``.

    Raises:
        ValueError: the arrays do not have exactly as many numbers as these tensors.
    """
    flat = {array.dtype: array.array() for array in arrays}
    taken = dict.fromkeys(flat, 0)
    counts = dict.fromkeys(flat, 0)
    for tensor in like:
        counts[dtype_of(tensor)] = counts.get(dtype_of(tensor), 0) + tensor.numel()
    if counts != {dtype: len(array) for dtype, array in flat.items()}:
        raise ValueError("these are the numbers of other tensors")
    for tensor in like:
        dtype = dtype_of(tensor)
        start = taken[dtype]
        taken[dtype] += tensor.numel()
        yield torch.from_numpy(flat[dtype][start : taken[dtype]].copy()).reshape(tensor.shape)


def whole(options: Mapping[str, Plain], name: str, default: int, low: int, high: int) -> int:
    """Return an option of a view as an int clamped to bounds."""
    value = options.get(name, default)
    is_number = isinstance(value, int | float) and not isinstance(value, bool) and value == value
    return max(low, min(high, int(value))) if is_number else default  # type: ignore[arg-type]
