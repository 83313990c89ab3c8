"""Elementwise ops: shapes are aligned from the right, sizes of 1 are broadcast."""

from gradscribe.playback.lab.axes import AxisRow, AxisTable, Chip, Kind, Shape, axis_row
from gradscribe.playback.lab.call import ParsedCall, Tensor
from gradscribe.playback.text import formatting
from gradscribe.playback.translation import ngettext, tr

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


def broadcast(call: ParsedCall, result: Shape | None) -> AxisTable | None:
    """Explain how the operands are broadcast to a common shape, or where they clash."""
    tensors = [tensor for tensor in call.operands if isinstance(tensor, Tensor)]
    if not tensors or call.has_unknown:
        return None
    width = max(len(tensor.shape) for tensor in tensors)
    sizes: list[set[int]] = [set() for _ in range(width)]
    for tensor in tensors:
        for column, size in zip(range(width - len(tensor.shape), width), tensor.shape, strict=True):
            sizes[column].add(size)
    clash = [len(found - {1}) > 1 for found in sizes]
    whole = [max(found, default=1) if 0 not in found else 0 for found in sizes]
    rows = [_row(tensor, width, whole, clash) for tensor in tensors]
    if result is not None:
        rows.append(axis_row("result", result))
    return AxisTable(_sentence(tensors, width, whole, clash), tuple(rows))


def _row(tensor: Tensor, width: int, whole: list[int], clash: list[bool]) -> AxisRow:
    missing = width - len(tensor.shape)
    chips = [Chip(f"→ {size}", "missing") for size in whole[:missing]]
    for column, size in zip(range(missing, width), tensor.shape, strict=True):
        kind: Kind = "clash" if clash[column] and size != 1 else ""
        if size == 1 != whole[column] and not clash[column]:
            chips.append(Chip(f"1 → {whole[column]}", "stretched"))
        else:
            chips.append(Chip(str(size), kind))
    return AxisRow(tensor.name, tuple(chips))


def _sentence(tensors: list[Tensor], width: int, whole: list[int], clash: list[bool]) -> str:
    if any(clash):
        place = width - 1 - clash[::-1].index(True)
        long = (tensor.shape for tensor in tensors if len(tensor.shape) >= width - place)
        found = sorted({shape[place - width] for shape in long} - {1})
        sizes = tr(" and ").join(map(str, found))
        return tr(
            "Shapes are aligned from the right. There {sizes} meet: neither is 1, so "
            "neither can be stretched.",
            sizes=sizes,
        )
    if all(tensor.shape == tuple(whole) for tensor in tensors):
        return tr("Each cell of the result is made of the cells at the same place.")
    moved = [tensor.name for tensor in tensors if tensor.shape != tuple(whole)]
    return ngettext(
        "Shapes are aligned from the right; {join} is stretched to {shape} without being copied.",
        "Shapes are aligned from the right; {join} are stretched to {shape} without being copied.",
        len(moved),
        join=tr(" and ").join(moved),
        shape=formatting.shape(tuple(whole)),
    )


def unary(call: ParsedCall, result: Shape | None) -> AxisTable | None:
    """Explain an op of a single tensor, which does not change the shape."""
    if len(call.operands) > 1 and isinstance(call.operands[1], Tensor):
        return broadcast(call, result)
    first = call.operands[0] if call.operands else None
    if not isinstance(first, Tensor) or result != first.shape:
        return None
    rows = (axis_row(first.name, first.shape), axis_row("result", result))
    return AxisTable(tr("The shape stays as it is."), rows)


RULES = {**dict.fromkeys(_UNARY, unary), **dict.fromkeys(_BINARY, broadcast)}
