"""Matrix products: inner sizes must match and are summed over, batch sizes are broadcast."""

from collections.abc import Sequence

from gradscribe.playback.lab.axes import AxisRow, AxisTable, Chip, Kind, Shape
from gradscribe.playback.lab.call import ParsedCall, Tensor
from gradscribe.playback.translation import tr


def matmul(call: ParsedCall, result: Shape | None) -> AxisTable | None:
    """Explain which sizes have to match in ``a @ b`` and its equivalents."""
    tensors = [operand for operand in call.operands[:2] if isinstance(operand, Tensor)]
    if len(tensors) < 2:
        return None
    left, right = tensors
    if not left.shape or not right.shape:
        return AxisTable(
            tr("A matrix product needs at least one axis on both sides; use * for scalars.")
        )
    a, b = left.shape, right.shape
    inner_a, inner_b = a[-1], b[-2] if len(b) > 1 else b[0]
    kind: Kind = "summed" if inner_a == inner_b else "clash"
    batch = max(len(a), len(b), 2) - 2
    rows = _factors(left, right, batch, kind)
    if kind == "clash":
        flipped = len(b) > 1 and b[-1] == inner_a
        hint = tr(" {name}.T would fit.", name=right.name) if flipped and len(b) == 2 else ""
        sentence = tr(
            "The inner sizes {inner_a} and {inner_b} have to be equal.{hint}",
            inner_a=inner_a,
            inner_b=inner_b,
            hint=hint,
        )
        return AxisTable(sentence, tuple(rows))
    if result is not None:
        rows.append(_result(a, b, batch, result))
    sentence = tr(
        "Along the inner axis {inner_a} pairs are multiplied and summed for each cell.",
        inner_a=inner_a,
    )
    if batch:
        sentence += tr(" Axes before the last two are batches: one product each.")
    return AxisTable(sentence, tuple(rows))


def _factors(left: Tensor, right: Tensor, batch: int, kind: Kind) -> list[AxisRow]:
    """Return the rows of the two sides of a product."""
    # Columns: batch axes, rows of a, the inner axis, columns of b.
    a, b = left.shape, right.shape
    inner_a, inner_b = a[-1], b[-2] if len(b) > 1 else b[0]
    return [
        AxisRow(
            left.name,
            (
                *_batch(a[:-2], batch),
                Chip(str(a[-2]) if len(a) > 1 else ""),
                Chip(str(inner_a), kind),
                Chip(""),
            ),
        ),
        AxisRow(
            right.name,
            (
                *_batch(b[:-2], batch),
                Chip(""),
                Chip(str(inner_b), kind),
                Chip(str(b[-1]) if len(b) > 1 else ""),
            ),
        ),
    ]


def _batch(sizes: Sequence[int], batch: int) -> tuple[Chip, ...]:
    return (Chip(""),) * (batch - len(sizes)) + tuple(Chip(str(size)) for size in sizes)


def _result(a: Shape, b: Shape, batch: int, result: Shape) -> AxisRow:
    sizes = list(result)
    last = Chip(str(sizes.pop())) if len(b) > 1 and sizes else Chip("")
    first = Chip(str(sizes.pop())) if len(a) > 1 and sizes else Chip("")
    return AxisRow("result", (*_batch(sizes, batch), first, Chip("Σ", "gone"), last))


def outer(call: ParsedCall, result: Shape | None) -> AxisTable | None:
    """Explain the axes of an outer product."""
    match call.operands[:2]:
        case (Tensor(x, (m,)), Tensor(y, (n,))):
            rows = [AxisRow(x, (Chip(str(m)), Chip(""))), AxisRow(y, (Chip(""), Chip(str(n))))]
            if result is not None:
                rows.append(AxisRow("result", (Chip(str(m)), Chip(str(n)))))
            return AxisTable(
                tr("Every element of the first meets every element of the second."), tuple(rows)
            )
    return None


def einsum(call: ParsedCall, result: Shape | None) -> AxisTable | None:
    """Explain an einsum with a column per letter; letters not in the result are summed over."""
    if not call.operands or not isinstance(call.operands[0], str) or "." in call.operands[0]:
        return None
    equation, given = call.operands[0].replace(" ", ""), call.operands[1:]
    if len(given) == 1 and isinstance(given[0], list):
        given = tuple(given[0])
    tensors = [tensor for tensor in given if isinstance(tensor, Tensor)]
    left, arrow, right = equation.partition("->")
    terms = left.split(",")
    if len(terms) != len(tensors):
        return AxisTable(
            tr(
                "The equation has {terms_count} terms, but {tensors_count} tensors are given.",
                terms_count=len(terms),
                tensors_count=len(tensors),
            )
        )
    if not arrow:
        right = "".join(sorted(c for c in set(left) - {","} if left.count(c) == 1))
    letters = list(dict.fromkeys(right + left.replace(",", "")))
    rows = [AxisRow("", tuple(Chip(c, "" if c in right else "gone") for c in letters))]
    for term, tensor in zip(terms, tensors, strict=True):
        if len(term) != len(tensor.shape):
            words = tr(
                "{name} has {axes} axes, its term {term} has {letters} letters.",
                name=tensor.name,
                axes=len(tensor.shape),
                term=term,
                letters=len(term),
            )
            return AxisTable(words)
        sizes = dict(zip(term, tensor.shape, strict=True))
        chips = [
            Chip(str(sizes[c]), "" if c in right else "summed") if c in sizes else Chip("")
            for c in letters
        ]
        rows.append(AxisRow(tensor.name, tuple(chips)))
    if result is not None and len(result) == len(right):
        ends = dict(zip(right, result, strict=True))
        chips = [Chip(str(ends[c])) if c in ends else Chip("Σ", "gone") for c in letters]
        rows.append(AxisRow(tr("result"), tuple(chips)))
    summed = ", ".join(c for c in letters if c not in right)
    sentence = tr("Nothing is summed.")
    if summed:
        sentence = tr("Summed over {letters}: not in the result.", letters=summed)
    return AxisTable(
        tr("A letter is an axis; the same letter is the same axis. {sentence}", sentence=sentence),
        tuple(rows),
    )


RULES = {
    **dict.fromkeys(("matmul", "mm", "bmm", "mv", "dot", "inner", "vdot"), matmul),
    **dict.fromkeys(("outer", "ger"), outer),
    "einsum": einsum,
}
