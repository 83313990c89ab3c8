"""Safe variants of library functions that would give an untrusted program too much power."""

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

from gradscribe.engine.sandbox.policy import allowlist, state_dicts
from gradscribe.engine.sandbox.policy.blocked import refuse_address
from gradscribe.engine.sandbox.policy.ownership import MAIN, is_own, is_own_attribute
from gradscribe.engine.sandbox.policy.refusal import Refusal


def exit_program(code: object = None) -> NoReturn:
    """End the program, as ``sys.exit()``, ``exit()`` and ``quit()`` do."""
    raise SystemExit(code)


# dataclasses inserts field names into code that it executes; so they must always be identifiers.


class FixedNameField(dataclasses.Field):  # type: ignore[type-arg]
    """A field whose name cannot be changed: `dataclasses.replace` reads the attribute it names."""

    __slots__ = ()

    def __setattr__(self, name: str, value: object) -> None:
        """Refuse a name that is no plain identifier, and a second name."""
        if name == "name" and value is not None:
            _plain_name(value)
            if self.name not in (None, value):
                raise Refusal("A field keeps its name", "Make another field.")
        super().__setattr__(name, value)


def _plain_name(name: object) -> str:
    if type(name) is not str or not name.isidentifier() or name.startswith("__"):
        raise Refusal(f"A field cannot be called {name!r}", "Use a plain name.")
    if name in allowlist.ATTRIBUTES:
        # A pattern would read it from any object that passes as an instance.
        raise Refusal(f"A field cannot be called {name}", "Use another name.")
    return name


def field(**options: object) -> object:
    """Do what ``dataclasses.field`` does."""
    plain = dataclasses.field(**options)  # type: ignore[call-overload]
    return FixedNameField(*(getattr(plain, name) for name in _FIELD))


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
                if name in allowlist.GUARDED and not is_own_attribute(kind, name):
                    raise Refusal(f"A field cannot be called {name} here", "Use another name.")
        return dataclasses.dataclass(**options)(kind)

    return make if cls is None else make(cls)


@dataclasses.dataclass(frozen=True)
class FieldInfo:
    """Description of a field, as returned by ``fields``."""

    name: str
    type: object
    default: object


def fields(of: object) -> tuple[FieldInfo, ...]:
    """Return read-only descriptions of the fields of a data class."""
    found = dataclasses.fields(of)  # type: ignore[arg-type]
    return tuple(FieldInfo(each.name, each.type, each.default) for each in found)


