"""Narrower twins of library functions that would do too much for a program from elsewhere."""

import copy
import dataclasses
import functools
from collections.abc import Callable, Iterator
from types import FunctionType
from typing import NoReturn

import numpy as np
import torch
from torch.utils import data
from torch.utils.data.dataloader import _SingleProcessDataLoaderIter

from engine.policy import states, words
from engine.policy.closed import without_address
from engine.policy.kinds import MAIN, is_of_own, is_own
from engine.policy.refusal import Refusal


def leave(code: object = None) -> NoReturn:
    """End the program, as ``sys.exit`` does."""
    raise SystemExit(code)


# dataclasses writes the names of fields into code that it runs; so they must be names, always.


class Field(dataclasses.Field):  # type: ignore[type-arg]
    """A field whose name stays the one it has in its class: `replace` reads what it says."""

    __slots__ = ()

    def __setattr__(self, name: str, value: object) -> None:
        """Refuse what is no ordinary name, and a second one."""
        if name == "name" and value is not None:
            _plain_name(value)
            if self.name not in (None, value):
                raise Refusal("A field keeps its name", "Make another field.")
        super().__setattr__(name, value)


def _plain_name(name: object) -> str:
    if type(name) is not str or not name.isidentifier() or name.startswith("__"):
        raise Refusal(f"A field cannot be called {name!r}", "Use a plain name.")
    if name in words.ATTRIBUTES:
        # A pattern would read it of whatever passes for such a class.
        raise Refusal(f"A field cannot be called {name}", "Use another name.")
    return name


def field(**options: object) -> object:
    """Do what ``dataclasses.field`` does."""
    made = dataclasses.field(**options)  # type: ignore[call-overload]
    return Field(*(getattr(made, name) for name in _FIELD))


_FIELD = ("default", "default_factory", "init", "repr", "hash", "compare", "metadata", "kw_only")


def dataclass(cls: object = None, /, **options: bool) -> object:
    """Do what ``dataclasses.dataclass`` does, for classes of the program."""

    def make(kind: object) -> type:
        if type(kind) is not type and not isinstance(kind, type):
            raise TypeError("a dataclass is a class")
        if kind.__module__ != MAIN:
            raise Refusal("Only classes of the program itself can be data classes")
        if getattr(kind, "_is_protocol", False):
            raise Refusal("A protocol cannot be a data class", "Make a class that has it.")
        for base in kind.__mro__:
            for name in list(vars(base).get("__annotations__", ())):
                _plain_name(name)
                if name in words.GUARDED and not is_of_own(kind, name):
                    raise Refusal(f"A field cannot be called {name} here", "Use another name.")
        return dataclasses.dataclass(**options)(kind)

    return make if cls is None else make(cls)


@dataclasses.dataclass(frozen=True)
class Told:
    """What ``fields`` tells about a field."""

    name: str
    type: object
    default: object


def fields(of: object) -> tuple[Told, ...]:
    """Return the fields of a data class, as values that change nothing."""
    found = dataclasses.fields(of)  # type: ignore[arg-type]
    return tuple(Told(one.name, one.type, one.default) for one in found)


DATACLASSES: dict[str, object] = {
    "dataclass": dataclass,
    "field": field,
    "fields": fields,
    **{
        name: getattr(dataclasses, name)
        for name in (
            "InitVar",
            "KW_ONLY",
            "MISSING",
            "asdict",
            "astuple",
            "is_dataclass",
            "replace",
        )
    },
}


# functools copies attributes by name.


def wraps(wrapped: Callable[..., object]) -> Callable[[object], object]:
    """Do what ``functools.wraps`` does, to functions of the program."""

    def decorate(wrapper: object) -> object:
        if not isinstance(wrapper, FunctionType) or wrapper.__module__ != MAIN:
            raise Refusal("Only functions of the program itself can wrap others")
        if isinstance(wrapped, type):
            raise Refusal("A class cannot be wrapped", "Wrap a function.")
        # Objects have a dict of their own, with what is private to their class in it.
        also = functools.WRAPPER_UPDATES if is_own(wrapped) else ()
        return functools.update_wrapper(wrapper, wrapped, updated=also)

    return decorate


def update_wrapper(wrapper: object, wrapped: Callable[..., object]) -> object:
    """Do what ``functools.update_wrapper`` does, to functions of the program."""
    return wraps(wrapped)(wrapper)


