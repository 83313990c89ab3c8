"""Convert tensors to raw buffers for messages, and back."""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import torch

from gradscribe.engine.protocol.setup import JsonValue
from gradscribe.engine.protocol.training.replies import RawArray

DTYPES: dict[str, torch.dtype] = {
    name: getattr(torch, name)
    for name in "float64 float32 float16 bfloat16 int64 int32 int16 int8 uint8 bool".split()
}
"""Dtypes of saved tensors, by name."""


class ViewData(NamedTuple):
    """A view's arrays and single numbers; see `engine.protocol.training.replies.ViewReply`."""

    arrays: dict[str, RawArray]
    facts: dict[str, float] = {}


def to_array(values: torch.Tensor | np.ndarray, dtype: str = "<f4") -> RawArray:
    """Return a tensor or an array as a raw buffer of ``dtype``."""
    if isinstance(values, torch.Tensor):
        tensor = values.detach().cpu()
        values = (tensor.float() if tensor.dtype == torch.bfloat16 else tensor).numpy()
    array = np.ascontiguousarray(values, dtype=dtype)
    return RawArray(tuple(int(n) for n in np.shape(values)), dtype, array.tobytes())


def to_dense(tensor: torch.Tensor) -> torch.Tensor:
    """Return a detached tensor, a sparse one converted to dense."""
    tensor = tensor.detach()
    return tensor if tensor.layout == torch.strided else tensor.to_dense()


def raw_bytes(tensor: torch.Tensor) -> bytes:
    """Return a tensor's numbers as bytes, row by row."""
    whole = tensor.detach().cpu().contiguous().reshape(-1)
    return whole.view(torch.uint8).numpy().tobytes() if whole.numel() else b""


def dtype_of(tensor: torch.Tensor) -> str:
    """Return the dtype of messages that represents a tensor's numbers without rounding."""
    if not tensor.is_floating_point():
        return "<i8"
    return "<f8" if tensor.dtype == torch.float64 else "<f4"


def pack_flat(tensors: Sequence[torch.Tensor]) -> tuple[RawArray, ...]:
    """Return one flat array for each dtype among tensors, their numbers concatenated.

    For a small model, one buffer per tensor would take longer than copying its numbers.
    """
    flat: dict[str, list[torch.Tensor]] = {}
    for tensor in tensors:
        flat.setdefault(dtype_of(tensor), []).append(to_dense(tensor).reshape(-1))
    return tuple(to_array(torch.cat(parts), dtype) for dtype, parts in flat.items())


def unpack_flat(arrays: Sequence[RawArray], like: Sequence[torch.Tensor]) -> Iterator[torch.Tensor]:
    """Yield the tensors that were `pack_flat`, each in the shape of its tensor in ``like``.

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


def int_option(
    options: Mapping[str, JsonValue], name: str, default: int, low: int, high: int
) -> int:
    """Return an option of a view as an int clamped to bounds."""
    value = options.get(name, default)
    is_number = isinstance(value, int | float) and not isinstance(value, bool) and value == value
    return max(low, min(high, int(value))) if is_number else default  # type: ignore[arg-type]
