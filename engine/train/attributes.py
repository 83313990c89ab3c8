"""What a module of the user's keeps in plain attributes: counters, warm-ups, a state between steps.

They decide the run as weights do, and no ``state_dict`` has them.
"""

import random
import weakref
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from enum import Enum
from typing import Any

import numpy as np
import torch
from torch import nn
from torch.nn.parameter import is_lazy

from engine.train.program import Program

MOST_ITEMS = 10_000
"""Longer lists are left alone: each checkpoint would copy them."""
MOST_BYTES = 64 << 20
"""Larger tensors are left alone likewise."""
DEPTH = 50
"""So deep may lists lie in lists."""
TORCHS = frozenset(vars(nn.Module()))
_PLAIN = (
    bool, int, float, complex, str, bytes, type(None), Enum, np.generic, range, slice,
    torch.dtype, torch.device, torch.Size,
)  # fmt: skip
_DICTS = {dict, OrderedDict, defaultdict, Counter}
_LISTS = {list, deque}
_SETS = {set, frozenset}
GENERATORS: dict[type, tuple[Callable[[Any], object], Callable[[Any, Any], None]]] = {
    torch.Generator: (lambda one: one.get_state(), lambda one, state: one.set_state(state)),
    random.Random: (lambda one: one.getstate(), lambda one, state: one.setstate(state)),
    np.random.Generator: (
        lambda one: one.bit_generator.state,
        lambda one, state: setattr(one.bit_generator, "state", state),
    ),
}
"""Random numbers of one's own: how their state is read, and written."""


class Left(Exception):
    """A value that is left alone: an object of another kind, or too much."""


class Kept:
    """The attributes of a model's modules as they were.

    They are the very objects, each with what it held. So a list that two modules share, or that
    somebody else has too, is put back as that list; another model gets copies.
    """

    def __init__(self, model: nn.Module | None = None) -> None:
        self.modules: list[dict[str, object]] = []
        """By module, in the order of ``modules()``."""
        self._stay: list[set[str]] = []
        """Of each module: what is to stay as it is."""
        self._whose = None if model is None else weakref.ref(model)
        self._held: dict[int, tuple[Any, Any]] = {}
        """Each object that can change, and what it held."""
        self._parts: set[int] | None = None
        self._views: set[int] = set()
        """Tensors that are part of a weight or a buffer: they change with it."""

    @property
    def size(self) -> int:
        """Bytes they take, about."""
        contents = [content for _, content in self._held.values()]
        arrays = [one.nbytes for one in contents if isinstance(one, torch.Tensor | np.ndarray)]
        return sum(arrays) + 100 * sum(len(one) for one in contents if isinstance(one, _SIZED))

    def add(self, attributes: dict[str, object], stay: Iterable[str] = ()) -> None:
        """Take in the attributes of the next module, but those that are left alone."""
        self._stay.append(set(stay))
        found = {}
        for name, value in attributes.items():
            with suppress(Left):
                held: dict[int, tuple[Any, Any]] = {}
                self._gather(value, held, [MOST_ITEMS], 0)
                self._held |= held
                found[name] = value
        self.modules.append(found)

    def _gather(self, value: object, held: dict[int, Any], room: list[int], depth: int) -> None:
        """Note what an object holds, and what is in that. Raises `Left`."""
        room[0] -= 1
        if room[0] < 0 or depth > DEPTH:
            raise Left
        if isinstance(value, _PLAIN) or id(value) in held or id(value) in self._held:
            return
        content = _content(value, room[0])
        held[id(value)] = value, content
        if isinstance(value, torch.Tensor):
            if _place(value) in self._of_weights():
                self._views.add(id(value))
        elif isinstance(content, dict):
            for pair in content.items():
                for part in pair:
                    self._gather(part, held, room, depth + 1)
        elif isinstance(content, list) and type(value) not in GENERATORS:
            for part in content:
                self._gather(part, held, room, depth + 1)

    def _of_weights(self) -> set[int]:
        """Return where in memory weights and buffers begin; most models never need to know."""
        if self._parts is None:
            model = None if self._whose is None else self._whose()
            tensors = [] if model is None else [*model.parameters(), *model.buffers()]
            self._parts = set(map(_place, tensors)) - {0}
        return self._parts

    def put_back(self, model: nn.Module) -> None:
        """Give the modules the attributes that they had."""
        is_same = self._whose is not None and self._whose() is model
        if is_same:
            self._rewrite()
        memo: dict[int, object] = {}
        for module, before, stay in zip(model.modules(), self.modules, self._stay, strict=False):
            now = vars(module)
            for name in now.keys() - TORCHS - before.keys() - stay:
                if is_kept(now[name]):
                    del now[name]
            if is_same:
                now.update(before)
                continue
            # A view of a weight is one of another model's weight there, if it is made at all.
            own = {k: v for k, v in before.items() if not self.is_view(v)}
            now.update({name: self._copied(value, memo) for name, value in own.items()})

    def is_view(self, value: object) -> bool:
        """Whether a value is part of a weight or a buffer."""
        return id(value) in self._views

    def held(self, value: object) -> Any:  # noqa: ANN401 - of many kinds
        """Return what an object held: a tensor's numbers, the parts of a list."""
        return self._held[id(value)][1]

    def _rewrite(self) -> None:
        for one, content in self._held.values():
            if isinstance(one, torch.Tensor):
                _write(one, content)
            elif isinstance(one, np.ndarray):
                with suppress(ValueError):  # Nobody writes into one that is for reading.
                    one[...] = content
            elif type(one) in GENERATORS:
                GENERATORS[type(one)][1](one, content)
            elif not isinstance(one, tuple | frozenset):
                _fill(one, content)

    def _copied(self, value: Any, memo: dict[int, Any]) -> Any:  # noqa: ANN401 - of many kinds
        if isinstance(value, _PLAIN) or id(value) in memo:
            return memo.get(id(value), value)
        content = self.held(value)
        if isinstance(value, torch.Tensor):
            made: Any = content.clone()
        elif isinstance(value, np.ndarray):
            made = content.copy()
        elif type(value) in GENERATORS:
            made = _new_generator(value, content)
        elif isinstance(value, tuple | frozenset):
            parts = [self._copied(part, memo) for part in content]
            made = type(value)(*parts) if hasattr(value, "_fields") else type(value)(parts)
        else:
            made = memo[id(value)] = value.copy()
            if isinstance(content, dict):
                copied = [
                    (self._copied(k, memo), self._copied(v, memo)) for k, v in content.items()
                ]
                _fill(made, dict(copied))
            else:
                _fill(made, [self._copied(part, memo) for part in content])
        memo[id(value)] = made
        return made


