"""Functions that Dynamo compiles: each call is a single op, and runs as without a recorder.

Torch itself compiles the functions given to `torch.cond`, `scan` or `flex_attention`, and its
results depend on that. Dynamo evaluates the bytecode that it meets, the recorder's as well, so the
recorder's replacements are taken out of torch for the time of such a call.
"""

import functools
import sys
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from importlib.machinery import ModuleSpec, PathFinder
from types import FunctionType, ModuleType

from gradscribe.engine.record.forward.op_recorder import OpRecorder
from gradscribe.engine.record.thread_state import ThreadState
from gradscribe.engine.record.threads import RecordedThreads
from gradscribe.engine.sandbox.builtins import use_original_builtins

use_original_builtins(globals())

_Call = Callable[..., object]
_ENTRIES = ("torch._dynamo.eval_frame", "torch.export._trace")
"""Modules with functions that start Dynamo."""
_SUFFIXES = ("_wrapper", "_hop", "_op")


@dataclass(eq=False)
class DynamoCalls:
    """Recorder of the calls of functions that Dynamo compiles."""

    threads: RecordedThreads
    ops: OpRecorder
    without_replacements: Callable[[], AbstractContextManager[None]]
    """Returns a context in which torch's functions are its own."""
    _plain: list[tuple[object, str, object]] = field(default_factory=list)
    """(owner, attribute, original) of what was replaced."""

    def start(self) -> None:
        """Begin to watch Dynamo, which is imported only once it is needed: it takes seconds."""
        for name in _ENTRIES:
            if name in sys.modules:
                self._watch(sys.modules[name])
        sys.meta_path.insert(0, self)

    def stop(self) -> None:
        """Stop watching Dynamo."""
        sys.meta_path.remove(self)
        for owner, name, original in self._plain:
            setattr(owner, name, original)
        self._plain.clear()

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Find a module of Dynamo, to be watched once it is imported; None for any other."""
        spec = PathFinder.find_spec(name, path, target) if name in _ENTRIES else None
        if spec is None or spec.loader is None:
            return None
        load = spec.loader.exec_module

        def exec_module(module: ModuleType) -> None:
            load(module)
            if self in sys.meta_path:
                self._watch(module)

        spec.loader.exec_module = exec_module  # type: ignore[method-assign]
        return spec

    def _watch(self, module: ModuleType) -> None:
        """Replace the functions of a module that start Dynamo."""
        if module.__name__ == "torch.export._trace":
            self._replace(module, "_export_to_torch_ir", self._aside)
            return
        context = getattr(module, "_TorchDynamoContext", None)
        if context is not None:
            self._replace(context, "__call__", self._compiling)

    def _replace(self, owner: object, name: str, make: Callable[[_Call], _Call]) -> None:
        original = getattr(owner, name, None)
        if callable(original):
            self._plain.append((owner, name, original))
            setattr(owner, name, make(original))

    def _aside(self, plain: _Call) -> _Call:
        """Return a function that runs without the recorder."""

        @functools.wraps(plain)
        def call(*args: object, **kwargs: object) -> object:
            thread = self.threads.current()
            if thread is None:
                return plain(*args, **kwargs)
            thread.quiet += 1
            try:
                return self._run(thread, plain, *args, **kwargs)
            finally:
                thread.quiet -= 1

        return call

    def _compiling(self, plain: _Call) -> _Call:
        """Return a replacement of the method that compiles a function."""

        @functools.wraps(plain)
        def compiled(context: object, function: object) -> object:
            made = plain(context, function)
            return self._recorded(made) if type(made) is FunctionType else made

        return compiled

    def _recorded(self, made: FunctionType) -> _Call:
        """Return a compiled function whose calls are recorded."""
        current, record, name = self.threads.current, self.ops.record_opaque_call, _name(made)

        @functools.wraps(made)
        def call(*args: object, **kwargs: object) -> object:
            thread = current()
            if thread is None or thread.is_inside_torch_function():
                return made(*args, **kwargs)
            run = functools.partial(self._run, thread, made)
            return record(thread, name, run, args, kwargs)

        return call

    def _run(
        self, thread: ThreadState, made: Callable[..., object], *args: object, **kwargs: object
    ) -> object:
        with self.without_replacements(), thread.without_mode():
            return made(*args, **kwargs)


def _name(made: FunctionType) -> str:
    """Return the name of the op: ``cond`` for torch's ``_cond_op_wrapper``."""
    name = made.__name__.strip("_")
    for suffix in _SUFFIXES:
        name = name.removesuffix(suffix)
    return name or "compiled"
