"""Views: the same elements in another shape, or with axes in another order."""

import math

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
from gradscribe.playback.text import formatting
from gradscribe.playback.translation import ngettext, tr


def _first(call: ParsedCall) -> Tensor | None:
    first = call.operands[0] if call.operands else None
    return first if isinstance(first, Tensor) else None


def _numbers(call: ParsedCall, names: tuple[str, ...]) -> list[int]:
    """Return the integers among the arguments: in a list, positional, or by keyword."""
    given = list(call.operands[1:]) or [call.keywords[n] for n in names if n in call.keywords]
    if len(given) == 1 and isinstance(given[0], list):
        given = list(given[0])
    return [n for n in given if isinstance(n, int) and not isinstance(n, bool)]


def reshape(call: ParsedCall, result: Shape | None) -> AxisTable | None:
    """Explain that the number and the row-major order of the elements are unchanged."""
    tensor = _first(call)
    if tensor is None:
        return None
    total = math.prod(tensor.shape)
    rows = [axis_row(tensor.name, tensor.shape)]
    if result is None:
        wanted = _numbers(call, ("shape", "size"))
        if wanted and -1 not in wanted and math.prod(wanted) != total:
            other = math.prod(wanted)
            has, asked = formatting.shape(tensor.shape), formatting.shape(tuple(wanted))
            sentence = tr(
                "{has} holds {total} elements, {asked} would hold {other}.",
                has=has,
                total=total,
                asked=asked,
                other=other,
            )
            clash: dict[int, Kind] = dict.fromkeys(range(len(wanted)), "clash")
            rows.append(axis_row("wanted", tuple(wanted), clash))
            return AxisTable(sentence, tuple(rows))
        return AxisTable(
            tr("The new shape has to hold {total} elements.", total=total), tuple(rows)
        )
    rows.append(axis_row("result", result))
    sizes = " × ".join(map(str, result)) or "1"
    sentence = tr(
        "{total} elements before and after ({sizes}), read row by row in the same order.",
        total=total,
        sizes=sizes,
    )
    if -1 in _numbers(call, ("shape", "size")):
        sentence += tr(" The size −1 is worked out from the rest.")
    return AxisTable(sentence, tuple(rows))


def permute(call: ParsedCall, result: Shape | None) -> AxisTable | None:
    """Explain from which axis each axis of the result comes."""
    tensor = _first(call)
    if tensor is None:
        return None
    dims = len(tensor.shape)
    order = _order(call, dims)
    if order is None or sorted(order) != list(range(dims)):
        return AxisTable(
            tr("Every axis from 0 to {value} has to be named once.", value=dims - 1),
            (axis_row(tensor.name, tensor.shape),),
        )
    rows = [
        AxisRow("axis", tuple(Chip(str(i), "gone") for i in range(dims))),
        axis_row(tensor.name, tensor.shape),
    ]
    if result is not None and len(result) == dims:
        moved = tuple(
            Chip(
                tr("{size} ← axis {at}", size=size, at=at) if at != i else str(size),
                "picked" if at != i else "",
            )
            for i, (size, at) in enumerate(zip(result, order, strict=True))
        )
        rows.append(AxisRow("result", moved))
    return AxisTable(
        tr("Axes change their order; no element moves in memory, only the strides do."), tuple(rows)
    )


def _order(call: ParsedCall, dims: int) -> list[int] | None:
    if call.op in ("t", "T", "H"):
        return list(range(dims))[::-1]
    order = list(range(dims))
    if call.op in ("mT", "mH"):
        numbers = [dims - 2, dims - 1] if dims > 1 else []
    else:
        numbers = [normalize_axis(n, dims) for n in _numbers(call, ("dims", "dim0", "dim1"))]
    if call.op == "permute":
        return numbers
    if len(numbers) != 2 or not all(0 <= n < dims for n in numbers):
        return None
    i, j = numbers
    order[i], order[j] = order[j], order[i]
    return order


def squeeze(call: ParsedCall, result: Shape | None) -> AxisTable | None:
    """Explain which axes of size 1 are removed."""
    tensor = _first(call)
    if tensor is None or result is None:
        return None
    dims = len(tensor.shape)
    named = [normalize_axis(n, dims) for n in _numbers(call, ("dim",))]
    gone = [i for i, size in enumerate(tensor.shape) if size == 1 and (not named or i in named)]
    kinds: dict[int, Kind] = dict.fromkeys(gone, "gone")
    rows = (
        axis_row(tensor.name, tensor.shape, kinds),
        _spread("result", result, [i not in gone for i in range(dims)]),
    )
    if not gone:
        return AxisTable(tr("No axis of size 1 is there to leave out: the shape stays."), rows)
    sentence = ngettext(
        "{count} axis of size 1 is left out.", "{count} axes of size 1 are left out.", len(gone)
    )
    return AxisTable(sentence, rows)


def unsqueeze(call: ParsedCall, result: Shape | None) -> AxisTable | None:
    """Explain the position of the new axis of size 1."""
    tensor, numbers = _first(call), _numbers(call, ("dim",))
    if tensor is None or not numbers or result is None:
        return None
    at = normalize_axis(numbers[0], len(result))
    rows = (
        _spread(tensor.name, tensor.shape, [i != at for i in range(len(result))]),
        axis_row("result", result, {at: "new"}),
    )
    return AxisTable(
        tr("A new axis of size 1 at place {at}; the elements stay the same.", at=at), rows
    )


def expand(call: ParsedCall, result: Shape | None) -> AxisTable | None:
    """Explain which axes of size 1 are stretched, or how often axes are repeated."""
    tensor = _first(call)
    if tensor is None or result is None:
        return None
    missing = len(result) - len(tensor.shape)
    chips = [Chip(f"→ {new}", "missing") for new in result[:missing]]
    for old, new in zip(tensor.shape, result[missing:], strict=True):
        chips.append(Chip(str(old)) if old == new else Chip(f"{old} → {new}", "stretched"))
    rows = (AxisRow(tensor.name, tuple(chips)), axis_row("result", result))
    copies = call.op in ("repeat", "tile")
    sentence = (
        tr("The tensor is copied along the axes named.")
        if copies
        else tr("Sizes of 1 are stretched; nothing is copied: the stride becomes 0.")
    )
    return AxisTable(sentence, rows)


def _spread(name: str, shape: Shape, there: list[bool]) -> AxisRow:
    sizes = iter(shape)
    return AxisRow(name, tuple(Chip(str(next(sizes, "")) if here else "") for here in there))


RULES = {
    **dict.fromkeys(("view", "reshape", "flatten", "ravel", "unflatten"), reshape),
    **dict.fromkeys(("permute", "transpose", "swapaxes", "t", "T", "mT", "H", "mH"), permute),
    **dict.fromkeys(("expand", "repeat", "tile", "broadcast_to"), expand),
    "squeeze": squeeze,
    "unsqueeze": unsqueeze,
}
