"""Cards of backward nodes that no op of the tape made, in a frame for each pass that made them."""

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from msgspec import structs

from gradscribe.engine.protocol.tape import Node, Value
from gradscribe.playback.graph.gradients import second_graph
from gradscribe.playback.graph.picture import Card, Frame, Wire
from gradscribe.playback.tape import passes
from gradscribe.playback.tape.index import Index
from gradscribe.playback.tape.scenes import Scene
from gradscribe.playback.text import formatting
from gradscribe.playback.translation import ngettext, tr

SourceOf = Callable[[Value], str]
"""Returns the key of the card of a value."""


@dataclass
class PictureTables:
    """The parts of a picture while it is built."""

    cards: dict[str, Card] = field(default_factory=dict)
    wires: dict[str, Wire] = field(default_factory=dict)
    edge_wires: dict[tuple[int, int], str] = field(default_factory=dict)
    node_cards: dict[int, str] = field(default_factory=dict)
    value_cards: dict[int, str] = field(default_factory=dict)
    ordinals: Counter[str] = field(default_factory=Counter)
    inputs: Counter[str] = field(default_factory=Counter)
    """Card -> the number of its operands so far."""

    def key(self, stem: str, always: bool = False) -> str:
        """Return an unused key: the stem, numbered from the second use on (or always)."""
        count = self.ordinals[stem]
        self.ordinals[stem] += 1
        return f"{stem}:{count}" if count or always else stem


