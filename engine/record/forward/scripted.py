"""Calls of scripted and traced functions, each recorded as a single op.

Function modes see neither them nor the ops inside them.
"""

import functools
from collections.abc import Callable
from dataclasses import dataclass, field

import torch

from gradscribe.engine.record.forward.op_recorder import OpRecorder
from gradscribe.engine.record.threads import RecordedThreads
from gradscribe.engine.sandbox.builtins import use_original_builtins

use_original_builtins(globals())

_KINDS = (torch._C.ScriptFunction, torch._C.ScriptMethod)


@dataclass(eq=False)
class ScriptedCalls:
    """Recorder of scripted calls."""

    threads: RecordedThreads
    ops: OpRecorder
    _plain: dict[type, Callable[..., object]] = field(default_factory=dict)

    def start(self) -> None:
        """Begin to watch every scripted function of the process."""
        for kind in _KINDS:
            self._plain[kind] = plain = kind.__dict__["__call__"]
            _replace(kind, self._watched(plain))

    def stop(self) -> None:
        """Stop watching scripted functions."""
        for kind, plain in self._plain.items():
            _replace(kind, plain)

    def _watched(self, plain: Callable[..., object]) -> Callable[..., object]:
        current, record = self.threads.current, self.ops.record_opaque_call

        def call(scripted: object, /, *args: object, **kwargs: object) -> object:
            thread = current()
            if thread is None or thread.is_inside_torch_function():
                return plain(scripted, *args, **kwargs)
            bound = functools.partial(plain, scripted)
            return record(thread, _name(scripted), bound, args, kwargs)

        return call


def _replace(kind: type, call: Callable[..., object]) -> None:
    kind.__call__ = call  # type: ignore[method-assign]


def _name(scripted: object) -> str:
    """Return a function's name; for a module's ``forward``, that of its class."""
    if isinstance(scripted, torch._C.ScriptMethod):
        return str(scripted.owner._type().name())  # type: ignore[attr-defined]
    return str(getattr(scripted, "name", "script"))
