"""Indexing: numbers drop an axis, slices keep it, masks and lists of indices select elements."""

from gradscribe.playback.lab.axes import AxisRow, AxisTable, Chip, Shape, axis_row
from gradscribe.playback.lab.call import ParsedCall, Tensor, UnknownOperand
from gradscribe.playback.text import formatting
from gradscribe.playback.translation import tr


def getitem(call: ParsedCall, result: Shape | None) -> AxisTable | None:
    """Explain what each part of ``x[...]`` does to its axis."""
    tensor, index = call.operands
    if not isinstance(tensor, Tensor):
        return None
    parts = index if isinstance(index, list) else [index]
    if isinstance(index, UnknownOperand) or any(isinstance(part, UnknownOperand) for part in parts):
        return None
    if any(isinstance(part, list) for part in parts):
        return AxisTable(
            tr("A list of indices picks places one by one: a copy, not a view."),
            _ends(tensor, result),
        )
    if any(isinstance(part, Tensor) for part in parts):
        return _by_tensor(tensor, [p for p in parts if isinstance(p, Tensor)], result)
    return _by_slices(tensor, parts, result)


def _ends(tensor: Tensor, result: Shape | None) -> tuple[AxisRow, ...]:
    rows = [axis_row(tensor.name, tensor.shape)]
    if result is not None:
        rows.append(axis_row("result", result))
    return tuple(rows)


def _by_tensor(tensor: Tensor, chosen: list[Tensor], result: Shape | None) -> AxisTable:
    names = tr(" and ").join(c.name for c in chosen)
    if len(chosen) == 1 and chosen[0].shape == tensor.shape:
        sentence = tr(
            "{names} has the shape of {name}: where it is True the cell is taken. The "
            "number of cells taken is the length of the result, a copy with one axis.",
            names=names,
            name=tensor.name,
        )
    else:
        sentence = tr(
            "{names} tells which places are taken, one after the other: a copy, not a view.",
            names=names,
        )
    return AxisTable(sentence, _ends(tensor, result))


def _by_slices(tensor: Tensor, parts: list[object], result: Shape | None) -> AxisTable | None:
    used = sum(part is not None and part is not Ellipsis for part in parts)
    rest = len(tensor.shape) - used
    if rest < 0:
        return AxisTable(
            tr(
                "{name} has {shape_count} axes, but {used} are indexed.",
                name=tensor.name,
                shape_count=len(tensor.shape),
                used=used,
            ),
            _ends(tensor, None),
        )
    if Ellipsis in parts:
        at = parts.index(Ellipsis)
        parts = [*parts[:at], *[slice(None)] * rest, *parts[at + 1 :]]
    else:
        parts = [*parts, *[slice(None)] * rest]
    sizes = iter(tensor.shape)
    before: list[Chip] = []
    after: list[Chip] = []
    ends = iter(result or ())
    for part in parts:
        if part is None:
            before.append(Chip(""))
            after.append(Chip(str(next(ends, "")), "new"))
            continue
        size = next(sizes)
        if isinstance(part, slice):
            before.append(Chip(str(size)))
            new = next(ends, "")
            after.append(Chip(str(new), "picked" if new != size else ""))
        else:
            before.append(Chip(str(size), "gone"))
            after.append(Chip(f"[{part}]".replace("-", formatting.MINUS), "gone"))
    rows = [AxisRow(tensor.name, tuple(before))]
    if result is not None:
        rows.append(AxisRow("result", tuple(after)))
    sentence = tr("A number drops its axis, a slice keeps it, None adds one. The result is a view.")
    return AxisTable(sentence, tuple(rows))


RULES = {"getitem": getitem}
