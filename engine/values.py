"""Tensor -> snapshot: the numbers themselves while they are few, a summary when they are many."""

import torch

from engine.tape import INLINE_ELEMENTS, Snapshot

STORES = {
    torch.float64: "<f8",
    torch.float32: "<f4",
    torch.float16: "<f4",
    torch.bfloat16: "<f4",
    torch.int64: "<i8",
    torch.int32: "<i4",
    torch.int16: "<i2",
    torch.int8: "|i1",
    torch.uint8: "|u1",
    torch.bool: "|b1",
    torch.complex64: "<c8",
    torch.complex128: "<c16",
}
"""numpy dtype that holds each torch dtype exactly; others are widened to float32."""

THUMB = 48
"""Most rows and columns of a thumbnail."""

STATISTICS_LIMIT = 50_000_000
"""Past this many elements (an expanded view costs no memory) only the thumbnail is made."""


def dtype_name(dtype: torch.dtype) -> str:
    """Return ``float32`` for ``torch.float32``."""
    return str(dtype).removeprefix("torch.")


def snapshot(t: torch.Tensor, inline: int = INLINE_ELEMENTS) -> Snapshot:
    """Return the numbers of ``t``: all of them up to ``inline`` elements, else a summary.

    ``t`` may have any dense layout and any device; it is read, never changed. Sparse and quantized
    tensors are shown by their dense values.
    """
    dense = _dense(t.detach().resolve_conj().resolve_neg())
    shape, dtype = tuple(dense.shape), dtype_name(t.dtype)
    if dense.numel() <= inline:
        flat = _storable(dense).cpu().contiguous()
        return Snapshot(shape, dtype, STORES[flat.dtype], flat.numpy().tobytes())
    thumb, rows, columns = _thumb(dense)
    store = STORES.get(dense.dtype, "<f4")
    if dense.numel() > STATISTICS_LIMIT:
        return Snapshot(shape, dtype, store, thumb=thumb, thumb_shape=(rows, columns))
    real = dense.abs() if dense.is_complex() else dense
    real = real.to(torch.float64) if real.device.type != "mps" else real.float()
    low, high = (float(x) for x in torch.aminmax(real))
    return Snapshot(
        shape,
        dtype,
        store,
        mean=float(real.mean()),
        std=float(real.std()),
        min=low,
        max=high,
        norm=float(torch.linalg.vector_norm(real)),
        nan=int(torch.isnan(real).sum()),
        inf=int(torch.isinf(real).sum()),
        thumb=thumb,
        thumb_shape=(rows, columns),
    )


def _dense(t: torch.Tensor) -> torch.Tensor:
    if t.is_quantized:
        return t.dequantize()
    return t if t.layout is torch.strided else t.to_dense()


def _storable(t: torch.Tensor) -> torch.Tensor:
    if t.dtype in STORES and STORES[t.dtype] != "<f4":
        return t
    return t.to(torch.float32)


def _thumb(t: torch.Tensor) -> tuple[bytes, int, int]:
    """Sample ``t`` as a matrix (last dimension across) into at most `THUMB` rows and columns."""
    columns = t.shape[-1] if t.dim() > 1 else min(t.numel(), THUMB)
    rows = t.numel() // columns
    rows_shown, columns_shown = min(rows, THUMB), min(columns, THUMB)
    row = torch.arange(rows_shown, device=t.device) * rows // rows_shown
    column = torch.arange(columns_shown, device=t.device) * columns // columns_shown
    flat = (row[:, None] * columns + column[None, :]).reshape(-1)
    sampled = t[torch.unravel_index(flat, t.shape)]
    if sampled.is_complex():
        sampled = sampled.abs()
    return sampled.float().cpu().numpy().tobytes(), rows_shown, columns_shown
