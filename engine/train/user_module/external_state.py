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

from gradscribe.engine.train.source.program import TrainingProgram
from gradscribe.engine.train.user_module import attributes

MOST = 20_000
"""Maximum number of objects to visit."""
MOST_NUMBERS = 1 << 16
"""Bytes; larger tensors are compared by their version counter, larger arrays by identity."""
USER_MODULE_NAME = "training"
"""``__name__`` of the namespace in which a run's source is executed."""
_PLAIN = (bool, int, float, complex, str, bytes, type(None))
_CONTAINERS = (list, tuple, set, frozenset)


def snapshot(program: TrainingProgram) -> tuple[object, ...]:
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
            item = waiting.pop()
            if isinstance(item, _PLAIN):
                self.found.append(repr(item))
            elif id(item) not in self.met:
                self.met[id(item)] = item
                self.found.append(_fingerprint(item))
                waiting += _references(item)


def _fingerprint(item: object) -> object:
    """Return a fingerprint of an object itself, without anything that changes on its own."""
    if isinstance(item, torch.Tensor):
        return _numbers(item)
    if isinstance(item, np.ndarray):
        return hash(item.tobytes()) if item.nbytes <= MOST_NUMBERS else id(item)
    if isinstance(item, GeneratorType):
        return item.gi_frame.f_lasti if item.gi_frame is not None else -1
    if type(item) in attributes.GENERATORS:
        return repr(attributes.GENERATORS[type(item)][0](item))
    if isinstance(item, functools._lru_cache_wrapper):
        return item.cache_info().currsize
    if isinstance(item, dict | list | tuple | set | frozenset):
        return len(item)
    # The state of a user's own iterator is in its attributes; its `repr` is the user's code.
    if isinstance(item, Iterator) and type(item).__module__ != USER_MODULE_NAME:
        return f"{item!r} {operator.length_hint(item, -1)}"
    return type(item).__name__


def _numbers(t: torch.Tensor) -> object:
    try:
        if t.layout is torch.strided and t.numel() * t.element_size() <= MOST_NUMBERS:
            # Bytes, as NaN is not equal to itself.
            return hash(t.detach().cpu().reshape(-1).view(torch.uint8).numpy().tobytes())
        return t._version
    except (RuntimeError, NotImplementedError):
        return None


def _references(item: Any) -> list[object]:  # noqa: ANN401 - of any kind
    """Return the objects that an object of the user's program references."""
    if isinstance(item, nn.Module):
        return _of_module(item)
    if isinstance(item, dict):
        return [part for pair in item.items() for part in pair]
    if isinstance(item, _CONTAINERS):
        return list(item)
    if isinstance(item, MethodType):
        return [item.__func__, item.__self__]
    if isinstance(item, functools.partial):
        return [item.func, *item.args, *item.keywords.values()]
    if isinstance(item, functools._lru_cache_wrapper):
        return [item.__wrapped__]
    if isinstance(item, FunctionType):
        return _of_function(item)
    if isinstance(item, CellType):
        return _contents(item)
    if isinstance(item, GeneratorType):
        return list(item.gi_frame.f_locals.values()) if item.gi_frame is not None else []
    if isinstance(item, property):
        return [item.fget, item.fset]
    if isinstance(item, staticmethod | classmethod):
        return [item.__func__]
    if isinstance(item, type):
        return list(vars(item).values()) if item.__module__ == USER_MODULE_NAME else []
    return _of_instance(item) if type(item).__module__ == USER_MODULE_NAME else []


def _of_instance(instance: Any) -> list[object]:  # noqa: ANN401 - of a class of the user's
    slots = [name for kind in type(instance).__mro__ for name in vars(kind).get("__slots__", ())]
    fields = getattr(instance, "__dict__", {})
    return [type(instance), *fields.values(), *(getattr(instance, name, None) for name in slots)]


def _of_module(module: nn.Module) -> list[object]:
    """Return a module's references except what checkpoints have: weights and plain attributes."""
    hooks = [*module._forward_hooks.values(), *module._forward_pre_hooks.values()]
    weights = [p for p in module._parameters.values() if p is not None]
    of_weights = [hook for p in weights for hook in (p._backward_hooks or {}).values()]
    others = [
        value
        for name, value in vars(module).items()
        if name not in attributes.MODULE_FIELDS and not attributes.is_savable(value)
    ]
    return [*type(module).__mro__, *module._modules.values(), *hooks, *of_weights, *others]


def _of_function(function: FunctionType) -> list[object]:
    if function.__module__ != USER_MODULE_NAME:
        return []
    names = [n for code in _codes(function) for n in code.co_names]
    scope = function.__globals__
    return [
        *(scope[name] for name in dict.fromkeys(names) if name in scope),
        *(function.__defaults__ or ()),
        *(function.__kwdefaults__ or {}).values(),
        *(function.__closure__ or ()),
        *vars(function).values(),
    ]


def _codes(function: FunctionType) -> list[Any]:
    """Return a function's code objects, nested functions included."""
    codes = [function.__code__]
    for code in codes:
        codes += [const for const in code.co_consts if hasattr(const, "co_names")]
    return codes


def _contents(cell: CellType) -> list[object]:
    try:
        return [cell.cell_contents]
    except ValueError:  # It is empty.
        return []
