"""Module calls of a run: each thread has a stack of those that are running."""

import functools
import itertools
import sys
import weakref
from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from dataclasses import dataclass
from itertools import islice
from types import FrameType
from typing import TypeVar, cast

import torch
from torch import nn
from torch.nn.parameter import is_lazy

from gradscribe.engine.protocol.safe_text import type_name
from gradscribe.engine.protocol.tape import StateEntry
from gradscribe.engine.record.forward import module_state
from gradscribe.engine.record.log import CallRow, CodeLocation, EventRow, Log
from gradscribe.engine.record.source import Source
from gradscribe.engine.record.thread_state import CalledModule, RunningCall, ThreadState
from gradscribe.engine.record.threads import RecordedThreads
from gradscribe.engine.record.values.tensors import Tensors
from gradscribe.engine.sandbox.builtins import use_original_builtins

use_original_builtins(globals())

_CallImpl = Callable[..., object]
T = TypeVar("T")

_NO_MODULES: list[tuple[str, nn.Module]] = []
_NO_NAMES = ("self", "module", "__class__")
_MOST_SEARCHED = 64
"""Elements of a list that are searched for the module that is called, or for its tensors."""
_OWN_TABLES = frozenset(vars(nn.Module()))
"""Attributes that torch gives to each module."""


