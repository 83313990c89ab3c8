"""Backward nodes: which op made them and where their edges lead.

A node's Python wrapper may die and its ``id()`` be used again, so the row lives in the dict that
the C++ node itself owns (``node.metadata``). Holding a node would keep its saved tensors alive, so
nothing here does.
"""

from typing import TYPE_CHECKING, cast

import torch
from msgspec import Struct
from torch.autograd.graph import Node

from engine.record.log import Log, NodeRow, SavedRow
from engine.record.tensors import Tensors
from engine.record.unseen import is_watched, unwatched
from engine.untouched import keep_builtins

if TYPE_CHECKING:
    from engine.record.hooks import AfterNode, Hooks

keep_builtins(globals())

Edges = tuple[tuple[Node | None, int], ...]
"""A node's ``next_functions``."""

AccumulateGrad: type = torch._C._functions.AccumulateGrad  # type: ignore[attr-defined]
"""The kind of node that adds to a leaf's ``.grad``."""
LAST = 2**64 - 1
"""The sequence number of nodes that run last: AccumulateGrad, and ops without a derivative."""


class Nodes:
    """The backward nodes seen in a run."""

    def __init__(self, log: Log, tensors: Tensors) -> None:
        self.log = log
        self.tensors = tensors
        self.hooks: Hooks
        self.since = LAST
        """The first number of the nodes that the op just recorded could make."""
        self.strangers = False
        """True once a node was met that no recorded op made: what lies below it is not hooked."""
        self._key = object()
        self._kinds: dict[type, _Kind] = {}

    def row(self, node: Node) -> NodeRow:
        """Return the row of a node that is not AccumulateGrad; a new one is hooked."""
        # The C++ node's own dict; torch's stubs take it for a method.
        held: dict[object, AfterNode] = node.metadata  # type: ignore[assignment]
        hook = held.get(self._key)
        if hook is not None:
            return hook.row
        kind, log, number = self._kind(node), self.log, node._sequence_nr()
        row = NodeRow(next(log.ids), kind.name, kind.saved, len(log.events), number)
        held[self._key] = self.hooks.on_node(node, row)
        log.nodes.append(row)
        if not self.since <= number < LAST:
            self.strangers = True
        return row

    def claim(self, roots: list[Node], op: int) -> list[int]:
        """List the nodes that an op made and return their ids, the results' own nodes first.

        They are those reached from its results and numbered `since` or later: a thread's nodes are
        numbered as they are made.
        """
        claimed: list[int] = []
        passed: set[int] = set()
        since = self.since
        look = torch._C._autograd._top_saved_tensors_default_hooks(True) is None
        stack = [n for n in reversed(roots) if since <= n._sequence_nr() < LAST]
        while stack:
            node = stack.pop()
            row = self.row(node)
            if row.op == op or row.id in passed:
                continue
            after = node.next_functions
            if row.op is None:
                row.op = op
                claimed.append(row.id)
                if look and (tensors := self._kind(node).tensors):
                    row.kept = self._look(node, tensors)
            else:
                passed.add(row.id)
            for one in self.read_edges(row, after):
                stack.append(one)
        return claimed

    def reach(self, number: int, roots: list[Node]) -> None:
        """Hook every node that a pass can reach; those that recorded ops made are hooked already.

        ``number`` is the pass.
        """
        stack = list(roots)
        while stack:
            node = stack.pop()
            if type(node) is AccumulateGrad:
                continue
            row = self.row(node)
            if row.reached == number or not self.strangers:
                continue
            row.reached = number
            after = node.next_functions
            if row.next is None:
                self.read_edges(row, after)
            stack += [one for one, _ in after if one is not None]

    def read_edges(self, row: NodeRow, after: "Edges") -> list[Node]:
        """Note a node's next functions; an edge to AccumulateGrad leads to the leaf's value.

        Called when the op is recorded, so that the leaf's value is the one the op used. Returns
        the next nodes that the same op made.
        """
        leads: list[tuple[int, int] | None] = []
        own: list[Node] = []
        since = self.since
        for node, nr in after:
            if node is None:
                leads.append(None)
            elif type(node) is AccumulateGrad:
                leads.append((self.leaf(node), 0))
            else:
                below = self.row(node)
                leads.append((below.id, nr))
                if since <= below.number < LAST:
                    own.append(node)
        row.next = leads
        own.reverse()
        return own

    def target(self, node: Node, nr: int) -> tuple[int, int]:
        """Return where an edge leads: a node's id and its input, or a leaf's value and 0."""
        if type(node) is AccumulateGrad:
            return self.leaf(node), 0
        return self.row(node).id, nr

    def leaf(self, accumulate: Node) -> int:
        """Return the value of the leaf that an AccumulateGrad adds to; a new one is hooked."""
        t = cast("torch.Tensor", accumulate.variable)  # type: ignore[attr-defined]
        held: dict[object, object] = accumulate.metadata  # type: ignore[assignment]
        if self._key not in held:
            held[self._key] = self.hooks.on_leaf(accumulate, t)
        return self.tensors.value(t, None).id

    def _kind(self, node: Node) -> "_Kind":
        kind = self._kinds.get(type(node))
        if kind is None:
            kind = _read_kind(node)
            if type(node).__name__ == kind.name:
                self._kinds[type(node)] = kind
        return kind

    def _look(self, node: Node, tensors: tuple[tuple[str, str], ...]) -> list[SavedRow]:
        """Return what a node saved; not to be called where that would call a user's hooks."""
        if is_watched():
            with unwatched():
                return self._look(node, tensors)
        found: list[SavedRow] = []
        for name, attribute in tensors:
            thing = getattr(node, attribute)
            if isinstance(thing, torch.Tensor):
                found.append(self._saved(name, thing))
            elif isinstance(thing, tuple | list):
                found += [self._saved(name, t) for t in thing if isinstance(t, torch.Tensor)]
        return found

    def _saved(self, name: str, t: torch.Tensor) -> SavedRow:
        known = self.tensors.known(t)
        if known is not None:
            return name, known.shape, known.dtype, known.storage
        return name, t.shape, t.dtype, self.tensors.storage(t)


class _Kind(Struct, gc=False, eq=False):
    """What all nodes of one class have in common."""

    name: str
    saved: tuple[str, ...]
    """The names of all that they save, numbers included."""
    tensors: tuple[tuple[str, str], ...]
    """The tensors among it: the name, the attribute to read."""


def _read_kind(node: Node) -> _Kind:
    kind, prefix = type(node), "_raw_saved_"
    saved = tuple(a[len("_saved_") :] for a in dir(kind) if a.startswith("_saved_"))
    names = [a[len(prefix) :] for a in dir(kind) if a.startswith(prefix)]
    # A custom Function's node has no _saved_ names, only all its tensors together.
    custom = issubclass(kind, torch.autograd.function.BackwardCFunction)
    tensors = tuple((n, "saved_tensors" if custom else "_saved_" + n) for n in names)
    return _Kind(node.name().rpartition("::")[2], saved, tensors)
