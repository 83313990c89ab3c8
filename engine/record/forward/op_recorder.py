"""Recording of ops: what a call of a torch function returned or changed, and its backward nodes.

For each call: read its arguments (`plain_arguments`, else `OpRecorder.read_arguments`), find what
it returned or changed (`OpRecorder.record_result`), record op, values and backward nodes.
"""

import functools
import sys
from collections.abc import Callable
from dataclasses import dataclass
from time import perf_counter_ns

import torch

from gradscribe.engine.protocol.tape import Reset
from gradscribe.engine.record.backward.backward_pass import PassReached
from gradscribe.engine.record.backward.nodes import LAST_NUMBER, NodeAndRow, Nodes
from gradscribe.engine.record.forward.arguments import (
    CallArguments,
    argument_tensors,
    plain_arguments,
    result_tensors,
    stored_arguments,
)
from gradscribe.engine.record.forward.failure import FailurePoint
from gradscribe.engine.record.log import CodeLocation, EventRow, Log, OpRow, ValueRow
from gradscribe.engine.record.source import Source
from gradscribe.engine.record.thread_state import ThreadState
from gradscribe.engine.record.threads import RecordedThreads
from gradscribe.engine.record.values.raw_reads import WithoutFunctionModes
from gradscribe.engine.record.values.tensors import Tensors, version
from gradscribe.engine.record.writes import Writes
from gradscribe.engine.sandbox.builtins import use_original_builtins

use_original_builtins(globals())

Function = Callable[..., object]

next_number = torch._C._autograd._get_sequence_nr
"""The sequence number that this thread's next backward node will get."""
_is_grad_enabled = torch._C.is_grad_enabled

_SHARING = frozenset(("as_tensor", "asarray"))
"""Factories whose results may share the memory of a NumPy array."""
_DETACHING = frozenset(("detach", "detach_", "data"))


