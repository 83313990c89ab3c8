"""Explanation of the shape of a lab program's last line."""

from collections.abc import Callable, Mapping, Sequence

from gradscribe.playback.lab import elementwise, indexing, joins, products, reductions, views
from gradscribe.playback.lab.axes import AxisTable, Shape
from gradscribe.playback.lab.call import ParsedCall, parse_last_line
from gradscribe.playback.text import formatting
from gradscribe.playback.translation import tr

_RULES: dict[str, Callable[[ParsedCall, Shape | None], AxisTable | None]] = {
    **elementwise.RULES,
    **products.RULES,
    **views.RULES,
    **joins.RULES,
    **indexing.RULES,
    **reductions.RULES,
}

METHODS = frozenset(_RULES) - {"cat", "concat", "concatenate", "stack", "einsum", "where"}
"""Ops that are methods of tensors."""


def explain_shapes(source: str, shapes: Mapping[str, Shape], results: Sequence[Shape]) -> AxisTable:
    """Explain how the shapes in the last line of ``source`` are related.

    ``shapes`` are those of the tensors that it names, ``results`` those of its results: none if it
    failed. For an op without a rule only the result's shape is given.
    """
    call = parse_last_line(source, shapes)
    result = results[0] if results else None
    rule = _RULES.get(call.op) if call is not None else None
    if rule is not None and call is not None:
        found = rule(call, result)
        if found is not None:
            return found
    if result is None:
        return AxisTable("")
    shape = formatting.shape(result)
    if len(results) > 1:
        return AxisTable(
            tr(
                "The first of {results_count} results has shape {shape}.",
                results_count=len(results),
                shape=shape,
            )
        )
    return AxisTable(tr("The result has shape {shape}.", shape=shape))
