"""Plain attributes of the user's modules: counters, warm-ups, state between steps.

They affect training as weights do, but no ``state_dict`` has them.
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

from gradscribe.engine.train.source.program import TrainingProgram, suppress_warnings

MOST_ITEMS = 10_000
"""Longer containers are not saved: each checkpoint would copy them."""
MOST_BYTES = 64 << 20
"""Larger tensors are not saved either."""
DEPTH = 50
"""Maximum nesting depth of containers."""
MODULE_FIELDS = frozenset(vars(nn.Module()))
_NUMBERS = (bool, int, float, complex, str, bytes, type(None), np.generic)
_PLAIN = (*_NUMBERS, Enum, range, slice, torch.dtype, torch.device, torch.Size)
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
"""Random generators: functions to get and set their state."""


class NotSaved(Exception):
    """Raised for a value that is not saved: of an unsupported type, or too large."""


class ModuleAttributes:
    """Saved attributes of a model's modules.

    It references the objects themselves, each with a copy of its content. So restoring preserves
    the identity of shared objects; another model gets copies.
    """

    def __init__(self, model: nn.Module | None = None) -> None:
        self.modules: list[dict[str, object]] = []
        """Attributes by module, in the order of ``modules()``."""
        self._unsaved: list[set[str]] = []
        """For each module: names of attributes to leave unchanged."""
        self._model = None if model is None else weakref.ref(model)
        self._contents: dict[int, tuple[Any, Any]] = {}
        """Each mutable object with its saved content, by id."""
        self._pointers: set[int] | None = None
        self._views: set[int] = set()
        """Ids of tensors that are views of a weight or a buffer and change with it."""

    @property
    def size(self) -> int:
        """Approximate size in bytes."""
        contents = [content for _, content in self._contents.values()]
        arrays = [c.nbytes for c in contents if isinstance(c, torch.Tensor | np.ndarray)]
        return sum(arrays) + 100 * sum(len(c) for c in contents if isinstance(c, dict | list))

    def add(self, attributes: dict[str, object], stay: Iterable[str] = ()) -> None:
        """Save the attributes of the next module that can be saved."""
        self._unsaved.append(set(stay))
        saved = {}
        for name, value in attributes.items():
            with suppress(NotSaved):
                contents: dict[int, tuple[Any, Any]] = {}
                self._gather(value, contents, [MOST_ITEMS], 0)
                self._contents |= contents
                saved[name] = value
        self.modules.append(saved)

    def _gather(self, value: object, saved: dict[int, Any], budget: list[int], depth: int) -> None:
        """Save an object's content, recursively. Raises `NotSaved`."""
        budget[0] -= 1
        if budget[0] < 0 or depth > DEPTH:
            raise NotSaved
        if isinstance(value, _PLAIN) or id(value) in saved or id(value) in self._contents:
            return
        content = _content(value, budget[0])
        saved[id(value)] = value, content
        if isinstance(value, torch.Tensor):
            if _data_pointer(value) in self._weight_pointers():
                self._views.add(id(value))
        elif isinstance(content, dict):
            for pair in content.items():
                for part in pair:
                    self._gather(part, saved, budget, depth + 1)
        elif isinstance(content, list) and type(value) not in GENERATORS:
            for part in content:
                self._gather(part, saved, budget, depth + 1)

    def _weight_pointers(self) -> set[int]:
        """Return the data pointers of weights and buffers; computed on demand, as seldom needed."""
        if self._pointers is None:
            model = None if self._model is None else self._model()
            tensors = [] if model is None else [*model.parameters(), *model.buffers()]
            self._pointers = set(map(_data_pointer, tensors)) - {0}
        return self._pointers

    def restore(self, model: nn.Module) -> None:
        """Restore the attributes of a model's modules."""
        is_same = self._model is not None and self._model() is model
        if is_same:
            self._rewrite()
        memo: dict[int, object] = {}
        for module, before, stay in zip(model.modules(), self.modules, self._unsaved, strict=False):
            now = vars(module)
            for name in now.keys() - MODULE_FIELDS - before.keys() - stay:
                if is_savable(now[name]):
                    del now[name]
            if is_same:
                now.update(before)
                continue
            # In another model, a view of a weight must be a view of that model's weight.
            values = {k: v for k, v in before.items() if not self.is_view(v)}
            now.update({name: self._copied(value, memo) for name, value in values.items()})

    def is_view(self, value: object) -> bool:
        """Return whether a value is a view of a weight or a buffer."""
        return id(value) in self._views

    def content_of(self, value: object) -> Any:  # noqa: ANN401 - of many kinds
        """Return the saved content of an object: a tensor's data, the items of a list."""
        return self._contents[id(value)][1]

    def _rewrite(self) -> None:
        for item, content in self._contents.values():
            if isinstance(item, torch.Tensor):
                _write(item, content)
            elif isinstance(item, np.ndarray):
                with suppress(ValueError):  # A read-only array has not changed.
                    item[...] = content
            elif type(item) in GENERATORS:
                GENERATORS[type(item)][1](item, content)
            elif not isinstance(item, tuple | frozenset):
                _fill(item, content)

    def _copied(self, value: Any, memo: dict[int, Any]) -> Any:  # noqa: ANN401 - of many kinds
        if isinstance(value, _PLAIN) or id(value) in memo:
            return memo.get(id(value), value)
        content = self.content_of(value)
        if isinstance(value, torch.Tensor):
            copy: Any = content.clone()
        elif isinstance(value, np.ndarray):
            copy = content.copy()
        elif type(value) in GENERATORS:
            copy = _new_generator(value, content)
        elif isinstance(value, tuple | frozenset):
            parts = [self._copied(part, memo) for part in content]
            copy = type(value)(*parts) if hasattr(value, "_fields") else type(value)(parts)
        else:
            copy = memo[id(value)] = value.copy()
            if isinstance(content, dict):
                copied = [
                    (self._copied(k, memo), self._copied(v, memo)) for k, v in content.items()
                ]
                _fill(copy, dict(copied))
            else:
                _fill(copy, [self._copied(part, memo) for part in content])
        memo[id(value)] = copy
        return copy


