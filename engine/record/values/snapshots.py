"""Take snapshots of tensors: all numbers of small tensors, a summary of large ones."""

from collections.abc import Iterable, Sequence
from math import isclose, isnan

import numpy as np
import torch

from gradscribe.engine.protocol.check_tape import THUMBNAIL_SIDE
from gradscribe.engine.protocol.tape import INLINE_ELEMENTS, Snapshot
from gradscribe.engine.sandbox.builtins import use_original_builtins

use_original_builtins(globals())

# Bound before the recorder patches it.
_from_numpy = torch.from_numpy

STORAGE_DTYPES = {
    torch.float64: "<f8",
    torch.float32: "<f4",
    torch.float16: "<f4",
    torch.bfloat16: "<f4",
    torch.int64: "<i8",
    torch.int32: "<i4",
    torch.int16: "<i2",
    torch.int8: "|i1",
    torch.uint8: "|u1",
    torch.uint16: "<u2",
    torch.uint32: "<u4",
    torch.uint64: "<u8",
    torch.bool: "|b1",
    torch.complex64: "<c8",
    torch.complex128: "<c16",
}
"""numpy dtype that holds each torch dtype exactly; others are widened to float32."""

_BY_ROW, _BY_COLUMN = ("crow_indices", "col_indices"), ("ccol_indices", "row_indices")
_COMPRESSED = {
    torch.sparse_csr: _BY_ROW,
    torch.sparse_bsr: _BY_ROW,
    torch.sparse_csc: _BY_COLUMN,
    torch.sparse_bsc: _BY_COLUMN,
}
"""Names of the index methods of each compressed sparse layout."""

THUMBNAIL_BYTES = 32 << 20
"""Bytes of thumbnails in a recording past which they get coarser, to `MIN_THUMBNAIL_SIDE`."""
MIN_THUMBNAIL_SIDE = 6
BATCHED_ELEMENTS = 1 << 16
"""Tensors of at most this many elements are read in a batch with others of their shape."""
CHUNK_ELEMENTS = 1 << 18
"""Elements of such a batch."""
BLOCK_ELEMENTS = 1 << 16
"""Elements of one tensor that are reduced at a time: as float64 they fit the processor's cache."""

COMPARED_ELEMENTS = 1 << 20
"""Up to this many elements a tensor is compared with a summary by all of them, else by samples."""

STATISTICS_LIMIT = 50_000_000
"""Past this many elements (an expanded view costs no memory) only the thumbnail is computed."""


def dtype_name(dtype: torch.dtype) -> str:
    """Return ``float32`` for ``torch.float32``."""
    return str(dtype).removeprefix("torch.")


def concrete_sizes(shape: Iterable[int]) -> tuple[int, ...]:
    """Return a shape, or strides, as integers; empty if any of them is symbolic.

    Symbolic sizes occur in ragged tensors, and while torch exports a model with dynamic shapes.
    """
    plain = tuple(shape)
    return plain if all(type(size) is int for size in plain) else ()


def snapshot(
    t: torch.Tensor, inline: int = INLINE_ELEMENTS, side: int = THUMBNAIL_SIDE
) -> Snapshot:
    """Return the numbers of ``t``: all of them up to ``inline`` elements, else a summary.

    ``t`` may have any dense layout and any device; it is read, never changed. Sparse and quantized
    tensors are shown by their dense values.
    """
    dense = as_dense(t.detach().resolve_conj().resolve_neg())
    return _read(dense.unsqueeze(0), dtype_name(t.dtype), inline, side)[0]