class NodeCards:
    """Adds the cards of nodes without an op, their wires, and the frames around them.

    ``opened`` are the keys of the open frames; None opens the graphs of passes in their order as
    far as `second_graph.MAX_NODES` allows.
    """

    def __init__(
        self,
        index: Index,
        scene: Scene,
        opened: frozenset[str] | None,
        tables: PictureTables,
    ) -> None:
        self.index, self.scene, self.tables = index, scene, tables
        self.frames: dict[str, Frame] = {}
        """The open frames."""
        self._opened = opened or frozenset()
        self._joined: dict[tuple[str, str], str] = {}
        """Source and target -> the latest wire of an edge of such a node."""
        self._passes = passes.pass_of_nodes(index)
        self._sizes = Counter(self._passes.values())
        numbered = passes.numbered(index, scene.start, scene.stop)
        self._numbers = {run: number for number, run in enumerate(numbered, 1)}
        self._graphs = {run: f"graph:pass {self._numbers.get(run, run)}" for run in self._sizes}
        """Pass -> key of the frame or the folded card of the nodes that it made."""
        self._open = self._choose_open(opened)
        roots = {root for run in index.tape.passes for root in run.roots if root is not None}
        self._roots = {index.values[root].node for root in roots}

    def _choose_open(self, opened: frozenset[str] | None) -> set[str]:
        if opened is not None:
            return set(opened)
        left, found = second_graph.MAX_NODES, set[str]()
        for run in self._numbers:
            if 0 < self._sizes[run] <= left:
                left -= self._sizes[run]
                found.add(self._graphs[run])
        return found

    def card_of(self, value: Value, source_of: SourceOf) -> str:
        """Return the card of the node of no op that made a value, with those that lead to it."""
        assert value.node is not None
        order = second_graph.unmade(self.index, value.node, self.tables.node_cards)
        loose = [number for number in order if number not in self._passes]
        graph = ""
        if len(loose) > second_graph.MAX_NODES:
            graph = self.tables.key(f"graph:{value.name or 'result'}")
            title = second_graph.folded_title(value, len(loose))
            self._begin_graph(
                graph, Frame(graph, None, title, tr("backward nodes")), value, len(loose)
            )
        for number in order:
            self._add(number, value if number == value.node else None, graph, source_of)
        return self.tables.node_cards[value.node]

    def add_rest(self, source_of: SourceOf) -> None:
        """Add the nodes that the scene's passes made and nothing drawn so far leads to."""
        for node in self.index.tape.nodes:
            if node.id in self.index.node_ops or node.id in self.tables.node_cards:
                continue
            if self.scene.start <= node.made <= self.scene.stop and _is_wired(node):
                for number in second_graph.unmade(self.index, node.id, self.tables.node_cards):
                    self._add(number, None, "", source_of)

    def _add(self, number: int, value: Value | None, loose: str, source_of: SourceOf) -> None:
        """Add a node; ``loose`` is the graph of those that no pass made, "" for none."""
        tables, node, run = self.tables, self.index.nodes[number], self._passes.get(number)
        if number in tables.node_cards:
            return  # A value on the way to it was drawn in the meantime.
        graph = self._graph_of_pass(run) if run is not None else loose
        # An input of another number has no card of its own.
        result = value or passes.value_at(self.index, (number, 0))
        if graph in tables.cards:
            key = graph
        else:
            key = tables.key(f"node:{second_graph.title(node)}", always=True)
            card = second_graph.card(self.index, node, key, result, number in self._roots)
            tables.cards[key] = structs.replace(card, frame=graph)
        tables.node_cards[number] = key
        if result is not None:
            tables.value_cards.setdefault(result.id, key)
        self._join(node, key, source_of)

    def _graph_of_pass(self, run: int) -> str:
        """Return the key of the frame or folded card of a pass's nodes, adding it if it is new."""
        graph, number = self._graphs[run], self._numbers.get(run)
        if graph not in self.frames and graph not in self.tables.cards:
            made_by = tr("Pass {number}", number=number) if number else tr("An earlier pass")
            kind = ngettext("{count:,} backward node", "{count:,} backward nodes", self._sizes[run])
            frame = Frame(graph, None, f"{made_by}: {passes.title(self.index, run)}", kind)
            results = [v for v in self.index.tape.passes[run].results if v is not None]
            value = self.index.values[results[0]] if len(results) == 1 else None
            self._begin_graph(graph, frame, value, self._sizes[run], graph in self._open)
        return graph

    def _begin_graph(
        self, graph: str, frame: Frame, value: Value | None, nodes: int, is_open: bool = False
    ) -> None:
        if is_open or graph in self._opened:
            self.frames[graph] = frame
            return
        name = frame.title if graph in self._graphs.values() else ""
        self.tables.cards[graph] = second_graph.folded_card(graph, value, nodes, name)
        if value is not None:
            self.tables.value_cards[value.id] = graph

    def _join(self, node: Node, key: str, source_of: SourceOf) -> None:
        """Add the wires of a node of no op, one for each of its edges."""
        tables = self.tables
        for slot, after in enumerate(node.next):
            if after is None:
                continue
            value = passes.value_at(self.index, after)
            if after[0] in self.index.nodes:
                source = tables.node_cards.get(after[0], "")
                if not source and value is not None:
                    source = source_of(value)
            else:
                value = self.index.values[after[0]]
                source = source_of(value)
            if source in ("", key):
                continue
            again = self._joined.get((source, key), "")
            if again and tables.cards[key].kind == "module":
                tables.edge_wires[node.id, slot] = again
                continue
            inner = after[0] in self.index.node_ops and value is None
            # The op's result is another value than that of a node inside it.
            part = second_graph.title(self.index.nodes[after[0]]) if inner else ""
            wire = self._joined[source, key] = self.wire(source, key, value, after[1], part=part)
            tables.edge_wires[node.id, slot] = wire

    def wire(
        self,
        source: str,
        key: str,
        value: Value | None,
        output: int = 0,
        cut: str = "",
        part: str = "",
    ) -> str:
        """Add a wire to a card's next operand; return its key."""
        operand = self.tables.inputs[key]
        self.tables.inputs[key] += 1
        wire = f"{source}>{key}:{operand}"
        shape = formatting.shape(value.shape) if value is not None and value.shape else ""
        made = value.id if value is not None else None
        self.tables.wires[wire] = Wire(
            wire, source, key, operand, output, made, shape, bool(cut), cut, part
        )
        return wire

    def result_card(self, value: Value, run: int, place: int, source_of: SourceOf) -> str:
        """Return the card of a gradient that a pass returned without a graph of its own.

        Wires lead to it from the pass's roots and from the input that was asked for.
        """
        row, index = self.index.tape.passes[run], self.index
        written = passes.derivative(index, run, place)
        key = self.tables.key(f"grad:{value.name or written}")
        self.tables.cards[key] = second_graph.result_card(index, key, value, written)
        asked = passes.input_value(index, row.inputs[place] if place < len(row.inputs) else None)
        given = [index.values[root] for root in row.roots if root is not None]
        for source in _distinct([*given, *([asked] if asked is not None else [])]):
            found = source_of(source)
            if found not in ("", key):
                self.wire(found, key, source, source.output_nr, "grad")
        return key


def _is_wired(node: Node) -> bool:
    """Return whether any edge leaves a node."""
    return any(after is not None for after in node.next)


def _distinct(values: Iterable[Value]) -> list[Value]:
    return list({value.id: value for value in values}.values())
