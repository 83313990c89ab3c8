"""Explanation of broadcasting: operands stretched in forward, gradients summed in backward."""

from gradscribe.engine.protocol.tape import Op
from gradscribe.playback.explain import naming
from gradscribe.playback.explain.rule import Rule
from gradscribe.playback.lab.axes import AxisRow, AxisTable, Chip
from gradscribe.playback.lab.call import ParsedCall, Tensor
from gradscribe.playback.lab.elementwise import broadcast
from gradscribe.playback.tape import operands
from gradscribe.playback.tape.index import Index
from gradscribe.playback.translation import tr


def broadcast_sentences(index: Index, op: Op, rule: Rule) -> list[str]:
    """Return a sentence for every operand with a gradient that was broadcast."""
    if not rule.stretches or not op.outputs:
        return []
    names = naming.template_names(index, op)
    target = index.values[op.outputs[0]].shape
    found = []
    for key, arg in zip("abcdef", operands.operands(op), strict=False):
        if arg.value is None:
            continue
        value = index.values[arg.value]
        dims = broadcast_dims(value.shape, target)
        if dims and value.requires_grad:
            found.append(
                tr(
                    "The share of {names} is summed over {listed} because {names} was stretched",
                    names=names[key],
                    listed=_listed(dims, target),
                )
            )
    return found


def is_broadcast(index: Index, op: Op, operand: int) -> bool:
    """Return whether an operand was broadcast to the shape of the result."""
    arg = operands.operands(op)[operand]
    if arg.value is None or not op.outputs:
        return False
    target = index.values[op.outputs[0]].shape
    return bool(broadcast_dims(index.values[arg.value].shape, target))


def broadcast_dims(shape: tuple[int, ...], target: tuple[int, ...]) -> list[int]:
    """Return the dimensions of ``target`` along which ``shape`` is broadcast."""
    ahead = len(target) - len(shape)
    return [
        dim
        for dim, size in enumerate(target)
        if dim < ahead or (shape[dim - ahead] == 1 and size != 1)
    ]


def broadcast_table(index: Index, op: Op, rule: Rule | None, loss: str = "") -> AxisTable | None:
    """Return the table of stretched axes in forward and, with a ``loss``, summed axes in backward.

    None if no operand is broadcast.
    """
    if rule is None or not rule.stretches or not op.outputs:
        return None
    names = naming.template_names(index, op)
    target = index.values[op.outputs[0]].shape
    given = [
        (key, index.values[arg.value])
        for key, arg in zip("abcdef", operands.operands(op), strict=False)
        if arg.value is not None
    ]
    if not any(broadcast_dims(value.shape, target) for _, value in given):
        return None
    tensors = tuple(Tensor(names[key], value.shape) for key, value in given)
    call = ParsedCall(op.op, tensors, tuple(names[key] for key, _ in given), {})
    forward = broadcast(call, target)
    assert forward is not None
    rows = [*forward.rows[:-1], AxisRow(names["y"], forward.rows[-1].chips)]
    if loss:
        rows += [
            AxisRow(f"∂{loss}/∂{names.atom(key)}", _summed(value.shape, target))
            for key, value in given
            if value.requires_grad
        ]
    return AxisTable("", tuple(rows))


def _summed(shape: tuple[int, ...], target: tuple[int, ...]) -> tuple[Chip, ...]:
    dims = broadcast_dims(shape, target)
    missing = len(target) - len(shape)
    return tuple(
        Chip(f"Σ {size}" if dim < missing else f"Σ {size} → 1", "summed")
        if dim in dims
        else Chip(str(size))
        for dim, size in enumerate(target)
    )


def _listed(dims: list[int], target: tuple[int, ...]) -> str:
    parts = [f"{dim} ({target[dim]})" for dim in dims]
    return (
        tr("dimension {parts}", parts=parts[0])
        if len(parts) == 1
        else tr("dimensions {join}", join=tr(" and ").join(parts))
    )