def without_expanded(a: torch.Tensor, b: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Return two tensors of one shape without the dimensions in which both are expanded (stride 0).

    Such a view takes no memory however long it is: reading all of its elements could take forever.
    """
    for dimension, steps in enumerate(zip(a.stride(), b.stride(), strict=True)):
        if steps == (0, 0) and a.shape[dimension] > 1:
            a, b = a.narrow(dimension, 0, 1), b.narrow(dimension, 0, 1)
    return a, b


def differs_from_summary(t: torch.Tensor, summary: Snapshot) -> bool:
    """Return whether ``t`` has other numbers than a summary, as far as that shows."""
    if summary.thumb is None:
        return summary.data is not None and snapshot(t).data != summary.data
    side = max(summary.thumb_shape)
    if t.numel() > COMPARED_ELEMENTS:
        dense = as_dense(t.detach().resolve_conj().resolve_neg())
        return bool(_thumbs(dense.unsqueeze(0), side)[0].tobytes() != summary.thumb)
    now = snapshot(t, side=side)
    exact = (now.thumb, now.nan, now.inf) == (summary.thumb, summary.nan, summary.inf)
    pairs = ((now.min, summary.min), (now.max, summary.max), (now.norm, summary.norm))
    return not (exact and all(_is_same(*pair) for pair in pairs))


def _is_same(a: float | None, b: float | None) -> bool:
    if a is None or b is None:
        return a is b
    # Tensors read in a batch are summed in another order: the last digits differ.
    return isclose(a, b, rel_tol=1e-9) or (isnan(a) and isnan(b))


def snapshots(tensors: Sequence[torch.Tensor], summaries: int = 0) -> list[Snapshot]:
    """Return the snapshot of each tensor; tensors alike are read in batches, which is much faster.

    ``summaries`` is how many the recording has already: the more, the coarser the thumbnails.
    A tensor that torch itself cannot read, of some exotic layout, gets a snapshot without numbers.
    """
    many = summaries + sum(t.numel() > INLINE_ELEMENTS for t in tensors if not t.is_nested)
    side = THUMBNAIL_SIDE if not many else int((THUMBNAIL_BYTES / 4 / many) ** 0.5)
    side = max(MIN_THUMBNAIL_SIDE, min(THUMBNAIL_SIDE, side))
    result: list[Snapshot | None] = [None] * len(tensors)
    groups: dict[tuple[object, ...], list[int]] = {}
    for index, t in enumerate(tensors):
        if type(t) is torch.Tensor and t.layout is torch.strided and not t.is_quantized:
            groups.setdefault((t.dtype, t.shape, t.device), []).append(index)
        else:
            result[index] = _alone(t, side)
    for indices in groups.values():
        size = tensors[indices[0]].numel()
        count = max(1, CHUNK_ELEMENTS // max(size, 256)) if size <= BATCHED_ELEMENTS else 1
        for start in range(0, len(indices), count):
            some = indices[start : start + count]
            for index, taken in zip(some, _alike([tensors[i] for i in some], side), strict=True):
                result[index] = taken
    return [taken for taken in result if taken is not None]


def _alike(tensors: list[torch.Tensor], side: int) -> list[Snapshot]:
    if len(tensors) == 1:
        return [_alone(tensors[0], side)]
    try:
        stacked = torch.stack(tensors).resolve_conj().resolve_neg()
        return _read(stacked, dtype_name(stacked.dtype), INLINE_ELEMENTS, side)
    except Exception:  # noqa: BLE001 - a copy of an exotic kind may raise anything
        return [_alone(t, side) for t in tensors]


def _alone(t: torch.Tensor, side: int) -> Snapshot:
    try:
        return snapshot(t, side=side)
    except Exception:  # noqa: BLE001 - a copy of an exotic kind may raise anything
        return Snapshot(() if t.is_nested else concrete_sizes(t.shape), dtype_name(t.dtype))


def _read(stacked: torch.Tensor, dtype: str, inline: int, side: int) -> list[Snapshot]:
    """Return the snapshots of the tensors that are stacked along the first dimension."""
    shape, many = tuple(stacked.shape[1:]), stacked.shape[0]
    if stacked[0].numel() > inline:
        return _summaries(stacked, dtype, side)
    flat = _storable(stacked).cpu().contiguous()
    # Flattened: stacking added a dimension, and NumPy allows no more dimensions than torch.
    store, data = STORAGE_DTYPES[flat.dtype], flat.view(-1).numpy().tobytes()
    size = len(data) // many
    return [Snapshot(shape, dtype, store, data[i * size : (i + 1) * size]) for i in range(many)]


def _summaries(stacked: torch.Tensor, dtype: str, side: int) -> list[Snapshot]:
    shape, many = tuple(stacked.shape[1:]), stacked.shape[0]
    store = STORAGE_DTYPES.get(stacked.dtype, "<f4")
    grids = _thumbs(stacked, side)
    thumbs = [grid.tobytes() for grid in grids]
    thumb_shape = (grids.shape[1], grids.shape[2])
    if stacked[0].numel() > STATISTICS_LIMIT:
        return [Snapshot(shape, dtype, store, thumb=x, thumb_shape=thumb_shape) for x in thumbs]
    # In memory order, which is fastest: statistics do not depend on the order.
    order = sorted(range(1, stacked.dim()), key=stacked.stride, reverse=True)
    real = stacked.permute(0, *order)
    real = (real.abs() if real.is_complex() else real).reshape(many, -1)
    columns = _statistics(real)
    mean, std, low, high, norm, nan, inf = (column.tolist() for column in columns)
    return [
        Snapshot(
            *(shape, dtype, store, None),
            *(mean[i], std[i], low[i], high[i], norm[i], nan[i], inf[i]),
            *(thumbs[i], thumb_shape),
        )
        for i in range(many)
    ]


def _statistics(real: torch.Tensor) -> tuple[torch.Tensor, ...]:
    """Return per row mean, standard deviation, minimum, maximum, norm, NaN count, infinity count.

    Computed in double precision, where squares of float32 neither overflow nor underflow, and in
    few passes: ``torch.std`` and ``isinf`` each take several times as long as all of this.
    """
    count = real.shape[1]
    total, norm, low, high = _sums(real)
    mean, squares = total / count, norm * norm
    away = squares - count * mean * mean
    std = (away / (count - 1)).sqrt()
    # If the mean is far greater, the difference of squares cancels; squares may overflow too.
    for row in (~(away > 1e-3 * squares)).nonzero().flatten().tolist():
        std[row] = torch.linalg.vector_norm(_exact(real[row]) - mean[row]) / (count - 1) ** 0.5
    nan, inf = torch.zeros(2, len(real), dtype=torch.int64)
    for row in (~(low.isfinite() & high.isfinite())).nonzero().flatten().tolist():
        nan[row] = torch.count_nonzero(real[row] != real[row])
        inf[row] = torch.count_nonzero(real[row].abs() == torch.inf)
    return mean, std, low, high, norm, nan, inf


def _sums(real: torch.Tensor) -> tuple[torch.Tensor, ...]:
    """Return per row the sum, the norm, the minimum and the maximum."""
    if real.shape[1] > BLOCK_ELEMENTS:
        starts = range(0, real.shape[1], BLOCK_ELEMENTS)
        parts = [_sums(real[:, at : at + BLOCK_ELEMENTS]) for at in starts]
        total, norm, low, high = (torch.stack(part) for part in zip(*parts, strict=True))
        return total.sum(0), torch.linalg.vector_norm(norm, dim=0), low.amin(0), high.amax(0)
    exact = _exact(real)
    # Not aminmax: it is not vectorized along a dimension.
    ordered = real if real.dtype in (torch.float32, torch.float16, torch.bfloat16) else exact
    norm = torch.linalg.vector_norm(exact, dim=1)
    return exact.sum(1), norm, ordered.amin(1), ordered.amax(1)


def _exact(real: torch.Tensor) -> torch.Tensor:
    return real.to(torch.float64) if real.device.type != "mps" else real.float()


def as_dense(t: torch.Tensor) -> torch.Tensor:
    """Return a strided tensor with the numbers of a sparse or quantized ``t``, else ``t``."""
    if t.is_quantized:
        return t.dequantize()
    # A program may have overwritten the indices, and torch itself does not check their bounds.
    if t.layout is torch.sparse_coo:
        torch._validate_sparse_coo_tensor_args(t._indices(), t._values(), t.shape)
    elif t.layout in _COMPRESSED:
        heads, plain = (getattr(t, name)() for name in _COMPRESSED[t.layout])
        torch._validate_sparse_compressed_tensor_args(heads, plain, t.values(), t.shape, t.layout)
    return t if t.layout is torch.strided else t.to_dense()


def _storable(t: torch.Tensor) -> torch.Tensor:
    if t.dtype in STORAGE_DTYPES and STORAGE_DTYPES[t.dtype] != "<f4":
        return t
    return t.to(torch.float32)


def _thumbs(stacked: torch.Tensor, side: int) -> np.ndarray:
    """Sample each tensor as a matrix (last dimension across) of at most ``side`` x ``side``."""
    shape = stacked.shape[1:]
    columns = shape[-1] if len(shape) > 1 else min(shape[0], side)
    rows = shape.numel() // columns
    rows_shown, columns_shown = min(rows, side), min(columns, side)
    row = np.arange(rows_shown) * rows // rows_shown
    column = np.arange(columns_shown) * columns // columns_shown
    flat = (row[:, None] * columns + column[None, :]).reshape(-1)
    if stacked.is_contiguous() and stacked.dtype in STORAGE_DTYPES:
        at = _from_numpy(flat).to(stacked.device)
        sampled = stacked.view(len(stacked), -1).index_select(1, at)
    else:
        # Not torch.unravel_index: its imports take half a second.
        places = [_from_numpy(x) for x in np.unravel_index(flat, tuple(shape))]
        at_each = tuple(place.to(stacked.device) for place in places)
        sampled = stacked.movedim(0, -1)[at_each].movedim(-1, 0)
    if sampled.is_complex():
        sampled = sampled.abs()
    grids: np.ndarray = sampled.float().cpu().numpy()
    return grids.reshape(-1, rows_shown, columns_shown)
