"""External state of a user's program: globals, class attributes, closures.

A captured step does not run that program, so a counter there would not advance. Changes are
detected by comparing all objects reachable from its functions and classes before and after a step.
"""

import functools
import operator
import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from types import CellType, FunctionType, GeneratorType, MethodType
from typing import Any

import numpy as np
import torch
from torch import nn

from engine.train import attributes
from engine.train.program import Program

MOST = 20_000
"""Maximum number of objects to visit."""
MOST_NUMBERS = 1 << 16
"""Bytes; larger tensors are compared by their version counter, larger arrays by identity."""
OWN = "training"
"""``__name__`` of the namespace in which a run's source is executed."""
_PLAIN = (bool, int, float, complex, str, bytes, type(None))
_CONTAINERS = (list, tuple, set, frozenset)


def seen(program: Program) -> tuple[object, ...]:
    """Return a comparable snapshot of the external state of a run; () for built-in models."""
    if program.setup.model.name != "own":
        return ()
    weights = [*program.model.parameters(), *program.model.buffers()]
    look = _Walk({id(t): t for t in weights})
    for module in program.model.modules():
        look.at(module)
    drawn = hash(random.getstate()), hash(np.random.get_state()[1].tobytes())  # type: ignore[index]
    return (*look.found, *drawn, np.random.get_state()[2])  # type: ignore[index]


@dataclass
class _Walk:
    """Walk over reachable objects; ``found`` has a fingerprint of each, in visiting order."""

    met: dict[int, object]
    """Visited objects by id."""
    found: list[object] = field(default_factory=list)

    def at(self, value: object) -> None:
        """Visit a value and everything reachable from it."""
        waiting = [value]
        while waiting and len(self.found) < MOST:
            one = waiting.pop()
            if isinstance(one, _PLAIN):
                self.found.append(repr(one))
            elif id(one) not in self.met:
                self.met[id(one)] = one
                self.found.append(_fingerprint(one))
                waiting += _references(one)


def _fingerprint(one: object) -> object:
    """Return a fingerprint of an object itself, without anything that changes on its own."""
    if isinstance(one, torch.Tensor):
        return _numbers(one)
    if isinstance(one, np.ndarray):
        return hash(one.tobytes()) if one.nbytes <= MOST_NUMBERS else id(one)
    if isinstance(one, GeneratorType):
        return one.gi_frame.f_lasti if one.gi_frame is not None else -1
    if type(one) in attributes.GENERATORS:
        return repr(attributes.GENERATORS[type(one)][0](one))
    if isinstance(one, functools._lru_cache_wrapper):
        return one.cache_info().currsize
    if isinstance(one, dict | list | tuple | set | frozenset):
        return len(one)
    # The state of a user's own iterator is in its attributes; its `repr` is the user's code.
    if isinstance(one, Iterator) and type(one).__module__ != OWN:
        return f"{one!r} {operator.length_hint(one, -1)}"
    return type(one).__name__


def _numbers(t: torch.Tensor) -> object:
    try:
        if t.layout is torch.strided and t.numel() * t.element_size() <= MOST_NUMBERS:
            # Bytes, as NaN is not equal to itself.
            return hash(t.detach().cpu().reshape(-1).view(torch.uint8).numpy().tobytes())
        return t._version
    except (RuntimeError, NotImplementedError):
        return None


def _references(one: Any) -> list[object]:  # noqa: ANN401 - of any kind
    """Return the objects that an object of the user's program references."""
    if isinstance(one, nn.Module):
        return _of_module(one)
    if isinstance(one, dict):
        return [part for pair in one.items() for part in pair]
    if isinstance(one, _CONTAINERS):
        return list(one)
    if isinstance(one, MethodType):
        return [one.__func__, one.__self__]
    if isinstance(one, functools.partial):
        return [one.func, *one.args, *one.keywords.values()]
    if isinstance(one, functools._lru_cache_wrapper):
        return [one.__wrapped__]
    if isinstance(one, FunctionType):
        return _of_function(one)
    if isinstance(one, CellType):
        return _contents(one)
    if isinstance(one, GeneratorType):
        return list(one.gi_frame.f_locals.values()) if one.gi_frame is not None else []
    if isinstance(one, property):
        return [one.fget, one.fset]
    if isinstance(one, staticmethod | classmethod):
        return [one.__func__]
    if isinstance(one, type):
        return list(vars(one).values()) if one.__module__ == OWN else []
    return _of_instance(one) if type(one).__module__ == OWN else []


def _of_instance(one: Any) -> list[object]:  # noqa: ANN401 - of a class of the user's
    slots = [name for kind in type(one).__mro__ for name in vars(kind).get("__slots__", ())]
    own = getattr(one, "__dict__", {})
    return [type(one), *own.values(), *(getattr(one, name, None) for name in slots)]


def _of_module(module: nn.Module) -> list[object]:
    """Return a module's references except what checkpoints have: weights and plain attributes."""
    hooks = [*module._forward_hooks.values(), *module._forward_pre_hooks.values()]
    weights = [p for p in module._parameters.values() if p is not None]
    of_weights = [hook for p in weights for hook in (p._backward_hooks or {}).values()]
    others = [
        value
        for name, value in vars(module).items()
        if name not in attributes.TORCHS and not attributes.is_kept(value)
    ]
    return [*type(module).__mro__, *module._modules.values(), *hooks, *of_weights, *others]


def _of_function(function: FunctionType) -> list[object]:
    if function.__module__ != OWN:
        return []
    names = [n for code in _codes(function) for n in code.co_names]
    known = function.__globals__
    return [
        *(known[name] for name in dict.fromkeys(names) if name in known),
        *(function.__defaults__ or ()),
        *(function.__kwdefaults__ or {}).values(),
        *(function.__closure__ or ()),
        *vars(function).values(),
    ]


def _codes(function: FunctionType) -> list[Any]:
    """Return a function's code objects, nested functions included."""
    codes = [function.__code__]
    for code in codes:
        codes += [one for one in code.co_consts if hasattr(one, "co_names")]
    return codes


def _contents(cell: CellType) -> list[object]:
    try:
        return [cell.cell_contents]
    except ValueError:  # It is empty.
        return []