@dataclass(eq=False)
class Modules:
    """The module calls of one run."""

    log: Log
    source: Source
    threads: RecordedThreads
    tensors: Tensors

    def __post_init__(self) -> None:
        self._known: dict[int, CalledModule] = {}
        """By ``id()``, which may have belonged to another module before."""
        self._numbers = itertools.count()
        self.watched = ""
        """Name of a module whose arguments are stored."""
        self.called_with: tuple[tuple[object, ...], dict[str, object]] | None = None
        """Arguments of the latest call of that module."""
        self.provisional: set[str] = set()
        """Names of parameters that begin with a class: any name found later is better."""
        self._passing: Set[str] = frozenset()
        self._call: _CallImpl = nn.Module._call_impl

    def start(self) -> None:
        """Begin to watch every module of the process."""
        self._passing = self.source.syntax.passing
        self._call = original = cast("_CallImpl", nn.Module._call_impl)
        enter, leave, here = self._enter, self._leave, self.threads.current
        log = self.log

        @functools.wraps(original)
        def call(module: nn.Module, *args: object, **kwargs: object) -> object:
            thread = here()
            if thread is None:
                return original(module, *args, **kwargs)
            out = entered = None
            try:
                entered = enter(thread, module)
            except Exception as error:  # noqa: BLE001 - whatever it is, it is not the program's
                log.stop_on_error(error)
            if entered is None:
                return original(module, *args, **kwargs)
            if self.watched and entered.name == self.watched:
                self.called_with = args, kwargs
            try:
                out = original(module, *args, **kwargs)
            finally:
                try:
                    leave(thread, entered, out)
                except Exception as error:  # noqa: BLE001 - whatever it is, it is not the program's
                    log.stop_on_error(error)
            return out

        nn.Module._call_impl = call  # type: ignore[method-assign,assignment]

    def stop(self) -> None:
        """Stop watching modules."""
        nn.Module._call_impl = self._call  # type: ignore[method-assign]

    def _enter(self, thread: ThreadState, module: nn.Module) -> RunningCall:
        log, calls = self.log, thread.calls
        frame = sys._getframe(1)
        where, doing = self.source.locate(frame.f_back, thread)
        known = self._known.get(id(module))
        if known is None or known.module() is not module:
            with torch._C.DisableTorchFunction():
                known = self._describe(module)
        name = self._path(thread, known, module, where)
        if not known.is_named:
            known.is_named = True
            outermost = calls[0].known.module() if calls else module
            named_by_class = name.partition(".")[0] == type_name(type(outermost))
            self._name_parameters(module, name, named_by_class)
            with torch._C.DisableTorchFunction():
                self._name_constants(module, name)
        try:
            training = bool(module.training)
        except Exception:  # noqa: BLE001 - whatever it raises, the program never asked
            training = False
        with torch._C.DisableTorchFunction():
            hooks, state = self._state(known, module, is_outermost=not calls)
        with self.threads.lock:
            entered = RunningCall(len(log.calls), known, name, frame, where, doing)
            log.calls.append(
                CallRow(
                    name,
                    type_name(type(module)),
                    calls[-1].index if calls else None,
                    known.number,
                    training,
                    known.parameters,
                    known.about,
                    where,
                    hooks,
                    state,
                )
            )
            log.write(EventRow("enter", entered.index, where))
        calls.append(entered)
        return entered

    def _state(
        self, known: CalledModule, module: nn.Module, is_outermost: bool
    ) -> tuple[tuple[str, ...], tuple[StateEntry, ...]]:
        """Return the hooks on a module, and what it holds if that has changed since last time."""
        try:
            hooks = module_state.hooks(module)
            if not is_outermost or len(known.state) >= module_state.MAX_ENTRIES:
                return hooks, ()
            state = module_state.entries(module)
        except Exception:  # noqa: BLE001 - a user's module may be unready, or be none at all
            return (), ()
        if state == known.state:
            return hooks, ()
        known.state = state
        return hooks, state

    def _leave(self, thread: ThreadState, entered: RunningCall, out: object) -> None:
        log = self.log
        thread.calls.pop()
        # The frame refers to this in turn: the cycle would keep the call's result alive.
        entered.frame = None
        if log.is_recording:
            with self.threads.lock:
                if isinstance(out, torch.Tensor):
                    known = self.tensors.known(out)
                    if known is not None:
                        log.calls[entered.index].result = known.id
                log.write(EventRow("leave", entered.index, entered.where))

    def _describe(self, module: nn.Module) -> CalledModule:
        """Describe a module that is called for the first time."""
        # Outside the lock: these may be the program's own code.
        paths: dict[int, str | None] = {}
        count, about = 0, ""
        try:
            inside = [("", module)]
            if module._modules:
                inside = _submodules(module)
                paths = {id(m): path for path, m in inside}
            count = _parameter_count(inside)
            about = str(module.extra_repr())
        except Exception:  # noqa: BLE001 - a user's module may fail, or not be ready yet
            about = _ask(lambda: str(module.extra_repr()), "")
        with self.threads.lock:
            known = self._known.get(id(module))
            if known is not None and known.module() is not module:
                for other in self._known.values():
                    other.inside.pop(id(module), None)
                known = None
            if known is None:
                me, number = weakref.ref(module), next(self._numbers)
                known = self._known[id(module)] = CalledModule(me, number, count, about, paths, {})
        return known

    def _path(
        self, thread: ThreadState, known: CalledModule, module: nn.Module, where: CodeLocation
    ) -> str:
        """Return a name as ``net.0``: the outermost module's variable and the path from it."""
        for entered in reversed(thread.calls):
            name = _path_from(entered.known, module)
            if name is not None:
                return f"{entered.name}.{name}" if name else entered.name
        key = (id(where[0]), where[1]) if where is not None else (0, 0)
        name = known.variables.get(key)
        if name is None:
            name = known.variables[key] = self._variable(thread, module)
        return name

    def _variable(self, thread: ThreadState, module: nn.Module) -> str:
        """Return the program's name for a module, or its class if it has none."""
        running = [id(entered.known.module()) for entered in thread.calls]
        frames = list(_frames(self.source.user_frame()))
        return _name_in_frames(module, frames, running, self._passing)

    def _name_parameters(self, module: nn.Module, path: str, provisional: bool) -> None:
        """Give the module's own parameters and buffers their full names before they are used.

        ``provisional``: the path begins with a class, as no variable refers to the module yet.
        """
        tensors = self.tensors
        try:
            own = [*module._parameters.items(), *module._buffers.items()]
        except Exception:  # noqa: BLE001 - it is not initialized yet
            return
        for name, t in own:
            if isinstance(t, torch.Tensor) and not is_lazy(t):
                if provisional:
                    self.provisional.add(f"{path}.{name}")
                row = tensors.known(t)
                if row is None:
                    tensors.names[id(t)] = f"{path}.{name}"
                elif not row.name:
                    row.name = f"{path}.{name}"

    def _name_constants(self, module: nn.Module, path: str) -> None:
        """Name the module's own tensors that are neither parameters nor buffers: a plain mask.

        A variable of the running program that refers to the tensor is a better name.
        """
        own = [row for row in _plain_tensors(module) if self._is_nameless(row[1])]
        if not own:
            return
        taken: set[int] = set()
        for frame in _frames(self.source.user_frame()):
            taken |= {id(thing) for thing in frame.f_locals.values()}
            taken |= {id(thing) for thing in frame.f_globals.values()}
        for name, t in own:
            row = self.tensors.known(t)
            if id(t) in taken:
                continue
            if row is None:
                self.tensors.names[id(t)] = f"{path}.{name}"
            else:
                row.name = f"{path}.{name}"

    def _is_nameless(self, t: torch.Tensor) -> bool:
        row = self.tensors.known(t)
        return row is None or not row.name


def _plain_tensors(module: nn.Module) -> list[tuple[str, torch.Tensor]]:
    """Return tensors without a gradient in a module's attributes, and in lists and dicts there."""
    found: list[tuple[str, object]] = []
    # The class of a module may intercept attributes: its dictionary is read without it.
    fields = cast("dict[str, object]", object.__getattribute__(module, "__dict__"))
    for name, thing in list(fields.items()):
        if issubclass(type(thing), torch.Tensor):
            found.append((name, thing))
        elif name in _OWN_TABLES:
            continue
        elif type(thing) in (list, tuple):
            rows = cast("list[object]", thing)[:_MOST_SEARCHED]
            found += [(f"{name}[{number}]", child) for number, child in enumerate(rows)]
        elif type(thing) is dict:
            pairs = islice(thing.items(), _MOST_SEARCHED)
            found += [(f"{name}[{k!r}]", child) for k, child in pairs if type(k) in (int, str)]
    return [
        (name, t)
        for name, t in found
        if issubclass(type(t), torch.Tensor) and isinstance(t, torch.Tensor) and _is_constant(t)
    ]


