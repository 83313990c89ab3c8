"""Explanation of the shape of a lab program's last line."""

from collections.abc import Callable, Mapping, Sequence

from playback import text
from playback.lab import elementwise, joins, picks, products, reductions, views
from playback.lab.axes import Axes, Shape
from playback.lab.call import Call, read

_RULES: dict[str, Callable[[Call, Shape | None], Axes | None]] = {
    **elementwise.ENTRY,
    **products.ENTRY,
    **views.ENTRY,
    **joins.ENTRY,
    **picks.ENTRY,
    **reductions.ENTRY,
}

METHODS = frozenset(_RULES) - {"cat", "concat", "concatenate", "stack", "einsum", "where"}
"""Ops that are methods of tensors."""


def explain(source: str, shapes: Mapping[str, Shape], results: Sequence[Shape]) -> Axes:
    """Explain how the shapes in the last line of ``source`` are related.

    ``shapes`` are those of the tensors that it names, ``results`` those of its results: none if it
    failed. For an op without a rule only the result's shape is given.
    """
    call = read(source, shapes)
    result = results[0] if results else None
    rule = _RULES.get(call.op) if call is not None else None
    if rule is not None and call is not None:
        found = rule(call, result)
        if found is not None:
            return found
    if result is None:
        return Axes("")
    many = f", the first of {len(results)} results" if len(results) > 1 else ""
    return Axes(f"The result has shape {text.shape(result)}{many}.")
