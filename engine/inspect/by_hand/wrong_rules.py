"""Derivatives of ops as they are often remembered wrongly, each as a rule for the op's node."""

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import torch

from gradscribe.engine.inspect.by_hand.live_pass import Change, Gradients
from gradscribe.engine.protocol.messages import SlipKind

Tensor = torch.Tensor


class Operands(NamedTuple):
    """Inputs and output of an op; ``n`` is the exponent of a power."""

    inputs: Sequence[Tensor | None]
    y: Tensor
    n: float

    @property
    def x(self) -> Tensor:
        """The first input. Raises ValueError if its numbers are gone."""
        first = self.inputs[0] if self.inputs else None
        if first is None:
            raise ValueError("its numbers are gone")
        return first


Factor = Callable[[Operands], Tensor]
_FACTORS: dict[str, tuple[tuple[str, Factor], ...]] = {
    "pow": (
        ("n·x without the power: the exponent becomes n − 1", lambda a: a.n * a.x),
        ("xⁿ⁻¹: the exponent n does not stand in front", lambda a: a.x ** (a.n - 1)),
        ("n·xⁿ: the exponent has to fall by 1", lambda a: a.n * a.x**a.n),
    ),
    "exp": (("x in place of exp(x)", lambda a: a.x),),
    "tanh": (
        ("1 − y in place of 1 − y²", lambda a: 1 - a.y),
        ("1 − x² with the input in place of the output", lambda a: 1 - a.x**2),
        ("y² in place of 1 − y²", lambda a: a.y**2),
        ("y in place of 1 − y²", lambda a: a.y),
    ),
    "sigmoid": (
        ("1 − y in place of y·(1 − y)", lambda a: 1 - a.y),
        ("y in place of y·(1 − y)", lambda a: a.y),
        ("x·(1 − x) with the input in place of the output", lambda a: a.x * (1 - a.x)),
    ),
    "log": (
        ("x in place of 1/x", lambda a: a.x),
        ("the logarithm itself in place of 1/x", lambda a: a.y),
    ),
    "sqrt": (
        ("1/√x: the factor ½ is missing", lambda a: 1 / a.y),
        ("√x/2 in place of 1/(2·√x)", lambda a: a.y / 2),
    ),
    "sin": (
        ("−cos(x) in place of cos(x)", lambda a: -a.x.cos()),
        ("sin(x) in place of cos(x)", lambda a: a.x.sin()),
    ),
    "cos": (
        ("sin(x) in place of −sin(x)", lambda a: a.x.sin()),
        ("cos(x) in place of −sin(x)", lambda a: a.x.cos()),
    ),
    "relu": (("the output in place of 0 or 1", lambda a: a.y),),
    "abs": (("the absolute value in place of the sign", lambda a: a.y),),
    "reciprocal": (
        ("1/x in place of −1/x²", lambda a: a.y),
        ("1/x² without the minus sign", lambda a: a.y**2),
    ),
}
_FACTORS["square"] = _FACTORS["pow"]
_SAME = {"__pow__": "pow", "__mul__": "mul", "__truediv__": "div", "true_divide": "div"}
_SAME |= {"__matmul__": "matmul", "mm": "matmul", "multiply": "mul", "divide": "div"}
_SAME |= {"__sub__": "sub", "__neg__": "neg", "__rsub__": "sub"}
_NEGATIVE = {"sub": 1, "neg": 0}
"""Ops that turn the sign, with the input whose sign it is."""
_LOSSES_OF_ROWS = ("cross_entropy", "nll_loss")
_SQUARED = ("mse_loss",)

Rule = tuple[SlipKind, str, Change]


def wrong_rules(
    op: str, inputs: Sequence[Tensor | None], output: Tensor | None, exponent: float | None
) -> Iterator[Rule]:
    """Yield the wrong rules of an op for these numbers, each with what it takes."""
    op = _SAME.get(op, op)
    n = exponent if exponent is not None else 2.0
    if output is not None:
        operands = Operands(inputs, output, n)
        for text, factor in _FACTORS.get(op, ()):
            yield "rule", text, _elementwise(factor, operands)
    if op == "mul" and len(inputs) == 2:
        yield "operand", "", _own_operand(inputs)
    if op == "div" and len(inputs) == 2:
        yield "rule", "a/b for the divisor: its square is missing in −a/b²", _divisor(inputs)
        yield "rule", "a/b² without the minus sign", _scaled_slot(1, -1.0)
    if op in _NEGATIVE:
        yield "sign", "", _scaled_slot(_NEGATIVE[op], -1.0)
    if op == "matmul" and len(inputs) == 2:
        yield "transposed", "", _untransposed(inputs)
    yield from _reductions(op, inputs)


