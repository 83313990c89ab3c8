"""Backward nodes: the op that created each and the targets of its edges.

A node's Python wrapper may be freed and its ``id()`` reused, so the row is stored in the dict that
the C++ node itself owns (``node.metadata``). A reference to a node would keep its saved tensors
alive, so nothing here stores any.
"""

from collections.abc import Callable

import torch
from torch.autograd.graph import Node

from gradscribe.engine.record.backward.hooks import AfterNode, NodeHooks
from gradscribe.engine.record.backward.saved_hooks import has_saved_hooks
from gradscribe.engine.record.log import Log, NodeKind, NodeRow, SavedRow, Target
from gradscribe.engine.record.values.raw_reads import (
    dispatch_mode_count,
    overrides_dispatch,
    without_dispatch_modes,
)
from gradscribe.engine.record.values.tensors import Tensors, grad_fn
from gradscribe.engine.sandbox.builtins import use_original_builtins

use_original_builtins(globals())

Edges = tuple[tuple[Node | None, int], ...]
"""A node's ``next_functions``."""
NodeAndRow = tuple[Node, NodeRow]
"""A node, referenced only while an op is being recorded, and its row."""

AccumulateGrad: type = torch._C._functions.AccumulateGrad  # type: ignore[attr-defined]
"""The kind of node that adds to a leaf's ``.grad``."""
_Custom = torch.autograd.function.BackwardCFunction
"""The base class of the nodes of custom Functions."""
LAST_NUMBER = 2**64 - 1
"""The sequence number of nodes that run last: AccumulateGrad, and ops without a derivative."""


