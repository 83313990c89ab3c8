"""Fast call forms, out= variants and properties of torch ops for captured mode."""

import inspect
from collections.abc import Callable
from typing import Any, cast

import torch

FAST: dict[str, Callable[..., object]] = {
    "aten.addmm.default": torch.addmm,
    "aten.mm.default": torch.mm,
    "aten.bmm.default": torch.bmm,
    "aten.tanh.default": torch.tanh,
    "aten.sigmoid.default": torch.sigmoid,
    "aten.mul.Tensor": torch.mul,
    "aten.sub.Tensor": torch.sub,
    "aten.add.Tensor": torch.add,
    "aten.div.Tensor": torch.div,
    "aten.sum.dim_IntList": torch.sum,
    "aten.mean.default": torch.mean,
    "aten.mul.Scalar": torch.mul,
    "aten.div.Scalar": torch.div,
    "aten.pow.Tensor_Scalar": torch.pow,
}
"""Python functions with ``out=`` that are faster to call than their overloads."""
FAST_WITHOUT_OUT = {
    f"aten.{name}.default": getattr(torch._C._nn, name)
    for name in ("mse_loss", "smooth_l1_loss", "huber_loss", "binary_cross_entropy")
}
"""Faster functions for ops without an out variant; arguments as in the schema."""
NUMBER_OPERAND_OPS = set(
    "mul.Tensor mul.Scalar div.Tensor div.Scalar add.Tensor sub.Tensor".split()
)
"""Ops whose second argument may be a number."""
VIEWS = set(
    "t view detach expand transpose unsqueeze squeeze permute alias _unsafe_view select slice "
    "as_strided".split()
)
CONSTANT_FACTORIES = set(
    "ones_like zeros_like full_like scalar_tensor full zeros ones arange".split()
)
"""Factory ops whose result is constant; of a tensor argument they use only the shape."""

NEEDS_GRAD_MODE = {"aten.mkldnn_rnn_layer.default"}
"""Ops that skip what their backward needs if gradients are disabled: oneDNN's LSTM."""


def out_variant(op: Any) -> tuple[Callable[..., object], str] | None:  # noqa: ANN401
    """Return an op's out variant and the name of its out argument, or None."""
    fast = FAST.get(str(op))
    if fast is not None:
        return fast, "out"
    if not hasattr(op, "_schema") or ("loss" in base_name(op) and "backward" not in base_name(op)):
        # CPU loss kernels use the buffer for the unreduced loss, and resize it.
        return None
    arguments = [(a.name, str(a.type)) for a in op._schema.arguments]
    if len(op._schema.returns) != 1:
        return None
    packet = op.overloadpacket
    for name in packet.overloads():
        other = getattr(packet, name)
        outs = [a.name for a in other._schema.arguments if a.is_out]
        rest = [(a.name, str(a.type)) for a in other._schema.arguments if not a.is_out]
        if len(outs) == 1 and rest == arguments:
            # Bypasses the overload object, which costs as much as a small kernel.
            return other._op, outs[0]
    return None


def raw_function(op: Any) -> Callable[..., object]:  # noqa: ANN401
    """Return an op's function without its overload object, computing all its backward needs."""
    call = cast("Callable[..., object]", getattr(op, "_op", op))
    if str(op) not in NEEDS_GRAD_MODE:
        return call

    def noting(*args: object, **kwargs: object) -> object:
        before = torch.is_grad_enabled()
        torch._C._set_grad_enabled(True)
        try:
            return call(*args, **kwargs)
        finally:
            torch._C._set_grad_enabled(before)

    return noting


def base_name(op: object) -> str:
    """Return an op's name without its namespace and overload."""
    if inspect.isbuiltin(op) or not hasattr(op, "_schema"):
        return getattr(op, "__name__", "")
    return str(op._schema.name).partition("::")[2]


def is_pure(op: object) -> bool:
    """Return whether an op has no side effects and draws no random numbers."""
    tags = getattr(op, "tags", ())
    return hasattr(op, "_schema") and not (
        op._schema.is_mutable or torch.Tag.nondeterministic_seeded in tags
    )


def mutates(op: object) -> bool:
    """Return whether an op is in-place: writes into its first argument."""
    return (
        hasattr(op, "_schema") and base_name(op).endswith("_") and not base_name(op).endswith("__")
    )


def has_dynamic_shape(op: object, arguments: tuple[object, ...]) -> bool:
    """Return whether the shape of an op's result depends on data, as with a boolean mask."""
    if torch.Tag.dynamic_output_shape not in getattr(op, "tags", ()):
        return False
    if base_name(op) != "index":
        return True
    places = cast("list[torch.Tensor | None]", arguments[1])
    return any(index is not None and index.dtype in (torch.bool, torch.uint8) for index in places)


def is_inplace_view(op: object) -> bool:
    """Return whether an op is an in-place view op, such as ``transpose_``."""
    return mutates(op) and base_name(op)[:-1] in VIEWS