@dataclass(eq=False)
class OpRecorder:
    """Recorder of the ops of a run, in all its threads."""

    log: Log
    source: Source
    threads: RecordedThreads
    tensors: Tensors
    nodes: Nodes
    writes: Writes
    failure: FailurePoint
    stop_at_function: tuple[int, Callable[..., None]] | None = None
    """(index of an op, callback that gets a custom Function and its arguments): the program is
    stopped, by raising `PassReached`, in place of that op."""

    def __post_init__(self) -> None:
        self.lock = self.threads.lock

    def read_arguments(
        self,
        args: tuple[object, ...],
        kwargs: dict[str, object],
        where: CodeLocation,
        fresh: bool = False,
    ) -> CallArguments | None:
        """Return a call's arguments; tensors that are new or were changed become values.

        None if they cannot be read. ``fresh``: the result does not depend on their data.
        """
        tensors = self.tensors
        with WithoutFunctionModes(), self.lock:
            try:
                meet = functools.partial(tensors.value, where=where)
                plain = (
                    None
                    if tensors.exposed or fresh
                    else plain_arguments(args, kwargs, tensors.values_by_id, meet)
                )
                if plain is not None:
                    return plain
                given = argument_tensors(args, kwargs)
                if fresh:
                    return CallArguments(given, [], [])
                values = [meet(t) for t in given]
                return CallArguments(given, values, stored_arguments(args, kwargs, given, values))
            except Exception as error:  # noqa: BLE001 - whatever it is, it is not the program's
                self.log.stop_on_error(error)
                return None

    def note_failure(
        self,
        thread: ThreadState,
        error: Exception,
        name: str,
        where: CodeLocation,
        given: CallArguments,
    ) -> None:
        """Note that a call raised."""
        try:
            self.failure.note(thread, error, name, where, given)
        except Exception as fault:  # noqa: BLE001 - whatever it is, it is not the program's
            self.log.stop_on_error(fault)

    def record_result(
        self,
        thread: ThreadState,
        name: str,
        where: CodeLocation,
        seen: CallArguments,
        out: object,
        running: bool,
    ) -> None:
        """Record what a function returned and which of its arguments it changed.

        ``running``: it may have changed running statistics without incrementing their version.
        """
        tensors, given = self.tensors, seen.tensors
        if type(out) is torch.Tensor and not running:
            is_new = True
            try:
                for t, row in zip(given, seen.values):  # noqa: B905 (a keyword costs as much again)
                    if t is out or t._version != row.version:
                        is_new = False
                        break
            except RuntimeError:
                is_new = False
            if is_new:
                # No argument is the result, and none was changed.
                self._results(thread, name, where, [out], seen, False)
                return
        pairs = list(zip(given, seen.values, strict=True))
        changed = [t for t, row in pairs if version(t) != row.version]
        if running:
            unseen = [t for t, row in pairs if not t.requires_grad and tensors.differs(t, row)]
            changed = [t for t in given if _among(t, changed) or _among(t, unseen)]
        results = [t for t in result_tensors(out) if not _among(t, given)]
        if changed:
            leaf = tensors.leaf_of_gradient(changed[0]) if not results else None
            if leaf is not None and name == "zero_":
                tensors.add(changed[0], where)
                self.writes.record_reset(Reset((leaf.id,), False), where, [leaf.ref()])
                return
            results += changed
        if len(results) > 1:
            results = list({id(t): t for t in results}.values())
        if results:
            self._results(thread, name, where, results, seen, bool(changed))

    def record_factory(
        self, name: str, out: object, where: CodeLocation, given: list[torch.Tensor]
    ) -> None:
        """Record the tensors that a factory made."""
        for t in result_tensors(out):
            if not _among(t, given):
                value = self.tensors.value(t, where, maker=name)
                if name in _SHARING:
                    self.tensors.exposed.add(value.storage)

    def record_opaque_call(
        self,
        thread: ThreadState,
        name: str,
        apply: Function,
        args: tuple[object, ...],
        kwargs: dict[str, object],
    ) -> object:
        """Record a call of a custom ``autograd.Function`` as a single op."""
        given = None
        try:
            where, doing = self.source.locate(sys._getframe(2), thread)
            if not doing and where is not None and argument_tensors(args, kwargs):
                given = self.read_arguments(args, kwargs, where)
        except Exception as error:  # noqa: BLE001 - whatever it is, it is not the program's
            self.log.stop_on_error(error)
        if given is None:
            return apply(*args, **kwargs)
        since = next_number()
        thread.quiet += 1
        begun = perf_counter_ns()
        try:
            stop = self.stop_at_function
            if stop is not None and stop[0] == len(self.log.ops):
                stop[1](apply, args, kwargs)
                raise PassReached
            out = apply(*args, **kwargs)
        except Exception as error:
            self.note_failure(thread, error, name, where, given)
            raise
        finally:
            took = perf_counter_ns() - begun
            thread.quiet -= 1
        with WithoutFunctionModes(), self.lock:
            try:
                given.since, given.took = since, took
                self.record_result(thread, name, where, given, out, False)
            except Exception as error:  # noqa: BLE001 - whatever it is, it is not the program's
                self.log.stop_on_error(error)
        return out

    def _results(
        self,
        thread: ThreadState,
        name: str,
        where: CodeLocation,
        results: list[torch.Tensor],
        seen: CallArguments,
        inplace: bool,
    ) -> None:
        log, nodes, add = self.log, self.nodes, self.tensors.add
        index = len(log.ops)
        made: list[NodeAndRow] = []
        outputs: list[ValueRow] = []
        row = OpRow(
            next(log.ids),
            name,
            seen.values,
            seen.args,
            where,
            thread.calls[-1].index if thread.calls else None,
            _is_grad_enabled(),
            "backward" if thread.runs else "forward",
            inplace,
            seen.took,
            outputs,
        )
        log.ops.append(row)
        nodes.since = seen.since
        try:
            for t in results:
                value = add(t, where, index, "", made)
                outputs.append(value)
                if name in _DETACHING:
                    self._detached(t, value, seen)
                # A new view of memory that was written to before shares its version counter.
                if inplace and value.version:
                    self.tensors.changed_by[value.storage] = index
            if made:
                row.node = made[0][1].id
                row.nodes = nodes.claim(made, index)
        except BaseException:
            # A program that recurses too deeply may reach the recursion limit just here.
            log.undo_op(index)
            raise
        finally:
            nodes.since = LAST_NUMBER
        if not thread.runs:
            log.write(EventRow("op", index, where))
            if inplace:
                self.writes.after_inplace_op(results, outputs, index, where)

    def _detached(self, t: torch.Tensor, value: ValueRow, seen: CallArguments) -> None:
        tensors = self.tensors
        value.is_constant = True
        # w.grad.data.zero_() resets w's gradient, too.
        leaf = tensors.leaf_of_gradient(seen.tensors[0])
        if leaf is not None:
            tensors.mark_gradient(t, leaf)


def _among(t: torch.Tensor, given: list[torch.Tensor]) -> bool:
    """Return whether a tensor is in a list; ``in`` would compare elements."""
    for other in given:  # noqa: SIM110 (a generator costs three times as much)
        if other is t:
            return True
    return False
