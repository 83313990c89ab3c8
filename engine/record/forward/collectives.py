"""Collectives of torch.distributed, called by the program or by torch for it.

The functions are replaced while a rank is recorded: each call is counted, and what it was given and
what it gave become values, with one op between them. What is sent, and in which order, is torch's
own. An asynchronous collective is recorded when the program waits for it.
"""

import functools
import inspect
import os
import sys
import threading
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from types import ModuleType

import torch
from msgspec import Struct
from torch import distributed as dist

from gradscribe.engine.protocol.tape import CollectiveOwner
from gradscribe.engine.record.forward.arguments import result_tensors
from gradscribe.engine.record.log import CodeLocation, CollectiveRow, EventRow, Log, OpRow, ValueRow
from gradscribe.engine.record.source import Source
from gradscribe.engine.record.threads import RecordedThreads
from gradscribe.engine.record.values.raw_reads import WithoutFunctionModes
from gradscribe.engine.record.values.tensors import Tensors
from gradscribe.engine.record.writes import Writes
from gradscribe.engine.sandbox.builtins import use_original_builtins

use_original_builtins(globals())

Function = Callable[..., object]


class Form(Struct, frozen=True):
    """Parameters of a function: those that it reads, those that it writes, the one rank."""

    reads: tuple[str, ...] = ()
    writes: tuple[str, ...] = ()
    root: str = ""
    kind: str = ""
    """The name on the tape; empty for the function's own."""


FORMS = {
    "all_reduce": Form(("tensor",), ("tensor",)),
    "all_reduce_coalesced": Form(("tensors",), ("tensors",), kind="all_reduce"),
    "broadcast": Form(("tensor",), ("tensor",), "src"),
    "reduce": Form(("tensor",), ("tensor",), "dst"),
    "all_gather": Form(("tensor",), ("tensor_list",)),
    "all_gather_single": Form(("input_tensor",), ("output_tensor",), kind="all_gather"),
    "all_gather_into_tensor": Form(("input_tensor",), ("output_tensor",), kind="all_gather"),
    "_all_gather_base": Form(("input_tensor",), ("output_tensor",), kind="all_gather"),
    "all_gather_coalesced": Form(
        ("input_tensor_list",), ("output_tensor_lists",), kind="all_gather"
    ),
    "reduce_scatter": Form(("input_list",), ("output",)),
    "reduce_scatter_single": Form(("input",), ("output",), kind="reduce_scatter"),
    "reduce_scatter_tensor": Form(("input",), ("output",), kind="reduce_scatter"),
    "_reduce_scatter_base": Form(("input",), ("output",), kind="reduce_scatter"),
    "gather": Form(("tensor",), ("gather_list",), "dst"),
    "scatter": Form(("scatter_list",), ("tensor",), "src"),
    "all_to_all": Form(("input_tensor_list",), ("output_tensor_list",)),
    "all_to_all_single": Form(("input",), ("output",), kind="all_to_all"),
    "send": Form(("tensor",), (), "dst"),
    "isend": Form(("tensor",), (), "dst", "send"),
    "recv": Form((), ("tensor",), "src"),
    "irecv": Form((), ("tensor",), "src", "recv"),
    "barrier": Form(),
    "monitored_barrier": Form(kind="barrier"),
    "all_gather_object": Form(),
    "gather_object": Form(root="dst"),
    "broadcast_object_list": Form(root="src"),
    "scatter_object_list": Form(root="src"),
}
"""The functions of torch.distributed that are recorded, as far as this torch has them."""
_PAIRS = ("send", "recv")
_FSDP = "_fsdp_collectives.py"


