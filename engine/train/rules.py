"""Optimizers' update rules on one flat vector: torch's own operations in torch's own order.

Written after ``torch.optim.sgd._single_tensor_sgd`` and ``torch.optim.adam._single_tensor_adam``;
a test compares each with them, bit for bit.
"""

from collections.abc import Callable, Mapping

import torch

Group = Mapping[str, object]
Memory = dict[str, torch.Tensor]
Rule = Callable[[torch.Tensor, torch.Tensor, Memory, Group, int], None]


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
            buffer.mul_(momentum).add_(grad, alpha=1 - group["dampening"])  # type: ignore[arg-type, operator]
        grad = grad.add(buffer, alpha=momentum) if group["nesterov"] else buffer  # type: ignore[arg-type]
    flat.add_(grad, alpha=-group["lr"])  # type: ignore[operator]


def adam(flat: torch.Tensor, grad: torch.Tensor, memory: Memory, group: Group, step: int) -> None:
    """Update ``flat`` in place; ``step`` counts from 1. AdamW is the decoupled weight decay."""
    lr, decay = float(group["lr"]), group["weight_decay"]  # type: ignore[arg-type]
    beta1, beta2 = group["betas"]  # type: ignore[misc]
    if group["maximize"]:
        grad = -grad
    if decay:
        if group["decoupled_weight_decay"]:
            flat.mul_(1 - lr * decay)  # type: ignore[operator]
        else:
            grad = grad.add(flat, alpha=decay)  # type: ignore[arg-type]
    mean, square = memory["exp_avg"], memory["exp_avg_sq"]
    mean.lerp_(grad, 1 - beta1)  # type: ignore[has-type]
    square.mul_(beta2).addcmul_(grad, grad, value=1 - beta2)  # type: ignore[has-type]
    size = lr / (1 - beta1**step)  # type: ignore[has-type]
    root = (1 - beta2**step) ** 0.5  # type: ignore[has-type]
    torch.sqrt(square, out=memory["scratch"])
    denominator = memory["scratch"].div_(root).add_(group["eps"])  # type: ignore[arg-type]
    flat.addcdiv_(mean, denominator, value=-size)


RULES: dict[type[torch.optim.Optimizer], tuple[Rule, tuple[str, ...]]] = {
    torch.optim.SGD: (sgd, ("momentum_buffer",)),
    torch.optim.Adam: (adam, ("exp_avg", "exp_avg_sq")),
    torch.optim.AdamW: (adam, ("exp_avg", "exp_avg_sq")),
}
"""Rule and memories of each optimizer that has one; others keep torch's own step."""


def rule_of(optimizer: torch.optim.Optimizer) -> tuple[Rule, tuple[str, ...]] | None:
    """Return how an optimizer updates a flat vector, None where torch's own step must do."""
    if len(optimizer.param_groups) != 1 or optimizer.param_groups[0].get("amsgrad"):
        return None
    return RULES.get(type(optimizer))
