"""Which module an op ran in: each thread keeps a stack of the module calls that are running."""

import functools
import itertools
import sys
import weakref
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from types import FrameType
from typing import TYPE_CHECKING, TypeVar, cast

import torch
from msgspec import Struct
from torch import nn
from torch.nn.parameter import is_lazy

from engine.errors import name_of
from engine.record.log import CallRow, EventRow
from engine.record.source import Where
from engine.untouched import keep_builtins

if TYPE_CHECKING:
    from engine.record.lanes import Lane
    from engine.record.recorder import Recorder

keep_builtins(globals())

Call = Callable[..., object]
T = TypeVar("T")

_NOBODY: list[tuple[str, nn.Module]] = []
_MANY = 64
"""So many elements of a list are looked at for the module that is called."""


class _Known(Struct, gc=False, eq=False):
    """A module that was called: its number, and what is told of it as it was at its first call."""

    module: "weakref.ref[nn.Module]"
    """Not held: a program may go through many, each of which goes with its parameters."""
    number: int
    parameters: int
    about: str
    inside: dict[int, str | None]
    """The way from it down to each module in it, by ``id()``; None for one that is elsewhere."""
    variables: dict[tuple[int, int], str]
    """The variable that held it, by the code object and instruction that called it."""
    is_named: bool = False
    """True once its parameters have their full names."""


class Entered(Struct, gc=False, eq=False):
    """A module call that is running."""

    index: int
    """That of its row in `Log.calls`."""
    known: _Known
    name: str
    frame: FrameType | None
    """The frame that all of the call lies below, until it ends."""
    where: Where
    doing: str
    """Where the user's text called it, and what torch was doing there; see `Source.here`."""


class Modules:
    """The module calls of one run."""

    def __init__(self, recorder: "Recorder") -> None:
        self.recorder = recorder
        self.lock = recorder.lanes.lock
        self._known: dict[int, _Known] = {}
        """By ``id()``, which another may have had before."""
        self._numbers = itertools.count()
        self._call = _call_of(nn.Module)

    def start(self) -> None:
        """Begin to watch every module of the process."""
        self._call = original = _call_of(nn.Module)
        enter, leave, here = self._enter, self._leave, self.recorder.lanes.here
        log = self.recorder.log

        @functools.wraps(original)
        def call(module: nn.Module, *args: object, **kwargs: object) -> object:
            lane = here()
            if lane is None:
                return original(module, *args, **kwargs)
            out = entered = None
            try:
                entered = enter(lane, module)
            except Exception as error:  # noqa: BLE001 - whatever it is, it is not the program's
                log.give_up(error)
            if entered is None:
                return original(module, *args, **kwargs)
            try:
                out = original(module, *args, **kwargs)
            finally:
                leave(lane, entered, out)
            return out

        nn.Module._call_impl = call  # type: ignore[method-assign,assignment]

    def stop(self) -> None:
        """Let modules be."""
        nn.Module._call_impl = self._call  # type: ignore[method-assign]

    def _enter(self, lane: "Lane", module: nn.Module) -> Entered:
        recorder, log, calls = self.recorder, self.recorder.log, lane.calls
        frame = sys._getframe(1)
        where, doing = recorder.source.here(frame.f_back, lane)
        known = self._known.get(id(module))
        if known is None or known.module() is not module:
            with torch._C.DisableTorchFunction():
                known = self._meet(module)
        name = self._path(lane, known, module, where)
        if not known.is_named:
            known.is_named = True
            self._name_parameters(module, name)
        try:
            training = bool(module.training)
        except Exception:  # noqa: BLE001 - whatever it raises, the program never asked
            training = False
        with self.lock:
            entered = Entered(len(log.calls), known, name, frame, where, doing)
            log.calls.append(
                CallRow(
                    name,
                    name_of(type(module)),
                    calls[-1].index if calls else None,
                    known.number,
                    training,
                    known.parameters,
                    known.about,
                    where,
                )
            )
            log.write(EventRow("enter", entered.index, where))
        calls.append(entered)
        return entered

    def _leave(self, lane: "Lane", entered: Entered, out: object) -> None:
        recorder, log = self.recorder, self.recorder.log
        lane.calls.pop()
        # The frame holds this in turn: the two would keep the call's result alive.
        entered.frame = None
        if log.writing:
            with self.lock:
                if isinstance(out, torch.Tensor):
                    known = recorder.tensors.known(out)
                    if known is not None:
                        log.calls[entered.index].result = known.id
                log.write(EventRow("leave", entered.index, entered.where))

    def _meet(self, module: nn.Module) -> _Known:
        """Write down what is told of a module that is called for the first time."""
        # Outside the lock: these may be the program's own code.
        ways: dict[int, str | None] = {}
        count, about = 0, ""
        try:
            inside = [("", module)]
            if module._modules:
                inside = _inside(module)
                ways = {id(one): way for way, one in inside}
            count = _count(inside)
            about = str(module.extra_repr())
        except Exception:  # noqa: BLE001 - its own may not be able to tell it, or not yet
            about = _told(lambda: str(module.extra_repr()), "")
        with self.lock:
            known = self._known.get(id(module))
            if known is not None and known.module() is not module:
                for other in self._known.values():
                    other.inside.pop(id(module), None)
                known = None
            if known is None:
                me, number = weakref.ref(module), next(self._numbers)
                known = self._known[id(module)] = _Known(me, number, count, about, ways, {})
        return known

    def _path(self, lane: "Lane", known: _Known, module: nn.Module, where: Where) -> str:
        """Return ``net.0``: the outermost module's variable and the way down from it."""
        for entered in reversed(lane.calls):
            name = _way(entered.known, module)
            if name is not None:
                return f"{entered.name}.{name}" if name else entered.name
        key = (id(where[0]), where[1]) if where is not None else (0, 0)
        name = known.variables.get(key)
        if name is None:
            name = known.variables[key] = self._variable(lane, module)
        return name

    def _variable(self, lane: "Lane", module: nn.Module) -> str:
        """Return what the program calls a module; its class where it has no name for it."""
        running = [id(entered.known.module()) for entered in lane.calls]
        return _called(module, list(_frames(self.recorder.source.user_frame())), running)

    def _name_parameters(self, module: nn.Module, path: str) -> None:
        """Give the module's own parameters and buffers their full names before they are used."""
        tensors = self.recorder.tensors
        try:
            own = [*module._parameters.items(), *module._buffers.items()]
        except Exception:  # noqa: BLE001 - it is not made yet
            return
        for name, t in own:
            if isinstance(t, torch.Tensor) and not is_lazy(t):
                row = tensors.known(t)
                if row is None:
                    tensors.names[id(t)] = f"{path}.{name}"
                elif not row.name:
                    row.name = f"{path}.{name}"


