"""Regions of a tensor of the latest run, read from its copy in bounded pieces."""

import numpy as np
import torch
from numpy.typing import NDArray

from gradscribe.engine.protocol import regions
from gradscribe.engine.protocol.regions import ReadRegion, Region
from gradscribe.engine.record.values import snapshots
from gradscribe.engine.run import run

GONE = "The numbers of this run are gone: run the program again"
SUMMARY = "Only a summary of this tensor was kept: the copies of the run exceeded their memory"
PAST = "The numbers of this tensor are no longer there"


def region(request: ReadRegion) -> Region:
    """Return the requested region, or the reason why its numbers are not there."""
    last = run.last_run
    if last is None or last.request.run_id != request.run_id:
        return _failed(request, GONE)
    stored_all = last.recorder.log.snapshots
    if not 0 <= request.snapshot < len(stored_all):
        return _failed(request, PAST)
    stored = stored_all[request.snapshot]
    if not isinstance(stored, torch.Tensor):
        array = stored.array()
        return _failed(request, SUMMARY) if array is None else regions.local_region(request, array)
    try:
        return _of_tensor(request, stored)
    except (RuntimeError, NotImplementedError, TypeError, MemoryError) as error:
        return _failed(request, f"The numbers cannot be read: {error}"[:300])


def _failed(request: ReadRegion, why: str) -> Region:
    box = regions.clamped(request.box, 0, 0)
    return Region(request.run_id, request.snapshot, request.serial, box, problem=why)


def _of_tensor(request: ReadRegion, stored: torch.Tensor) -> Region:
    dense = snapshots.as_dense(stored.detach().resolve_conj().resolve_neg())
    leading = tuple(dense.shape[:-2])
    if 0 in leading:
        return regions.local_region(request, np.zeros(tuple(dense.shape), np.float32))
    slices = (*request.slices, *[0] * len(leading))
    for at, size in zip(slices, leading, strict=False):
        dense = dense[max(0, min(at, size - 1))]
    matrix = dense.reshape(regions.matrix_shape(tuple(dense.shape)))

    def read(top: int, bottom: int, left: int, right: int) -> NDArray[np.generic]:
        piece = matrix[top:bottom, left:right]
        if piece.dtype not in snapshots.STORAGE_DTYPES or piece.dtype in WIDENED:
            piece = piece.float()
        return regions.part_of(piece.cpu().numpy(), request.part)

    return regions.read_region(request, tuple(matrix.shape), read, read(0, 0, 0, 0).dtype)


WIDENED = (torch.float16, torch.bfloat16)
