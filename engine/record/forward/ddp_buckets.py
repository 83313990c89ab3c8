"""The buckets of DistributedDataParallel: each rank's own gradients in, their mean out.

DDP reduces its buckets in C++, while a backward pass runs, and puts the results into ``.grad`` at
its end. The gradients of this rank are those that were accumulated; nothing is added to what runs.
"""

import weakref
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import torch
from msgspec import Struct
from torch import distributed as dist

from gradscribe.engine.protocol.structs import replace
from gradscribe.engine.record.backward.backward_pass import Backward
from gradscribe.engine.record.forward.collectives import Collectives, group_ranks
from gradscribe.engine.record.log import CodeLocation, CollectiveRow, ValueRow
from gradscribe.engine.record.thread_state import RunningPass
from gradscribe.engine.sandbox.builtins import use_original_builtins

use_original_builtins(globals())

MOST_ELEMENTS = 1 << 26
"""Gradients of more elements are not asked for their new buckets, which torch would allocate."""
_WATCHED = ("__init__", "prepare_for_backward", "_rebuild_buckets")


class _Reduced(Struct, gc=False, eq=False):
    """A DDP module's reducer, by the parameters of its buckets."""

    parameters: "list[weakref.ref[torch.Tensor]]"
    buckets: list[list[int]]
    group: tuple[int, ...]
    shares_memory: bool
    """True if gradients are views of the buckets."""
    looks_for_unused: bool
    """True if parameters without a gradient do not stop it."""
    is_due: bool = False
    """True if the next backward pass through it reduces."""
    rows: list[CollectiveRow] = []


