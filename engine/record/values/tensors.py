"""Identity of tensors: every tensor that is seen becomes a value, once per version."""

import itertools
import math
import weakref
from collections.abc import Callable
from operator import attrgetter
from typing import Protocol

import torch
from msgspec import Struct
from torch.autograd.graph import Node

from gradscribe.engine.protocol.tape import Change, Snapshot
from gradscribe.engine.record.log import CodeLocation, Log, NodeRow, ValueRow
from gradscribe.engine.record.values.copies import SnapshotStore
from gradscribe.engine.record.values.nudges import Nudge
from gradscribe.engine.record.values.raw_reads import (
    PLAIN_TENSOR_TYPES,
    address_of,
    dispatch_mode_count,
    has_readable_data,
    is_functorch_wrapped,
    memory,
    overrides_dispatch,
    packed,
    unwrapped,
    vmapped,
    without_dispatch_modes,
)
from gradscribe.engine.record.values.snapshots import differs_from_summary as summary_differs
from gradscribe.engine.record.values.snapshots import without_expanded
from gradscribe.engine.sandbox.builtins import use_original_builtins

use_original_builtins(globals())


class NodeIds(Protocol):
    """Interface of `record.nodes.Nodes` to the rows of backward nodes."""

    def row(self, node: Node) -> NodeRow:
        """Return the row of a node, adding it if it is new."""

    def assign_view_node(self, node: Node, row: NodeRow, op: int) -> None:
        """Assign to an in-place op the new node of a view of the tensor it changed."""

    def read_graph(self, node: Node) -> None:
        """Record a node that no op created, and all such nodes behind it."""


