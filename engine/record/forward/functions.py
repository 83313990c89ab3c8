"""Classification of torch's functions for the recorder, and the names of their ops."""

from collections.abc import Callable
from types import FrameType

import torch

from gradscribe.engine.record.forward.monkeypatches import is_torch_function, original_of
from gradscribe.engine.sandbox.builtins import use_original_builtins

use_original_builtins(globals())

Function = Callable[..., object]

_READERS = frozenset(
    (
        "__repr__ __str__ __format__ __len__ __bool__ __float__ __int__ __index__ __complex__ "
        "__hash__ __deepcopy__ __reduce_ex__ __reduce__ __setstate__ __dir__ item "
        "tolist size dim ndimension numel nelement stride storage_offset "
        "element_size is_contiguous is_pinned is_shared get_device "
        "allclose equal is_tensor is_storage is_floating_point is_complex is_nonzero "
        "is_same_size is_signed is_inference register_hook "
        "register_post_accumulate_grad_hook retain_grad backward grad share_memory_ "
        "set_printoptions broadcast_shapes result_type can_cast __contains__ "
        "__dlpack_device__ is_set_to _is_view is_conj is_neg has_names __iter__"
    ).split()
)
"""Functions that create no tensor, or (``backward``, ``grad``) are recorded elsewhere."""

_EXPOSING = frozenset(("numpy", "__array__", "__dlpack__"))
"""Functions that share a tensor's memory with another library."""
_ADDRESSING = frozenset(("data_ptr", "storage", "untyped_storage"))
"""Functions by whose result a tensor's memory can be written to."""
_TENSOR_GETTERS = frozenset(("T", "mT", "H", "mH", "data", "real", "imag"))
_FACTORIES = frozenset(("tensor", "as_tensor", "scalar_tensor", "asarray", "from_numpy"))
_RUNNING = frozenset(("batch_norm", "instance_norm"))
_NAMES = {
    "__truediv__": "div",
    "__itruediv__": "div_",
    "__idiv__": "div_",
    "true_divide": "div",
    "__rtruediv__": "rdiv",
    "__rdiv__": "rdiv",
    "__rpow__": "rpow",
    "subtract": "sub",
    "multiply": "mul",
    "divide": "div",
    "negative": "neg",
    "scaled_dot_product_attention": "attention",
}


def op_name(function: Function) -> str:
    """Return torch's name of the op: ``__rsub__`` is ``rsub``, ``+=`` is ``add_``."""
    name = _own_name(function) or "?"
    if name in ("__get__", "__set__"):
        return str(getattr(getattr(function, "__self__", None), "__name__", "?"))
    if name in _NAMES:
        return _NAMES[name]
    if name.startswith("__i") and name.endswith("__") and name not in ("__invert__",):
        return name[3:-2] + "_"
    return name.strip("_") if name.startswith("__") else name


def _own_name(function: Function) -> str:
    """Return a function's ``__name__``; "" if it has none, or one that is no str."""
    try:
        return str.__str__(getattr(function, "__name__", ""))
    except Exception:  # noqa: BLE001 - a replacement for a function may be of a user's class
        return ""


known_functions: dict[Function, tuple[str, str]] = {}
"""Cached kind and name of torch's own functions."""


def classify(func: Function, caller: FrameType) -> tuple[Function, tuple[str, str]]:
    """Return the function of torch that ``func`` is or replaces, with its kind and name."""
    if func in DROPPED:
        # Not cached, so that its calls are completed: `with_dropped`.
        return func, (_kind(func), op_name(func))
    if is_torch_function(func):
        known_functions[func] = _kind(func), op_name(func)
        return func, known_functions[func]
    # Not cached: with it, all of a program's globals would outlive the run.
    func = original_of(func, caller)
    return func, (_kind(func), op_name(func))


DROPPED: dict[Function, str] = {
    torch.chain_matmul: "out",
    torch.Tensor.dim_order: "ambiguity_check",
    torch.nn.functional.l1_loss: "weight",
}
"""Functions of torch that do not pass this keyword on to a function mode."""


def with_dropped(func: Function, kwargs: dict[str, object], caller: FrameType) -> dict[str, object]:
    """Return a call's keywords with the one that ``func`` dropped.

    ``caller`` is the frame that called the recorder's mode: torch's, called by ``func``.
    """
    frame, keyword = caller.f_back, DROPPED[func]
    if frame is None or frame.f_code is not getattr(func, "__code__", None):
        return kwargs
    given = frame.f_locals.get(keyword)
    return kwargs if given is None else {**kwargs, keyword: given}


def _kind(func: Function) -> str:
    name = _own_name(func)
    if name in ("__get__", "__set__"):
        attribute = op_name(func)
        if name == "__get__":
            if attribute == "grad":
                return "grad get"
            return "op" if attribute in _TENSOR_GETTERS else "reader"
        return {"grad": "grad set", "data": "data set", "requires_grad": "flag"}.get(
            attribute, "reader"
        )
    if name == "requires_grad_":
        return "flag"
    if name in _EXPOSING:
        return "exposing"
    if name in _ADDRESSING:
        return "addressing"
    if name in _READERS:
        return "reader"
    if name in _FACTORIES or name.endswith("_like") or name.startswith("new_"):
        # Its result depends on the shape and dtype of its argument only.
        return "factory"
    return "running" if name in _RUNNING else "op"