@dataclass(eq=False)
class Collectives:
    """Recorder of the collectives of one rank."""

    log: Log
    source: Source
    threads: RecordedThreads
    tensors: Tensors
    writes: Writes
    is_on: bool = False
    """True while collectives are recorded."""
    backend: str = ""
    """Name of the backend, once a collective was called."""
    _plain: list[tuple[ModuleType | type, str, object]] = field(default_factory=list)
    _counts: Counter[tuple[object, ...]] = field(default_factory=Counter)
    _pending: dict[int, tuple[object, CollectiveRow, list[torch.Tensor]]] = field(
        default_factory=dict
    )
    """Asynchronous collectives by the ``id()`` of their handle, which is kept."""
    _inside: threading.local = field(default_factory=threading.local)
    _delayed: list[tuple[CollectiveRow, list[torch.Tensor]]] = field(default_factory=list)
    """Collectives inside of the backward pass that runs, and what they wrote."""

    def start(self) -> None:
        """Begin to record collectives, if this process is a rank among others."""
        if not is_rank():
            return
        self.is_on = True
        module = sys.modules["torch.distributed.distributed_c10d"]
        for name, form in FORMS.items():
            plain = getattr(module, name, None)
            if plain is not None:
                self._replace((module, dist), name, self._recorded(name, form, plain))
        wait = torch._C._distributed_c10d.Work.wait
        self._replace((torch._C._distributed_c10d.Work,), "wait", self._waited(wait))

    def stop(self) -> None:
        """Give torch its own functions back."""
        for holder, name, plain in reversed(self._plain):
            setattr(holder, name, plain)
        self._plain.clear()
        self._pending.clear()
        self.is_on = False

    def _replace(self, holders: Sequence[ModuleType | type], name: str, function: Function) -> None:
        for holder in holders:
            if hasattr(holder, name):
                self._plain.append((holder, name, getattr(holder, name)))
                setattr(holder, name, function)

    def _recorded(self, name: str, form: Form, plain: Function) -> Function:
        signature = inspect.signature(plain)

        @functools.wraps(plain)
        def call(*args: object, **kwargs: object) -> object:
            if getattr(self._inside, "depth", 0) or not self.log.open:
                return plain(*args, **kwargs)
            row: CollectiveRow | None = None
            written: list[torch.Tensor] = []
            try:
                given = signature.bind(*args, **kwargs)
                given.apply_defaults()
                row, written = self._begin(form.kind or name, form, given.arguments)
            except Exception as error:  # noqa: BLE001 - torch says what is wrong with a call
                if not isinstance(error, TypeError | ValueError | RuntimeError):
                    self.log.stop_on_error(error)
            self._inside.depth = 1
            thread = self.threads.current()
            if thread is not None:
                thread.quiet += 1
            try:
                out = plain(*args, **kwargs)
            finally:
                self._inside.depth = 0
                if thread is not None:
                    thread.quiet -= 1
            if row is not None:
                self._called(row, written, out)
            return out

        return call

    def _begin(
        self, kind: str, form: Form, given: dict[str, object]
    ) -> tuple[CollectiveRow | None, list[torch.Tensor]]:
        """Note that a collective begins; None outside of its group."""
        group = group_ranks(given.get("group"))
        me = dist.get_rank()
        self.backend = self.backend or str(dist.get_backend())
        if me not in group:
            return None, []
        root = _root(form, given, group)
        where, _ = self.source.locate(sys._getframe(2))
        members = group
        if kind in _PAIRS:
            peer = root if root is not None else me
            members = (me, peer) if kind == "send" else (peer, me)
        reads = [t for name in form.reads for t in result_tensors(given.get(name))]
        row = self.add_row(kind, members, where, _reduction(given), root, _owner())
        thread = self.threads.current()
        if thread is None or where is None or not self.log.is_recording:
            return row, []
        row.run = thread.runs[-1].number if thread.runs else None
        with WithoutFunctionModes(), self.threads.lock:
            row.inputs = [self.tensors.value(t, where) for t in reads]
        return row, [t for name in form.writes for t in result_tensors(given.get(name))]

    def add_row(
        self,
        kind: str,
        group: tuple[int, ...],
        where: CodeLocation,
        reduce: str = "",
        root: int | None = None,
        owner: CollectiveOwner = "",
    ) -> CollectiveRow:
        """Add a collective that has begun, with the next number of its group."""
        key = (group, "pair" if kind in _PAIRS else owner == "ddp")
        row = CollectiveRow(kind, group, self._counts[key], where, [], [], reduce, root, owner)
        self._counts[key] += 1
        if self.log.is_recording or not self.log.collectives:
            self.log.collectives.append(row)
        else:
            # Past the limit only the last one matters: the program may wait in it.
            self.log.collectives[-1] = row
        return row

    def withdraw(self, rows: list[CollectiveRow]) -> None:
        """Remove collectives that were expected and did not take place."""
        for row in reversed(rows):
            self._counts[(row.group, row.owner == "ddp")] -= 1
            if self.log.collectives and row in self.log.collectives:
                self.log.collectives.remove(row)

    def _called(self, row: CollectiveRow, written: list[torch.Tensor], out: object) -> None:
        """Note that the function returned: the collective has ended, or is under way."""
        if row.kind == "recv" and row.root is None and isinstance(out, int):
            # From any rank: now it is known from which.
            row.group = (out, row.group[1])
            key = row.group, "pair"
            row.number = self._counts[key]
            self._counts[key] += 1
        if isinstance(out, torch._C._distributed_c10d.Work):
            self._pending[id(out)] = out, row, written
            return
        self.end(row, written)

    def _waited(self, plain: Function) -> Function:
        @functools.wraps(plain)
        def wait(work: object, *args: object, **kwargs: object) -> object:
            out = plain(work, *args, **kwargs)
            known = self._pending.pop(id(work), None)
            if known is not None and self.log.open:
                self.end(known[1], known[2])
            return out

        return wait

    def end(self, row: CollectiveRow, written: list[torch.Tensor]) -> None:
        """Record what a collective wrote; inside of a backward pass it counts as after it."""
        row.is_done = True
        if not written or not self.log.is_recording:
            return
        with WithoutFunctionModes(), self.threads.lock:
            try:
                self.write_op(row, written)
            except Exception as error:  # noqa: BLE001 - whatever it is, it is not the program's
                self.log.stop_on_error(error)

    def write_op(self, row: CollectiveRow, written: list[torch.Tensor]) -> None:
        """Add the op of a collective, with the new values of the tensors that it wrote."""
        log, index = self.log, len(self.log.ops)
        outputs: list[ValueRow] = []
        op = OpRow(
            next(log.ids),
            row.kind,
            row.inputs,
            [*row.inputs, *_literals(row)],
            row.where,
            None,
            False,
            "forward",
            True,
            0,
            outputs,
        )
        log.ops.append(op)
        row.op = index
        for t in written:
            value = self.tensors.add(t, row.where, index)
            outputs.append(value)
            if value.version:
                self.tensors.changed_by[value.storage] = index
        row.outputs = outputs
        if row.run is None:
            log.write(EventRow("op", index, row.where))
            self.writes.after_inplace_op(written, outputs, index, row.where)
        else:
            self._delayed.append((row, list(written)))

    def end_pass(self) -> None:
        """Write the events of collectives that ran inside of a backward pass that has ended."""
        delayed, self._delayed = self._delayed, []
        for row, written in delayed:
            assert row.op is not None
            self.log.write(EventRow("op", row.op, row.where))
            self.writes.after_inplace_op(written, row.outputs, row.op, row.where)


