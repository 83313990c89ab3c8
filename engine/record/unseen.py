"""Reading numbers where the program has taken over what torch does with an op.

Under a dispatch mode (`make_fx`, `torch.export`, a counter of FLOPs, one's own) and inside of a
subclass with its own ``__torch_dispatch__``, a copy made by the recorder would be an op like any
other: it would be counted, printed, or end up in the exported graph. And autograd notices who
holds a gradient's memory.
"""

import torch
from torch.utils._python_dispatch import _disable_current_modes

from engine.untouched import keep_builtins

keep_builtins(globals())

is_watched = torch._C._len_torch_dispatch_stack
"""How many dispatch modes are active: they see every op, the recorder's as well."""

unwatched = _disable_current_modes
"""A context without any dispatch mode."""

is_traced = torch._C._is_tracing
"""Whether `torch.jit.trace` writes down every op and every size asked for, the recorder's too."""

is_wrapped = torch._C._functorch.is_functorch_wrapped_tensor
_is_batched = torch._C._functorch.is_legacy_batchedtensor
"""Whether ``t`` stands for many inside of ``is_grads_batched``, which has a vmap of its own."""
_usual = torch.Tensor.__torch_dispatch__
USUAL = frozenset((torch.Tensor, torch.nn.Parameter))
"""The classes of nearly all tensors."""


def has_numbers(t: torch.Tensor) -> bool:
    """Tell whether ``t`` has numbers that can be read without anybody noticing.

    Tensors inside a vmap stand for many and have none of their own; fake tensors, and all others
    whose class handles its ops by itself, have none that torch could copy unseen.
    """
    return not (handles_ops(t) or t.is_meta or t.is_nested or is_wrapped(t) or _is_batched(t))


def handles_ops(t: torch.Tensor) -> bool:
    """Tell whether the class of ``t`` handles its ops by itself, those on copies of it as well."""
    kind = type(t)
    return kind not in USUAL and kind.__torch_dispatch__ is not _usual


def is_everyday(t: torch.Tensor) -> bool:
    """Tell at a third of the cost that ``t`` `has_numbers` and strides; False may be wrong.

    What stands for others has no address, or no memory at all; torch raises `RuntimeError` then.
    """
    if type(t) not in USUAL or t.layout is not torch.strided or t.is_nested or t.is_meta:
        return False
    return t.data_ptr() != 0


def memory(t: torch.Tensor) -> int:
    """Return the address of the memory that ``t`` and its views live in; strided tensors only.

    A gradient must not be asked for its storage: from then on autograd takes the storage for
    shared and adds to a copy of the gradient instead of in place, whose strides may be others,
    and with them the last bits of what is computed from it.
    """
    start = 0
    if has_numbers(t):
        start = t.data_ptr() - int(t.storage_offset()) * t.element_size()
    return start or t.untyped_storage()._cdata
