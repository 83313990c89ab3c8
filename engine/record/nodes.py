"""Backward nodes: which op made them and where their edges lead.

A node's Python wrapper may die and its ``id()`` be used again, so the row lives in the dict that
the C++ node itself owns (``node.metadata``). Holding a node would keep its saved tensors alive, so
nothing here does.
"""

from typing import cast

import torch
from torch.autograd.graph import Node

from engine.record.log import Log, NodeRow
from engine.record.tensors import Tensors

LAST = 2**64 - 1
"""The sequence number of nodes that run last: AccumulateGrad, and ops without a derivative."""


class Nodes:
    """The backward nodes seen in a run."""

    def __init__(self, log: Log, tensors: Tensors) -> None:
        self.log = log
        self.tensors = tensors
        self._key = object()
        self._saved: dict[type, tuple[str, ...]] = {}

    def row(self, node: Node) -> NodeRow:
        """Return the row of a node that is not AccumulateGrad, writing one if it is new."""
        row = metadata(node).get(self._key)
        if not isinstance(row, NodeRow):
            row = NodeRow(next(self.log.ids), node.name(), saved=self._saved_names(type(node)))
            metadata(node)[self._key] = row
            self.log.nodes.append(row)
        return row

    def of(self, node: Node) -> int:
        """Return the id of a node."""
        return self.row(node).id

    def _saved_names(self, kind: type) -> tuple[str, ...]:
        names = self._saved.get(kind)
        if names is None:
            names = tuple(a[7:] for a in dir(kind) if a.startswith("_saved_"))
            self._saved[kind] = names
        return names

    def claim(self, roots: list[Node], since: int, op: int) -> list[int]:
        """List the nodes that an op made and return their ids, the results' own nodes first.

        They are those reached from its results and numbered ``since`` or later.
        """
        claimed: list[int] = []
        seen: set[int] = set()
        stack = list(reversed(roots))
        while stack:
            node = stack.pop()
            number = node._sequence_nr()
            if number < since or is_accumulate(node):
                continue
            row = self.row(node)
            if row.id in seen:
                continue
            seen.add(row.id)
            if row.op is None:
                row.op = op
                claimed.append(row.id)
            self.read_edges(node, row)
            stack.extend(n for n, _ in reversed(node.next_functions) if n is not None)
        return claimed

    def read_edges(self, node: Node, row: NodeRow) -> None:
        """Read a node's next functions once; an edge to AccumulateGrad leads to the leaf's value.

        Called when the op is recorded, so that the leaf's value is the one the op used.
        """
        if row.next is not None:
            return
        row.next = []
        for after, nr in node.next_functions:
            if after is None:
                row.next.append(None)
            elif is_accumulate(after):
                row.next.append((self.leaf(after), 0))
            else:
                row.next.append((self.of(after), nr))

    def leaf(self, accumulate: Node) -> int:
        """Return the id of the present value of AccumulateGrad's leaf."""
        return self.tensors.value(variable(accumulate), None).id


def metadata(node: Node) -> dict[object, object]:
    """Return the dict that the C++ node owns; torch's stubs take it for a method."""
    return cast("dict[object, object]", node.metadata)


def is_accumulate(node: Node) -> bool:
    """Tell whether a node is a leaf's AccumulateGrad."""
    return node._sequence_nr() == LAST and hasattr(node, "variable")


def variable(accumulate: Node) -> torch.Tensor:
    """Return the leaf that an AccumulateGrad adds to."""
    return cast("torch.Tensor", accumulate.variable)  # type: ignore[attr-defined]
