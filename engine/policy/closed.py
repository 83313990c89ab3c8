"""Doors of libraries that stand open to every program, shut once for the whole process.

Some lead from a value to any name or address of the program's choice: nobody could look at that on
its way. What is shut has no good use; it is shut for trusted programs too, and tells them so.
The frames of these functions do not show in a program's tracebacks: see `engine.record.tracebacks`.
"""

import typing
from collections.abc import Callable
from operator import index
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

_C: Any = torch._C
_KIND: Any = vars(_C.TensorBase)["device"]

ASKED = ("__array_interface__", "__array_struct__", "__cuda_array_interface__", "__deepcopy__")
"""What NumPy, torch and copying ask an object itself for: an address, or what it is made from."""


class Closed:
    """An attribute that is not there, whatever an object's own dict says."""

    def __get__(self, one: object, owner: type | None = None) -> object:
        raise AttributeError("closed by the policy")

    def __set__(self, one: object, value: object) -> None:
        raise AttributeError("closed by the policy")


def close(above: tuple[type, ...], names: dict[str, object]) -> None:
    """Keep the objects of a class to be made from telling NumPy and torch of an address.

    ``above`` are its bases and theirs, ``names`` what stands in it.
    """
    for name in ASKED:
        if not any(name in vars(one) for one in above):
            names.setdefault(name, Closed())


def _protocols() -> None:
    """Close the first of all protocols: the others would count it among what they ask for."""
    for name in ASKED:
        type.__setattr__(typing.Protocol, name, Closed())


def _modules() -> None:
    """Let no module answer for names that Python, NumPy and copying ask for.

    A part may be called anything. Called ``__array_interface__`` or ``__deepcopy__``, it would tell
    NumPy where to read, or copying what to make; and no part has such a name for a good reason.
    """
    ask = nn.Module.__getattr__

    def __getattr__(self: nn.Module, name: str) -> object:
        if name.startswith("__"):
            raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")
        return ask(self, name)

    put = nn.Module.set_submodule

    def set_submodule(
        self: nn.Module, target: str, module: nn.Module, strict: bool = False
    ) -> None:
        # By the real `get_submodule`: one of the program's own could return anything to write to.
        above, _, name = str.rpartition(target, ".")
        parent = nn.Module.get_submodule(self, above)
        if not isinstance(parent, nn.Module) or name.startswith("__"):
            raise AttributeError(f"`{name}` is not an nn.Module")
        put(parent, name, module, strict)

    nn.Module.__getattr__ = __getattr__  # type: ignore[method-assign, assignment]
    nn.Module.set_submodule = set_submodule  # type: ignore[method-assign]


def without_address(make: Callable[..., object]) -> Callable[..., object]:
    """Return a maker of tensors that takes no address of one for granted.

    Torch's old constructors make a tensor of whatever lies at ``cdata``.
    """

    def made(*args: object, **words: object) -> object:
        # Only what is a text and no more is what it says it is.
        if "cdata" in words or any(type(word) is not str for word in words):
            raise TypeError("a tensor is not made from an address")
        return make(*args, **words)

    return made


def _tensors() -> None:
    torch.Tensor.__new__ = without_address(torch.Tensor.__new__)  # type: ignore[method-assign, assignment]


def _numbers(thing: object) -> NDArray[np.int64] | None:
    """Return the whole numbers of a tensor in this machine's memory, by no op; None: not here.

    Asked of torch's own class: one of the program's could say anything.
    """
    while isinstance(thing, torch.Tensor) and _C._functorch.is_functorch_wrapped_tensor(thing):
        thing = _C._functorch.get_unwrapped(thing)
    if not isinstance(thing, torch.Tensor):
        return np.asarray(thing, np.int64)
    with _C.DisableTorchFunction():
        if _KIND.__get__(thing).type != "cpu":
            return None
        try:
            return torch.Tensor.numpy(thing)
        except (RuntimeError, TypeError):
            return None


def _plain(lengths: object) -> object:
    """Return whole numbers as torch reads them, whatever they say of themselves, or a tensor."""
    if not isinstance(lengths, list | tuple):
        return lengths
    return [int.__add__(one, 0) if isinstance(one, int) else index(one) for one in lengths]


def _size(tensor: torch.Tensor, dimension: int) -> int:
    with _C.DisableTorchFunction():
        return int(torch.Tensor.size(tensor, dimension))


def _within(numbers: NDArray[np.int64] | None, size: int, words: str) -> None:
    if numbers is not None and numbers.size:
        for number in (int(numbers.min()), int(numbers.max())):
            if not 0 <= number < size:
                raise IndexError(words.format(number))


def _bags() -> None:
    """Let ``embedding_bag`` look at its indices: torch reads and writes wherever they lead."""
    make: Callable[..., object] = torch.embedding_bag

    def embedding_bag(
        weight: torch.Tensor,
        indices: torch.Tensor,
        offsets: torch.Tensor,
        *args: object,
        **words: object,
    ) -> object:
        _within(_numbers(indices), _size(weight, 0), "index out of range in self")
        starts = _numbers(offsets)
        if starts is not None and starts.ndim == 1 and (starts[1:] < starts[:-1]).any():
            raise IndexError("offsets of bags must not go down")
        return make(weight, indices, offsets, *args, **words)

    setattr(torch, "embedding_bag", embedding_bag)  # noqa: B010


def _labels() -> None:
    """Let ``ctc_loss`` look at its labels in the same way; what pads them may be anything."""
    make: Callable[..., object] = torch.ctc_loss

    def ctc_loss(
        log_probs: torch.Tensor,
        targets: torch.Tensor,
        input_lengths: object,
        target_lengths: object,
        *args: object,
        **words: object,
    ) -> object:
        # What is looked at is what torch is given: an object might say something else later.
        input_lengths, target_lengths = _plain(input_lengths), _plain(target_lengths)
        labels, lengths = _numbers(targets), _numbers(target_lengths)
        if labels is not None and lengths is not None and labels.ndim == 2:
            inside = np.arange(labels.shape[1]) < lengths.reshape(-1, 1)
            labels = labels[inside] if len(inside) == len(labels) else labels
        _within(labels, _size(log_probs, -1), "Target {} is out of bounds.")
        return make(log_probs, targets, input_lengths, target_lengths, *args, **words)

    setattr(torch, "ctc_loss", ctc_loss)  # noqa: B010


_protocols()
_modules()
_tensors()
_bags()
_labels()
