"""Reductions: an axis is removed, or has size 1 with ``keepdim=True``."""

from gradscribe.playback.lab.axes import AxisRow, AxisTable, Chip, Shape, normalize_axis
from gradscribe.playback.lab.call import ParsedCall, Tensor
from gradscribe.playback.translation import ngettext, tr

_OPS = (
    "sum mean prod max min amax amin std var argmax argmin any all norm logsumexp median nansum "
    "count_nonzero"
).split()


def reduce(call: ParsedCall, result: Shape | None) -> AxisTable | None:
    """Explain which axes are reduced."""
    tensor = call.operands[0] if call.operands else None
    if not isinstance(tensor, Tensor) or call.has_unknown:
        return None
    if (
        call.op in ("max", "min")
        and len(call.operands) > 1
        and isinstance(call.operands[1], Tensor)
    ):
        return None
    place = 2 if call.op == "norm" else 1
    given = call.keywords.get("dim", call.operands[place] if len(call.operands) > place else None)
    dims = len(tensor.shape)
    wanted = given if isinstance(given, list) else [given]
    numbers = [n for n in wanted if isinstance(n, int) and not isinstance(n, bool)]
    axes = [normalize_axis(n, dims) for n in numbers] or list(range(dims))
    if not all(0 <= a < dims for a in axes):
        sentence = (
            tr(
                "{name} has the axes 0 to {value}; -1 is the last.",
                name=tensor.name,
                value=dims - 1,
            )
            if dims
            else tr("A scalar has no axes.")
        )
        return AxisTable(sentence)
    keep = call.keywords.get("keepdim") is True
    rows = [
        AxisRow("axis", tuple(Chip(str(i), "gone") for i in range(dims))),
        AxisRow(
            tensor.name,
            tuple(
                Chip(str(size), "summed" if i in axes else "")
                for i, size in enumerate(tensor.shape)
            ),
        ),
    ]
    if result is not None:
        folded = Chip("1", "new") if keep else Chip("–", "gone")
        chips = tuple(
            folded if i in axes else Chip(str(size)) for i, size in enumerate(tensor.shape)
        )
        rows.append(AxisRow("result", chips))
    return AxisTable(_sentence(axes, dims, keep), tuple(rows))


def _sentence(axes: list[int], dims: int, keep: bool) -> str:
    if len(axes) == dims:
        return (
            tr("All cells become one number; keepdim leaves axes of size 1.")
            if keep
            else tr("All cells become one number: a scalar.")
        )
    names = tr(" and ").join(map(str, axes))
    if keep:
        return ngettext(
            "Axis {names} is folded to size 1, so that the result broadcasts back.",
            "Axes {names} are folded to size 1, so that the result broadcasts back.",
            len(axes),
            names=names,
        )
    return ngettext(
        "Axis {names} is folded away: the cells along it become one.",
        "Axes {names} are folded away: the cells along them become one.",
        len(axes),
        names=names,
    )


RULES = dict.fromkeys(_OPS, reduce)