_SIZED = (dict, list)


def _content(value: Any, most: int) -> Any:  # noqa: ANN401 - of many kinds
    """Return what an object holds now, its parts not copied. Raises `Left`."""
    kind = type(value)
    if isinstance(value, torch.Tensor):
        # One that belongs to a graph would hold all of it in memory.
        if value.requires_grad or (value.layout == torch.strided and value.nbytes > MOST_BYTES):
            raise Left
        try:
            return value.detach().clone()
        except RuntimeError as error:  # Of a transform that has ended: there are no numbers.
            raise Left from error
    if isinstance(value, np.ndarray):
        if value.dtype.kind not in "biufc" or value.nbytes > MOST_BYTES:
            raise Left
        return value.copy()
    if kind in GENERATORS:
        return GENERATORS[kind][0](value)
    is_tuple = kind is tuple or (isinstance(value, tuple) and hasattr(value, "_fields"))
    if not (is_tuple or kind in _DICTS | _LISTS | _SETS) or len(value) > most:
        raise Left
    return dict(value) if kind in _DICTS else list(value)


def _fill(one: Any, content: Iterable[Any]) -> None:  # noqa: ANN401 - of many kinds
    """Let a list, a set or a dictionary hold this and nothing else."""
    one.clear()
    if isinstance(content, dict):
        for key, value in content.items():
            one[key] = value
    elif isinstance(one, set):
        one.update(content)
    else:
        one.extend(content)


def _new_generator(like: object, state: object) -> object:
    """Return random numbers of the same kind that go on from a state."""
    if isinstance(like, torch.Generator):
        made: Any = torch.Generator(like.device)
    elif isinstance(like, random.Random):
        made = random.Random()
    elif isinstance(like, np.random.Generator):
        made = np.random.Generator(type(like.bit_generator)())
    GENERATORS[type(like)][1](made, state)
    return made