class Tensors:
    """The tensors seen in a run and their versions."""

    def __init__(self, log: Log, copies: SnapshotStore) -> None:
        self.log = log
        self.copies = copies
        self.nodes: NodeIds
        """Set once: values and nodes refer to each other."""
        self.values_by_id: dict[int, ValueRow] = {}
        """The last value of each tensor by ``id()``, which may have been another's before."""
        self._memories: dict[int, _Memory] = {}
        self._memory_numbers = itertools.count()
        self.changed_by: dict[int, int] = {}
        """The op that last wrote to a storage: the cause of changes in its views."""
        self._grads: dict[int, tuple[weakref.ref[torch.Tensor], ValueRow]] = {}
        self._numbers = itertools.count()
        self.handles_ops = False
        """True once there was a tensor whose class `overrides_dispatch`."""
        self.exposed: set[int] = set()
        """Storage numbers of memory that NumPy or another library may write to at any time."""
        self.written: set[int] = set()
        """Numbers of tensors that an op wrote to after they were made."""
        self.names: dict[int, str] = {}
        """Names for tensors that are not seen yet, by ``id()``: a module's own parameters."""
        self.nudge: Nudge | None = None
        """A change of one value for finite differences."""

    def known(self, t: torch.Tensor) -> ValueRow | None:
        """Return the last value of ``t``, even of an older version; None if it was never seen."""
        row = self.values_by_id.get(id(t))
        return row if row is not None and row.ref() is t else None

    def value(self, t: torch.Tensor, where: CodeLocation, maker: str = "") -> ValueRow:
        """Return the current value of ``t``; add a value if ``t`` is new or was changed since."""
        row = self.values_by_id.get(id(t))
        if row is None or row.ref() is not t:
            row = self.add(t, where, None, maker)
            self.log.add_event("leaf", row.id, where)
            return row
        try:
            is_other = row.version != t._version
        except RuntimeError:
            is_other = row.version != version(t)
        if is_other or (self.exposed and row.storage in self.exposed and self.differs(t, row)):
            before = row
            row = self.add(t, where, op=self.changed_by.get(row.storage), maker=row.maker)
            if row.maker != ".grad":
                self.log.add_changes([Change(before.id, row.id)], where)
        return row

    def add(
        self,
        t: torch.Tensor,
        where: CodeLocation,
        op: int | None = None,
        maker: str = "",
        made: list[tuple[Node, NodeRow]] | None = None,
    ) -> ValueRow:
        """Record a new value of ``t``, created by ``op`` or by no op on the tape.

        Its ``grad_fn``, if any, is appended to ``made`` with its row.
        """
        key, me, log = id(t), weakref.ref(t), self.log
        before = self.values_by_id.get(key)
        if before is not None and before.ref is not me:
            before = None
        row, fn, base, readable = self._read(t, me, before, op, maker, where)
        if before is not None:
            self._continue(row, before, t, op)
        elif self.names:
            row.name = self.names.pop(key, "")
        if self._grads:
            self._note_gradient(row, key)
        if self.nudge is not None and self.nudge.value == row.id:
            self.nudge.apply(t)
        if base is not None and (known := self.known(base)) is not None:
            row.base = known.id
            row.snapshot = self.copies.keep_view(t, base, known.snapshot)
        elif readable or t.is_nested:
            row.snapshot = self.copies.keep(t, readable)
        elif is_functorch_wrapped(t):
            self._note_wrapped(row, t)
        if fn is not None:
            node = self.nodes.row(fn)
            row.node = node.id
            row.output_nr = t.output_nr
            if made is not None:
                made.append((fn, node))
            elif op is not None:
                self.nodes.assign_view_node(fn, node, op)
        log.values.append(row)
        self.values_by_id[key] = row
        return row

    def _continue(self, row: ValueRow, before: ValueRow, t: torch.Tensor, op: int | None) -> None:
        """Complete the row of a tensor that had a value before."""
        row.name = before.name
        if op is not None:
            self.written.add(row.tensor)
        if row.storage != before.storage >= 0:
            # ``set_`` and ``.data = other`` give a tensor another memory.
            row.storage = self.storage(t, row.ref)

    def _read(
        self,
        t: torch.Tensor,
        me: "weakref.ref[torch.Tensor]",
        before: ValueRow | None,
        op: int | None,
        maker: str,
        where: CodeLocation,
    ) -> tuple[ValueRow, Node | None, torch.Tensor | None, bool]:
        """Return a tensor's row, ``grad_fn``, base of a view, whether it `has_readable_data`."""
        try:
            shape, dtype, device, requires_grad, layout, counted, fn, base = _READ(t)
            leaf = fn is None
            usual = layout is torch.strided and type(t) in PLAIN_TENSOR_TYPES and not t.is_meta
            address = address_of(t) if usual else 0
        except RecursionError:
            raise
        except RuntimeError:
            shape, dtype, device, requires_grad, layout, counted, fn, base = _read(t)
            leaf, address = is_leaf(t), 0
        readable = True if address else has_readable_data(t)
        if not address and t.is_nested and (rows := packed(t)) is not None:
            shape = rows.shape
        user = me if before is None or before.storage < 0 else None
        if address:
            stride, offset = t.stride(), int(t.storage_offset())
            storage = self._at(address - offset * dtype.itemsize if offset else address, user)
        else:
            stride, offset, storage = self._place(t, readable, user)
        row = ValueRow(
            next(self.log.ids),
            me,
            before.tensor if before is not None else next(self._numbers),
            shape,
            dtype,
            device,
            requires_grad,
            leaf,
            counted,
            None,
            storage,
            stride,
            offset,
            None,
            op,
            maker,
            where,
        )
        return row, fn, base, readable

    def _place(
        self, t: torch.Tensor, readable: bool, user: "weakref.ref[torch.Tensor] | None"
    ) -> tuple[tuple[int, ...], int, int]:
        """Return strides, offset and storage number of a tensor that may have none."""
        if not readable and overrides_dispatch(t):
            self.handles_ops = True
        if t.layout is not torch.strided or (t.is_nested and not readable):
            return (), 0, -1
        first = t.storage_offset()
        return t.stride(), first if isinstance(first, int) else 0, self.storage(t, user)

    def _note_wrapped(self, row: ValueRow, t: torch.Tensor) -> None:
        """Note the numbers of a tensor that ``torch.func`` wraps, and which tensor that is."""
        row.snapshot = self.copies.keep(t)
        inner = unwrapped(t)
        if inner is None:
            row.examples = math.prod(size for _, size in vmapped(t)[1])
        if inner is not None and (known := self.known(inner)) is not None:
            row.base = known.id

    def _note_gradient(self, row: ValueRow, key: int) -> None:
        grad = self._grads.get(key)
        if grad is not None and grad[0] is row.ref:
            row.maker, row.gradient_of, row.is_constant = ".grad", grad[1].tensor, True

    def differs(self, t: torch.Tensor, row: ValueRow) -> bool:
        """Return whether the data of ``t`` changed since ``row`` was written.

        Needed because some writes increment no version: fused optimizers, running statistics of
        batch norm, ``.data``, numpy. If the snapshot is a summary, the summaries are compared.
        """
        if row.version != version(t):
            return True
        kept = self.log.snapshots[row.snapshot] if row.snapshot is not None else None
        if kept is None or kept.shape != t.shape or not has_readable_data(t):
            return False
        if dispatch_mode_count():
            with without_dispatch_modes():
                return self.differs(t, row)
        if isinstance(kept, Snapshot):
            plain = torch._C.TensorBase.detach(t)
            return t.layout is torch.strided and summary_differs(plain, kept)
        plain = torch._C.TensorBase.detach(t)
        if t.layout is torch.strided:
            return not same_elements(kept, plain)
        if t.layout is not torch.sparse_coo or kept.layout is not t.layout:
            return False
        pairs = (kept._indices(), plain._indices()), (kept._values(), plain._values())
        return not all(same_elements(*pair) for pair in pairs)

    def exchange(
        self, tensors: tuple[torch.Tensor, torch.Tensor], exchange: Callable[[], None]
    ) -> list[Change]:
        """Exchange all that two tensors have but their identity; return what that changed."""
        places = [self.storage_address(t) for t in tensors]
        exchange()
        first, second = (weakref.ref(t) for t in tensors)
        if places[0] != places[1]:
            for place, old, new in zip(places, (first, second), (second, first), strict=True):
                known = self._memories.get(place)
                if known is not None:
                    users = [new if ref is old else ref for ref in (known.user, *known.others)]
                    known.user, known.others = users[0], users[1:]
        changes: list[Change] = []
        for t in tensors:
            before = self.known(t)
            if before is not None:
                row = self.add(t, before.where, maker=before.maker)
                # The other tensor may never have been seen.
                self.storage(t, row.ref)
                changes.append(Change(before.id, row.id))
        return changes

    def storage_address(self, t: torch.Tensor) -> int:
        """Return the address of a tensor's memory; -1 if it has none of its own."""
        try:
            usual = t.layout is torch.strided and not t.is_nested and not is_functorch_wrapped(t)
            return memory(t) if usual else -1
        except (RuntimeError, NotImplementedError):
            return -1

    def aliases(self, t: torch.Tensor, most: int) -> list[torch.Tensor]:
        """Return the known tensors that share the memory of ``t``, at most the first ``most``."""
        if t.layout is not torch.strided or not has_readable_data(t):
            return []
        known = self._memories.get(memory(t))
        return known.alive(most) if known is not None else []

    def storage(self, t: torch.Tensor, user: "weakref.ref[torch.Tensor] | None" = None) -> int:
        """Return the storage number of the memory of ``t``; -1 if it has none of its own.

        The number is valid while the tensor ``user`` is alive.
        """
        try:
            if t.layout is not torch.strided or t.is_nested or is_functorch_wrapped(t):
                return -1
            return self._at(memory(t), user)
        except (RuntimeError, NotImplementedError):
            return -1

    def _at(self, address: int, user: "weakref.ref[torch.Tensor] | None") -> int:
        """Return the storage number of the memory at an address."""
        known = self._memories.get(address)
        # Freed memory is reused at the same address: a number is valid while it has users.
        if known is None or (known.user() is None and not known.used()):
            number = next(self._memory_numbers)
            if user is not None:
                self._memories[address] = _Memory(number, user, [])
            return number
        if user is not None:
            known.others.append(user)
            if len(known.others) > known.limit:
                known.forget_dead()
        return known.number

    def mark_gradient(self, grad: torch.Tensor, leaf: ValueRow) -> None:
        """Mark ``grad`` as the ``.grad`` of a leaf, so that its uses are recognized."""
        self._grads[id(grad)] = (weakref.ref(grad), leaf)

    def leaf_of_gradient(self, grad: torch.Tensor) -> ValueRow | None:
        """Return the leaf whose ``.grad`` this tensor is, if it was read as such."""
        entry = self._grads.get(id(grad))
        return entry[1] if entry is not None and entry[0]() is grad else None