def total_ordering(cls: type) -> type:
    """Do what ``functools.total_ordering`` does, to classes of the program."""
    if cls.__module__ != MAIN:
        raise Refusal("Only classes of the program itself can be ordered")
    return functools.total_ordering(cls)


class cached_property:
    """``functools.cached_property``, which keeps its value under the name it has in its class."""

    __slots__ = ("_func", "_name")

    def __init__(self, func: Callable[[object], object]) -> None:
        self._func, self._name = func, ""

    def __set_name__(self, owner: type, name: str) -> None:
        """Take the name, once."""
        if not self._name:
            if not is_own(owner):
                raise Refusal("A property belongs to a class of the program itself")
            self._name = _plain_name(name)

    def __get__(self, one: object, owner: type | None = None) -> object:
        """Return the value, which is made the first time."""
        if one is None:
            return self
        if not is_own(type(one)) or not self._name:
            raise Refusal("A property belongs to a class of the program itself")
        held = vars(one)
        if self._name not in held:
            held[self._name] = self._func(one)
        return held[self._name]


FUNCTOOLS: dict[str, object] = {
    "cached_property": cached_property,
    "wraps": wraps,
    "update_wrapper": update_wrapper,
    "total_ordering": total_ordering,
}


# copy looks everything up in its memo, what an object is made from too.


def deepcopy(value: object, memo: object = None) -> object:
    """Do what ``copy.deepcopy`` does, with a memo of its own."""
    if memo is not None:
        raise Refusal("deepcopy() takes one value here", "Write copy.deepcopy(value).")
    return copy.deepcopy(value)


# torch


class _WithoutCalls:
    """A schedule whose state leaves out the state of what it calls.

    torch reads and writes the attributes of whatever stands there.
    """

    left_out = ("optimizer", "lr_lambdas", "_scale_fn_custom")

    def state_dict(self) -> dict[str, object]:
        """Return what decides about the next rates."""
        return {name: one for name, one in vars(self).items() if name not in self.left_out}

    def load_state_dict(self, state: dict[str, object]) -> None:
        """Take up a state that `state_dict` returned."""
        kept = {name: one for name, one in state.items() if name not in self.left_out}
        vars(self).update(kept)


def schedules() -> dict[str, object]:
    """Return twins of the schedules that call what the program gives them."""
    from torch.optim import lr_scheduler

    made: dict[str, object] = {}
    for name in ("LambdaLR", "MultiplicativeLR", "CyclicLR"):
        kind = type(name, (_WithoutCalls, getattr(lr_scheduler, name)), {})
        kind.__module__ = lr_scheduler.__name__
        made[name] = kind
    return made


class DataLoader(data.DataLoader):  # type: ignore[type-arg]
    """A loader that works in the process it is in, however many workers it is asked for."""

    def __init__(self, dataset: object, *args: object, **options: object) -> None:
        names = ("batch_size", "shuffle", "sampler", "batch_sampler", "num_workers", "collate_fn")
        if len(args) > len(names):
            raise Refusal("Give a loader's options by name", "DataLoader(data, batch_size=8)")
        options |= dict(zip(names, args, strict=False))
        for name in ("num_workers", "pin_memory", "multiprocessing_context", "persistent_workers"):
            options.pop(name, None)
        for name in ("prefetch_factor", "timeout", "pin_memory_device", "worker_init_fn"):
            options.pop(name, None)
        super().__init__(dataset, **options)  # type: ignore[arg-type]

    @property
    def multiprocessing_context(self) -> None:
        """None: there are no other processes."""
        return None

    @multiprocessing_context.setter
    def multiprocessing_context(self, context: object) -> None:
        pass

    def __iter__(self) -> Iterator[object]:  # type: ignore[override]
        self.num_workers, self.pin_memory = 0, False
        return self._get_iterator()

    def _get_iterator(self) -> Iterator[object]:  # type: ignore[override]
        return _SingleProcessDataLoaderIter(self)


def apart(thing: object) -> object:
    """Return a copy of a tensor that no op on the tape knows of; all else as it is."""
    with torch._C.DisableTorchFunction():
        return torch.Tensor.clone(thing) if isinstance(thing, torch.Tensor) else thing


