"""Changes of a tensor's data other than by an op on that tensor.

These come through a view, ``.data`` or NumPy, by assignment to ``.data`` or ``.grad``, or from
torch code that bypasses function modes. Each is an event, so that the tape shows the true data.
"""

import functools
import sys
import weakref
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

import torch

from gradscribe.engine.protocol.tape import Change, Reset
from gradscribe.engine.record.backward.hooks import NodeHooks
from gradscribe.engine.record.log import CodeLocation, Log, ValueRow
from gradscribe.engine.record.source import Source
from gradscribe.engine.record.threads import RecordedThreads
from gradscribe.engine.record.values.tensors import Tensors, is_leaf
from gradscribe.engine.sandbox.builtins import use_original_builtins

use_original_builtins(globals())


class _ForeignReferences:
    """Stands in for the module ``weakref`` in `torch.utils.swap_tensors`."""

    @staticmethod
    def getweakrefs(t: torch.Tensor) -> list[object]:
        """Return the weak references to ``t`` except the plain one, which the recorder may have.

        All holders of a weak reference without a callback share a single object.
        """
        return [
            ref
            for ref in weakref.getweakrefs(t)
            if type(ref) is not weakref.ref or ref.__callback__ is not None
        ]


_SHARING = ("from_numpy", "frombuffer", "from_dlpack", "from_file")
"""Functions that create a tensor on an array's or a file's memory and bypass function modes."""
MOST_ALIASES = 16
"""Maximum number of tensors sharing a changed tensor's memory that are checked."""


@dataclass(eq=False)
class Writes:
    """Detector and recorder of such changes."""

    log: Log
    source: Source
    threads: RecordedThreads
    tensors: Tensors
    hooks: NodeHooks
    _plain: dict[str, Callable[..., object]] = field(default_factory=dict)

    def start(self) -> None:
        """Wrap the functions that create a tensor on an array's memory or exchange tensors."""
        self._swap = torch.utils.swap_tensors
        torch.utils.swap_tensors = self._swapped
        for name in _SHARING:
            self._plain[name] = getattr(torch, name)
            setattr(torch, name, functools.partial(self._shared, name))

    def stop(self) -> None:
        """Restore torch's functions."""
        for name, plain in self._plain.items():
            setattr(torch, name, plain)
        torch.utils.swap_tensors = self._swap

    def read(self, args: tuple[object, ...]) -> None:
        """Check a tensor that the program reads, if other libraries may write to its memory."""
        t = args[0] if args else None
        if not isinstance(t, torch.Tensor):
            return
        row = self.tensors.known(t)
        if row is not None and row.storage in self.tensors.exposed and row.maker != ".grad":
            self.values([t], row.where)

    def _shared(self, name: str, *args: object, **kwargs: object) -> object:
        """Create a tensor on an array's memory, and record it at once."""
        made = self._plain[name](*args, **kwargs)
        thread = self.threads.current()
        if thread is None or not isinstance(made, torch.Tensor):
            return made
        with torch._C.DisableTorchFunction(), self.threads.lock:
            try:
                where, doing = self.source.locate(sys._getframe(1), thread)
                if not doing and where is not None:
                    self.tensors.exposed.add(self.tensors.value(made, where, maker=name).storage)
            except Exception as error:  # noqa: BLE001 - whatever it is, it is not the program's
                self.log.stop_on_error(error)
        return made

    def _swapped(self, t1: torch.Tensor, t2: torch.Tensor) -> None:
        """Exchange two tensors, and record their new values."""
        thread = self.threads.current()
        if thread is None:
            self._swap_now(t1, t2)
            return
        swapped: list[bool] = []

        def swap() -> None:
            self._swap_now(t1, t2)
            swapped.append(True)

        with torch._C.DisableTorchFunction(), self.threads.lock:
            try:
                where, _ = self.source.locate(sys._getframe(1), thread)
                self.log.add_changes(self.tensors.exchange((t1, t2), swap), where)
            except Exception as error:  # noqa: BLE001 - whatever it is, it is not the program's
                if not swapped:
                    # Torch refuses it, in its own words.
                    self._swap_now(t1, t2)
                self.log.stop_on_error(error)

    def _swap_now(self, t1: torch.Tensor, t2: torch.Tensor) -> None:
        """Exchange two tensors; torch refuses those with weak references, as the recorder has."""
        with self.threads.lock:
            setattr(torch.utils, "weakref", _ForeignReferences)  # noqa: B010 - no public name
            try:
                self._swap(t1, t2)  # type: ignore[no-untyped-call]
            finally:
                setattr(torch.utils, "weakref", weakref)  # noqa: B010 - no public name

    def after_inplace_op(
        self, changed: list[torch.Tensor], values: list[ValueRow], op: int, where: CodeLocation
    ) -> None:
        """Record what else changed when an op changed tensors in place.

        ``values`` are the new values of ``changed``.
        """
        if written := self._gradients_among(changed, values):
            self.gradients(written, where)
        aliases = [t for source in changed for t in self._aliases(source, changed)]
        if aliases:
            self.values(aliases, where, op)

    def values(
        self, tensors: Iterable[torch.Tensor], where: CodeLocation, op: int | None = None
    ) -> None:
        """Record which of the tensors have changed since their last value."""
        found: list[Change] = []
        for t in tensors:
            before = self.tensors.known(t)
            if before is not None and self.tensors.differs(t, before):
                # A leaf stays a leaf: the op made a new value of the tensor that it was given.
                maker = None if before.role == "parameter" else op
                after = self.tensors.add(t, where, maker, before.maker)
                found.append(Change(before.id, after.id))
        self.log.add_changes(found, where)

    def gradients(
        self, leaves: Iterable[tuple[torch.Tensor, int | None]], where: CodeLocation
    ) -> None:
        """Record which leaves' gradients the program changed or set itself.

        ``leaves`` come with the snapshot of their ``.grad``, if there is one.
        """
        found = [self.hooks.changed_gradient(t, kept) for t, kept in leaves]
        written = tuple(entry for entry in found if entry is not None)
        if written and not self.log.is_complete():
            self.log.rewrites.append(written)
            self.log.add_event("grad", len(self.log.rewrites) - 1, where)

    def record_reset(
        self, reset: Reset, where: CodeLocation, zeroed: "Iterable[torch.Tensor | None]" = ()
    ) -> None:
        """Record that gradients were cleared; those of ``zeroed`` contain zeros from now on."""
        with self.threads.lock:
            for t in zeroed:
                if t is not None:
                    self.hooks.changed_gradient(t)
            self.log.resets.append(reset)
            self.log.add_event("zero_grad", len(self.log.resets) - 1, where)

    def _aliases(
        self, source_tensor: torch.Tensor, changed: list[torch.Tensor]
    ) -> "Iterable[torch.Tensor]":
        """Yield the tensors of the same memory that can be read without side effects.

        Reading ``grad_fn`` of a view of a result that was changed since would create a node.
        """
        for t in self.tensors.aliases(source_tensor, MOST_ALIASES):
            if any(t is other for other in changed) or (t.requires_grad and t._base is not None):
                continue
            row = self.tensors.known(t)
            if row is None or row.maker == ".grad":
                continue
            yield t

    def _gradients_among(
        self, changed: list[torch.Tensor], values: list[ValueRow]
    ) -> list[tuple[torch.Tensor, int | None]]:
        """Return the leaves whose ``.grad`` was changed, directly or through a view of it.

        A leaf comes with the snapshot of its whole ``.grad``, if there is one.
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
