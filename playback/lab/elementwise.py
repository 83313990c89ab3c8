"""Element by element: shapes are aligned from the right, sizes of 1 are stretched."""

from playback import text
from playback.lab.axes import Axes, Chip, Kind, Row, Shape
from playback.lab.call import Call, Tensor

_BINARY = (
    "add sub mult mul div truediv floordiv mod pow eq noteq lt lte gt gte ne le ge maximum minimum "
    "where atan2 mse_loss l1_loss masked_fill lerp remainder fmod bitand bitor bitxor true_divide"
).split()
_UNARY = (
    "relu tanh sigmoid exp log sqrt sin cos abs neg square round floor ceil sign clamp gelu "
    "softmax log_softmax cumsum dropout float double int long bool half clone detach contiguous "
    "to sort "
    "requires_grad_ zero_ pow reciprocal rsqrt erf silu add_ mul_ sub_ div_"
).split()


def broadcast(call: Call, result: Shape | None) -> Axes | None:
    """Return how the operands are stretched to one shape, or where they clash."""
    tensors = [one for one in call.operands if isinstance(one, Tensor)]
    if not tensors or call.unread:
        return None
    width = max(len(one.shape) for one in tensors)
    sizes: list[set[int]] = [set() for _ in range(width)]
    for one in tensors:
        for column, size in zip(range(width - len(one.shape), width), one.shape, strict=True):
            sizes[column].add(size)
    clash = [len(found - {1}) > 1 for found in sizes]
    whole = [max(found, default=1) if 0 not in found else 0 for found in sizes]
    rows = [_row(one, width, whole, clash) for one in tensors]
    if result is not None:
        rows.append(Row("result", tuple(Chip(str(size)) for size in result)))
    return Axes(_say(tensors, width, whole, clash), tuple(rows))


def _row(one: Tensor, width: int, whole: list[int], clash: list[bool]) -> Row:
    missing = width - len(one.shape)
    chips = [Chip(f"→ {size}", "missing") for size in whole[:missing]]
    for column, size in zip(range(missing, width), one.shape, strict=True):
        kind: Kind = "clash" if clash[column] and size != 1 else ""
        if size == 1 != whole[column] and not clash[column]:
            chips.append(Chip(f"1 → {whole[column]}", "stretched"))
        else:
            chips.append(Chip(str(size), kind))
    return Row(one.name, tuple(chips))


def _say(tensors: list[Tensor], width: int, whole: list[int], clash: list[bool]) -> str:
    if any(clash):
        place = width - 1 - clash[::-1].index(True)
        found = sorted(
            {one.shape[place - width] for one in tensors if len(one.shape) >= width - place}
        )
        sizes = " and ".join(str(size) for size in found if size != 1)
        return (
            f"Shapes are aligned from the right. There {sizes} meet: neither is 1, "
            "so neither can be stretched."
        )
    if all(one.shape == tuple(whole) for one in tensors):
        return "Each cell of the result is made of the cells at the same place."
    moved = [one.name for one in tensors if one.shape != tuple(whole)]
    return (
        f"Shapes are aligned from the right; {' and '.join(moved)} "
        f"{'is' if len(moved) == 1 else 'are'} stretched to {text.shape(tuple(whole))} "
        "without being copied."
    )


def each(call: Call, result: Shape | None) -> Axes | None:
    """Return that an op of one tensor keeps its shape."""
    if len(call.operands) > 1 and isinstance(call.operands[1], Tensor):
        return broadcast(call, result)
    first = call.operands[0] if call.operands else None
    if not isinstance(first, Tensor) or result != first.shape:
        return None
    rows = (
        Row(first.name, tuple(Chip(str(size)) for size in first.shape)),
        Row("result", tuple(Chip(str(size)) for size in result)),
    )
    return Axes("The shape stays as it is.", rows)


ENTRY = {**dict.fromkeys(_UNARY, each), **dict.fromkeys(_BINARY, broadcast)}
