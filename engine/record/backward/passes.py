"""Conversion of the hooks' notes of a pass into executions and edges.

A hook only notes which gradients it saw, as snapshot indices (`log.Ran`), because the program waits
for it. Edges, and whether what a node received is the sum of what was sent to it, are computed from
the notes in their order, once the run is over.
"""

import itertools
from collections.abc import Iterable

import torch

from gradscribe.engine.protocol.tape import Edge
from gradscribe.engine.record.log import (
    NO_GRADIENT,
    CodeLocation,
    EventRow,
    ExecutionRow,
    Log,
    NodeRanNote,
    NodeRow,
    Target,
)
from gradscribe.engine.record.values.raw_reads import dispatch_mode_count, without_dispatch_modes
from gradscribe.engine.record.values.tensors import same_elements
from gradscribe.engine.sandbox.builtins import use_original_builtins

use_original_builtins(globals())


REPEATED = 1 << 32
"""First id of the second and further runs of nodes."""


class PassReader:
    """Reader of a log's notes, which it replaces by ordinary events."""

    def __init__(self, log: Log) -> None:
        self.log = log
        self._read = 0
        """Number of events that have been read."""
        self._ran: set[int] = set()
        """The nodes that ran before; they get a new id when they run again."""
        self._repeats = itertools.count(REPEATED)
        """Ids of runs of nodes that ran before; not the log's, which depend on when this reads."""
        self._sent: dict[tuple[int, Target], list[int]] = {}
        """Snapshots that were sent and have not arrived yet, by pass and target."""

    def process_notes(self) -> None:
        """Read the notes since the last call."""
        events = self.log.events
        for position in range(self._read, len(events)):
            event = events[position]
            if isinstance(event, NodeRanNote):
                events[position] = self._execution(event, position)
            elif event.kind == "backward":
                self._seeds(event.ref)
            elif event.kind == "accumulate":
                added = self.log.accumulations[event.ref]
                self._sent.pop((added.run, (added.leaf, 0)), None)
        self._read = len(events)

    def _seeds(self, number: int) -> None:
        row = self.log.passes[number]
        # A program may pass fewer gradients than tensors, which torch rejects.
        for target, seed in zip(row.targets, row.seeds, strict=False):
            if target is not None:
                self._edge(None, 0, target, seed, number)

    def _execution(self, ran: NodeRanNote, position: int) -> EventRow:
        log, node, run = self.log, ran.node, ran.run
        index = len(log.executions)
        number = next(self._repeats) if node.id in self._ran else node.id
        self._ran.add(node.id)
        hooked = False
        for nr, kept in enumerate(ran.received):
            sent = self._sent.pop((run, (node.id, nr)), ())
            hooked = hooked or not self._adds_up(kept, sent)
        edges = [
            self._edge(index, slot, target, kept if kept != NO_GRADIENT else None, run)
            for slot, (target, kept) in enumerate(zip(node.next or (), ran.sent, strict=False))
            if target is not None and kept != NO_GRADIENT
        ]
        log.executions.append(
            ExecutionRow(number, node.id, index, run, ran.received, edges, hooked)
        )
        if not log.passes[run].retain_graph:
            freed = position + 1
            node.freed = freed if node.freed is None else min(freed, node.freed)
        return EventRow("node", index, self._where(node, run))

    def _edge(
        self, execution: int | None, slot: int, target: Target, kept: int | None, run: int
    ) -> int:
        edges = self.log.edges
        edges.append(Edge(execution, slot, target[0], target[1], kept, run))
        if kept is not None:
            self._sent.setdefault((run, target), []).append(kept)
        return len(edges) - 1

    def _where(self, node: NodeRow, run: int) -> CodeLocation:
        if node.op is not None:
            return self.log.ops[node.op].where
        return self.log.passes[run].where

    def _adds_up(self, arrived: int | None, sent: Iterable[int]) -> bool:
        """Return whether the gradients sent, added in order, equal the gradient that arrived.

        If not, a hook changed it. Only copies can be compared; summaries count as equal.
        """
        shares = list(sent)
        if arrived is None or not shares:
            return arrived is None
        if shares == [arrived]:
            return True
        if dispatch_mode_count():
            with without_dispatch_modes():
                return self._adds_up(arrived, shares)
        copies = [self.log.snapshots[i] for i in [arrived, *shares]]
        tensors = [c for c in copies if isinstance(c, torch.Tensor)]
        if len(tensors) < len(copies) or any(t.layout is not torch.strided for t in tensors):
            return True
        total = tensors[1]
        for t in tensors[2:]:
            total = total + t
        return same_elements(total, tensors[0])
