"""Which tensor is which: every tensor that is seen becomes a value, once per version."""

import itertools
import weakref
from collections.abc import Callable
from operator import attrgetter
from typing import Protocol

import torch
from msgspec import Struct
from torch.autograd.graph import Node

from engine.record.copies import Copies
from engine.record.log import Log, NodeRow, ValueRow
from engine.record.source import Where
from engine.record.unseen import (
    USUAL,
    handles_ops,
    has_numbers,
    is_watched,
    is_wrapped,
    memory,
    unwatched,
)
from engine.tape import Change, Snapshot
from engine.untouched import keep_builtins
from engine.values import differs as summary_differs
from engine.values import once

keep_builtins(globals())


class NodeIds(Protocol):
    """Gives backward nodes their ids (`record.nodes.Nodes`)."""

    def row(self, node: Node) -> NodeRow:
        """Return the row of a node, listing it if it is new."""

    def given_to(self, node: Node, row: NodeRow, op: int) -> None:
        """Note that an op gave a view of what it changed a new node."""


class Tensors:
    """The tensors seen in a run and their versions."""

    def __init__(self, log: Log, copies: Copies) -> None:
        self.log = log
        self.copies = copies
        self.nodes: NodeIds
        self.seen: dict[int, ValueRow] = {}
        """The last value of each tensor by its ``id()``, which another may have had before."""
        self._memories: dict[int, _Memory] = {}
        self._memory_numbers = itertools.count()
        self._changed_by: dict[int, int] = {}
        self._grads: dict[int, tuple[weakref.ref[torch.Tensor], ValueRow]] = {}
        self._numbers = itertools.count()
        self.announce: Callable[[list[Change], Where], None]
        """Told of values that have become others without an op on them."""
        self.handles_ops = False
        """Whether there was any whose class `handles_ops`."""
        self.exposed: set[int] = set()
        """Storages that NumPy or another library may write to at any time."""
        self.names: dict[int, str] = {}
        """Names for tensors that are not seen yet, by ``id()``: a module's own parameters."""
        self.nudge: tuple[int, int, complex] | None = None
        """(value id, flat index, amount): added to that value as soon as it exists."""

    def known(self, t: torch.Tensor) -> ValueRow | None:
        """Return the last value of ``t``, of whatever version, or None if it was never seen."""
        row = self.seen.get(id(t))
        return row if row is not None and row.ref() is t else None

    def value(self, t: torch.Tensor, where: Where, maker: str = "") -> ValueRow:
        """Return the present value of ``t``; a new one where it is new or was changed since."""
        row = self.seen.get(id(t))
        if row is None or row.ref() is not t:
            row = self.add(t, where, None, maker)
            self.log.tell("leaf", row.id, where)
            return row
        try:
            is_other = row.version != t._version
        except RuntimeError:
            is_other = row.version != version(t)
        if is_other or (self.exposed and row.storage in self.exposed and self.differs(t, row)):
            before = row
            row = self.add(t, where, op=self._changed_by.get(row.storage), maker=row.maker)
            if row.maker != ".grad":
                self.announce([Change(before.id, row.id)], where)
        return row

    def add(
        self,
        t: torch.Tensor,
        where: Where,
        op: int | None = None,
        maker: str = "",
        made: list[tuple[Node, NodeRow]] | None = None,
    ) -> ValueRow:
        """Write down a new value of ``t``, made by ``op`` or by nobody on the tape.

        Its ``grad_fn``, if it has one, is appended to ``made`` with its row.
        """
        key, me, log = id(t), weakref.ref(t), self.log
        before = self.seen.get(key)
        if before is not None and before.ref is not me:
            before = None
        row, fn, base, readable = self._read(t, me, before, op, maker, where)
        if before is not None:
            row.name = before.name
        elif self.names:
            row.name = self.names.pop(key, "")
        if self._grads:
            self._note_gradient(row, key)
        if self.nudge is not None:
            self._nudged(row.id, t)
        if base is not None and (known := self.known(base)) is not None:
            row.base = known.id
            row.snapshot = self.copies.keep_view(t, base, known.snapshot)
        elif readable:
            row.snapshot = self.copies.keep(t, True)
        if fn is not None:
            node = self.nodes.row(fn)
            row.node = node.id
            row.output_nr = t.output_nr
            if made is not None:
                made.append((fn, node))
            elif op is not None:
                self.nodes.given_to(fn, node, op)
        log.values.append(row)
        self.seen[key] = row
        return row

    def _read(
        self,
        t: torch.Tensor,
        me: "weakref.ref[torch.Tensor]",
        before: ValueRow | None,
        op: int | None,
        maker: str,
        where: Where,
    ) -> tuple[ValueRow, Node | None, torch.Tensor | None, bool]:
        """Return what a tensor tells of itself, its ``grad_fn`` and what it is a view of.

        The last tells whether it `has_numbers`.
        """
        try:
            shape, dtype, device, requires_grad, layout, counted, fn, base = _READ(t)
            leaf = fn is None
            usual = layout is torch.strided and type(t) in USUAL and not t.is_meta
            address = t.data_ptr() if usual else 0
        except RecursionError:
            raise
        except RuntimeError:
            shape, dtype, device, requires_grad, layout, counted, fn, base = _read(t)
            leaf, address = is_leaf(t), 0
        readable = True if address else has_numbers(t)
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
        """Return strides, offset and number of the memory of a tensor that may have none."""
        if not readable and handles_ops(t):
            self.handles_ops = True
        if t.layout is not torch.strided or (t.is_nested and not readable):
            return (), 0, -1
        first = t.storage_offset()
        return t.stride(), first if isinstance(first, int) else 0, self._storage(t, user)

    def _note_gradient(self, row: ValueRow, key: int) -> None:
        grad = self._grads.get(key)
        if grad is not None and grad[0] is row.ref:
            row.maker, row.gradient_of, row.is_constant = ".grad", grad[1].tensor, True

    def _nudged(self, value: int, t: torch.Tensor) -> None:
        assert self.nudge is not None
        if self.nudge[0] == value:
            with torch.no_grad():
                flat = t.detach().reshape(-1)
                if flat.data_ptr() != t.data_ptr():
                    raise ValueError("this tensor's memory cannot be nudged in place")
                by = self.nudge[2]
                flat.data[self.nudge[1]] += by if t.is_complex() else by.real

    def changed(self, row: ValueRow, op: int) -> None:
        """Note that ``op`` wrote to a value's memory, so that its other views are told so."""
        self._changed_by[row.storage] = op

    def differs(self, t: torch.Tensor, row: ValueRow) -> bool:
        """Tell whether ``t`` holds other numbers than when ``row`` was written.

        Needed where torch writes without counting a version: fused optimizers, running statistics
        of batch norm, ``.data``, numpy. Of a value that is kept as a summary that is compared.
        """
        if row.version != version(t):
            return True
        kept = self.log.snapshots[row.snapshot] if row.snapshot is not None else None
        if kept is None or kept.shape != t.shape or not has_numbers(t):
            return False
        if is_watched():
            with unwatched():
                return self.differs(t, row)
        if isinstance(kept, Snapshot):
            plain = torch._C.TensorBase.detach(t)
            return t.layout is torch.strided and summary_differs(plain, kept)
        plain = torch._C.TensorBase.detach(t)
        if t.layout is torch.strided:
            return not same_numbers(kept, plain)
        if t.layout is not torch.sparse_coo or kept.layout is not t.layout:
            return False
        pairs = (kept._indices(), plain._indices()), (kept._values(), plain._values())
        return not all(same_numbers(*pair) for pair in pairs)

    def sharing(self, t: torch.Tensor) -> list[torch.Tensor]:
        """Return the tensors that live in the memory of ``t``, as far as they were seen."""
        if t.layout is not torch.strided or not has_numbers(t):
            return []
        known = self._memories.get(memory(t))
        users = [known.user, *known.others] if known is not None else []
        return [one for user in users if (one := user()) is not None]

    def storage(self, t: torch.Tensor) -> int:
        """Return a small number for the memory ``t`` lives in; -1 where it has none of its own."""
        return self._storage(t, None)

    def _storage(self, t: torch.Tensor, user: "weakref.ref[torch.Tensor] | None") -> int:
        """Return the same; it holds for as long as the tensor lives that ``user`` refers to."""
        try:
            if t.layout is not torch.strided or t.is_nested or is_wrapped(t):
                return -1
            return self._at(memory(t), user)
        except (RuntimeError, NotImplementedError):
            return -1

    def _at(self, address: int, user: "weakref.ref[torch.Tensor] | None") -> int:
        """Return the number of the memory at an address."""
        known = self._memories.get(address)
        # Memory that was freed is used again at the same address: its number dies with its users.
        if known is None or (known.user() is None and not known.used()):
            number = next(self._memory_numbers)
            if user is not None:
                self._memories[address] = _Memory(number, user, [])
            return number
        if user is not None:
            known.others.append(user)
        return known.number

    def is_gradient_of(self, grad: torch.Tensor, leaf: ValueRow) -> None:
        """Note that ``grad`` is the ``.grad`` of a leaf, so that its uses can be told."""
        self._grads[id(grad)] = (weakref.ref(grad), leaf)

    def leaf_of_gradient(self, grad: torch.Tensor) -> ValueRow | None:
        """Return the leaf whose ``.grad`` this tensor is, if it was read as such."""
        entry = self._grads.get(id(grad))
        return entry[1] if entry is not None and entry[0]() is grad else None