def _reductions(op: str, inputs: Sequence[Tensor | None]) -> Iterator[Rule]:
    first = inputs[0] if inputs else None
    if first is None or not first.numel():
        return
    rows = first.shape[0] if first.ndim > 1 else 1
    if op in _SQUARED:
        yield "rule", "x − t: the 2 of the square is missing", _scaled(0.5)
    if op in _SQUARED or op in ("l1_loss", "smooth_l1_loss", "huber_loss"):
        yield "rule", "the sum in place of the mean: 1/N is missing", _scaled(first.numel())
    if op in _LOSSES_OF_ROWS:
        if rows > 1:
            yield "rule", "the sum over the rows: 1/N is missing", _scaled(rows)
        yield "rule", "softmax alone: 1 is subtracted at the target", _softmax_alone(inputs)
        yield "rule", "target − softmax: the sign is turned over", _scaled(-1.0)
    if op == "sum":
        yield "rule", "1/N of a mean; this is a sum", _sum_as_mean


def _elementwise(factor: Factor, operands: Operands) -> Change:
    def rule(sent: Gradients, arrived: Gradients) -> Gradients:
        above = next(g for g in arrived if g is not None)
        return (above * factor(operands).to(above.dtype), *sent[1:])

    return rule


def _own_operand(inputs: Sequence[Tensor | None]) -> Change:
    """Take a factor itself for its derivative, where the other factor belongs."""

    def rule(sent: Gradients, arrived: Gradients) -> Gradients:
        above = next(g for g in arrived if g is not None)
        pairs = zip(sent, inputs, strict=False)
        return tuple(
            g if g is None or own is None else (above * own).sum_to_size(g.shape)
            for g, own in pairs
        )

    return rule


def _divisor(inputs: Sequence[Tensor | None]) -> Change:
    def rule(sent: Gradients, arrived: Gradients) -> Gradients:
        above = next(g for g in arrived if g is not None)
        a, b, known = inputs[0], inputs[1], sent[1]
        if a is None or b is None or known is None:
            return sent
        return (sent[0], (-above * a / b).sum_to_size(known.shape))

    return rule


def _scaled_slot(slot: int, factor: float) -> Change:
    return lambda sent, _: tuple(
        g * factor if g is not None and at == slot else g for at, g in enumerate(sent)
    )


def _scaled(factor: float) -> Change:
    return lambda sent, _: tuple(None if g is None else g * factor for g in sent)


def _sum_as_mean(sent: Gradients, arrived: Gradients) -> Gradients:
    above = next(g for g in arrived if g is not None)
    return tuple(None if g is None else g * above.numel() / g.numel() for g in sent)


def _untransposed(inputs: Sequence[Tensor | None]) -> Change:
    """Leave out the transposition of the other matrix: g @ B for g @ B.T, A @ g for A.T @ g."""

    def rule(sent: Gradients, arrived: Gradients) -> Gradients:
        above = next(g for g in arrived if g is not None)
        a, b = inputs[0], inputs[1]
        left, right = sent[0], sent[1]
        if left is not None and b is not None and b.ndim == 2 and b.shape[0] == b.shape[1]:
            left = above @ b
        if right is not None and a is not None and a.ndim == 2 and a.shape[0] == a.shape[1]:
            right = a @ above
        return (left, right, *sent[2:])

    return rule


def _softmax_alone(inputs: Sequence[Tensor | None]) -> Change:
    """Leave out the target at the node of log_softmax, where minus the target arrives."""

    def rule(sent: Gradients, arrived: Gradients) -> Gradients:
        above = next(g for g in arrived if g is not None)
        logits = inputs[0]
        if logits is None or above.shape != logits.shape or logits.ndim != 2:
            return sent
        return (-above.sum(1, keepdim=True) * logits.softmax(1), *sent[1:])

    return rule
