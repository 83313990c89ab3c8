"""Graph of a run without its numbers: one row an action, and the first row that differs.

Two runs have the same graph if they call the same functions in the same order on the same tensors,
with the same results' shapes and dtypes, backward nodes and edges. Numbers, names of variables and
lines do not count, and of literals no floats, which may have been computed.
"""

from collections.abc import Iterator
from itertools import zip_longest

from msgspec import Struct

from gradscribe.engine.protocol.tape import Arg, Event, Op, Value
from gradscribe.playback.compare.alignment import actions
from gradscribe.playback.tape.index import Index
from gradscribe.playback.text import formatting
from gradscribe.playback.translation import ngettext, tr

Key = tuple[object, ...]


class Row(Struct, frozen=True):
    """An action of the program: ``key`` is compared, ``line`` and ``words`` are shown."""

    key: Key
    line: int
    words: str


class Divergence(Struct, frozen=True):
    """The first rows at which two graphs differ, None where a graph has ended before.

    ``at`` is their index, ``reasons`` are the parts that differ.
    """

    at: int
    left: Row | None
    right: Row | None
    reasons: tuple[str, ...]


def first_difference(left: list[Row], right: list[Row]) -> Divergence | None:
    """Return the first difference in order of execution; None if the graphs are the same."""
    for at, (one, other) in enumerate(zip_longest(left, right)):
        if one is None or other is None:
            return Divergence(at, one, other, ())
        if one.key != other.key:
            return Divergence(at, one, other, tuple(_reasons(one.key, other.key)))
    return None


_PARTS = ("function", "module", "inputs", "literals", "results", tr("backward node"), "edges")


def _reasons(one: Key, other: Key) -> Iterator[str]:
    if one[0] != other[0] or len(one) != len(other):
        yield _PARTS[0]
        return
    names = _PARTS if len(one) == len(_PARTS) else ("", tr("roots or nodes"), tr("order of nodes"))
    yield from (name for name, a, b in zip(names, one, other, strict=False) if a != b)


def rows(index: Index) -> list[Row]:
    """Return the forward ops, backward passes, steps and resets of a run, in order of execution."""
    return list(_Walk(index).rows())


class _Walk:
    """Tensors and leaves are numbered in order of first use: ids of two runs may differ."""

    def __init__(self, index: Index) -> None:
        self._index = index
        self._tensors: dict[int, int] = {}
        self._ranks = {node.id: rank for rank, node in enumerate(index.tape.nodes)}

    def rows(self) -> Iterator[Row]:
        for action in actions(self._index):
            if action.kind == "op":
                yield self._op(self._index.op(action.ref), action.line)
            elif action.kind == "backward":
                yield self._backward(action.at, action.line)
            else:
                yield Row((action.name,), action.line, action.name)

    def _op(self, op: Op, line: int) -> Row:
        values = self._index.values
        inputs = tuple(self._met(values[number]) for number in op.inputs)
        outputs = tuple(self._met(values[number]) for number in op.outputs)
        literals = tuple(text for arg in op.args if (text := _literal(arg)))
        node = self._index.nodes.get(op.node) if op.node is not None else None
        edges = tuple(map(self._edge, node.next)) if node is not None else ()
        name = node.name if node is not None else ""
        # Its first part is the name of a variable.
        path = op.scope.partition(".")[2]
        key = (op.op, path, inputs, literals, outputs, name, edges)
        return Row(key, line, self._words(op, literals))

    def _met(self, value: Value) -> Key:
        rank = self._tensors.setdefault(value.tensor, len(self._tensors))
        return rank, value.shape, value.dtype, value.requires_grad

    def _edge(self, end: tuple[int, int] | None) -> Key:
        if end is None:
            return ()
        target, slot = end
        if target in self._ranks:
            return "node", self._ranks[target], slot
        value = self._index.values.get(target)
        return "leaf", None if value is None else self._met(value), slot

    def _words(self, op: Op, literals: tuple[str, ...]) -> str:
        values = self._index.values
        taken = [_tensor(values[number]) for number in op.inputs]
        made = ", ".join(_tensor(values[number]) for number in op.outputs)
        place = tr(" in {scope}", scope=op.scope) if op.scope else ""
        return f"{op.op}({', '.join([*taken, *literals])}) → {made}{place}"

    def _backward(self, at: int, line: int) -> Row:
        index, tape = self._index, self._index.tape
        run = tape.passes[tape.events[at].ref]
        roots = tuple(
            None if root is None else self._met(index.values[root])[0] for root in run.roots
        )
        nodes: list[Key] = []
        for event in self._during(at):
            if event.kind == "node":
                node = tape.executions[event.ref].node
                nodes.append((index.nodes[node].name, self._ranks[node]))
        key = (run.kind, (roots, tuple(sorted(nodes))), tuple(nodes))
        return Row(
            key,
            line,
            tr(
                "{kind}() through {nodes}",
                kind=run.kind,
                nodes=ngettext("{count:,} node", "{count:,} nodes", len(nodes)),
            ),
        )

    def _during(self, at: int) -> Iterator[Event]:
        events = self._index.tape.events
        for position in range(at + 1, len(events)):
            event = events[position]
            if event.kind == "end" and event.ref == events[at].ref:
                return
            yield event


def _tensor(value: Value) -> str:
    shape = formatting.shape(value.shape)
    kind = "" if value.dtype == "float32" else f" {value.dtype}"
    return f"{value.name or 'tensor'} {shape}{kind}"


def _literal(arg: Arg) -> str:
    """Return a literal argument with its keyword; empty for a tensor and for a float."""
    if arg.value is not None or not arg.text:
        return ""
    if arg.number is not None and not arg.text.lstrip("-").isdigit():
        return ""
    return f"{arg.keyword}={arg.text}" if arg.keyword else arg.text
