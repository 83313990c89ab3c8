"""Forward ops: every torch function that Python calls passes through here.

A TorchFunctionMode sees user-level calls (``linear`` is one op, not three aten ops) and does not
affect the results. Torch's other extension points do: saved_tensors_hooks disable its in-place
checks, a TorchDispatchMode changes the gradients of ``prod``.

For each call: read the arguments (`everyday`, else `ForwardMode.given`); run it; find what it
returned or changed (`ForwardMode.called`); record op, values and backward nodes
(`ForwardMode._results`).
"""

import functools
import sys
from collections.abc import Callable
from time import perf_counter_ns
from typing import TYPE_CHECKING

import torch
from torch.overrides import TorchFunctionMode

from engine.asynchronous import CHECKING, wait_for
from engine.record.arguments import Given, everyday, kept_args, tensors_given, tensors_in
from engine.record.backward import PassReached
from engine.record.functions import meet, met
from engine.record.log import EventRow, OpRow, ValueRow
from engine.record.lookalikes import Types, are_lookalikes, ask
from engine.record.nodes import LAST, Met
from engine.record.source import Where
from engine.record.tensors import is_leaf, version
from engine.record.unseen import USUAL, is_traced
from engine.tape import Change, Reset
from engine.untouched import keep_builtins

if TYPE_CHECKING:
    from engine.record.lanes import Lane
    from engine.record.recorder import Recorder

keep_builtins(globals())

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

    def __init__(self, recorder: "Recorder", lane: "Lane") -> None:
        self.recorder = recorder
        self.log = recorder.log
        self.lane = lane
        self.lock = recorder.lanes.lock

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
            kind_and_name = met.get(func)
        except TypeError:
            kind_and_name = None
        if kind_and_name is None:
            func, kind_and_name = meet(func, sys._getframe(1))
        kind, name = kind_and_name
        if kind == "reader":
            if self.recorder.tensors.exposed and self.log.writing:
                with _WithoutModes(), self.lock:
                    self.recorder.writes.read(args)
            return func(*args, **kwargs)
        if self.lane.quiet or not self.log.writing or is_traced():
            return func(*args, **kwargs)
        if types and are_lookalikes(types):
            return ask(self, func, types, args, kwargs)
        if kind in ("op", "factory", "running"):
            return self._op(kind, name, func, args, kwargs)
        return self._attribute(kind, func, args, kwargs)

    def _attribute(
        self, kind: str, func: Function, args: tuple[object, ...], kwargs: dict[str, object]
    ) -> object:
        recorder, tensor = self.recorder, args[0]
        out = func(*args, **kwargs)
        assert isinstance(tensor, torch.Tensor)
        with _WithoutModes(), recorder.lanes.lock:
            known = recorder.tensors.known(tensor)
            if known is None:
                return out
            if kind == "flag":
                known.requires_grad = tensor.requires_grad
                known.is_constant = known.is_constant and not is_leaf(tensor)
            elif kind == "grad get" and isinstance(out, torch.Tensor):
                recorder.tensors.is_gradient_of(out, known)
                self._gradient_read(tensor)
            elif kind == "grad set":
                where, doing = recorder.source.here(sys._getframe(1))
                if not doing and args[1] is None:
                    recorder.reset(Reset((known.id,), True), where)
                elif not doing and is_leaf(tensor):
                    recorder.writes.gradients([(tensor, None)], where)
            elif kind == "data set":
                where, _ = recorder.source.here(sys._getframe(1))
                is_other = recorder.tensors.differs(tensor, known)
                after = recorder.tensors.add(tensor, where)
                recorder.writes.changed([Change(known.id, after.id)] if is_other else [], where)
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
        where, doing = recorder.source.here(sys._getframe(2), lane)
        if doing or where is None:
            return func(*args, **kwargs)
        tensors = recorder.tensors
        given = None if tensors.exposed else everyday(args, kwargs, tensors.seen)
        if given is None:
            given = self.given(args, kwargs, where, kind == "factory")
            if given is None:
                return func(*args, **kwargs)
        since = _next_number()
        begun = perf_counter_ns()
        try:
            out = func(*args, **kwargs)
            if name in CHECKING and given.tensors and type(given.tensors[0]) in USUAL:
                wait_for(given.tensors[0])
        except Exception as error:
            recorder.failed.note(lane, error, name, where, given)
            raise
        took = perf_counter_ns() - begun
        given.since, given.took = since, took
        # A tensor subclass of the user's must not see the recorder's own look-ups.
        with _WithoutModes(), self.lock:
            try:
                if kind == "factory" or not given.tensors:
                    self._factory(name, out, where, given.tensors)
                else:
                    self.called(name, where, given, out, kind == "running")
            except Exception as error:  # noqa: BLE001 - whatever it is, it is not the program's
                self.log.give_up(error)
        return out

    def given(
        self,
        args: tuple[object, ...],
        kwargs: dict[str, object],
        where: Where,
        fresh: bool = False,
    ) -> Given | None:
        """Return a call's arguments; tensors that are new or were changed become values.

        None if they cannot be read. ``fresh``: the result does not depend on their data.
        """
        tensors = self.recorder.tensors
        with _WithoutModes(), self.lock:
            try:
                meet = functools.partial(tensors.value, where=where)
                plain = (
                    None if tensors.exposed or fresh else everyday(args, kwargs, tensors.seen, meet)
                )
                if plain is not None:
                    return plain
                given = tensors_given(args, kwargs)
                if fresh:
                    return Given(given, [], [])
                values = [meet(t) for t in given]
                return Given(given, values, kept_args(args, kwargs, given, values))
            except Exception as error:  # noqa: BLE001 - whatever it is, it is not the program's
                self.log.give_up(error)
                return None

    def called(self, name: str, where: Where, seen: Given, out: object, running: bool) -> None:
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
        results = [t for t in tensors_in(out) if not _among(t, given)]
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

    def _factory(self, name: str, out: object, where: Where, given: list[torch.Tensor]) -> None:
        for t in tensors_in(out):
            if not _among(t, given):
                value = self.recorder.tensors.value(t, where, maker=name)
                if name in _SHARING:
                    self.recorder.tensors.exposed.add(value.storage)

    def _results(
        self, name: str, where: Where, results: list[torch.Tensor], seen: Given, inplace: bool
    ) -> None:
        lane, log, recorder = self.lane, self.log, self.recorder
        nodes, add, index = recorder.nodes, recorder.tensors.add, len(log.ops)
        made: list[Met] = []
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
                    recorder.tensors.changed(value, index)
            if made:
                row.node = made[0][1].id
                row.nodes = nodes.claim(made, index)
        except BaseException:
            # A program that recurses too deeply may reach the recursion limit just here.
            log.take_back(index)
            raise
        finally:
            nodes.since = LAST
        if not lane.runs:
            log.write(EventRow("op", index, where))
            if inplace:
                recorder.writes.by_op(results, outputs, index, where)

    def _gradient_read(self, tensor: torch.Tensor) -> None:
        """Check a gradient that the program reads: some writes to it bypass the recorder."""
        if self.lane.steps or self.lane.runs or not is_leaf(tensor):
            return
        where, doing = self.recorder.source.here(sys._getframe(2))
        if not doing:
            self.recorder.writes.gradients([(tensor, None)], where)

    def _detached(self, t: torch.Tensor, value: ValueRow, seen: Given) -> None:
        tensors = self.recorder.tensors
        value.is_constant = True
        # w.grad.data.zero_() resets w's gradient, too.
        leaf = tensors.leaf_of_gradient(seen.tensors[0])
        if leaf is not None:
            tensors.is_gradient_of(t, leaf)


