"""Numbers that a program changes otherwise than by an op on their tensor, or on their leaf.

Through a view, ``.data``, NumPy; by setting ``.data`` or ``.grad``; by what torch does unheard.
Each is an event of its own, so that what is shown of a tensor is what it holds.
"""

import functools
import sys
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

import torch

from engine.record.log import ValueRow
from engine.record.source import Where
from engine.record.tensors import is_leaf
from engine.tape import Change
from engine.untouched import keep_builtins

if TYPE_CHECKING:
    from engine.record.recorder import Recorder

keep_builtins(globals())

_SHARING = ("from_numpy", "frombuffer", "from_dlpack")
"""Functions that make a tensor on the memory of an array, unheard by any function mode."""
MOST = 16
"""So many tensors that share memory with one that was changed are looked at."""


class Writes:
    """Finds such changes and writes them down."""

    def __init__(self, recorder: "Recorder") -> None:
        self.recorder = recorder
        self.log = recorder.log
        self.tensors = recorder.tensors
        self.tensors.announce = self.changed
        self.hooks = recorder.backward.hooks
        self._plain: dict[str, Callable[..., object]] = {}

    def start(self) -> None:
        """Begin to hear which tensors are made on an array's memory; no function mode does."""
        for name in _SHARING:
            self._plain[name] = getattr(torch, name)
            setattr(torch, name, functools.partial(self._shared, name))

    def stop(self) -> None:
        """Leave torch as it was."""
        for name, plain in self._plain.items():
            setattr(torch, name, plain)

    def read(self, args: tuple[object, ...]) -> None:
        """Look at a tensor that the program reads, where others may write to its memory."""
        t = args[0] if args else None
        if not isinstance(t, torch.Tensor):
            return
        row = self.tensors.known(t)
        if row is not None and row.storage in self.tensors.exposed and row.maker != ".grad":
            self.values([t], row.where)

    def _shared(self, name: str, *args: object, **kwargs: object) -> object:
        """Make a tensor on an array's memory, and meet it at once."""
        made, recorder = self._plain[name](*args, **kwargs), self.recorder
        lane = recorder.lanes.here()
        if lane is None or lane.quiet or not self.log.writing or not isinstance(made, torch.Tensor):
            return made
        with torch._C.DisableTorchFunction(), recorder.lanes.lock:
            where, doing = recorder.source.here(sys._getframe(1), lane)
            if not doing and where is not None:
                self.tensors.exposed.add(self.tensors.value(made, where, maker=name).storage)
        return made

    def by_op(
        self, changed: list[torch.Tensor], values: list[ValueRow], op: int, where: Where
    ) -> None:
        """Write down what else holds other numbers since an op changed tensors in place.

        ``values`` are those of ``changed`` now.
        """
        if written := self._gradients_among(changed, values):
            self.gradients(written, where)
        beside = [t for one in changed for t in self._beside(one, changed)]
        if beside:
            self.values(beside, where, op)

    def values(self, tensors: Iterable[torch.Tensor], where: Where, op: int | None = None) -> None:
        """Write down which tensors hold other numbers than they are known to."""
        found: list[Change] = []
        for t in tensors:
            before = self.tensors.known(t)
            if before is not None and self.tensors.differs(t, before):
                after = self.tensors.add(t, where, op, before.maker)
                found.append(Change(before.id, after.id))
        self.changed(found, where)

    def changed(self, found: list[Change], where: Where) -> None:
        """Write down that values have become others."""
        if found and not self.log.is_over():
            self.log.writes.append(tuple(found))
            self.log.tell("write", len(self.log.writes) - 1, where)

    def gradients(self, leaves: Iterable[tuple[torch.Tensor, int | None]], where: Where) -> None:
        """Write down which leaves' gradients the program changed or set by itself.

        ``leaves`` come with the snapshot of their ``.grad``, where there is one.
        """
        found = [self.hooks.rewritten(t, kept) for t, kept in leaves]
        written = tuple(one for one in found if one is not None)
        if written and not self.log.is_over():
            self.log.rewrites.append(written)
            self.log.tell("grad", len(self.log.rewrites) - 1, where)

    def _beside(self, one: torch.Tensor, changed: list[torch.Tensor]) -> "Iterable[torch.Tensor]":
        """Yield the tensors of the same memory that may be asked without a trace.

        Asked for its ``grad_fn``, a view of a result that was changed since makes a new node.
        """
        for t in self.tensors.sharing(one)[:MOST]:
            if any(t is other for other in changed) or (t.requires_grad and t._base is not None):
                continue
            row = self.tensors.known(t)
            if row is None or row.maker == ".grad":
                continue
            # What a whole parameter becomes through ``.data`` is told by the op.
            if not (row.role == "parameter" and t.shape == one.shape):
                yield t

    def _gradients_among(
        self, changed: list[torch.Tensor], values: list[ValueRow]
    ) -> list[tuple[torch.Tensor, int | None]]:
        """Return the leaves whose ``.grad`` was changed, itself or through a view of it.

        A leaf comes with the snapshot of its whole ``.grad``, where there is one.
        """
        found: list[tuple[torch.Tensor, int | None]] = []
        leaf_of = self.tensors.leaf_of_gradient
        for t, row in zip(changed, values, strict=True):
            base = t._base
            leaf = leaf_of(t) or (base is not None and leaf_of(base))
            owner = leaf.ref() if leaf else None
            if owner is not None and is_leaf(owner):
                found.append((owner, row.snapshot if owner.grad is t else None))
        return found