def _content(value: Any, most: int) -> Any:  # noqa: ANN401 - of many kinds
    """Return the current content of an object, its items not copied. Raises `NotSaved`."""
    kind = type(value)
    if isinstance(value, torch.Tensor):
        # A tensor that requires grad would keep its whole graph in memory.
        if value.requires_grad or (value.layout == torch.strided and value.nbytes > MOST_BYTES):
            raise NotSaved
        try:
            return value.detach().clone()
        except RuntimeError as error:  # A tensor of a finished transform (vmap) has no data.
            raise NotSaved from error
    if isinstance(value, np.ndarray):
        if value.dtype.kind not in "biufc" or value.nbytes > MOST_BYTES:
            raise NotSaved
        return value.copy()
    if kind in GENERATORS:
        return GENERATORS[kind][0](value)
    is_tuple = kind is tuple or (isinstance(value, tuple) and hasattr(value, "_fields"))
    if not (is_tuple or kind in _DICTS | _LISTS | _SETS) or len(value) > most:
        raise NotSaved
    return dict(value) if kind in _DICTS else list(value)


def _fill(container: Any, content: Iterable[Any]) -> None:  # noqa: ANN401 - of many kinds
    """Replace the content of a list, a set or a dictionary."""
    container.clear()
    if isinstance(content, dict):
        for key, value in content.items():
            container[key] = value
    elif isinstance(container, set):
        container.update(content)
    else:
        container.extend(content)


def _new_generator(like: object, state: object) -> object:
    """Return a new generator of the same type with the given state."""
    if isinstance(like, torch.Generator):
        generator: Any = torch.Generator(like.device)
    elif isinstance(like, random.Random):
        generator = random.Random()
    elif isinstance(like, np.random.Generator):
        generator = np.random.Generator(type(like.bit_generator)())
    GENERATORS[type(like)][1](generator, state)
    return generator


def _write(tensor: torch.Tensor, numbers: torch.Tensor) -> None:
    """Copy numbers into a tensor without incrementing autograd's version counter.

    The backward of a partly executed step may still need the tensor; it gets the same numbers that
    it had at its forward.
    """
    with torch.no_grad(), torch.inference_mode(tensor.is_inference()):
        try:
            tensor.data.copy_(numbers)
        except RuntimeError:  # It was resized or expanded.
            tensor.data = numbers.clone()


def _data_pointer(tensor: torch.Tensor) -> int:
    """Return the data pointer of a tensor's storage, 0 if it has none."""
    try:
        return tensor.untyped_storage().data_ptr()
    except (RuntimeError, AttributeError):
        return 0


