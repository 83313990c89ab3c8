"""Backward nodes: which op made them and where their edges lead.

A node's Python wrapper may die and its ``id()`` be used again, so the row lives in the dict that
the C++ node itself owns (``node.metadata``). Holding a node would keep its saved tensors alive, so
nothing here does.
"""

from typing import TYPE_CHECKING

import torch
from torch.autograd.graph import Node

from engine.record.hooks import AfterNode
from engine.record.log import Log, NodeKind, NodeRow, SavedRow
from engine.record.tensors import Tensors
from engine.record.unseen import handles_ops, is_watched, unwatched
from engine.untouched import keep_builtins

if TYPE_CHECKING:
    from engine.record.hooks import Hooks

keep_builtins(globals())

Edges = tuple[tuple[Node | None, int], ...]
"""A node's ``next_functions``."""
Met = tuple[Node, NodeRow]
"""A node, held no longer than while an op is written down, and its row."""

AccumulateGrad: type = torch._C._functions.AccumulateGrad  # type: ignore[attr-defined]
"""The kind of node that adds to a leaf's ``.grad``."""
_Custom = torch.autograd.function.BackwardCFunction
"""What the nodes of custom Functions are instances of."""
_top_hooks = torch._C._autograd._top_saved_tensors_default_hooks
"""The program's own hooks on saved tensors, if it has any now."""
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
        self._kinds: dict[type, NodeKind] = {}
        """Those of the program's own Functions; the rest are in `_kinds`."""

    def row(self, node: Node) -> NodeRow:
        """Return the row of a node that is not AccumulateGrad; a new one is hooked."""
        # The C++ node's own dict; torch's stubs take it for a method.
        held: dict[object, AfterNode] = node.metadata  # type: ignore[assignment]
        hook = held.get(self._key)
        if hook is not None:
            return hook.row
        log, number, kind = self.log, node._sequence_nr(), _kinds.get(type(node))
        if kind is None:
            kind = self._kinds.get(type(node)) or self._new_kind(node)
        row = NodeRow(next(log.ids), kind, len(log.events), number)
        log.nodes.append(row)
        held[self._key] = hook = AfterNode(self.hooks, row)
        node.register_hook(hook)
        if not self.since <= number < LAST:
            self.strangers = True
        return row

    def claim(self, made: list[Met], op: int) -> list[int]:
        """List the nodes that an op made and return their ids, the results' own nodes first.

        They are those reached from ``made``, its results' own, and numbered `since` or later: a
        thread's nodes are numbered as they are made.
        """
        claimed: list[int] = []
        passed: set[int] | None = None
        look, since = _top_hooks(True) is None, self.since
        if self.tensors.handles_ops and self._is_handled(op):
            look = False
        stack = made if len(made) == 1 else made[::-1]
        while stack:
            node, row = stack.pop()
            if not since <= row.number < LAST:
                continue
            if row.op is None:
                row.op = op
                claimed.append(row.id)
                if row.kind.tensors and look:
                    row.kept = self._look(node, row.kind.tensors)
            elif row.op == op:
                continue
            else:
                # An op inside of this one made it.
                passed = passed or set()
                if row.id in passed:
                    continue
                passed.add(row.id)
            own = self.read_edges(node, row)
            if own:
                stack += own
        return claimed

    def given_to(self, node: Node, row: NodeRow, op: int) -> None:
        """Note that an op gave a view of what it changed a new node.

        Torch makes such a node no earlier than when somebody asks for it.
        """
        if row.op is None:
            row.op = op
            self.log.ops[op].nodes.append(row.id)
            self.read_edges(node, row)

    def reach(self, number: int, roots: list[Node]) -> None:
        """Give a hook to every node that a pass can reach; those that ops made have theirs.

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
            if row.next is None:
                self.read_edges(node, row)
            stack += [one for one, _ in node.next_functions if one is not None]

    def read_edges(self, node: Node, row: NodeRow) -> list[Met]:
        """Note a node's next functions; an edge to AccumulateGrad leads to the leaf's value.

        Called when the op is recorded, so that the leaf's value is the one the op used. Returns
        the next nodes that the same op made, the last one first.
        """
        leads: list[tuple[int, int] | None] = []
        own: list[Met] = []
        after: Edges = node.next_functions
        since, key = self.since, self._key
        for one, nr in after:
            if one is None:
                leads.append(None)
            elif type(one) is AccumulateGrad:
                leads.append((self.leaf(one), 0))
            else:
                hook = one.metadata.get(key)  # type: ignore[attr-defined]
                below = self.row(one) if hook is None else hook.row
                leads.append((below.id, nr))
                if since <= below.number < LAST:
                    own.append((one, below))
        if row.next is None:
            row.next = leads
        if len(own) > 1:
            own.reverse()
        return own

    def target(self, node: Node, nr: int) -> tuple[int, int]:
        """Return where an edge leads: a node's id and its input, or a leaf's value and 0."""
        if type(node) is AccumulateGrad:
            return self.leaf(node), 0
        return self.row(node).id, nr

    def leaf(self, accumulate: Node) -> int:
        """Return the value of the leaf that an AccumulateGrad adds to; a new one is hooked."""
        t: torch.Tensor = accumulate.variable  # type: ignore[attr-defined]
        held: dict[object, object] = accumulate.metadata  # type: ignore[assignment]
        row = self.tensors.value(t, None)
        if self._key not in held:
            held[self._key] = self.hooks.on_leaf(accumulate, t, row.tensor)
        return row.id

    def _new_kind(self, node: Node) -> NodeKind:
        kind = _read_kind(node)
        # Some that have no names of their own have a class in common.
        if type(node).__name__ == kind.name:
            own = isinstance(node, _Custom)
            (self._kinds if own else _kinds)[type(node)] = kind
        return kind

    def _is_handled(self, op: int) -> bool:
        """Tell whether a class that `handles_ops` had a part in an op.

        What such a node saved is copied when it is read, and the class would see that.
        """
        row = self.log.ops[op]
        tensors = [one.ref() for one in (*row.inputs, *row.outputs)]
        return any(t is not None and handles_ops(t) for t in tensors)

    def _look(self, node: Node, tensors: tuple[tuple[str, str], ...]) -> list[SavedRow]:
        """Return what a node saved; not to be called where that would call a user's hooks."""
        if is_watched():
            with unwatched():
                return self._look(node, tensors)
        found: list[SavedRow] = []
        for name, attribute in tensors:
            try:
                thing = getattr(node, attribute)
            except RuntimeError:
                thing = _kept(node, attribute)
            if thing is None:
                continue
            if isinstance(thing, torch.Tensor):
                found.append(self._saved(name, thing))
            elif isinstance(thing, tuple | list):
                found += [self._saved(name, t) for t in thing if isinstance(t, torch.Tensor)]
        return found

    def _saved(self, name: str, t: torch.Tensor) -> SavedRow:
        known = self.tensors.known(t)
        if known is not None:
            return name, known.shape, known.dtype, known.storage
        shape = () if t.is_nested else t.shape
        return name, shape, t.dtype, self.tensors.storage(t)


def _kept(node: Node, attribute: str) -> object:
    """Return what a node saved and the op that made the node wrote over: ``x *= x``.

    Torch refuses to hand that out like the rest, for backward could not use it.
    """
    saved = getattr(node, "_raw_" + attribute.removeprefix("_"), ())
    each = saved if isinstance(saved, tuple) else (saved,)
    return tuple(one.data for one in each)


_kinds: dict[type, NodeKind] = {}
"""The kinds of node that torch has itself, as far as any was met: they are the same in all runs."""


def _read_kind(node: Node) -> NodeKind:
    kind, prefix = type(node), "_raw_saved_"
    saved = tuple(a[len("_saved_") :] for a in dir(kind) if a.startswith("_saved_"))
    names = [a[len(prefix) :] for a in dir(kind) if a.startswith(prefix)]
    # A custom Function's node has no _saved_ names, only all its tensors together.
    custom = issubclass(kind, _Custom)
    tensors = tuple((n, "saved_tensors" if custom else "_saved_" + n) for n in names)
    return NodeKind(node.name().rpartition("::")[2], saved, tensors)
