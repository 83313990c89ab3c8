"""Numbers of the steps that were recorded in full, for the columns of all steps."""

from array import array
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import torch

from gradscribe.engine.protocol.tape import ColumnKind, Snapshot
from gradscribe.engine.record.log import CodeLocation, EventRow, Log
from gradscribe.engine.record.loops.columns import GrowingColumn
from gradscribe.engine.sandbox.builtins import use_original_builtins

use_original_builtins(globals())

_item = torch.Tensor.item
_Key = tuple[ColumnKind, int, int]
_Number = tuple[ColumnKind, CodeLocation, int | None, float]


def with_full_steps(
    columns: Sequence[GrowingColumn],
    starts: Sequence[tuple[int, int]],
    known: Mapping[int, int],
    log: Log,
) -> list[GrowingColumn]:
    """Return columns with the losses, rates and gradient norms of the recorded steps, too.

    ``starts``: (step, first event) of these; ``known``: the parameters' tensors and first values.
    """
    found: dict[_Key, dict[int, float]] = {}
    firsts = [event for _, event in starts]
    for at, number in _numbers(log, known):
        place = bisect_right(firsts, at) - 1
        if place >= 0:
            kind, where, value, figure = number
            found.setdefault(_key(kind, where, value), {})[starts[place][0]] = figure
    made = []
    for column in columns:
        more = found.get(_key(column.kind, column.where, column.value), {})
        # A gap ends where a step begins, so that no step has both. The first of equal ones stays.
        both = np.concatenate([np.array(column.steps, np.uint32), np.array([*more], np.uint32)])
        steps, first = np.unique(both, return_index=True)
        numbers = np.concatenate([np.array(column.numbers), np.array([*more.values()])])[first]
        made.append(
            GrowingColumn(
                column.kind,
                column.where,
                column.name,
                column.value,
                array("I", steps.tobytes()),
                array("d", numbers.tobytes()),
            )
        )
    return made


def _key(kind: ColumnKind, where: CodeLocation, value: int | None) -> _Key:
    if value is not None:
        return kind, value, 0
    return (kind, id(where[0]), where[1]) if where is not None else (kind, 0, 0)


def _numbers(log: Log, known: Mapping[int, int]) -> Iterator[tuple[int, _Number]]:
    """Yield the event and the number of each loss, rate and gradient."""
    tensors = {row.id: row.tensor for row in log.values}
    for at, event in enumerate(log.events):
        if type(event) is not EventRow:
            continue
        if event.kind == "backward":
            passed = log.passes[event.ref]
            row = passed.roots[0] if passed.roots else None
            number = _scalar(log, row) if row is not None else None
            if number is not None:
                yield at, ("loss", passed.where, None, number)
        elif event.kind == "step":
            step = log.steps[event.ref]
            if step.lr is not None:
                yield at, ("rate", step.where, None, step.lr)
        elif event.kind == "accumulate":
            added = log.accumulations[event.ref]
            value = known.get(tensors.get(added.leaf, -1))
            norm = _norm(log, added.after) if value is not None else None
            if norm is not None:
                yield at, ("gradient", None, value, norm)


def _scalar(log: Log, value: int) -> float | None:
    row = log.value_row(value)
    copy = log.snapshots[row.snapshot] if row is not None and row.snapshot is not None else None
    if not isinstance(copy, torch.Tensor) or copy.numel() != 1 or copy.is_complex():
        return None
    try:
        return float(_item(copy))
    except (RuntimeError, OverflowError):
        return None


def _norm(log: Log, snapshot: int | None) -> float | None:
    copy = log.snapshots[snapshot] if snapshot is not None else None
    if isinstance(copy, Snapshot):
        return copy.norm
    if copy is None:
        return None
    try:
        return float(_item(torch._foreach_norm([copy])[0]))
    except (RuntimeError, NotImplementedError):
        return None