def _frames(frame: FrameType | None) -> Iterator[FrameType]:
    """Yield a frame and those that called it, up to the program's own."""
    while frame is not None:
        yield frame
        frame = frame.f_back if frame.f_code.co_name != "<module>" else None


def _called(module: nn.Module, frames: list[FrameType], outside: Sequence[int] = ()) -> str:
    """Return what the frames of a program, the innermost first, call a module.

    ``outside``: the ``id()`` of those that are known not to hold it.
    """
    for count, frame in enumerate(frames):
        owner = frame.f_locals.get("self")
        if isinstance(owner, nn.Module) and owner is not module and id(owner) not in outside:
            # A method of a module that holds it, whatever the variable of its loop is called.
            way = _within("", owner, module)
            if way:
                return _called(owner, frames[count:]) + way
    for look in (_same, _within):
        for frame in frames:
            for scope in (frame.f_locals, frame.f_globals):
                for name, thing in list(scope.items()):
                    if name not in ("self", "module", "__class__") and not name.startswith("_"):
                        found = look(name, thing, module)
                        if found:
                            return found
    for frame in frames:
        found = _field(frame.f_locals.get("self"), module)
        if found:
            return found
    return name_of(type(module))


def _same(name: str, thing: object, module: nn.Module) -> str:
    return name if thing is module else ""


def _within(name: str, thing: object, module: nn.Module) -> str:
    """Return the way to a module from one that holds it, or from a list or dict: ``nets[0].1``."""
    if isinstance(thing, nn.Module):
        inside = _told(lambda: _inside(thing), _NOBODY)
        path = next((path for path, one in inside if one is module), "")
        return f"{name}.{path}" if path else ""
    # Exact types: to iterate over anything else may run the program's own code.
    rows: Iterable[tuple[object, object]] = ()
    if type(thing) in (list, tuple):
        rows = enumerate(cast("list[object]", thing)[:_MANY])
    elif type(thing) is dict:
        rows = islice(thing.items(), _MANY)
    for key, one in rows:
        if isinstance(one, nn.Module) and type(key) in (int, str):
            inner = f"{name}[{key!r}]"
            found = inner if one is module else _within(inner, one, module)
            if found:
                return found
    return ""


def _field(owner: object, module: nn.Module) -> str:
    """Return the field of a program's object that holds a module: ``self.net``."""
    fields = getattr(owner, "__dict__", None)
    for look in (_same, _within):
        for name, thing in list(fields.items()) if type(fields) is dict else ():
            found = look(f"self.{name}", thing, module) if not name.startswith("_") else ""
            if found:
                return found
    return ""


def _inside(module: nn.Module) -> list[tuple[str, nn.Module]]:
    """Return the modules in a module, itself first, each with the way to it.

    Like ``named_modules``, which a module may have another of, at a fifth of the cost.
    """
    found: list[tuple[str, nn.Module]] = []
    seen: set[int] = set()
    stack = [("", module)]
    while stack:
        way, one = stack.pop()
        if id(one) in seen:
            continue
        seen.add(id(one))
        found.append((way, one))
        if one._modules:
            before = f"{way}." if way else ""
            stack += [(before + n, m) for n, m in reversed(one._modules.items()) if m is not None]
    return found


def _told(ask: "Callable[[], T]", otherwise: T) -> T:
    """Return what a module tells of itself; a program's own may not be able to, or not yet."""
    try:
        return ask()
    except Exception:  # noqa: BLE001 - whatever it raises, the program never asked
        return otherwise


def _call_of(kind: type[nn.Module]) -> Call:
    return cast("Call", kind._call_impl)


def _way(outer: _Known, module: nn.Module) -> str | None:
    """Return the way from one module down to another; None where there is none."""
    key = id(module)
    if key not in outer.inside:
        # Read again, for modules may be added while it runs; but once for each that is elsewhere.
        whole = outer.module()
        inside = _told(lambda: _inside(whole), _NOBODY) if whole is not None else []
        outer.inside |= {id(m): n for n, m in inside}
        outer.inside.setdefault(key, None)
    return outer.inside[key]


def _count(inside: list[tuple[str, nn.Module]]) -> int:
    """Return how many elements the parameters of modules have; shared ones count once."""
    sizes: dict[int, int] = {}
    for _, one in inside:
        if one._parameters:
            for p in one._parameters.values():
                if p is not None and not is_lazy(p):
                    sizes[id(p)] = p.numel()
    return sum(sizes.values())
