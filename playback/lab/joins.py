"""Joining of tensors along an axis or a new axis, and splitting."""

from gradscribe.playback.lab.axes import (
    AxisRow,
    AxisTable,
    Chip,
    Kind,
    Shape,
    axis_row,
    normalize_axis,
)
from gradscribe.playback.lab.call import ParsedCall, Tensor
from gradscribe.playback.translation import tr


def _parts(call: ParsedCall) -> tuple[list[Tensor], int]:
    given = call.operands[0] if call.operands else call.keywords.get("tensors")
    found = given if isinstance(given, list) else []
    parts = [operand for operand in found if isinstance(operand, Tensor)]
    dim = call.keywords.get("dim", call.operands[1] if len(call.operands) > 1 else 0)
    return parts, dim if isinstance(dim, int) else 0


def cat(call: ParsedCall, result: Shape | None) -> AxisTable | None:
    """Explain which axis grows; all others have to be equal."""
    parts, dim = _parts(call)
    if not parts or call.has_unknown:
        return None
    at = normalize_axis(dim, len(parts[0].shape))
    rows = []
    for tensor in parts:
        kinds: dict[int, Kind] = {at: "joined"}
        for i, (size, first) in enumerate(zip(tensor.shape, parts[0].shape, strict=False)):
            if i != at and size != first:
                kinds[i] = "clash"
        rows.append(axis_row(tensor.name, tensor.shape, kinds))
    if any(chip.kind == "clash" for r in rows for chip in r.chips):
        return AxisTable(
            tr("Along every axis but {at} the sizes have to be equal.", at=at), tuple(rows)
        )
    if result is not None:
        rows.append(axis_row("result", result, {at: "joined"}))
    sizes = " + ".join(str(tensor.shape[at]) for tensor in parts if at < len(tensor.shape))
    total = f" = {result[at]}" if result is not None and at < len(result) else ""
    return AxisTable(
        tr("End to end along axis {at}: {sizes}{total}.", at=at, sizes=sizes, total=total),
        tuple(rows),
    )


def stack(call: ParsedCall, result: Shape | None) -> AxisTable | None:
    """Explain the new axis, whose size is the number of tensors."""
    parts, dim = _parts(call)
    if not parts or call.has_unknown:
        return None
    if any(tensor.shape != parts[0].shape for tensor in parts):
        rows = [axis_row(tensor.name, tensor.shape) for tensor in parts]
        return AxisTable(tr("To be stacked all tensors need the same shape."), tuple(rows))
    at = normalize_axis(dim, len(parts[0].shape) + 1)
    rows = []
    for tensor in parts:
        chips = [Chip(str(size)) for size in tensor.shape]
        chips.insert(at, Chip(""))
        rows.append(AxisRow(tensor.name, tuple(chips)))
    if result is not None:
        rows.append(axis_row("result", result, {at: "new"}))
    return AxisTable(
        tr("{parts_count} tensors along a new axis {at}.", parts_count=len(parts), at=at),
        tuple(rows),
    )


def split(call: ParsedCall, result: Shape | None) -> AxisTable | None:
    """Explain along which axis a tensor is cut."""
    tensor = call.operands[0] if call.operands else None
    if not isinstance(tensor, Tensor) or result is None:
        return None
    dim = call.keywords.get("dim", call.operands[2] if len(call.operands) > 2 else 0)
    at = normalize_axis(dim, len(tensor.shape)) if isinstance(dim, int) else 0
    if call.op == "unbind":
        return AxisTable(tr("One tensor for each place along axis {at}; that axis is gone.", at=at))
    rows = (axis_row(tensor.name, tensor.shape, {at: "picked"}), axis_row("result[0]", result))
    return AxisTable(tr("Cut along axis {at}: views, nothing is copied.", at=at), rows)


RULES = {
    **dict.fromkeys(("cat", "concat", "concatenate"), cat),
    "stack": stack,
    **dict.fromkeys(("split", "chunk", "unbind", "tensor_split"), split),
}