DATACLASSES: dict[str, object] = {
    "dataclass": dataclass,
    "field": field,
    "fields": fields,
    **{
        name: getattr(dataclasses, name)
        for name in "InitVar KW_ONLY MISSING asdict astuple is_dataclass replace".split()
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
        # The dict of other objects contains attributes that are private to their class.
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
    """``functools.cached_property`` that stores its value only under its name in the class."""

    __slots__ = ("_func", "_name")

    def __init__(self, func: Callable[[object], object]) -> None:
        self._func, self._name = func, ""

    def __set_name__(self, owner: type, name: str) -> None:
        """Set the name, once."""
        if not self._name:
            if not is_own(owner):
                raise Refusal("A property belongs to a class of the program itself")
            self._name = _plain_name(name)

    def __get__(self, instance: object, owner: type | None = None) -> object:
        """Return the value, computed at the first access."""
        if instance is None:
            return self
        if not is_own(type(instance)) or not self._name:
            raise Refusal("A property belongs to a class of the program itself")
        attributes = vars(instance)
        if self._name not in attributes:
            attributes[self._name] = self._func(instance)
        return attributes[self._name]


FUNCTOOLS: dict[str, object] = {
    "cached_property": cached_property,
    "wraps": wraps,
    "update_wrapper": update_wrapper,
    "total_ordering": total_ordering,
}


# copy looks up everything in its memo, even the arguments with which objects are reconstructed.


def deepcopy(value: object, memo: object = None) -> object:
    """Do what ``copy.deepcopy`` does, with a new memo."""
    if memo is not None:
        raise Refusal("deepcopy() takes one value here", "Write copy.deepcopy(value).")
    return copy.deepcopy(value)


# torch


class _WithoutCalls:
    """A scheduler whose state leaves out the state of the program's callables.

    torch would read and write the attributes of any object there.
    """

    left_out = ("optimizer", "lr_lambdas", "_scale_fn_custom")

    def state_dict(self) -> dict[str, object]:
        """Return the attributes that determine the next learning rates."""
        return {name: value for name, value in vars(self).items() if name not in self.left_out}

    def load_state_dict(self, state: dict[str, object]) -> None:
        """Load a state that `state_dict` returned."""
        vars(self).update({name: v for name, v in state.items() if name not in self.left_out})


def safe_schedulers() -> dict[str, object]:
    """Return safe variants of the schedulers that take callables of the program."""
    from torch.optim import lr_scheduler

    variants: dict[str, object] = {}
    for name in ("LambdaLR", "MultiplicativeLR", "CyclicLR"):
        kind = type(name, (_WithoutCalls, getattr(lr_scheduler, name)), {})
        kind.__module__ = lr_scheduler.__name__
        variants[name] = kind
    return variants


class DataLoader(data.DataLoader):  # type: ignore[type-arg]
    """A loader that works in the current process, whatever number of workers is requested."""

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
        """Always None: there are no worker processes."""
        return None

    @multiprocessing_context.setter
    def multiprocessing_context(self, context: object) -> None:
        pass

    def __iter__(self) -> Iterator[object]:  # type: ignore[override]
        self.num_workers, self.pin_memory = 0, False
        return self._get_iterator()

    def _get_iterator(self) -> Iterator[object]:  # type: ignore[override]
        return _SingleProcessDataLoaderIter(self)


def unrecorded_copy(thing: object) -> object:
    """Return an unrecorded copy of a tensor; other objects unchanged."""
    with torch._C.DisableTorchFunction():
        return torch.Tensor.clone(thing) if isinstance(thing, torch.Tensor) else thing


def _checked(make: Callable[..., torch.Tensor], *indices: str) -> Callable[..., torch.Tensor]:
    @functools.wraps(make)
    def checked(*args: object, **options: object) -> torch.Tensor:
        count = len(indices)
        args = (*map(unrecorded_copy, args[:count]), *args[count:])
        options |= {name: unrecorded_copy(options[name]) for name in indices if name in options}
        return make(*args, **{**options, "check_invariants": True})

    return checked


SPARSE: dict[str, object] = {
    "sparse_coo_tensor": _checked(torch.sparse_coo_tensor, "indices"),
    "sparse_csr_tensor": _checked(torch.sparse_csr_tensor, "crow_indices", "col_indices"),
}
"""Without the check they accept indices outside of the tensor; without the copy the program could
change the indices afterwards."""


def _own_numbers(make: Callable[..., torch.Tensor]) -> Callable[..., torch.Tensor]:
    """Wrap a function to copy read-only arrays: torch would allow writing to their memory."""

    @functools.wraps(make)
    def convert(data: object, *args: object, **options: object) -> torch.Tensor:
        if isinstance(data, np.ndarray) and not data.flags.writeable:
            data = data.copy()
        return make(data, *args, **options)

    return convert


ARRAYS: dict[str, object] = {
    "from_numpy": _own_numbers(torch.from_numpy),
    "as_tensor": _own_numbers(torch.as_tensor),
}


def functional_call(
    module: object, parameters_and_buffers: object, *args: object, **words: object
) -> object:
    """Do what ``torch.func.functional_call`` does, for plain parameter names only."""
    given = parameters_and_buffers
    # In new dicts: a dict subclass could present other names to torch than were checked here.
    if isinstance(given, tuple | list) and type(given) in (tuple, list):
        plain: object = tuple(state_dicts.plain_parameters(item) for item in given)
    else:
        plain = state_dicts.plain_parameters(given)
    return torch.func.functional_call(module, plain, *args, **words)  # type: ignore[arg-type]


# NumPy


class _Old(type):
    """Metaclass of safe variants of torch's legacy tensor types, such as ``torch.FloatTensor``."""

    __real__: Callable[..., object]

    def __call__(cls, *args: object, **words: object) -> object:
        return refuse_address(cls.__real__)(*args, **words)

    def __instancecheck__(cls, thing: object) -> bool:
        return isinstance(thing, cls.__real__)  # type: ignore[arg-type]


def legacy_tensor_types() -> dict[str, object]:
    """Return safe variants of the legacy tensor types; torch recognizes them by their names."""
    names = "Bool Byte Double Float Half Int Long Short".split()
    return {
        f"{name}Tensor": _Old(
            f"torch.{name}Tensor", (), {"__real__": staticmethod(getattr(torch, f"{name}Tensor"))}
        )
        for name in names
    }


class _Array(type):
    """Metaclass of `SafeArray`: supports `isinstance`, but no array over a given buffer."""

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


class SafeArray(metaclass=_Array):
    """``np.ndarray`` without its buffer argument, which could turn any bytes into objects."""

    def __init_subclass__(cls, **_words: object) -> None:
        """Refuse subclasses: they could call the real constructor."""
        raise Refusal("A class from outside cannot be an array", "Keep the array in an attribute.")


SafeArray.__name__ = SafeArray.__qualname__ = "ndarray"
SafeArray.__module__ = "numpy"


class _Flags:
    """The cuDNN settings that programs set for reproducibility."""

    def __init__(self) -> None:
        self.deterministic = False
        self.benchmark = False
        self.enabled = True

    def is_available(self) -> bool:
        """Return whether cuDNN is available."""
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
"""They accept settings and ignore them: an untrusted program cannot change a library."""