def is_rank() -> bool:
    """Return whether this process is one of several, or is going to be."""
    return dist.is_available() and (dist.is_initialized() or "RANK" in os.environ)


def group_ranks(group: object) -> tuple[int, ...]:
    """Return the ranks of a process group among all ranks; of all for None."""
    return tuple(dist.get_process_group_ranks(group))  # type: ignore[arg-type]


def _root(form: Form, given: dict[str, object], group: tuple[int, ...]) -> int | None:
    if not form.root:
        return None
    within = given.get(f"group_{form.root}")
    if isinstance(within, int):
        return group[within]
    root = given.get(form.root)
    return root if isinstance(root, int) else (None if form.root == "src" else group[0])


def _reduction(given: dict[str, object]) -> str:
    """Return the reduction as torch names it, in lower case; empty without one."""
    op = given.get("op")
    op = getattr(op, "op", op)
    return str(op).rpartition(".")[2].lower() if op is not None else ""


def _owner() -> CollectiveOwner:
    frame = sys._getframe(3)
    return "fsdp" if frame.f_code.co_filename.endswith(_FSDP) else ""


def _literals(row: CollectiveRow) -> list[object]:
    found: list[object] = [("op", row.reduce)] if row.reduce else []
    if row.root is not None:
        found.append(("dst" if row.kind in ("reduce", "gather", "send") else "src", row.root))
    return found
