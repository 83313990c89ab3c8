"""Tensors in the containers of a namespace, each with the expression that reaches it."""

from collections import OrderedDict, defaultdict
from collections.abc import Iterable, Iterator
from contextlib import suppress
from itertools import islice
from typing import cast

import torch
from torch import nn

MOST_ELEMENTS = 256
"""Elements of a container that are read; more are data rather than parameters."""
MOST_TENSORS = 2000
"""Tensors of a variable that are found."""
DEEPEST = 4
"""Most containers in each other."""


def tensors_inside(namespace: dict[str, object]) -> Iterator[tuple[str, torch.Tensor]]:
    """Yield the tensors in a namespace's containers: ``params['0.weight']``, ``nets[1].bias``.

    Exact lists, tuples and dicts are read, and the attributes of modules and of the program's own
    objects: to iterate over anything else may run the program's code. Types are asked, not the
    objects, whose ``__class__`` may be a property.
    """
    own = namespace.get("__name__")
    seen: set[int] = set()
    for name, thing in list(namespace.items()):
        is_variable = type(name) is str and not name.startswith("__")
        if is_variable and not issubclass(type(thing), torch.Tensor):
            yield from islice(_inside(name, thing, own, seen, 0), MOST_TENSORS)


def _inside(
    path: str, thing: object, own: object, seen: set[int], depth: int
) -> Iterator[tuple[str, torch.Tensor]]:
    if issubclass(type(thing), torch.Tensor):
        yield path, cast("torch.Tensor", thing)
    elif depth > DEEPEST or id(thing) in seen:
        return
    elif issubclass(type(thing), nn.Module):
        # Its own parameters are named already where it has a name of its own.
        if depth:
            seen.add(id(thing))
            with suppress(Exception):
                for name, p in nn.Module.named_parameters(cast("nn.Module", thing)):
                    if isinstance(p, torch.Tensor):
                        yield f"{path}.{name}", p
        for name, child in list(_attributes(thing).items())[:MOST_ELEMENTS]:
            if not name.startswith("_"):
                yield from _inside(f"{path}.{name}", child, own, seen, depth + 1)
    else:
        for inner, child in _children(path, thing, own):
            seen.add(id(thing))
            yield from _inside(inner, child, own, seen, depth + 1)


def _children(path: str, thing: object, own: object) -> Iterable[tuple[str, object]]:
    """Return the elements of a container, each with its expression."""
    kind = type(thing)
    if kind in (list, tuple):
        rows = islice(cast("list[object]", thing), MOST_ELEMENTS)
        return [(f"{path}[{number}]", child) for number, child in enumerate(rows)]
    if kind is dict or kind in (OrderedDict, defaultdict):
        pairs = islice(dict.items(cast("dict[object, object]", thing)), MOST_ELEMENTS)
        return [(f"{path}[{key!r}]", c) for key, c in pairs if type(key) in (int, str)]
    # Of another metaclass even the name of a class may be the program's own code.
    if type(kind) is not type or kind.__module__ != own:
        return ()
    if issubclass(kind, tuple) and type(kind.__dict__.get("_fields")) is tuple:
        names = cast("tuple[str, ...]", kind.__dict__["_fields"])
        made = cast("tuple[object, ...]", thing)
        return [(f"{path}.{n}", c) for n, c in zip(names, tuple.__iter__(made), strict=False)]
    inside = list(_attributes(thing).items())[:MOST_ELEMENTS]
    return [(f"{path}.{name}", child) for name, child in inside]


def _attributes(thing: object) -> dict[str, object]:
    """Return an object's own attributes without its class's code; empty if it has none."""
    try:
        found = object.__getattribute__(thing, "__dict__")
    except Exception:  # noqa: BLE001 - a class without them
        return {}
    plain = type(found) is dict
    return {name: child for name, child in found.items() if type(name) is str} if plain else {}