def _is_constant(t: torch.Tensor) -> bool:
    return _ask(lambda: not t.requires_grad, False)


def _frames(frame: FrameType | None) -> Iterator[FrameType]:
    """Yield a frame and its callers, up to the program's module level."""
    while frame is not None:
        yield frame
        frame = frame.f_back if frame.f_code.co_name != "<module>" else None


def _name_in_frames(
    module: nn.Module,
    frames: list[FrameType],
    outside: Sequence[int] = (),
    passing: Set[str] = frozenset(),
) -> str:
    """Return the name that a program's frames, the innermost first, have for a module.

    Args:
        module: the module that is called.
        frames: those of the program.
        outside: the ``id()`` of modules that are known not to contain it.
        passing: names that loops give to one module after another, taken where there is no other.
    """
    for count, frame in enumerate(frames):
        owner = frame.f_locals.get("self")
        if isinstance(owner, nn.Module) and owner is not module and id(owner) not in outside:
            # A method of the module that contains it; its loop variable would be no good name.
            path = _path_within("", owner, module)
            if path:
                return _name_in_frames(owner, frames[count:], (), passing) + path
    found = _name_in_scopes(module, frames, passing)
    if found:
        return found
    for frame in frames:
        found = _attribute_name(frame.f_locals.get("self"), module)
        if found:
            return found
    return _name_in_scopes(module, frames, frozenset()) or type_name(type(module))


def _name_in_scopes(module: nn.Module, frames: list[FrameType], ignored: Set[str]) -> str:
    """Return the variable of some frames that refers to a module, or the path from one."""
    for look in (_if_same, _path_within):
        for frame in frames:
            for scope in (frame.f_locals, frame.f_globals):
                for name, thing in list(scope.items()):
                    if name in ignored or name in _NO_NAMES or name.startswith("_"):
                        continue
                    found = look(name, thing, module)
                    if found:
                        return found
    return ""


def _if_same(name: str, thing: object, module: nn.Module) -> str:
    return name if thing is module else ""


def _path_within(name: str, thing: object, module: nn.Module) -> str:
    """Return the path to a module from a container, list or dict: ``nets[0].1``."""
    if isinstance(thing, nn.Module):
        inside = _ask(lambda: _submodules(thing), _NO_MODULES)
        path = next((path for path, child in inside if child is module), "")
        return f"{name}.{path}" if path else ""
    # Exact types: to iterate over anything else may run the program's own code.
    rows: Iterable[tuple[object, object]] = ()
    if type(thing) in (list, tuple):
        rows = enumerate(cast("list[object]", thing)[:_MOST_SEARCHED])
    elif type(thing) is dict:
        rows = islice(thing.items(), _MOST_SEARCHED)
    for key, child in rows:
        if isinstance(child, nn.Module) and type(key) in (int, str):
            inner = f"{name}[{key!r}]"
            found = inner if child is module else _path_within(inner, child, module)
            if found:
                return found
    return ""


def _attribute_name(owner: object, module: nn.Module) -> str:
    """Return the attribute of a program's object that refers to a module: ``self.net``."""
    fields = getattr(owner, "__dict__", None)
    for look in (_if_same, _path_within):
        for name, thing in list(fields.items()) if type(fields) is dict else ():
            found = look(f"self.{name}", thing, module) if not name.startswith("_") else ""
            if found:
                return found
    return ""


def _submodules(module: nn.Module) -> list[tuple[str, nn.Module]]:
    """Return the modules in a module, itself first, each with its path.

    Like ``named_modules``, which a subclass may override, at a fifth of the cost.
    """
    found: list[tuple[str, nn.Module]] = []
    seen: set[int] = set()
    stack = [("", module)]
    while stack:
        way, current = stack.pop()
        if id(current) in seen:
            continue
        seen.add(id(current))
        found.append((way, current))
        if current._modules:
            before = f"{way}." if way else ""
            stack += [
                (before + n, m) for n, m in reversed(current._modules.items()) if m is not None
            ]
    return found


def _ask(read: "Callable[[], T]", otherwise: T) -> T:
    """Call ``read``; return ``otherwise`` if it raises, as a module not yet initialized may."""
    try:
        return read()
    except Exception:  # noqa: BLE001 - whatever it raises, the program never asked
        return otherwise


def _path_from(outer: CalledModule, module: nn.Module) -> str | None:
    """Return the path from a module to a submodule; None if it does not contain it."""
    key = id(module)
    if key not in outer.inside:
        # Read again: modules may be added while it runs. Once only per module that is elsewhere.
        whole = outer.module()
        inside = _ask(lambda: _submodules(whole), _NO_MODULES) if whole is not None else []
        outer.inside |= {id(m): n for n, m in inside}
        outer.inside.setdefault(key, None)
    return outer.inside[key]


def _parameter_count(inside: list[tuple[str, nn.Module]]) -> int:
    """Return the number of elements of modules' parameters; shared parameters count once."""
    sizes: dict[int, int] = {}
    for _, module in inside:
        if module._parameters:
            for p in module._parameters.values():
                if p is not None and not is_lazy(p):
                    sizes[id(p)] = p.numel()
    return sum(sizes.values())
