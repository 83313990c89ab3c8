"""Hints for shapes that do not fit, and how to make them fit."""

import math
import re

from gradscribe.engine.hints import operands
from gradscribe.engine.hints.advice import HintContext


def matmul(match: re.Match[str], case: HintContext) -> str:
    """Hint for the inner sizes of a matrix product."""
    rows, inner, other, columns = match.groups()
    text = f"(n × k) @ (k × m): the inner sizes {inner} and {other} must be equal."
    if not re.search(r"@|\bmm\(|matmul\(", case.code):
        flat = _flattened(case, int(other))
        return f"{text} {flat or f'A Linear layer needs in_features={inner} for this input.'}"
    names = [name for name, _ in operands.binary_operands(case)]
    first, second = names if len(names) == 2 else ("", "")
    if inner == columns:
        return f"{text} {_transposed(second, 'second')}"
    if rows == other:
        return f"{text} {_transposed(first, 'first')}"
    return text


def _flattened(case: HintContext, features: int) -> str:
    """Return how to flatten a batch of images to rows of ``features``; empty if impossible."""
    for name, thing in operands.operands(case):
        sizes = getattr(thing, "shape", ())
        if len(sizes) > 2 and math.prod(sizes[1:]) == features:
            product = " × ".join(map(str, sizes[1:]))
            return f"{name}.flatten(1) would fit: {product} = {features}."
    return ""


def _transposed(name: str, which: str) -> str:
    if not name:
        return f"Transposing the {which} one with .T would fit."
    turned = name.removesuffix(".T") if name.endswith(".T") else f"{name}.T"
    return f"{turned} would fit."


def matvec(match: re.Match[str], case: HintContext) -> str:
    """Hint for a product of a matrix and a vector."""
    _, rows, columns, size = match.groups()
    text = f"The matrix has {columns} columns, so the vector needs {columns} elements, not {size}."
    names = [name for name, _ in operands.binary_operands(case)]
    if rows == size and len(names) == 2:
        return f"{text} {_transposed(names[0], 'first')}"
    return text


def size_mismatch(match: re.Match[str], case: HintContext) -> str:
    """Hint for shapes that do not broadcast."""
    text = (
        f"Sizes {match[1]} and {match[2]} differ in dimension {match[3]}: "
        "they broadcast only where they are equal or one of them is 1."
    )
    pair = operands.binary_operands(case)
    if len(pair) == 2:
        (first, a), (second, b) = pair
        fits = operands.broadcast_fix(second, b.shape, a.shape)
        other = operands.broadcast_fix(first, a.shape, b.shape)
        fits = other if not fits or "unsqueeze" in other else fits
        if fits:
            return f"{text} {fits} would fit."
    return text


def channels(match: re.Match[str], case: HintContext) -> str:  # noqa: ARG001 - as every answer
    """Hint for an image with the wrong number of channels, or with channels last."""
    given, wanted, there = match[1].split(", "), match[2], match[3]
    text = f"The layer takes {wanted} channels and is given {there} "
    text += "(batch, channel, height, width)."
    if len(given) == 4 and given[-1] == wanted:
        return f"{text} They stand last: .permute(0, 3, 1, 2) brings them to the front."
    return text


def wrong_assignment(match: re.Match[str], case: HintContext) -> str:  # noqa: ARG001
    """Hint for assigning a tensor of the wrong shape to a part of another."""
    place = f"({match[2]})" if match[2] else "a single number"
    return f"The place that is written to holds {place}, the value has the shape ({match[1]})."


def wrong_concatenation(match: re.Match[str], case: HintContext) -> str:  # noqa: ARG001
    """Hint for concatenated or stacked tensors whose sizes do not match."""
    if str(case.exc).startswith("stack expects") and not re.search(r"stack\(|cat\(", case.code):
        return (
            "The examples of one batch differ in shape: make them equal, or give the DataLoader "
            "a collate_fn that pads them."
        )
    shapes = [name for name, thing in operands.operands(case) if hasattr(thing, "shape")]
    which = f" of {' and '.join(shapes[:3])}" if len(shapes) > 1 else ""
    return f"All but the joined dimension need equal sizes; see .shape{which or ' of each'}."