def is_savable(value: object) -> bool:
    """Return whether an attribute can be saved, or is a tensor that has lost its data."""
    if isinstance(value, torch.Tensor):
        return not value.requires_grad
    try:
        ModuleAttributes()._gather(value, {}, [MOST_ITEMS], 0)
    except NotSaved:
        return False
    return True


def of_program(program: TrainingProgram) -> ModuleAttributes:
    """Return the attributes of the run's modules; none for built-in models."""
    return of_model(program.model) if program.setup.model.name == "own" else ModuleAttributes()


def of_model(model: nn.Module) -> ModuleAttributes:
    """Return the attributes of a model's modules: plain values, tensors, containers of these."""
    saved = ModuleAttributes(model)
    for module in model.modules():
        saved.add({k: v for k, v in vars(module).items() if k not in MODULE_FIELDS})
    return saved


def first_difference(before: ModuleAttributes, after: ModuleAttributes) -> str:
    """Return the name of the first plain attribute that differs, or an empty text.

    Tensors are ignored: storing a layer's output for inspection has no effect on training.
    """
    for first, second in zip(before.modules, after.modules, strict=True):
        for name in sorted(first.keys() | second.keys()):
            pair = (before, first.get(name)), (after, second.get(name))
            if not any(isinstance(v, torch.Tensor) for _, v in pair):
                texts = [_describe(kept, value, {}) for kept, value in pair]
                if texts[0] != texts[1]:
                    return name
    return ""


def _describe(kept: ModuleAttributes, value: object, numbers: dict[int, int]) -> str:
    """Return a text of a saved value for comparison; different values have different texts."""
    if isinstance(value, _PLAIN):
        return repr(value)
    if id(value) in numbers:
        return f"#{numbers[id(value)]}"
    numbers[id(value)] = len(numbers)
    content = kept.content_of(value)
    if isinstance(value, torch.Tensor):
        return "tensor"
    if type(value) in GENERATORS or isinstance(content, np.ndarray):
        content = content.tolist() if isinstance(content, torch.Tensor | np.ndarray) else content
        return repr(content)
    pairs = content.items() if isinstance(content, dict) else enumerate(content)
    parts = [f"{_describe(kept, k, numbers)}: {_describe(kept, v, numbers)}" for k, v in pairs]
    return f"{type(value).__name__}({', '.join(parts)})"


Buffers = list[tuple[nn.Module, str, torch.Tensor, torch.Tensor]]


def buffers_of(model: nn.Module) -> Buffers:
    """Return each buffer with its module and name, and a copy of its data."""
    return [
        (module, name, buffer, buffer.detach().clone())
        for module in model.modules()
        for name, buffer in module._buffers.items()
        if buffer is not None
    ]


@torch.no_grad()
def restore_buffers(saved: Buffers) -> None:
    """Restore the buffer objects and their data: a forward may have replaced the buffers.

    Replacements may belong to a finished transform (``vmap``) and have no data any more.
    """
    for module, name, buffer, before in saved:
        module._buffers[name] = buffer
        buffer.copy_(before)


@contextmanager
def preserved(program: TrainingProgram) -> Iterator[None]:
    """Restore attributes, buffers and weights of the user's modules on exit.

    A forward may write into weights, too: an embedding with ``max_norm`` does.
    """
    attributes = of_program(program)
    is_own = program.setup.model.name == "own"
    buffers = buffers_of(program.model) if is_own else []
    parameters = [p for p in program.model.parameters() if is_own and not is_lazy(p)]
    weights = [(p, p.detach().clone()) for p in parameters]
    try:
        yield
    finally:
        attributes.restore(program.model)
        restore_buffers(buffers)
        for weight, before in weights:
            _write(weight, before)


@contextmanager
def evaluating(program: TrainingProgram) -> Iterator[None]:
    """Put a run's model into eval mode without gradients.

    On exit the run is exactly as before: weights, modes, generators, attributes of its modules.
    """
    model = program.model
    modes = [(module, module.training) for module in model.modules()]
    random_state = program.random_state()
    model.eval()
    try:
        with torch.no_grad(), suppress_warnings(), preserved(program):
            yield
    finally:
        for module, training in modes:
            module.training = training
        program.set_random_state(random_state)
