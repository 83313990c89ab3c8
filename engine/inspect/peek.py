"""All numbers of a tensor of the latest run, for a view that only has its summary."""

import torch

from gradscribe.engine.protocol.check_replies import MAX_PEEKED
from gradscribe.engine.protocol.messages import Peek, Peeked
from gradscribe.engine.protocol.tape import Snapshot
from gradscribe.engine.record.values import snapshots as values_snapshots
from gradscribe.engine.run import run


def peek(request: Peek) -> Peeked:
    """Return the requested snapshot with up to ``limit`` elements; None if it is gone."""
    last = run.last_run
    full: Snapshot | None = None
    if last is not None and last.request.run_id == request.run_id:
        snapshots = last.recorder.log.snapshots
        if 0 <= request.snapshot < len(snapshots):
            stored = snapshots[request.snapshot]
            if isinstance(stored, torch.Tensor):
                full = values_snapshots.snapshot(stored, min(request.limit, MAX_PEEKED))
            else:
                full = stored
    return Peeked(request.run_id, request.snapshot, full)