def record_custom(
    recorder: "Recorder",
    lane: "Lane",
    name: str,
    apply: Function,
    args: tuple[object, ...],
    kwargs: dict[str, object],
) -> object:
    """Record a call of a custom ``autograd.Function`` as a single op."""
    where, doing = recorder.source.here(sys._getframe(2), lane)
    if doing or where is None or not tensors_given(args, kwargs):
        return apply(*args, **kwargs)
    given = lane.mode.given(args, kwargs, where)
    if given is None:
        return apply(*args, **kwargs)
    since = _next_number()
    lane.quiet += 1
    begun = perf_counter_ns()
    try:
        if recorder.at_function is not None and recorder.at_function[0] == len(recorder.log.ops):
            recorder.at_function[1](apply, args, kwargs)
            raise PassReached
        out = apply(*args, **kwargs)
    except Exception as error:
        recorder.failed.note(lane, error, name, where, given)
        raise
    finally:
        took = perf_counter_ns() - begun
        lane.quiet -= 1
    with torch._C.DisableTorchFunction(), recorder.lanes.lock:
        try:
            given.since, given.took = since, took
            lane.mode.called(name, where, given, out, False)
        except Exception as error:  # noqa: BLE001 - whatever it is, it is not the program's
            recorder.log.give_up(error)
    return out


def _among(t: torch.Tensor, given: list[torch.Tensor]) -> bool:
    """Return whether a tensor is in a list; ``in`` would compare elements."""
    for other in given:  # noqa: SIM110 (a generator costs three times as much)
        if other is t:
            return True
    return False
