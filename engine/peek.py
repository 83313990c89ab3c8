"""All numbers of a tensor of the latest run, for a view that only has its summary."""

import torch

from engine import run, values
from engine.plausible import MOST_PEEKED
from engine.tape import Snapshot
from engine.wire import Peek, Peeked


def peek(request: Peek) -> Peeked:
    """Return the requested snapshot with up to ``limit`` elements; None if it is gone."""
    last = run.finished
    full: Snapshot | None = None
    if last is not None and last.request.run_id == request.run_id:
        snapshots = last.recorder.log.snapshots
        if 0 <= request.snapshot < len(snapshots):
            stored = snapshots[request.snapshot]
            if isinstance(stored, torch.Tensor):
                full = values.snapshot(stored, min(request.limit, MOST_PEEKED))
            else:
                full = stored
    return Peeked(request.run_id, request.snapshot, full)