class _Memory(Struct, gc=False, eq=False):
    """A storage and the known tensors in it."""

    number: int
    user: weakref.ref[torch.Tensor]
    others: list[weakref.ref[torch.Tensor]]
    limit: int = 32
    """Number of `others` at which those that are gone are dropped."""

    def forget_dead(self) -> None:
        """Drop references to tensors that are gone; what that costs is spread over the others."""
        self.others = [ref for ref in self.others if ref() is not None]
        self.limit = 32 + 2 * len(self.others)

    def alive(self, most: int) -> list[torch.Tensor]:
        """Return the first ``most`` tensors that are alive."""
        found: list[torch.Tensor] = []
        for ref in itertools.chain((self.user,), self.others):
            t = ref()
            if t is not None:
                found.append(t)
                if len(found) == most:
                    break
        return found

    def used(self) -> bool:
        """Return whether any of the tensors is alive; drop dead references on the way."""
        others = self.others
        while self.user() is None and others:
            self.user = others.pop()
        return self.user() is not None


_READ = attrgetter(
    "shape", "dtype", "device", "requires_grad", "layout", "_version", "grad_fn", "_base"
)
"""Reads all properties of a value in a single call."""
_Read = tuple[
    tuple[int, ...],
    torch.dtype,
    torch.device,
    bool,
    torch.layout,
    int,
    Node | None,
    torch.Tensor | None,
]


