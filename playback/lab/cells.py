"""Cells (elements) of tensors: their dependencies, their notation, their place in memory."""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gradscribe.engine.protocol.messages import Cells, Probed
from gradscribe.playback.lab.axes import Shape
from gradscribe.playback.translation import ngettext, tr

MAX_LISTED = 4
"""Most single cells that are listed; more are only counted."""


class Cell(NamedTuple):
    """An element of a tensor: the tensor's name and a flat, row-major index."""

    tensor: str
    flat: int


class CellLinks:
    """Dependencies between the cells of inputs and results, in both directions."""

    def __init__(self, probed: Probed) -> None:
        self._links = [
            (
                (result_key(probed, links.result), np.frombuffer(links.to, "<i4")),
                (probed.inputs[links.input].name, np.frombuffer(links.source, "<i4")),
            )
            for links in probed.links
        ]

    def of(self, cell: Cell) -> tuple[Cell, ...]:
        """Return the input cells on which a result's cell depends, or the reverse."""
        # Searched on demand: there may be a million links.
        back = [(here, there) for here, there in self._links]
        ahead = [(here, there) for there, here in self._links]
        return _across(back, cell) or _across(ahead, cell)


_End = tuple[str, NDArray[np.int32]]


def _across(links: Iterable[tuple[_End, _End]], cell: Cell) -> tuple[Cell, ...]:
    return tuple(
        Cell(other, flat)
        for (name, ends), (other, starts) in links
        if name == cell.tensor
        for flat in starts[ends == cell.flat].tolist()
    )


def result_key(probed: Probed, number: int) -> str:
    """Return the name of a result, with a space appended if an input has the same name."""
    name = probed.results[number].name
    return f"{name} " if any(tensor.name == name for tensor in probed.inputs) else name


def unravel_index(index: int, shape: Shape) -> tuple[int, ...]:
    """Return the multi-dimensional index of a flat index in a tensor of that shape."""
    found = []
    for size in reversed(shape):
        index, at = divmod(index, max(size, 1))
        found.append(at)
    return tuple(reversed(found))


def cells_text(name: str, cells: Iterable[int], shape: Shape) -> str:
    """Return cells in index notation: ``a[1, :]``, ``a[0, 2], a[1, 2]``, ``9 cells of a``."""
    chosen = sorted(set(cells))
    if not shape:
        return name
    places = [unravel_index(index, shape) for index in chosen]
    sides = [sorted({p[i] for p in places}) for i in range(len(shape))]
    is_box = len(places) == math.prod(map(len, sides))
    runs = all(side == list(range(side[0], side[-1] + 1)) for side in sides)
    if is_box and runs and places:
        return f"{name}[{', '.join(_side(s, size) for s, size in zip(sides, shape, strict=True))}]"
    if len(places) <= MAX_LISTED:
        return ", ".join(f"{name}[{', '.join(map(str, p))}]" for p in places)
    return tr(
        "{cells} of {name}",
        cells=ngettext("{count:,} cell", "{count:,} cells", len(places)),
        name=name,
    )


def _side(found: Sequence[int], size: int) -> str:
    if len(found) == 1:
        return str(found[0])
    if len(found) == size:
        return ":"
    end = "" if found[-1] == size - 1 else str(found[-1] + 1)
    return f"{found[0] or ''}:{end}"


def sentence(cell: Cell, others: Sequence[Cell], shapes: Mapping[str, Shape], ahead: bool) -> str:
    """Return a sentence on the cells that a cell depends on, or with ``ahead`` that it affects."""
    here = cells_text(cell.tensor.strip(), [cell.flat], shapes[cell.tensor])
    groups: dict[str, list[int]] = {}
    for other in others:
        groups.setdefault(other.tensor, []).append(other.flat)
    if not groups:
        return (
            tr("{here} reaches no cell", here=here)
            if ahead
            else tr("{here} comes from no cell of these tensors", here=here)
        )
    parts = [cells_text(name.strip(), cells, shapes[name]) for name, cells in groups.items()]
    there = tr(" and ").join(parts)
    if ahead:
        return tr("{here} reaches {there}", here=here, there=there)
    return tr("{here} comes from {there}", here=here, there=there)


def storage_offset(cells: Cells, index: int) -> int:
    """Return the offset of a cell in its storage, in elements."""
    shape = cells.snapshot.shape
    steps = zip(unravel_index(index, shape), cells.stride, strict=True)
    return cells.offset + sum(at * stride for at, stride in steps)


def tensor_facts(cells: Cells) -> str:
    """Return dtype, device and requires_grad of a tensor in one line."""
    snapshot = cells.snapshot
    parts = [snapshot.dtype]
    if cells.kind == "array":
        parts = [tr("numpy {dtype}", dtype=snapshot.dtype)]
    elif cells.device != "cpu":
        parts.append(cells.device)
    if cells.requires_grad:
        parts.append(tr("requires grad"))
    return " · ".join(parts)
