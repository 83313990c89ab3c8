"""A recorded run as a graph for other programs: GraphML, GEXF and node-link JSON.

Ops and leaves are nodes, values run along edges. All files are written by networkx.
"""

import io
import json
import math
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Literal

from gradscribe.engine.protocol.tape import Op, Snapshot, Tape
from gradscribe.playback.flow import attributes
from gradscribe.playback.tape import operands, snapshot_text
from gradscribe.playback.tape.index import Index, index_of

if TYPE_CHECKING:
    import networkx as nx

GraphFormat = Literal["graphml", "gexf", "json"]


Attributes = dict[str, str | int | float | bool]
Extended = dict[str, object]

FAILED = "failed"
"""Id of the node of the call that raised the program's error."""
_ILLEGAL = re.compile("[^\t\n\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Characters that XML 1.0 cannot hold, and the one that its readers change."""
_XSD = {b"nan": b"NaN", b"inf": b"INF", b"-inf": b"-INF", b"True": b"true", b"False": b"false"}
"""Python's spelling -> that of XML Schema."""


def encode(tape: Tape | Index, kind: GraphFormat) -> bytes:
    """Return a run as a file of that format, in UTF-8."""
    import networkx as nx

    made = to_networkx(tape)
    if kind == "json":
        data = nx.node_link_data(_plain(made), edges="edges")
        text = json.dumps(data, ensure_ascii=False, allow_nan=False, indent=1) + "\n"
        # Half a surrogate pair, which a name may contain, becomes JSON's own escape of it.
        return text.encode(errors="backslashreplace")
    _make_legal(made)
    file = io.BytesIO()
    if kind == "gexf":
        nx.write_gexf(made, file, version="1.2draft")
        return file.getvalue()
    # The writer that is built on lxml, where that is installed, would write other bytes.
    nx.write_graphml_xml(made, file)
    return _as_schema(file.getvalue())


def to_networkx(tape: Tape | Index) -> "nx.MultiDiGraph":
    """Return forward and backward of a run as a directed acyclic multigraph.

    Nodes are ``op:N`` (index in `Tape.ops`) and ``leaf:ID`` (id of the first version of a value
    that no op made). Types of attributes are those of `attributes`; one without a value is absent.
    """
    import networkx as nx

    index = index_of(tape)
    tape = index.tape
    made = nx.MultiDiGraph(
        torch=tape.torch, device=tape.device, status=tape.status, format=attributes.FORMAT
    )
    gradients = _sent(index)
    for number, op in enumerate(tape.ops):
        made.add_node(f"op:{number}", **_known(_op(index, number)))
        _connect(made, index, f"op:{number}", op, gradients.get(number, {}))
    if tape.fault is not None:
        made.add_node(FAILED, **_known(_call(tape.fault, FAILED)))
        _connect(made, index, FAILED, tape.fault, {})
    for value in tape.values:
        home = index.first_version(value.id)
        if value.op is None and value.name and f"leaf:{home}" not in made:
            made.add_node(f"leaf:{home}", **_leaf(index, home))
    return made


def _connect(
    made: "nx.MultiDiGraph",
    index: Index,
    target: str,
    op: Op,
    gradients: Mapping[int, list[Snapshot]],
) -> None:
    """Add the edges that lead to an op, and the leaves that they come from."""
    for place, arg in enumerate(operands.operands(op)):
        if arg.value is None:
            continue
        value = index.values[arg.value]
        along: Attributes = {
            "value": value.id,
            "operand": place,
            "shape": _shape(value.shape),
            "differentiable": bool(value.requires_grad and op.nodes),
            **_sum("grad", gradients.get(place, [])),
        }
        if value.op is not None:
            source = f"op:{value.op}"
            along["output"] = index.op(value.op).outputs.index(value.id)
        else:
            home = index.first_version(value.id)
            source = f"leaf:{home}"
            if source not in made:
                made.add_node(source, **_leaf(index, home))
        made.add_edge(source, target, **along)


def _op(index: Index, number: int) -> Attributes:
    tape, op = index.tape, index.op(number)
    known = _call(op, "op") | {"phase": index.kinds[number]}
    if number < len(tape.times):
        known["nanoseconds"] = tape.times[number]
    if op.outputs:
        known |= _tensor(index, op.outputs[0])
    return known


def _call(op: Op, kind: str) -> Attributes:
    return {
        "label": op.op,
        "kind": kind,
        "op": op.op,
        "phase": op.phase,
        "line": op.place.line,
        "module": op.scope,
        "inplace": op.inplace,
    }


def _leaf(index: Index, number: int) -> Attributes:
    value = index.values[number]
    known: Attributes = {"label": value.name or value.maker or value.role, "kind": value.role}
    return _known(known | {"line": value.place.line} | _tensor(index, number))


def _tensor(index: Index, number: int) -> Attributes:
    """Return what is known of a tensor; of a leaf with its numbers before any update."""
    value = index.values[number]
    known: Attributes = {
        "name": value.name,
        "shape": _shape(value.shape),
        "dtype": value.dtype,
        "device": value.device,
        "requires_grad": value.requires_grad,
    }
    gradient = index.gradient(number, len(index.tape.events)).snapshot
    for word, at in (("value", value.snapshot), ("grad", gradient)):
        if at is not None:
            known |= _number(word, index.tape.snapshots[at])
    return known


def _number(word: str, snapshot: Snapshot) -> Attributes:
    """Return the number of a tensor with one element, else its norm."""
    item = snapshot.item()
    if isinstance(item, bool | int | float):
        return {word: float(item)}
    norm = snapshot_text.norm(snapshot)
    return {} if norm is None else {f"{word}_norm": float(norm)}


def _sum(word: str, snapshots: list[Snapshot]) -> Attributes:
    """Return the gradient sent along an edge; several shares of scalars are added up."""
    if len(snapshots) == 1:
        return _number(word, snapshots[0])
    parts = [_number(word, snapshot).get(word) for snapshot in snapshots]
    numbers = [part for part in parts if isinstance(part, float)]
    return {word: math.fsum(numbers)} if numbers and len(numbers) == len(parts) else {}


def _sent(index: Index) -> dict[int, dict[int, list[Snapshot]]]:
    """Return op -> operand -> the gradients sent there in the last pass that reached the op."""
    found: dict[int, dict[int, list[Snapshot]]] = {}
    passes: dict[int, int] = {}
    places: dict[int, dict[tuple[int, int], int]] = {}
    for execution in index.tape.executions:
        number = index.node_ops.get(execution.node)
        if number is None:
            continue
        if number not in places:
            places[number] = operands.operand_edges(index, index.op(number))
        if passes.get(number) != execution.run:
            passes[number], found[number] = execution.run, defaultdict(list)
        for edge in (index.tape.edges[one] for one in execution.edges):
            place = places[number].get((execution.node, edge.slot))
            if place is not None and edge.gradient is not None:
                found[number][place].append(index.tape.snapshots[edge.gradient])
    return found


def _known(found: Attributes) -> Attributes:
    """Leave out empty texts, and the line of what has none."""
    return {
        key: known for key, known in found.items() if known != "" and (key, known) != ("line", 0)
    }


def _shape(shape: Iterable[int]) -> str:
    return "x".join(map(str, shape)) or "scalar"


# Formats


def _make_legal(graph: "nx.MultiDiGraph") -> None:
    """Replace characters that XML cannot hold."""
    for part in (graph.graph, *_all(graph)):
        for key, known in part.items():
            if isinstance(known, str):
                part[key] = _ILLEGAL.sub("\N{REPLACEMENT CHARACTER}", known)


def _plain(graph: "nx.MultiDiGraph") -> "nx.MultiDiGraph":
    """Turn texts of shapes into lists, and numbers that JSON lacks into texts."""
    for part in _all(graph):
        for key, known in part.items():
            if isinstance(known, float) and not math.isfinite(known):
                part[key] = str(known)
        if isinstance(shape := part.get("shape"), str):
            part["shape"] = [] if shape == "scalar" else [int(side) for side in shape.split("x")]
    return graph


def _all(graph: "nx.MultiDiGraph") -> Iterable[Extended]:
    """Yield the attributes of each node and each edge."""
    for _, known in graph.nodes(data=True):
        yield known
    for _, _, known in graph.edges(data=True):
        yield known


def _as_schema(text: bytes) -> bytes:
    """Write truth values and numbers that are not finite as XML Schema, so GraphML, spells them."""
    keys = re.findall(rb'<key id="(\w+)"[^>]* attr.type="(?:double|boolean)"', text)
    typed = b"|".join(keys) or b"(?!)"
    pattern = re.compile(rb'(<data key="(?:%s)">)(-?inf|nan|True|False)(</data>)' % typed)
    return pattern.sub(lambda found: found[1] + _XSD[found[2]] + found[3], text)
