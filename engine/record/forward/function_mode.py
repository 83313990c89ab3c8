"""Forward ops: every torch function that Python calls passes through here.

A TorchFunctionMode sees user-level calls (``linear`` is one op, not three aten ops) and does not
affect the results. Torch's other extension points do: saved_tensors_hooks disable its in-place
checks, a TorchDispatchMode changes the gradients of ``prod``.

What a call returned or changed is recorded by `OpRecorder`.
"""

import sys
from time import perf_counter_ns
from types import FrameType

import torch
from torch.overrides import TorchFunctionMode

from gradscribe.engine.protocol.tape import Change, Reset
from gradscribe.engine.record.forward.arguments import plain_arguments
from gradscribe.engine.record.forward.bounds_checks import BOUNDS_CHECKING_OPS, synchronize
from gradscribe.engine.record.forward.functions import (
    DROPPED,
    classify,
    known_functions,
    with_dropped,
)
from gradscribe.engine.record.forward.op_recorder import Function, OpRecorder, next_number
from gradscribe.engine.record.forward.tensor_likes import (
    Types,
    are_tensor_likes,
    dispatch_to_tensor_like,
)
from gradscribe.engine.record.thread_state import ThreadState
from gradscribe.engine.record.values.raw_reads import (
    PLAIN_TENSOR_TYPES,
    WithoutFunctionModes,
    is_jit_tracing,
)
from gradscribe.engine.record.values.tensors import is_leaf
from gradscribe.engine.sandbox.builtins import use_original_builtins

use_original_builtins(globals())


_HANDLE = torch.overrides.handle_torch_function.__code__


class ForwardMode(TorchFunctionMode):
    """Function mode that records every torch function that Python calls in one thread."""

    def __init__(self, ops: OpRecorder) -> None:
        self.ops = ops
        self.log = ops.log
        self.source = ops.source
        self.lock = ops.lock
        self.tensors = ops.tensors
        self.writes = ops.writes
        self.thread = ThreadState(self)
        """The state of the thread in which it is active."""

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
            try:
                caller = sys._getframe(1)
                func, kind_and_name = classify(func, caller)
                if func in DROPPED:
                    kwargs = with_dropped(func, kwargs, caller)
            except Exception as error:  # noqa: BLE001 - whatever it is, it is not the program's
                self.log.stop_on_error(error)
                return func(*args, **kwargs)
        kind, name = kind_and_name
        if kind == "reader":
            if self.tensors.exposed and self.log.is_recording:
                with WithoutFunctionModes(), self.lock:
                    try:
                        self.writes.read(args)
                    except Exception as error:  # noqa: BLE001 - whatever it is, it is not the program's
                        self.log.stop_on_error(error)
            return func(*args, **kwargs)
        if self.thread.quiet or not self.log.is_recording or is_jit_tracing():
            return func(*args, **kwargs)
        if types and are_tensor_likes(types):
            return dispatch_to_tensor_like(self, func, types, args, kwargs)
        if kind in ("op", "factory", "running"):
            return self._op(kind, name, func, args, kwargs)
        return self._attribute(kind, func, args, kwargs)

    def _attribute(
        self, kind: str, func: Function, args: tuple[object, ...], kwargs: dict[str, object]
    ) -> object:
        out = func(*args, **kwargs)
        with WithoutFunctionModes(), self.lock:
            try:
                if args and isinstance(args[0], torch.Tensor):
                    self._attribute_used(kind, args[0], args, out)
            except Exception as error:  # noqa: BLE001 - whatever it is, it is not the program's
                self.log.stop_on_error(error)
        return out

    def _attribute_used(
        self, kind: str, tensor: torch.Tensor, args: tuple[object, ...], out: object
    ) -> None:
        """Record that an attribute was read or set."""
        tensors = self.tensors
        known = tensors.known(tensor)
        if known is None:
            return
        if kind == "flag":
            known.requires_grad = tensor.requires_grad
            known.is_constant = known.is_constant and not is_leaf(tensor)
        elif kind == "grad get" and isinstance(out, torch.Tensor):
            tensors.mark_gradient(out, known)
            self._gradient_read(tensor)
        elif kind == "grad set":
            where, doing = self.source.locate(sys._getframe(2))
            if not doing and args[1] is None:
                self.writes.record_reset(Reset((known.id,), True), where)
            elif not doing and is_leaf(tensor):
                self.writes.gradients([(tensor, None)], where)
        elif kind == "data set":
            where, _ = self.source.locate(sys._getframe(2))
            is_other = tensors.differs(tensor, known)
            after = tensors.add(tensor, where)
            self.log.add_changes([Change(known.id, after.id)] if is_other else [], where)
        elif kind == "exposing" or (kind == "addressing" and self._is_programs(sys._getframe(3))):
            tensors.exposed.add(known.storage)

    def _is_programs(self, frame: FrameType | None) -> bool:
        """Return whether a call of the frame, or of torch's function in it, is the program's own.

        Torch itself looks at addresses all the time, to print or to copy.
        """
        if frame is not None and frame.f_code is _HANDLE:
            frame = frame.f_back.f_back if frame.f_back is not None else None
        return frame is not None and frame.f_code.co_filename == self.source.filename

    def _op(
        self,
        kind: str,
        name: str,
        func: Function,
        args: tuple[object, ...],
        kwargs: dict[str, object],
    ) -> object:
        thread, tensors, ops = self.thread, self.tensors, self.ops
        try:
            where, doing = self.source.locate(sys._getframe(2), thread)
            if doing or where is None:
                given = None
            else:
                given = (
                    None if tensors.exposed else plain_arguments(args, kwargs, tensors.values_by_id)
                ) or ops.read_arguments(args, kwargs, where, kind == "factory")
        except Exception as error:  # noqa: BLE001 - whatever it is, it is not the program's
            self.log.stop_on_error(error)
            given = None
        if given is None:
            return func(*args, **kwargs)
        since = next_number()
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
            ops.note_failure(thread, error, name, where, given)
            raise
        took = perf_counter_ns() - begun
        given.since, given.took = since, took
        # A tensor subclass of the user's must not see the recorder's own look-ups.
        with WithoutFunctionModes(), self.lock:
            try:
                if kind == "factory" or not given.tensors:
                    ops.record_factory(name, out, where, given.tensors)
                else:
                    ops.record_result(thread, name, where, given, out, kind == "running")
            except Exception as error:  # noqa: BLE001 - whatever it is, it is not the program's
                self.log.stop_on_error(error)
        return out

    def _gradient_read(self, tensor: torch.Tensor) -> None:
        """Check a gradient that the program reads: some writes to it bypass the recorder."""
        if self.thread.steps or self.thread.runs or not is_leaf(tensor):
            return
        where, doing = self.source.locate(sys._getframe(2))
        if not doing:
            self.writes.gradients([(tensor, None)], where)
