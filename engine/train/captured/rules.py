"""Optimizer update rules on one flat vector: torch's operations in torch's order.

They follow ``torch.optim.sgd._single_tensor_sgd`` and ``torch.optim.adam._single_tensor_adam``;
a test checks that each gives bitwise equal results.
"""

from collections.abc import Callable, Mapping
from functools import lru_cache

import torch

Group = Mapping[str, object]
Memory = dict[str, torch.Tensor]
Rule = Callable[[torch.Tensor, torch.Tensor, Memory, Group, int], None]

BLOCK = 256
_EXACT = (torch.float32, torch.float64)
"""Dtypes with which torch rounds a number operand to the tensor's dtype before the operation."""


@lru_cache(maxsize=4096)
def cached_constant(value: float, dtype: torch.dtype) -> "torch.Tensor | float":
    """Return a number as the fastest operand for a tensor of ``dtype`` with the same result.

    For a Python number torch creates a tensor at each call, which costs as much as the operation.
    The returned tensor is cached and must not be written to.
    """
    return torch.tensor(value, dtype=dtype) if dtype in _EXACT else value


@lru_cache(maxsize=16)
def _roots(beta2: float, block: int, dtype: torch.dtype) -> "tuple[torch.Tensor | float, ...]":
    """Return the root of Adam's second bias correction for each step of a block."""
    first = block * BLOCK + 1
    roots = [(1 - beta2**step) ** 0.5 for step in range(first, first + BLOCK)]
    return torch.tensor(roots, dtype=dtype).unbind() if dtype in _EXACT else tuple(roots)


def sgd(flat: torch.Tensor, grad: torch.Tensor, memory: Memory, group: Group, step: int) -> None:
    """Update ``flat`` in place; ``step`` counts from 1."""
    momentum, decay = group["momentum"], group["weight_decay"]
    if group["maximize"]:
        grad = -grad
    if decay:
        grad = grad.add(flat, alpha=decay)  # type: ignore[arg-type]
    if momentum:
        buffer = memory["momentum_buffer"]
        if step == 1:
            buffer.copy_(grad)
        else:
            buffer.mul_(cached_constant(momentum, flat.dtype))
            buffer.add_(grad, alpha=1 - group["dampening"])  # type: ignore[operator]
        grad = grad.add(buffer, alpha=momentum) if group["nesterov"] else buffer  # type: ignore[arg-type]
    flat.add_(grad, alpha=-group["lr"])  # type: ignore[operator]


def adam(flat: torch.Tensor, grad: torch.Tensor, memory: Memory, group: Group, step: int) -> None:
    """Update ``flat`` in place; ``step`` counts from 1. Decoupled weight decay is AdamW."""
    lr, decay, dtype = float(group["lr"]), group["weight_decay"], flat.dtype  # type: ignore[arg-type]
    beta1, beta2 = group["betas"]  # type: ignore[misc]
    if group["maximize"]:
        grad = -grad
    if decay:
        if group["decoupled_weight_decay"]:
            flat.mul_(cached_constant(1 - lr * decay, dtype))  # type: ignore[operator]
        else:
            grad = grad.add(flat, alpha=decay)  # type: ignore[arg-type]
    mean, square, scratch = memory["exp_avg"], memory["exp_avg_sq"], memory["scratch"]
    mean.lerp_(grad, 1 - beta1)  # type: ignore[has-type]
    square.mul_(cached_constant(beta2, dtype))  # type: ignore[has-type]
    square.addcmul_(grad, grad, value=1 - beta2)  # type: ignore[has-type]
    size = lr / (1 - beta1**step)  # type: ignore[has-type]
    block, at = divmod(step - 1, BLOCK)
    torch.sqrt(square, out=scratch)
    scratch.div_(_roots(beta2, block, dtype)[at])  # type: ignore[has-type]
    scratch.add_(cached_constant(group["eps"], dtype))
    flat.addcdiv_(mean, scratch, value=-size)


RULES: dict[type[torch.optim.Optimizer], tuple[Rule, tuple[str, ...]]] = {
    torch.optim.SGD: (sgd, ("momentum_buffer",)),
    torch.optim.Adam: (adam, ("exp_avg", "exp_avg_sq")),
    torch.optim.AdamW: (adam, ("exp_avg", "exp_avg_sq")),
}
"""Rule and state names of each supported optimizer; others use torch's step."""


def flat_rule(optimizer: torch.optim.Optimizer) -> tuple[Rule, tuple[str, ...]] | None:
    """Return an optimizer's flat rule and state names, None if torch's step must be used."""
    if len(optimizer.param_groups) != 1 or optimizer.param_groups[0].get("amsgrad"):
        return None
    # For narrow dtypes torch rounds between the stages of an operation if a tensor is short, and
    # only at the end if it is long: a flat vector has another length.
    if optimizer.param_groups[0]["params"][0].dtype not in _EXACT:
        return None
    return RULES.get(type(optimizer))
