"""Operands of an op in source order, and the backward edges that lead to them."""

from collections import Counter, defaultdict, deque

from gradscribe.engine.protocol.tape import Arg, Op, Value
from gradscribe.playback.tape.index import Index
from gradscribe.playback.text import symbols

_REFLECTED = ("rsub", "rdiv", "rpow")


def operands(op: Op) -> list[Arg]:
    """Return tensors and literals in the order of the source: ``1 - x`` has the literal first."""
    args = list(op.args)
    named = Counter(arg.value for arg in args if arg.value is not None)
    if named != Counter(op.inputs):
        args = [Arg(value=value) for value in op.inputs]
    if symbols.canonical_name(op.op) in _REFLECTED and args and args[0].value is not None:
        args.reverse()
    return args


def operand_edges(index: Index, op: Op) -> dict[tuple[int, int], int]:
    """Return (backward node, slot) -> index in `operands` for every edge that leaves the op.

    Operands are taken in order, each by one slot (``x * x`` has two slots and two operands); only
    a composite that uses an operand twice inside sends two shares to one operand.
    """
    inner = set(op.nodes)
    places: dict[_Target, list[int]] = defaultdict(list)
    for at, arg in enumerate(operands(op)):
        if arg.value is not None:
            places[_target_of(index, index.values[arg.value])].append(at)
    unused = {way: deque(found) for way, found in places.items()}
    found: dict[tuple[int, int], int] = {}
    for node in op.nodes:
        for slot, after in enumerate(index.nodes[node].next):
            if after is None or after[0] in inner:
                continue
            ways = [way for way in (after, index.first_version(after[0])) if way in places]
            free = [unused[way] for way in ways if unused[way]]
            if free:
                found[node, slot] = min(free, key=lambda left: left[0]).popleft()
            elif ways:
                found[node, slot] = min(places[way][0] for way in ways)
    return found


_Target = tuple[int, int] | int
"""Target of an edge: a node and its input number, or the first version of a leaf."""


def _target_of(index: Index, value: Value) -> _Target:
    return index.first_version(value.id) if value.node is None else (value.node, value.output_nr)
