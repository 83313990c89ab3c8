"""Forward ops: every torch function that Python calls passes through here.

A TorchFunctionMode sees user-level calls (``linear`` is one op, not three aten ops) and does not
affect the results. Torch's other extension points do: saved_tensors_hooks disable its in-place
checks, a TorchDispatchMode changes the gradients of ``prod``.

For each call: read the arguments (`plain_arguments`, else `ForwardMode.given`); run it; find what
it returned or changed (`ForwardMode.called`); record op, values and backward nodes
(`ForwardMode._results`).
"""

import functools
import sys
from collections.abc import Callable
from time import perf_counter_ns
from typing import TYPE_CHECKING

import torch
from torch.overrides import TorchFunctionMode

from gradscribe.engine.protocol.tape import Change, Reset
from gradscribe.engine.record.backward.backward_pass import PassReached
from gradscribe.engine.record.backward.nodes import LAST_NUMBER, NodeAndRow
from gradscribe.engine.record.forward.arguments import (
    CallArguments,
    argument_tensors,
    plain_arguments,
    result_tensors,
    stored_arguments,
)
from gradscribe.engine.record.forward.functions import classify, known_functions
from gradscribe.engine.record.forward.tensor_likes import (
    Types,
    are_tensor_likes,
    dispatch_to_tensor_like,
)
from gradscribe.engine.record.log import EventRow, OpRow, ValueRow
from gradscribe.engine.record.source import CodeLocation
from gradscribe.engine.record.values.raw_reads import PLAIN_TENSOR_TYPES, is_jit_tracing
from gradscribe.engine.record.values.tensors import is_leaf, version
from gradscribe.engine.run.async_devices import BOUNDS_CHECKING_OPS, synchronize
from gradscribe.engine.sandbox.builtins import use_original_builtins

if TYPE_CHECKING:
    from gradscribe.engine.record.recorder import Recorder
    from gradscribe.engine.record.threads import ThreadState

use_original_builtins(globals())

Function = Callable[..., object]

_next_number = torch._C._autograd._get_sequence_nr
"""The sequence number that this thread's next backward node will get."""
_is_grad_enabled = torch._C.is_grad_enabled
_WithoutModes = torch._C.DisableTorchFunction
"""A context in which the program's function modes do not see the recorder's own reads."""

_SHARING = frozenset(("as_tensor", "asarray"))
"""Factories whose results may share the memory of a NumPy array."""
_DETACHING = frozenset(("detach", "detach_", "data"))