@dataclass(eq=False)
class DdpBuckets:
    """Recorder of the gradients that DDP reduces."""

    collectives: Collectives
    backward: Backward
    _known: dict[int, _Reduced] = field(default_factory=dict)
    """By ``id()`` of the reducer."""
    _plain: dict[str, Callable[..., Any]] = field(default_factory=dict)

    def start(self) -> None:
        """Begin to watch the reducers of DDP, if collectives are recorded."""
        if not self.collectives.is_on:
            return
        kind = _reducer()
        self._plain = {name: getattr(kind, name) for name in _WATCHED}
        for name in _WATCHED:
            setattr(kind, name, getattr(self, f"_{name.strip('_')}")(self._plain[name]))
        self.backward.pass_begins, self.backward.pass_ends = self._begin, self._end

    def stop(self) -> None:
        """Give torch its own functions back."""
        for name, plain in self._plain.items():
            setattr(_reducer(), name, plain)
        self._plain.clear()
        self._known.clear()

    def _init(self, plain: Callable[..., None]) -> Callable[..., None]:
        def init(reducer: object, *args: Any, **kwargs: Any) -> None:  # noqa: ANN401
            plain(reducer, *args, **kwargs)
            try:
                self._note(reducer, args, kwargs)
            except Exception as error:  # noqa: BLE001 - whatever it is, it is not the program's
                self.collectives.log.stop_on_error(error)

        return init

    def _note(self, reducer: object, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        parameters, buckets, group = args[0], args[1], args[3]
        shares = kwargs.get("gradient_as_bucket_view", args[7] if len(args) > 7 else False)
        self._known[id(reducer)] = _Reduced(
            [weakref.ref(t) for t in parameters],
            [list(one) for one in buckets],
            group_ranks(group),
            bool(shares),
            bool(kwargs.get("find_unused_parameters", args[6] if len(args) > 6 else False)),
        )

    def _prepare_for_backward(self, plain: Callable[..., None]) -> Callable[..., None]:
        def prepare(reducer: object, *args: Any) -> None:  # noqa: ANN401
            plain(reducer, *args)
            known = self._known.get(id(reducer))
            if known is not None:
                known.is_due = True

        return prepare

    def _rebuild_buckets(self, plain: Callable[..., bool]) -> Callable[..., bool]:
        def rebuild(reducer: Any) -> bool:  # noqa: ANN401
            is_new = plain(reducer)
            known = self._known.get(id(reducer))
            if is_new and known is not None:
                try:
                    self._read_buckets(reducer, known)
                except Exception as error:  # noqa: BLE001 - whatever it is, it is not the program's
                    self.collectives.log.stop_on_error(error)
            return is_new

        return rebuild

    def _read_buckets(self, reducer: Any, known: _Reduced) -> None:  # noqa: ANN401
        """Read the buckets that torch made anew, in the order in which gradients came."""
        alive = [(at, t) for at, ref in enumerate(known.parameters) if (t := ref()) is not None]
        if sum(t.numel() for _, t in alive) > MOST_ELEMENTS:
            return
        index = {id(t): at for at, t in alive}
        known.buckets = [
            [index[id(t)] for t in bucket.parameters() if id(t) in index]
            for bucket in reducer._get_zeros_like_grad_buckets()
        ]

    def _begin(self, run: RunningPass, where: CodeLocation) -> None:
        """Note the buckets that a pass may reduce: a rank may wait for the others in it."""
        for known in self._known.values():
            if known.is_due:
                known.rows = [
                    self.collectives.add_row("all_reduce", known.group, where, "avg", None, "ddp")
                    for _ in known.buckets
                ]
                for row in known.rows:
                    row.run = run.number

    def _end(self, run: RunningPass) -> None:
        """Record what each bucket was given and what came out of it."""
        log = self.collectives.log
        self.collectives.end_pass()
        arrived = {a.leaf: at for at, a in enumerate(log.accumulations) if a.run == run.number}
        for known in self._known.values():
            if not known.rows:
                continue
            rows, known.rows = known.rows, []
            if not self._took_part(known, arrived):
                self.collectives.withdraw(rows)
                continue
            known.is_due = False
            if not (known.looks_for_unused or self._is_complete(known, arrived)):
                # It reduces none of its buckets until it has the gradients of all.
                continue
            for row, bucket in zip(rows, known.buckets, strict=True):
                self._reduced(row, known, bucket, arrived)

    def _is_complete(self, known: _Reduced, arrived: dict[int, int]) -> bool:
        """Return whether every parameter has got a gradient in the pass."""
        value = self.collectives.tensors.known
        alive = [t for ref in known.parameters if (t := ref()) is not None]
        return all((row := value(t)) is not None and row.id in arrived for t in alive)

    def _took_part(self, known: _Reduced, arrived: dict[int, int]) -> bool:
        value = self.collectives.tensors.known
        return any(
            (t := ref()) is not None and (row := value(t)) is not None and row.id in arrived
            for ref in known.parameters
        )

    def _reduced(
        self, row: CollectiveRow, known: _Reduced, bucket: list[int], arrived: dict[int, int]
    ) -> None:
        """Record a bucket that has been reduced."""
        written: list[torch.Tensor] = []
        for at in bucket:
            t = known.parameters[at]()
            if t is None or t.grad is None:
                continue
            tensors = self.collectives.tensors
            leaf = tensors.value(t, None)
            local = self._local(known, arrived.get(leaf.id))
            tensors.mark_gradient(t.grad, leaf)
            written.append(t.grad)
            if local is not None:
                row.inputs.append(self._own_gradient(t.grad, row.where, local))
        row.is_done = True
        if written:
            self.collectives.write_op(row, written)
            self.collectives.end_pass()

    def _own_gradient(self, grad: torch.Tensor, where: CodeLocation, local: int) -> ValueRow:
        """Add the value that a ``.grad`` had before it was reduced."""
        value = self.collectives.tensors.add(grad, where, None, ".grad")
        value.snapshot = local
        self.collectives.log.add_event("leaf", value.id, where)
        return value

    def _local(self, known: _Reduced, at: int | None) -> int | None:
        """Return the snapshot of this rank's own gradient, of an accumulation of the pass."""
        if at is None:
            return None
        rows = self.collectives.log.accumulations
        if known.shares_memory:
            # The bucket was being reduced when it was read.
            row = rows[at]
            rows[at] = replace(row, after=row.sent if row.before is None else None)
        return rows[at].after


def _reducer() -> type:
    """Return torch's class of reducers; a torch without distributed has none."""
    kind: type = vars(dist)["Reducer"]
    return kind
