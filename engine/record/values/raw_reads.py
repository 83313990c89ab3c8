"""Reading of tensors without side effects on dispatch modes, tensor subclasses and autograd.

Under a dispatch mode (`make_fx`, `torch.export`, a FLOP counter, a user's own) and inside a
subclass with its own ``__torch_dispatch__``, a copy made by the recorder would be an op like any
other: it would be counted, printed, or end up in the exported graph. And autograd behaves
differently if something else refers to a gradient's memory.
"""

import torch
from torch._functorch.pyfunctorch import temporarily_clear_interpreter_stack
from torch.utils._python_dispatch import _disable_current_modes

from gradscribe.engine.sandbox.builtins import use_original_builtins

use_original_builtins(globals())

dispatch_mode_count = torch._C._len_torch_dispatch_stack
"""Returns the number of active dispatch modes: they see every op, the recorder's as well."""

without_dispatch_modes = _disable_current_modes
"""A context without any dispatch mode."""

WithoutFunctionModes = torch._C.DisableTorchFunction
"""A context in which the program's function modes do not see the recorder's own reads."""

is_jit_tracing = torch._C._is_tracing
"""Returns whether `torch.jit.trace` records every op and size read, the recorder's as well."""

_functorch = torch._C._functorch
is_functorch_wrapped = _functorch.is_functorch_wrapped_tensor
without_transforms = temporarily_clear_interpreter_stack
"""A context without the transforms of ``torch.func``, which would wrap a copy as well."""
_is_batched = torch._C._functorch.is_legacy_batchedtensor
"""Returns whether a tensor is batched by ``is_grads_batched``, which has a vmap of its own."""
_is_functional = torch._is_functional_tensor
_usual = torch.Tensor.__torch_dispatch__
PLAIN_TENSOR_TYPES = frozenset((torch.Tensor, torch.nn.Parameter))
"""The classes of nearly all tensors."""


LOWEST_ADDRESS = 1 << 40
"""Addresses below are looked at closely: they may be offsets into memory that is gone."""


def has_readable_data(t: torch.Tensor) -> bool:
    """Return whether ``t`` has data that can be read without side effects.

    Tensors inside a vmap are batched and have no data of their own; fake tensors, and all others
    whose class handles its ops itself, have none that could be copied without that class. A
    functional tensor is a wrapper, mostly of a fake one; its copy would be a wrapper as well.
    """
    return not (
        overrides_dispatch(t)
        or t.is_meta
        or t.is_nested
        or is_functorch_wrapped(t)
        or _is_batched(t)
        or _is_functional(t)
        or is_freed(t)
    )


def address_of(t: torch.Tensor) -> int:
    """Return the address of the data of a plain strided tensor; 0 if it has none any more."""
    address = t.data_ptr()
    return 0 if address < LOWEST_ADDRESS and is_freed(t) else address


def is_freed(t: torch.Tensor) -> bool:
    """Return whether the memory of ``t`` was given back, as FSDP does with gathered parameters.

    Its storage has no bytes then; the address of a view into it is just its offset, and torch would
    read from there.
    """
    if t.layout is not torch.strided:
        return False
    try:
        address = t.data_ptr()
        return (
            address < LOWEST_ADDRESS
            and address == t.storage_offset() * t.element_size()
            and t.numel() > 0
            # A tensor that is known to be all zeros has no memory either, but its numbers.
            and not t._is_zerotensor()
        )
    except (RuntimeError, NotImplementedError):
        return False


def unwrapped(t: torch.Tensor) -> torch.Tensor | None:
    """Return the tensor with the numbers of one that ``torch.func.grad`` and the like wrap.

    None for a tensor inside a vmap, whose numbers are those of a whole batch, and for one that no
    transform wraps.
    """
    inner = t
    while is_functorch_wrapped(inner):
        if not _functorch.is_gradtrackingtensor(inner):
            return None
        inner = _functorch.get_unwrapped(inner)
    return inner if inner is not t else None


def vmapped(t: torch.Tensor) -> tuple[torch.Tensor, list[tuple[int, int]]]:
    """Return the tensor with the numbers of a whole batch inside a vmap, and its batch dimensions.

    Each is (dimension, size), to be selected one after the other, those of the outermost vmap
    first; there are none for a tensor outside of vmap.
    """
    inner, found = t, list[tuple[int, int]]()
    while is_functorch_wrapped(inner):
        dim = _functorch.maybe_get_bdim(inner)
        inner = _functorch.get_unwrapped(inner)
        if dim >= 0:
            found.append((dim, inner.shape[dim]))
    return inner, found[::-1]


def overrides_dispatch(t: torch.Tensor) -> bool:
    """Return whether the class of ``t`` overrides ``__torch_dispatch__``."""
    kind = type(t)
    return kind not in PLAIN_TENSOR_TYPES and kind.__torch_dispatch__ is not _usual


def is_plain_strided(t: torch.Tensor) -> bool:
    """Return whether ``t`` surely `has_readable_data` and strides, at a third of its cost.

    A batched tensor has no address, or no memory at all; torch raises `RuntimeError` then.
    """
    if (
        type(t) not in PLAIN_TENSOR_TYPES
        or t.layout is not torch.strided
        or t.is_nested
        or t.is_meta
    ):
        return False
    return address_of(t) != 0


def memory(t: torch.Tensor) -> int:
    """Return the address of the memory that ``t`` shares with its views; strided tensors only.

    A gradient's ``untyped_storage`` must not be read: from then on autograd considers the storage
    shared and accumulates into a copy of the gradient instead of in place. The copy's strides may
    differ, and with them the last bits of what is computed from it.
    """
    start = 0
    if has_readable_data(t):
        start = t.data_ptr() - int(t.storage_offset()) * t.element_size()
    return start or t.untyped_storage()._cdata


def packed(t: torch.Tensor) -> torch.Tensor | None:
    """Return the dense tensor with the numbers of a jagged nested tensor, row after row.

    None for nested tensors of another layout.
    """
    values = getattr(t, "_values", None) if t.layout is torch.jagged else None
    return values if isinstance(values, torch.Tensor) and not values.is_nested else None