class ForwardMode(TorchFunctionMode):
    """Function mode that records every torch function that Python calls in one thread."""

    def __init__(self, recorder: "Recorder", lane: "ThreadState") -> None:
        self.recorder = recorder
        self.log = recorder.log
        self.lane = lane
        self.lock = recorder.threads.lock

    def __torch_function__(
        self,
        func: Function,
        types: Types,
        args: tuple[object, ...] = (),
        kwargs: dict[str, object] | None = None,
    ) -> object:
        """Call ``func`` and record what it did to tensors."""
        kwargs = kwargs or {}
        try:
            kind_and_name = known_functions.get(func)
        except TypeError:
            kind_and_name = None
        if kind_and_name is None:
            func, kind_and_name = classify(func, sys._getframe(1))
        kind, name = kind_and_name
        if kind == "reader":
            if self.recorder.tensors.exposed and self.log.is_recording:
                with _WithoutModes(), self.lock:
                    self.recorder.writes.read(args)
            return func(*args, **kwargs)
        if self.lane.quiet or not self.log.is_recording or is_jit_tracing():
            return func(*args, **kwargs)
        if types and are_tensor_likes(types):
            return dispatch_to_tensor_like(self, func, types, args, kwargs)
        if kind in ("op", "factory", "running"):
            return self._op(kind, name, func, args, kwargs)
        return self._attribute(kind, func, args, kwargs)

    def _attribute(
        self, kind: str, func: Function, args: tuple[object, ...], kwargs: dict[str, object]
    ) -> object:
        recorder, tensor = self.recorder, args[0]
        out = func(*args, **kwargs)
        assert isinstance(tensor, torch.Tensor)
        with _WithoutModes(), recorder.threads.lock:
            known = recorder.tensors.known(tensor)
            if known is None:
                return out
            if kind == "flag":
                known.requires_grad = tensor.requires_grad
                known.is_constant = known.is_constant and not is_leaf(tensor)
            elif kind == "grad get" and isinstance(out, torch.Tensor):
                recorder.tensors.mark_gradient(out, known)
                self._gradient_read(tensor)
            elif kind == "grad set":
                where, doing = recorder.source.locate(sys._getframe(1))
                if not doing and args[1] is None:
                    recorder.reset(Reset((known.id,), True), where)
                elif not doing and is_leaf(tensor):
                    recorder.writes.gradients([(tensor, None)], where)
            elif kind == "data set":
                where, _ = recorder.source.locate(sys._getframe(1))
                is_other = recorder.tensors.differs(tensor, known)
                after = recorder.tensors.add(tensor, where)
                recorder.writes.record_changes(
                    [Change(known.id, after.id)] if is_other else [], where
                )
            elif kind == "exposing":
                recorder.tensors.exposed.add(known.storage)
        return out

    def _op(
        self,
        kind: str,
        name: str,
        func: Function,
        args: tuple[object, ...],
        kwargs: dict[str, object],
    ) -> object:
        recorder, lane = self.recorder, self.lane
        where, doing = recorder.source.locate(sys._getframe(2), lane)
        if doing or where is None:
            return func(*args, **kwargs)
        tensors = recorder.tensors
        given = None if tensors.exposed else plain_arguments(args, kwargs, tensors.values_by_id)
        if given is None:
            given = self.read_arguments(args, kwargs, where, kind == "factory")
            if given is None:
                return func(*args, **kwargs)
        since = _next_number()
        begun = perf_counter_ns()
        try:
            out = func(*args, **kwargs)
            if (
                name in BOUNDS_CHECKING_OPS
                and given.tensors
                and type(given.tensors[0]) in PLAIN_TENSOR_TYPES
            ):
                synchronize(given.tensors[0])
        except Exception as error:
            recorder.failure.note(lane, error, name, where, given)
            raise
        took = perf_counter_ns() - begun
        given.since, given.took = since, took
        # A tensor subclass of the user's must not see the recorder's own look-ups.
        with _WithoutModes(), self.lock:
            try:
                if kind == "factory" or not given.tensors:
                    self._factory(name, out, where, given.tensors)
                else:
                    self.record_result(name, where, given, out, kind == "running")
            except Exception as error:  # noqa: BLE001 - whatever it is, it is not the program's
                self.log.stop_on_error(error)
        return out

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
        tensors = self.recorder.tensors
        with _WithoutModes(), self.lock:
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

    def record_result(
        self, name: str, where: CodeLocation, seen: CallArguments, out: object, running: bool
    ) -> None:
        """Record what a function returned and which of its arguments it changed.

        ``running``: it may have changed running statistics without incrementing their version.
        """
        tensors, given = self.recorder.tensors, seen.tensors
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
                self._results(name, where, [out], seen, False)
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
                self.recorder.reset(Reset((leaf.id,), False), where, [leaf.ref()])
                return
            results += changed
        if len(results) > 1:
            results = list({id(t): t for t in results}.values())
        if results:
            self._results(name, where, results, seen, bool(changed))

    def _factory(
        self, name: str, out: object, where: CodeLocation, given: list[torch.Tensor]
    ) -> None:
        for t in result_tensors(out):
            if not _among(t, given):
                value = self.recorder.tensors.value(t, where, maker=name)
                if name in _SHARING:
                    self.recorder.tensors.exposed.add(value.storage)

    def _results(
        self,
        name: str,
        where: CodeLocation,
        results: list[torch.Tensor],
        seen: CallArguments,
        inplace: bool,
    ) -> None:
        lane, log, recorder = self.lane, self.log, self.recorder
        nodes, add, index = recorder.nodes, recorder.tensors.add, len(log.ops)
        made: list[NodeAndRow] = []
        outputs: list[ValueRow] = []
        row = OpRow(
            next(log.ids),
            name,
            seen.values,
            seen.args,
            where,
            lane.calls[-1].index if lane.calls else None,
            _is_grad_enabled(),
            "backward" if lane.runs else "forward",
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
                    recorder.tensors.note_write(value, index)
            if made:
                row.node = made[0][1].id
                row.nodes = nodes.claim(made, index)
        except BaseException:
            # A program that recurses too deeply may reach the recursion limit just here.
            log.undo_op(index)
            raise
        finally:
            nodes.since = LAST_NUMBER
        if not lane.runs:
            log.write(EventRow("op", index, where))
            if inplace:
                recorder.writes.after_inplace_op(results, outputs, index, where)

    def _gradient_read(self, tensor: torch.Tensor) -> None:
        """Check a gradient that the program reads: some writes to it bypass the recorder."""
        if self.lane.steps or self.lane.runs or not is_leaf(tensor):
            return
        where, doing = self.recorder.source.locate(sys._getframe(2))
        if not doing:
            self.recorder.writes.gradients([(tensor, None)], where)

    def _detached(self, t: torch.Tensor, value: ValueRow, seen: CallArguments) -> None:
        tensors = self.recorder.tensors
        value.is_constant = True
        # w.grad.data.zero_() resets w's gradient, too.
        leaf = tensors.leaf_of_gradient(seen.tensors[0])
        if leaf is not None:
            tensors.mark_gradient(t, leaf)


def record_opaque_call(
    recorder: "Recorder",
    lane: "ThreadState",
    name: str,
    apply: Function,
    args: tuple[object, ...],
    kwargs: dict[str, object],
) -> object:
    """Record a call of a custom ``autograd.Function`` as a single op."""
    where, doing = recorder.source.locate(sys._getframe(2), lane)
    if doing or where is None or not argument_tensors(args, kwargs):
        return apply(*args, **kwargs)
    given = lane.mode.read_arguments(args, kwargs, where)
    if given is None:
        return apply(*args, **kwargs)
    since = _next_number()
    lane.quiet += 1
    begun = perf_counter_ns()
    try:
        if recorder.stop_at_function is not None and recorder.stop_at_function[0] == len(
            recorder.log.ops
        ):
            recorder.stop_at_function[1](apply, args, kwargs)
            raise PassReached
        out = apply(*args, **kwargs)
    except Exception as error:
        recorder.failure.note(lane, error, name, where, given)
        raise
    finally:
        took = perf_counter_ns() - begun
        lane.quiet -= 1
    with torch._C.DisableTorchFunction(), recorder.threads.lock:
        try:
            given.since, given.took = since, took
            lane.mode.record_result(name, where, given, out, False)
        except Exception as error:  # noqa: BLE001 - whatever it is, it is not the program's
            recorder.log.stop_on_error(error)
    return out


def _among(t: torch.Tensor, given: list[torch.Tensor]) -> bool:
    """Return whether a tensor is in a list; ``in`` would compare elements."""
    for other in given:  # noqa: SIM110 (a generator costs three times as much)
        if other is t:
            return True
    return False
