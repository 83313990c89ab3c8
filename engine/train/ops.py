"""What torch's ops are to the captured mode: how each is called soonest, what it writes into."""

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
"""Python functions with ``out=`` that are quicker to call than their overloads."""
QUICK = {
    f"aten.{name}.default": getattr(torch._C._nn, name)
    for name in ("mse_loss", "smooth_l1_loss", "huber_loss", "binary_cross_entropy")
}
"""The same for ops that cannot write into a buffer; arguments as in the schema."""
NUMBERS = {"mul.Tensor", "mul.Scalar", "div.Tensor", "div.Scalar", "add.Tensor", "sub.Tensor"}
"""Ops whose second argument may be a number."""
VIEWS = {"t", "view", "detach", "expand", "transpose", "unsqueeze", "squeeze", "permute", "alias",
          "_unsafe_view", "select", "slice", "as_strided"}  # fmt: skip
MADE = {"ones_like", "zeros_like", "full_like", "scalar_tensor", "full", "zeros", "ones", "arange"}
"""Ops that always make the same numbers; of a tensor they take the shape alone."""

NOTING = {"aten.mkldnn_rnn_layer.default"}
"""Ops that leave out what their backward needs where gradients are switched off: oneDNN's LSTM."""


def out_variant(op: Any) -> tuple[Callable[..., object], str] | None:  # noqa: ANN401
    """Return the form of an op that writes into a buffer, and that argument's name, or None."""
    fast = FAST.get(str(op))
    if fast is not None:
        return fast, "out"
    if not hasattr(op, "_schema") or ("loss" in base(op) and "backward" not in base(op)):
        # The CPU's losses use the buffer for what is not reduced yet, and resize it.
        return None
    wanted = [(a.name, str(a.type)) for a in op._schema.arguments]
    if len(op._schema.returns) != 1:
        return None
    packet = op.overloadpacket
    for name in packet.overloads():
        other = getattr(packet, name)
        outs = [a.name for a in other._schema.arguments if a.is_out]
        rest = [(a.name, str(a.type)) for a in other._schema.arguments if not a.is_out]
        if len(outs) == 1 and rest == wanted:
            # The bare function: the overload object around it costs as much as a small kernel.
            return other._op, outs[0]
    return None


def bare(op: Any) -> Callable[..., object]:  # noqa: ANN401
    """Return an op's function past its overload object, made to give all that a gradient needs."""
    call = cast("Callable[..., object]", getattr(op, "_op", op))
    if str(op) not in NOTING:
        return call

    def noting(*args: object, **kwargs: object) -> object:
        before = torch.is_grad_enabled()
        torch._C._set_grad_enabled(True)
        try:
            return call(*args, **kwargs)
        finally:
            torch._C._set_grad_enabled(before)

    return noting


def base(op: object) -> str:
    """Return an op's name without its namespace and overload."""
    if inspect.isbuiltin(op) or not hasattr(op, "_schema"):
        return getattr(op, "__name__", "")
    return str(op._schema.name).partition("::")[2]


def is_pure(op: object) -> bool:
    """Whether an op draws no random numbers and writes into nothing."""
    tags = getattr(op, "tags", ())
    return hasattr(op, "_schema") and not (
        op._schema.is_mutable or torch.Tag.nondeterministic_seeded in tags
    )


def mutates(op: object) -> bool:
    """Whether an op writes into its first argument."""
    return hasattr(op, "_schema") and base(op).endswith("_") and not base(op).endswith("__")


def picks(op: object, arguments: tuple[object, ...]) -> bool:
    """Whether the shape of what an op makes depends on numbers, as of a mask's choice."""
    if torch.Tag.dynamic_output_shape not in getattr(op, "tags", ()):
        return False
    if base(op) != "index":
        return True
    places = cast("list[torch.Tensor | None]", arguments[1])
    return any(one is not None and one.dtype in (torch.bool, torch.uint8) for one in places)


def turns(op: object) -> bool:
    """Whether an op gives a tensor another shape in place, and none of its numbers."""
    return mutates(op) and base(op)[:-1] in VIEWS