def _write(tensor: torch.Tensor, numbers: torch.Tensor) -> None:
    """Give a tensor these numbers.

    Past autograd's count of changes: an open step may need it for its backward, and gets no other
    numbers than it had then.
    """
    with torch.no_grad(), torch.inference_mode(tensor.is_inference()):
        try:
            tensor.data.copy_(numbers)
        except RuntimeError:  # It was resized, or is expanded.
            tensor.data = numbers.clone()


def _place(tensor: torch.Tensor) -> int:
    """Return where a tensor's memory begins, 0 where it has none of the usual kind."""
    try:
        return tensor.untyped_storage().data_ptr()
    except (RuntimeError, AttributeError):
        return 0


def is_kept(value: object) -> bool:
    """Whether an attribute is one that is kept, or a tensor that was and has no numbers now."""
    if isinstance(value, torch.Tensor):
        return not value.requires_grad
    try:
        Kept()._gather(value, {}, [MOST_ITEMS], 0)
    except Left:
        return False
    return True


def kept(program: Program) -> Kept:
    """Return the attributes of the run's modules; none of a model of ours, which has none."""
    return of(program.model) if program.setup.model.name == "own" else Kept()


def of(model: nn.Module) -> Kept:
    """Return the attributes of a model's modules: plain values, tensors, lists of such."""
    found = Kept(model)
    for module in model.modules():
        found.add({k: v for k, v in vars(module).items() if k not in TORCHS})
    return found


def put_back(model: nn.Module, saved: Kept) -> None:
    """Give the modules the attributes that they had; nothing was saved of a model of ours."""
    saved.put_back(model)


def changed(before: Kept, after: Kept) -> str:
    """Return the first plain attribute that is another now; empty where there is none.

    Tensors do not count: to keep a layer's output in one, to look at it, changes nothing.
    """
    for one, other in zip(before.modules, after.modules, strict=True):
        for name in sorted(one.keys() | other.keys()):
            pair = (before, one.get(name)), (after, other.get(name))
            if not any(isinstance(v, torch.Tensor) for _, v in pair):
                texts = [_told(kept, value, {}) for kept, value in pair]
                if texts[0] != texts[1]:
                    return name
    return ""


def _told(kept: Kept, value: object, seen: dict[int, int]) -> str:
    """Return what a value was, in words that are others where it is another."""
    if isinstance(value, _PLAIN):
        return repr(value)
    if id(value) in seen:
        return f"#{seen[id(value)]}"
    seen[id(value)] = len(seen)
    content = kept.held(value)
    if isinstance(value, torch.Tensor):
        return "tensor"
    if type(value) in GENERATORS or isinstance(content, np.ndarray):
        content = content.tolist() if isinstance(content, torch.Tensor | np.ndarray) else content
        return repr(content)
    pairs = content.items() if isinstance(content, dict) else enumerate(content)
    parts = [f"{_told(kept, k, seen)}: {_told(kept, v, seen)}" for k, v in pairs]
    return f"{type(value).__name__}({', '.join(parts)})"


Buffers = list[tuple[nn.Module, str, torch.Tensor, torch.Tensor]]


def buffers_of(model: nn.Module) -> Buffers:
    """Return each buffer with its module and name, and a copy of its numbers."""
    return [
        (module, name, buffer, buffer.detach().clone())
        for module in model.modules()
        for name, buffer in module._buffers.items()
        if buffer is not None
    ]


@torch.no_grad()
def put_buffers_back(saved: Buffers) -> None:
    """Give modules the very buffers that they had: a forward may have put others in their place.

    Those may be of a transform that has ended (``vmap``), and hold no numbers any more.
    """
    for module, name, buffer, before in saved:
        module._buffers[name] = buffer
        buffer.copy_(before)


@contextmanager
def untouched(program: Program) -> Iterator[None]:
    """Leave attributes, buffers and weights of the user's modules as they are, whatever runs them.

    A forward may write into weights, too: an embedding with ``max_norm`` does.
    """
    attributes = kept(program)
    is_own = program.setup.model.name == "own"
    buffers = buffers_of(program.model) if is_own else []
    known = [p for p in program.model.parameters() if is_own and not is_lazy(p)]
    weights = [(p, p.detach().clone()) for p in known]
    try:
        yield
    finally:
        put_back(program.model, attributes)
        put_buffers_back(buffers)
        for weight, before in weights:
            _write(weight, before)