class _Memory(Struct, gc=False, eq=False):
    """A storage and the tensors known to live in it."""

    number: int
    user: weakref.ref[torch.Tensor]
    others: list[weakref.ref[torch.Tensor]]

    def used(self) -> bool:
        """Tell whether any of the tensors is alive; forgets those that are not on the way."""
        others = self.others
        while self.user() is None and others:
            self.user = others.pop()
        return self.user() is not None


_READ = attrgetter(
    "shape", "dtype", "device", "requires_grad", "layout", "_version", "grad_fn", "_base"
)
"""Reads in one go what a value is told by."""
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
    """Return the same of a tensor that cannot tell all of it."""
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
    """Return the node that made ``t``, if any.

    Torch raises where a view made under ``no_grad``, or one of several that an op returned, was
    changed in place since: the program never asked, and its recording must not stumble.
    """
    try:
        return t.grad_fn
    except RuntimeError:
        return None


def is_leaf(t: torch.Tensor) -> bool:
    """Return ``t.is_leaf``; of a view that `grad_fn` cannot tell of, whether it has no history."""
    try:
        return t.is_leaf
    except RuntimeError:
        return not t.requires_grad


def same_numbers(a: torch.Tensor, b: torch.Tensor) -> bool:
    """Tell whether two tensors hold the same numbers, NaN being equal to NaN."""
    if is_watched():
        with unwatched():
            return same_numbers(a, b)
    if a.shape != b.shape or a.dtype != b.dtype or a.device != b.device:
        return False
    if a.layout is not torch.strided or b.layout is not torch.strided:
        return False
    if a.dtype in _BYTEWISE:
        return _bytes(a) == _bytes(b)
    a, b = once(a, b)
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
"""Dtypes that ``torch.equal`` is not written for."""


def _bytes(t: torch.Tensor) -> bytes:
    return t.cpu().reshape(-1).contiguous().view(torch.uint8).numpy().tobytes()