class Nodes:
    """The backward nodes seen in a run."""

    def __init__(self, log: Log, tensors: Tensors, hooks: NodeHooks) -> None:
        self.log = log
        self.tensors = tensors
        self.hooks = hooks
        self.since = LAST_NUMBER
        """The lowest sequence number that a node of the op being recorded can have."""
        self.has_unrecorded = False
        """True once a node was seen that no recorded op created: nodes below it have no hooks."""
        self._key = object()
        self._met: set[tuple[int, int]] = set()
        """Results of nodes without an op that have a value, by node and output."""
        self._kinds: dict[type, NodeKind] = {}
        """Kinds of the program's own Functions; torch's are in the module's `_kinds`."""

    def row(self, node: Node) -> NodeRow:
        """Return the row of a node that is not AccumulateGrad; a new one is hooked."""
        # The C++ node's own dict; torch's stubs declare it as a method.
        metadata: dict[object, AfterNode] = node.metadata  # type: ignore[assignment]
        hook = metadata.get(self._key)
        if hook is not None:
            return hook.row
        log, number, kind = self.log, node._sequence_nr(), _kinds.get(type(node))
        if kind is None:
            kind = self._kinds.get(type(node)) or self._new_kind(node)
        row = NodeRow(next(log.ids), kind, len(log.events), number)
        log.nodes.append(row)
        metadata[self._key] = hook = AfterNode(self.hooks, row)
        node.register_hook(hook)
        if not self.since <= number < LAST_NUMBER:
            self.has_unrecorded = True
        return row

    def claim(self, made: list[NodeAndRow], op: int) -> list[int]:
        """Assign to an op the nodes that it created; return their ids, the results' nodes first.

        These are the nodes reachable from ``made``, the results' nodes, whose sequence number is
        `since` or later: numbers ascend in the order of creation.
        """
        claimed: list[int] = []
        passed: set[int] | None = None
        look, since = not has_saved_hooks(), self.since
        if self.tensors.handles_ops and self._is_handled(op):
            look = False
        stack = made if len(made) == 1 else made[::-1]
        while stack:
            node, row = stack.pop()
            if not since <= row.number < LAST_NUMBER:
                continue
            if row.op is None:
                row.op = op
                claimed.append(row.id)
                if row.kind.tensors and look:
                    row.kept = self._read_saved(node, row.kind.tensors)
            elif row.op == op:
                continue
            else:
                # An op inside this op created it.
                passed = passed or set()
                if row.id in passed:
                    continue
                passed.add(row.id)
            own = self.read_edges(node, row)
            if own:
                stack += own
        return claimed

    def assign_view_node(self, node: Node, row: NodeRow, op: int) -> None:
        """Assign to an in-place op the new node of a view of the tensor it changed.

        Torch creates such a node only when ``grad_fn`` is read.
        """
        if row.op is None:
            row.op = op
            self.log.ops[op].nodes.append(row.id)
            self.read_edges(node, row)

    def read_graph(self, node: Node) -> None:
        """Record a node that no op created, and all such nodes behind it."""
        stack = [node]
        while stack:
            top = stack.pop()
            if type(top) is AccumulateGrad:
                continue
            row = self.row(top)
            if row.next is None:
                self.read_edges(top, row)
                stack += [n for n, _ in top.next_functions if n is not None]
                if row.kind.tensors and not has_saved_hooks() and row.op is None:
                    row.kept = self._read_saved(top, row.kind.tensors, self._met_inside)

    def _met_inside(self, t: torch.Tensor) -> None:
        """Record a result that only torch itself has seen, as the operand of another."""
        fn = grad_fn(t)
        if fn is not None and type(fn) is not AccumulateGrad:
            row = self.row(fn)
            if row.op is None and (row.id, t.output_nr) not in self._met:
                self._met.add((row.id, t.output_nr))
                self.tensors.value(t, None, maker="grad")

    def hook_reachable(self, number: int, roots: list[Node]) -> None:
        """Register hooks on all nodes that pass ``number`` reaches and no recorded op created."""
        stack = list(roots)
        while stack:
            node = stack.pop()
            if type(node) is AccumulateGrad:
                continue
            row = self.row(node)
            if row.last_pass == number or not self.has_unrecorded:
                continue
            row.last_pass = number
            if row.next is None:
                self.read_edges(node, row)
            stack += [n for n, _ in node.next_functions if n is not None]

    def read_edges(self, node: Node, row: NodeRow) -> list[NodeAndRow]:
        """Record a node's next functions; an edge to AccumulateGrad leads to the leaf's value.

        Called when the op is recorded, so that the leaf's value is the one that the op used.
        Returns the next nodes that the same op created, in reverse order.
        """
        leads: list[Target | None] = []
        own: list[NodeAndRow] = []
        after: Edges = node.next_functions
        since, key = self.since, self._key
        for below_node, nr in after:
            if below_node is None:
                leads.append(None)
            elif type(below_node) is AccumulateGrad:
                leads.append((self.leaf(below_node), 0))
            else:
                hook = below_node.metadata.get(key)  # type: ignore[attr-defined]
                below = self.row(below_node) if hook is None else hook.row
                leads.append((below.id, nr))
                if since <= below.number < LAST_NUMBER:
                    own.append((below_node, below))
        if row.next is None:
            row.next = leads
        if len(own) > 1:
            own.reverse()
        return own

    def target(self, node: Node, nr: int) -> Target:
        """Return the target of an edge."""
        if type(node) is AccumulateGrad:
            return self.leaf(node), 0
        return self.row(node).id, nr

    def leaf(self, accumulate: Node) -> int:
        """Return the value of an AccumulateGrad's leaf; a new AccumulateGrad is hooked."""
        t: torch.Tensor = accumulate.variable  # type: ignore[attr-defined]
        metadata: dict[object, object] = accumulate.metadata  # type: ignore[assignment]
        row = self.tensors.value(t, None)
        if self._key not in metadata:
            metadata[self._key] = self.hooks.hook_leaf(accumulate, t, row.tensor)
        return row.id

    def _new_kind(self, node: Node) -> NodeKind:
        kind = _read_kind(node)
        # Nodes without a class of their own share a generic class.
        if type(node).__name__ == kind.name:
            own = isinstance(node, _Custom)
            (self._kinds if own else _kinds)[type(node)] = kind
        return kind

    def _is_handled(self, op: int) -> bool:
        """Return whether a class that `overrides_dispatch` took part in an op.

        Reading what such a node saved copies it, and the class would see the copy.
        """
        row = self.log.ops[op]
        tensors = [v.ref() for v in (*row.inputs, *row.outputs)]
        return any(t is not None and overrides_dispatch(t) for t in tensors)

    def _read_saved(
        self,
        node: Node,
        tensors: tuple[tuple[str, str], ...],
        meet: Callable[[torch.Tensor], None] | None = None,
    ) -> list[SavedRow]:
        """Return what a node saved; do not call where that would call a user's hooks.

        ``meet`` is called with each tensor.
        """
        if dispatch_mode_count():
            with without_dispatch_modes():
                return self._read_saved(node, tensors, meet)
        found: list[SavedRow] = []
        for name, attribute in tensors:
            try:
                thing = getattr(node, attribute)
            except RuntimeError:
                thing = _overwritten(node, attribute)
            if thing is None:
                continue
            each = thing if isinstance(thing, tuple | list) else (thing,)
            for t in each:
                if isinstance(t, torch.Tensor):
                    if meet is not None:
                        meet(t)
                    found.append(self._saved(name, t))
        return found

    def _saved(self, name: str, t: torch.Tensor) -> SavedRow:
        known = self.tensors.known(t)
        if known is not None:
            return name, known.shape, known.dtype, known.storage
        shape = () if t.is_nested else t.shape
        return name, shape, t.dtype, self.tensors.storage(t)


def _overwritten(node: Node, attribute: str) -> object:
    """Return saved tensors that the node's own op overwrote: ``x *= x``.

    Torch raises when they are read as usual, because backward could not use them; torch 2.6 reads
    them in no way.
    """
    saved = getattr(node, "_raw_" + attribute.removeprefix("_"), ())
    each = saved if isinstance(saved, tuple) else (saved,)
    return tuple(s.data for s in each if hasattr(s, "data"))


_kinds: dict[type, NodeKind] = {}
"""Torch's own kinds of node seen so far, in any run."""


def _read_kind(node: Node) -> NodeKind:
    kind, prefix = type(node), "_raw_saved_"
    saved = tuple(a[len("_saved_") :] for a in dir(kind) if a.startswith("_saved_"))
    names = [a[len(prefix) :] for a in dir(kind) if a.startswith(prefix)]
    # A custom Function's node has no _saved_ names, only all its tensors together.
    custom = issubclass(kind, _Custom)
    tensors = tuple((n, "saved_tensors" if custom else "_saved_" + n) for n in names)
    return NodeKind(node.name().rpartition("::")[2], saved, tensors)
