"""Block unsafe library features once for the whole process.

Some access any name or address of the program's choice, which no guard could check on its way. The
blocked features have no good use; they are blocked for trusted programs too, with an error. The
frames of these functions do not show in a program's tracebacks: see `engine.record.tracebacks`.
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

ADDRESS_PROTOCOLS = (
    "__array_interface__",
    "__array_struct__",
    "__cuda_array_interface__",
    "__deepcopy__",
)
"""Protocols by which objects supply an address to NumPy and torch, or their own copy."""


class BlockedAttribute:
    """Descriptor of an attribute that does not exist, whatever is in an object's dict."""

    def __get__(self, instance: object, owner: type | None = None) -> object:
        raise AttributeError("closed by the policy")

    def __set__(self, instance: object, value: object) -> None:
        raise AttributeError("closed by the policy")


def block_address_protocols(above: tuple[type, ...], names: dict[str, object]) -> None:
    """Block the protocols `ADDRESS_PROTOCOLS` in a class that is about to be created.

    ``above`` are its bases and theirs, ``names`` is its namespace, which is changed.
    """
    for name in ADDRESS_PROTOCOLS:
        if not any(name in vars(base) for base in above):
            names.setdefault(name, BlockedAttribute())


def _block_protocols() -> None:
    """Block them in `typing.Protocol` itself: else each protocol class would require them."""
    for name in ADDRESS_PROTOCOLS:
        type.__setattr__(typing.Protocol, name, BlockedAttribute())


def _block_module_names() -> None:
    """Keep modules from supplying special attributes through their submodules and parameters.

    A submodule may have any name. Under ``__array_interface__`` or ``__deepcopy__`` it would tell
    NumPy where to read, or `copy` what to construct; such names have no legitimate use.
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
        # By torch's `get_submodule`: an override in the program could return any object.
        above, _, name = str.rpartition(target, ".")
        parent = nn.Module.get_submodule(self, above)
        if not isinstance(parent, nn.Module) or name.startswith("__"):
            raise AttributeError(f"`{name}` is not an nn.Module")
        put(parent, name, module, strict)

    nn.Module.__getattr__ = __getattr__  # type: ignore[method-assign, assignment]
    nn.Module.set_submodule = set_submodule  # type: ignore[method-assign]


def refuse_address(make: Callable[..., object]) -> Callable[..., object]:
    """Wrap a tensor constructor to refuse an address.

    Torch's legacy constructors create a tensor from whatever memory ``cdata`` points to.
    """

    def construct(*args: object, **words: object) -> object:
        # A str subclass of the program could compare unequal to "cdata".
        if "cdata" in words or any(type(word) is not str for word in words):
            raise TypeError("a tensor is not made from an address")
        return make(*args, **words)

    return construct


def _block_tensor_addresses() -> None:
    torch.Tensor.__new__ = refuse_address(torch.Tensor.__new__)  # type: ignore[method-assign, assignment]


def _numbers(thing: object) -> NDArray[np.int64] | None:
    """Return the integers of a CPU tensor, without a recorded op; None if not readable here.

    Through torch's own class: a subclass of the program could return anything.
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
    """Return lengths as plain ints, whatever subclass methods say; a tensor unchanged."""
    if not isinstance(lengths, list | tuple):
        return lengths
    return [
        int.__add__(length, 0) if isinstance(length, int) else index(length) for length in lengths
    ]


def _size(tensor: torch.Tensor, dimension: int) -> int:
    with _C.DisableTorchFunction():
        return int(torch.Tensor.size(tensor, dimension))


def _check_range(numbers: NDArray[np.int64] | None, size: int, words: str) -> None:
    if numbers is not None and numbers.size:
        for number in (int(numbers.min()), int(numbers.max())):
            if not 0 <= number < size:
                raise IndexError(words.format(number))


def _check_embedding_bag() -> None:
    """Make ``embedding_bag`` validate its indices: torch itself accesses memory unchecked."""
    make: Callable[..., object] = torch.embedding_bag

    def embedding_bag(
        weight: torch.Tensor,
        indices: torch.Tensor,
        offsets: torch.Tensor,
        *args: object,
        **words: object,
    ) -> object:
        _check_range(_numbers(indices), _size(weight, 0), "index out of range in self")
        starts = _numbers(offsets)
        if starts is not None and starts.ndim == 1 and (starts[1:] < starts[:-1]).any():
            raise IndexError("offsets of bags must not go down")
        return make(weight, indices, offsets, *args, **words)

    setattr(torch, "embedding_bag", embedding_bag)  # noqa: B010


def _check_ctc_loss() -> None:
    """Make ``ctc_loss`` validate its labels in the same way; padding may be anything."""
    make: Callable[..., object] = torch.ctc_loss

    def ctc_loss(
        log_probs: torch.Tensor,
        targets: torch.Tensor,
        input_lengths: object,
        target_lengths: object,
        *args: object,
        **words: object,
    ) -> object:
        # Torch gets the checked copies: the program's objects might change their answers.
        input_lengths, target_lengths = _plain(input_lengths), _plain(target_lengths)
        labels, lengths = _numbers(targets), _numbers(target_lengths)
        if labels is not None and lengths is not None and labels.ndim == 2:
            inside = np.arange(labels.shape[1]) < lengths.reshape(-1, 1)
            labels = labels[inside] if len(inside) == len(labels) else labels
        _check_range(labels, _size(log_probs, -1), "Target {} is out of bounds.")
        return make(log_probs, targets, input_lengths, target_lengths, *args, **words)

    setattr(torch, "ctc_loss", ctc_loss)  # noqa: B010


_block_protocols()
_block_module_names()
_block_tensor_addresses()
_check_embedding_bag()
_check_ctc_loss()
