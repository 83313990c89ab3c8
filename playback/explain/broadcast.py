"""How broadcasting stretched an operand going forward, and is summed going back."""

from engine.tape import Op
from playback import operands
from playback.explain import naming
from playback.explain.rule import Rule
from playback.index import Index


def stretched(index: Index, op: Op, rule: Rule) -> list[str]:
    """Return a sentence for every operand that was stretched to the result's shape."""
    if not rule.stretches or not op.outputs:
        return []
    names = naming.names(index, op)
    target = index.values[op.outputs[0]].shape
    found = []
    for key, arg in zip("abcdef", operands.operands(op), strict=False):
        if arg.value is None:
            continue
        value = index.values[arg.value]
        dims = stretched_dims(value.shape, target)
        if dims and value.requires_grad:
            found.append(
                f"The share of {names[key]} is summed over {_listed(dims, target)}"
                f" because {names[key]} was stretched"
            )
    return found


def is_stretched(index: Index, op: Op, operand: int) -> bool:
    """Tell whether an operand was stretched to the shape of the result."""
    arg = operands.operands(op)[operand]
    if arg.value is None or not op.outputs:
        return False
    target = index.values[op.outputs[0]].shape
    return bool(stretched_dims(index.values[arg.value].shape, target))


def stretched_dims(shape: tuple[int, ...], target: tuple[int, ...]) -> list[int]:
    """Return the dimensions of ``target`` along which ``shape`` was repeated."""
    ahead = len(target) - len(shape)
    return [
        dim
        for dim, size in enumerate(target)
        if dim < ahead or (shape[dim - ahead] == 1 and size != 1)
    ]


def _listed(dims: list[int], target: tuple[int, ...]) -> str:
    parts = [f"{dim} ({target[dim]})" for dim in dims]
    return f"dimension {parts[0]}" if len(parts) == 1 else f"dimensions {' and '.join(parts)}"