def _read(t: torch.Tensor) -> _Read:
    """Return the same for a tensor that raises on some of them."""
    shape = () if t.is_nested else t.shape
    fn, base = grad_fn(t), t._base
    return shape, t.dtype, t.device, t.requires_grad, t.layout, version(t), fn, base


def version(t: torch.Tensor) -> int:
    """Return torch's version counter; inference tensors have none and count as 0."""
    try:
        return t._version
    except RuntimeError:
        return 0


def grad_fn(t: torch.Tensor) -> Node | None:
    """Return the node that created ``t``, if any.

    Torch raises for a view created under ``no_grad``, or a view out of several that an op returned,
    if it was changed in place since. The program did not read it, so that must not end a recording.
    """
    try:
        return t.grad_fn
    except RuntimeError:
        return None


def is_leaf(t: torch.Tensor) -> bool:
    """Return ``t.is_leaf``; for views whose ``grad_fn`` raises, whether they have no history."""
    try:
        return t.is_leaf
    except RuntimeError:
        return not t.requires_grad


def same_elements(a: torch.Tensor, b: torch.Tensor) -> bool:
    """Return whether two tensors have the same elements; NaN equals NaN."""
    if dispatch_mode_count():
        with without_dispatch_modes():
            return same_elements(a, b)
    if a.shape != b.shape or a.dtype != b.dtype or a.device != b.device:
        return False
    if a.layout is not torch.strided or b.layout is not torch.strided:
        return False
    if a.dtype in _BYTEWISE:
        return _bytes(a) == _bytes(b)
    a, b = without_expanded(a, b)
    if torch.equal(a, b):
        return True
    if not (a.is_floating_point() or a.is_complex()):
        return False
    return bool(((a == b) | (a.isnan() & b.isnan())).all())


_BYTEWISE = frozenset(
    d
    for d in vars(torch).values()
    if isinstance(d, torch.dtype)
    and (d == torch.complex32 or (d.is_floating_point and d.itemsize == 1))
)
"""Dtypes that ``torch.equal`` does not support."""


def _bytes(t: torch.Tensor) -> bytes:
    return t.cpu().reshape(-1).contiguous().view(torch.uint8).numpy().tobytes()
