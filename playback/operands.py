"""The operands of an op as they are written, and which edge runs back to which of them."""

from collections import Counter

from engine.tape import Arg, Op, Value
from playback import symbols
from playback.index import Index

_REFLECTED = ("rsub", "rdiv", "rpow")


def operands(op: Op) -> list[Arg]:
    """Return tensors and literals in the order of the source: ``1 - x`` has the literal first."""
    args = list(op.args)
    named = Counter(arg.value for arg in args if arg.value is not None)
    if named != Counter(op.inputs):
        args = [Arg(value=value) for value in op.inputs]
    if symbols.plain(op.op) in _REFLECTED and args and args[0].value is not None:
        args.reverse()
    return args


def edges(index: Index, op: Op) -> dict[tuple[int, int], int]:
    """Return (backward node, slot) -> place among `operands`, for every edge that leaves the op.

    Operands are taken in order, each by one slot (``x * x`` has two slots and two operands); only
    a composite that uses an operand twice inside sends two shares to one operand.
    """
    inner = set(op.nodes)
    places = [
        (at, index.values[arg.value])
        for at, arg in enumerate(operands(op))
        if arg.value is not None
    ]
    unused = list(places)
    found: dict[tuple[int, int], int] = {}
    for node in op.nodes:
        for slot, after in enumerate(index.nodes[node].next):
            if after is None or after[0] in inner:
                continue
            fits = [place for place in unused if leads(index, after, place[1])]
            if fits:
                unused.remove(fits[0])
            else:
                fits = [place for place in places if leads(index, after, place[1])]
            if fits:
                found[node, slot] = fits[0][0]
    return found


def leads(index: Index, edge: tuple[int, int], value: Value) -> bool:
    """Tell whether an edge (target, input) carries the gradient of a value."""
    target, input_nr = edge
    if value.node is not None:
        return (value.node, value.output_nr) == (target, input_nr)
    return index.home(target) == index.home(value.id)
