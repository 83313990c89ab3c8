"""A layer that was created but is not part of the computation."""

import ast
from collections.abc import Iterator

from gradscribe.engine.doctor.cuts import leaf_names
from gradscribe.engine.doctor.evidence import Evidence
from gradscribe.engine.doctor.finding_kind import FindingKind, FoundCase
from gradscribe.engine.protocol.tape import Place, Value


def detect(evidence: Evidence) -> Iterator[FoundCase]:
    """Yield parameters of a trained model that no op used."""
    trained = {
        leaf.name.split(".")[0]
        for tensor, leaf in evidence.leaves.items()
        if tensor in evidence.updated and "." in leaf.name
    }
    called = {call.name.split(".")[0] for call in evidence.tape.calls}
    groups: dict[str, list[Value]] = {}
    for leaf in evidence.tape.leaves:
        value = evidence.values[leaf.value]
        owner = leaf.name.split(".")[0]
        if "." not in leaf.name or not value.requires_grad or owner not in trained & called:
            continue
        if value.tensor in evidence.received or _is_used(evidence, value):
            continue
        path = leaf.name.rpartition(".")[0]
        if path == owner and _is_read(evidence, leaf.name):
            continue
        groups.setdefault(leaf.name if path == owner else path, []).append(value)
    for path, values in groups.items():
        message = (
            f"{leaf_names(tuple(values))} took part in no op of this run: {path} was made "
            f"but forward never uses it"
        )
        place = _made_at(evidence, path, values[0])
        yield FoundCase(place, message, (), _fix(evidence, path, place))


def _fix(evidence: Evidence, path: str, place: Place) -> str:
    """Remove the layer, if nothing else in the program refers to it."""
    program, last = evidence.program, path.rpartition(".")[2]
    fields = [n for n in program.nodes if isinstance(n, ast.Attribute) and n.attr == last]
    statement = program.statement(place.line)
    alone = len(fields) == 1 and isinstance(statement, ast.Assign)
    return program.without(place.line) if alone and not last.isdigit() else ""


def _is_read(evidence: Evidence, name: str) -> bool:
    """Return whether the program reads a model's own parameter in any way."""
    field = name.rpartition(".")[2]
    reads = (n for n in evidence.program.nodes if isinstance(n, ast.Attribute) and n.attr == field)
    return any(isinstance(n.ctx, ast.Load) for n in reads)


def _is_used(evidence: Evidence, value: Value) -> bool:
    return any(evidence.users.get(v.id) for v in evidence.versions[value.tensor])


def _made_at(evidence: Evidence, path: str, value: Value) -> Place:
    """Return the place where the layer was assigned, or else its module or parameter."""
    program, last = evidence.program, path.rpartition(".")[2]
    for name, rows in program.bindings.items():
        if name == f"self.{last}":
            return program.line(rows[0][0])
    made = program.bindings.get(path.split(".")[0], [])
    return value.place if value.place.line or not made else program.line(made[0][0])


ENTRY = FindingKind(
    "unused-parameter",
    "A layer is never used",
    "It has parameters, the optimizer holds them and they are saved, but the output does not "
    "depend on them, so they never learn. Call the layer in forward, or take it out.",
    detect,
    "hint",
)
