"""All numbers of a tensor of the latest run, for a view that has seen only its summary."""

import torch

from engine import run, values
from engine.plausible import MOST_PEEKED
from engine.tape import Snapshot
from engine.wire import Peek, Peeked


def peek(request: Peek) -> Peeked:
    """Return the snapshot asked for with up to ``limit`` elements; None where it is gone."""
    last = run.finished
    full: Snapshot | None = None
    if last is not None and last.request.run_id == request.run_id:
        kept = last.recorder.log.snapshots
        if 0 <= request.snapshot < len(kept):
            found = kept[request.snapshot]
            if isinstance(found, torch.Tensor):
                full = values.snapshot(found, min(request.limit, MOST_PEEKED))
            else:
                full = found
    return Peeked(request.run_id, request.snapshot, full)
