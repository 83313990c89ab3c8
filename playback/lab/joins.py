"""Tensors put together: end to end along an axis, or stacked along a new one."""

from playback.lab.axes import Axes, Chip, Kind, Row, Shape, axis, row
from playback.lab.call import Call, Tensor


def _parts(call: Call) -> tuple[list[Tensor], int]:
    given = call.operands[0] if call.operands else call.keywords.get("tensors")
    parts = [one for one in given if isinstance(one, Tensor)] if isinstance(given, list) else []
    dim = call.keywords.get("dim", call.operands[1] if len(call.operands) > 1 else 0)
    return parts, dim if isinstance(dim, int) else 0


def cat(call: Call, result: Shape | None) -> Axes | None:
    """Return which axis grows; all others have to be equal."""
    parts, dim = _parts(call)
    if not parts or call.unread:
        return None
    dims = len(parts[0].shape)
    at = axis(dim, dims)
    rows = []
    for one in parts:
        kinds: list[Kind] = ["joined" if i == at else "" for i in range(len(one.shape))]
        for i, size in enumerate(one.shape):
            if i != at and i < dims and size != parts[0].shape[i]:
                kinds[i] = "clash"
        rows.append(row(one.name, one.shape, len(one.shape), tuple(kinds)))
    if any(chip.kind == "clash" for r in rows for chip in r.chips):
        return Axes(f"Along every axis but {at} the sizes have to be equal.", tuple(rows))
    if result is not None:
        rows.append(
            row(
                "result",
                result,
                len(result),
                tuple("joined" if i == at else "" for i in range(len(result))),
            )
        )
    sizes = " + ".join(str(one.shape[at]) for one in parts if at < len(one.shape))
    total = f" = {result[at]}" if result is not None and at < len(result) else ""
    return Axes(f"End to end along axis {at}: {sizes}{total}.", tuple(rows))


def stack(call: Call, result: Shape | None) -> Axes | None:
    """Return where the new axis stands, as long as there are tensors."""
    parts, dim = _parts(call)
    if not parts or call.unread:
        return None
    if any(one.shape != parts[0].shape for one in parts):
        rows = [row(one.name, one.shape, len(one.shape)) for one in parts]
        return Axes("To be stacked all tensors need the same shape.", tuple(rows))
    at = axis(dim, len(parts[0].shape) + 1)
    rows = []
    for one in parts:
        chips = [Chip(str(size)) for size in one.shape]
        chips.insert(at, Chip(""))
        rows.append(Row(one.name, tuple(chips)))
    if result is not None:
        rows.append(
            row(
                "result",
                result,
                len(result),
                tuple("new" if i == at else "" for i in range(len(result))),
            )
        )
    return Axes(f"{len(parts)} tensors along a new axis {at}.", tuple(rows))


def split(call: Call, result: Shape | None) -> Axes | None:
    """Return what is cut along which axis."""
    one = call.operands[0] if call.operands else None
    if not isinstance(one, Tensor) or result is None:
        return None
    dim = call.keywords.get("dim", call.operands[2] if len(call.operands) > 2 else 0)
    at = axis(dim, len(one.shape)) if isinstance(dim, int) else 0
    if call.op == "unbind":
        return Axes(f"One tensor for each place along axis {at}; that axis is gone.")
    kinds: tuple[Kind, ...] = tuple("picked" if i == at else "" for i in range(len(one.shape)))
    rows = (row(one.name, one.shape, len(one.shape), kinds), row("result[0]", result, len(result)))
    return Axes(f"Cut along axis {at}: views, nothing is copied.", rows)


ENTRY = {
    **dict.fromkeys(("cat", "concat", "concatenate"), cat),
    "stack": stack,
    **dict.fromkeys(("split", "chunk", "unbind", "tensor_split"), split),
}