def _checked(make: Callable[..., torch.Tensor], *indices: str) -> Callable[..., torch.Tensor]:
    @functools.wraps(make)
    def checked(*args: object, **options: object) -> torch.Tensor:
        count = len(indices)
        args = (*map(apart, args[:count]), *args[count:])
        options |= {name: apart(options[name]) for name in indices if name in options}
        return make(*args, **{**options, "check_invariants": True})

    return checked


SPARSE: dict[str, object] = {
    "sparse_coo_tensor": _checked(torch.sparse_coo_tensor, "indices"),
    "sparse_csr_tensor": _checked(torch.sparse_csr_tensor, "crow_indices", "col_indices"),
}
"""Without the check they take indices that lie outside the tensor, and without the copy ones that
leave it later."""


def _own_numbers(
    make: Callable[..., torch.Tensor],
) -> Callable[..., torch.Tensor]:
    """Return a function that takes no array which may not be written: torch would write it."""

    @functools.wraps(make)
    def made(data: object, *args: object, **options: object) -> torch.Tensor:
        if isinstance(data, np.ndarray) and not data.flags.writeable:
            data = data.copy()
        return make(data, *args, **options)

    return made


ARRAYS: dict[str, object] = {
    "from_numpy": _own_numbers(torch.from_numpy),
    "as_tensor": _own_numbers(torch.as_tensor),
}


def functional_call(
    module: object, parameters_and_buffers: object, *args: object, **words: object
) -> object:
    """Do what ``torch.func.functional_call`` does, which sets whatever attributes are named."""
    given = parameters_and_buffers
    # In dicts of our own: one of the program's class could hold other names for torch than for us.
    if isinstance(given, tuple | list) and type(given) in (tuple, list):
        plain: object = tuple(states.parameters(one) for one in given)
    else:
        plain = states.parameters(given)
    return torch.func.functional_call(module, plain, *args, **words)  # type: ignore[arg-type]


# NumPy


class _Old(type):
    """One of torch's old classes of tensors, ``torch.FloatTensor`` and the like."""

    __real__: Callable[..., object]

    def __call__(cls, *args: object, **words: object) -> object:
        return without_address(cls.__real__)(*args, **words)

    def __instancecheck__(cls, thing: object) -> bool:
        return isinstance(thing, cls.__real__)  # type: ignore[arg-type]


def old_tensors() -> dict[str, object]:
    """Return twins of those classes; torch knows them by their names, as the real ones."""
    names = "Bool Byte Double Float Half Int Long Short".split()
    return {
        f"{name}Tensor": _Old(
            f"torch.{name}Tensor", (), {"__real__": staticmethod(getattr(torch, f"{name}Tensor"))}
        )
        for name in names
    }


class _Array(type):
    """Arrays as a class: it tells which things are arrays, and lays none over given memory."""

    def __call__(
        cls, shape: object, dtype: object = float, *args: object, **words: object
    ) -> object:
        if args or words:
            raise Refusal("ndarray() takes a shape and a dtype here", "Use np.array or np.zeros.")
        return np.empty(shape, dtype)  # type: ignore[call-overload]

    def __instancecheck__(cls, thing: object) -> bool:
        return isinstance(thing, np.ndarray)

    def __getattr__(cls, name: str) -> object:
        return getattr(np.ndarray, name)

    def __getitem__(cls, item: object) -> type:
        return cls


class Array(metaclass=_Array):
    """``np.ndarray``, which makes objects of any bytes where it is given them as a buffer."""

    def __init_subclass__(cls, **_words: object) -> None:
        """Refuse: a subclass could call what this one keeps to itself."""
        raise Refusal("A class from outside cannot be an array", "Keep the array in an attribute.")


Array.__name__ = Array.__qualname__ = "ndarray"
Array.__module__ = "numpy"


class _Flags:
    """The switches of cuDNN that programs set for the sake of reproducible numbers."""

    def __init__(self) -> None:
        self.deterministic = False
        self.benchmark = False
        self.enabled = True

    def is_available(self) -> bool:
        """Whether cuDNN is there."""
        return bool(torch.backends.cudnn.is_available())  # type: ignore[no-untyped-call]


class _Present:
    def __init__(self, is_available: Callable[[], bool]) -> None:
        self.is_available = is_available
        self.is_built = is_available


BACKENDS: dict[str, object] = {
    "cudnn": _Flags(),
    "mps": _Present(torch.backends.mps.is_available),
    "cuda": _Present(torch.cuda.is_available),
}
"""They take settings and pass none on: a program from elsewhere changes no library."""
