"""Export a tape as JSON: the stable format of ``gradscribe record --json``, for other programs.

Everything is by id: values, nodes and repeated node runs draw theirs from one counter. The format
is documented in the README; `to_json` is its only writer.
"""

import math
from collections.abc import Callable, Sequence

import msgspec
import numpy as np

from gradscribe.engine.protocol.tape import (
    FORMAT,
    Edge,
    Event,
    Execution,
    Finding,
    Op,
    Problem,
    Snapshot,
    StepLoop,
    Tape,
)

Json = None | bool | int | float | str | list["Json"] | dict[str, "Json"]

MAX_LISTED = 1000
"""Tensors of at most this many elements are written as nested lists, larger ones as statistics."""


def to_json(tape: Tape) -> dict[str, Json]:
    """Return ``tape`` as plain dicts, lists, numbers and strings, in the order of the format."""
    return _Exporter(tape).document()


def encode(tape: Tape) -> bytes:
    """Return the JSON text of ``tape`` in UTF-8, one line without a line end."""
    return msgspec.json.encode(to_json(tape))


def encode_findings(tape: Tape) -> bytes:
    """Return the JSON text of the doctor's findings, with the run's status and error."""
    document: dict[str, Json] = {
        "format": FORMAT,
        "status": tape.status,
        "error": _error(tape.error),
        "findings": [_finding(finding) for finding in tape.findings],
    }
    return msgspec.json.encode(document)


class _Exporter:
    """Export of one tape; converts each snapshot once and resolves the targets of edges."""

    def __init__(self, tape: Tape) -> None:
        self._tape = tape
        self._numbers: dict[int, Json] = {}
        self._runs = {(run.node, run.run): run.id for run in tape.executions}
        self._unrun: dict[tuple[int, int], int] = {}
        self._ids = {node.id: node for node in tape.nodes}
        self._ran = {run.node for run in tape.executions}
        self._next = 1 + max(
            (x.id for part in (tape.values, tape.nodes, tape.executions) for x in part), default=0
        )

    def document(self) -> dict[str, Json]:
        tape = self._tape
        edges: list[Json] = [self._edge(edge) for edge in tape.edges]
        return {
            "format": FORMAT,
            "status": tape.status,
            "error": _error(tape.error),
            "stdout": tape.stdout,
            "torch": tape.torch,
            "device": tape.device,
            "ops": [_op(op) for op in tape.ops],
            "values": self._values(),
            "nodes": self._nodes(),
            "edges": edges,
            "leaves": [
                {"name": leaf.name, "value": leaf.value, "grad": self._snapshot(leaf.grad)}
                for leaf in tape.leaves
            ],
            "events": self._events(),
            "stderr": tape.stderr,
            "findings": [_finding(finding) for finding in tape.findings],
            "fault": self._fault(),
            "steps": [_step_loop(loop) for loop in tape.step_loops],
        }

    def _snapshot(self, index: int | None) -> Json:
        if index is None:
            return None
        if index not in self._numbers:
            self._numbers[index] = snapshot_to_json(self._tape.snapshots[index])
        return self._numbers[index]

    def _fault(self) -> Json:
        """Return the torch call that raised the program's error; None if no torch call did."""
        tape = self._tape
        if tape.fault is None and tape.stuck is None:
            return None
        return {"op": None if tape.fault is None else _op(tape.fault), "at": tape.stuck}

    def _values(self) -> list[Json]:
        return [
            {
                "id": value.id,
                "name": value.name,
                "shape": list(value.shape),
                "dtype": value.dtype,
                "device": value.device,
                "requires_grad": value.requires_grad,
                "is_leaf": value.is_leaf,
                "version": value.version,
                "data": self._snapshot(value.snapshot),
            }
            for value in self._tape.values
        ]

    def _nodes(self) -> list[Json]:
        """Return a row per execution, then a row per node that did not run.

        Call this after `_edge`, which collects the nodes that were reached and did not run.
        """
        rows: list[Json] = [self._execution(run) for run in self._tape.executions]
        rows += [
            _node_row(node.id, node.name, node.id, None)
            for node in self._tape.nodes
            if node.id not in self._ran
        ]
        rows += [
            _node_row(fresh, self._ids[node].name, node, run)
            for (node, run), fresh in self._unrun.items()
        ]
        return rows

    def _execution(self, run: Execution) -> Json:
        name = self._ids[run.node].name if run.node in self._ids else ""
        received = [self._snapshot(index) for index in run.received]
        return _node_row(run.id, name, run.node, run.run, received, run.order, run.hooked)

    def _edge(self, edge: Edge) -> Json:
        sender = edge.execution
        return {
            "from": None if sender is None else self._tape.executions[sender].id,
            "to": self._target(edge),
            "gradient": self._snapshot(edge.gradient),
            "slot": edge.slot,
            "input_nr": edge.input_nr,
            "pass": edge.run,
        }

    def _target(self, edge: Edge) -> int:
        """Return the run of the target in the edge's own pass, so that sums are per row.

        A node that ran only in another pass gets an extra row for this pass: a gradient that
        `autograd.grad` captured there, or an error before its turn, must not count twice.
        """
        key = edge.target, edge.run
        if key in self._runs:
            return self._runs[key]
        if edge.target not in self._ran or edge.target not in self._ids:
            return edge.target
        if key not in self._unrun:
            self._unrun[key] = self._next
            self._next += 1
        return self._unrun[key]

    def _events(self) -> list[Json]:
        rows: list[Json] = [
            {"kind": event.kind, "line": event.line, **self._details(event)}
            for event in self._tape.events
        ]
        if self._tape.truncated:
            rows.append({"kind": "truncated", "line": 0, "text": self._tape.truncated})
        return rows

    def _details(self, event: Event) -> dict[str, Json]:
        details = self._detail_functions.get(event.kind)
        return details(self, event.ref) if details else {}

    def _module_details(self, ref: int) -> dict[str, Json]:
        call = self._tape.calls[ref]
        return {"scope": call.name, "module": call.kind}

    def _accumulation_details(self, ref: int) -> dict[str, Json]:
        row = self._tape.accumulations[ref]
        return {
            "value": row.leaf,
            "before": self._snapshot(row.before),
            "sent": self._snapshot(row.sent),
            "after": self._snapshot(row.after),
        }

    def _step_details(self, ref: int) -> dict[str, Json]:
        step = self._tape.steps[ref]
        changes: list[Json] = [{"before": c.before, "after": c.after} for c in step.changes]
        memory: list[Json] = [
            {"value": owner, "name": name, "data": self._snapshot(kept)}
            for owner, name, kept in step.memory
        ]
        return {
            "optimizer": step.optimizer,
            "lr": _real(step.lr),
            "changes": changes,
            "memory": memory,
        }

    def _reset_details(self, ref: int) -> dict[str, Json]:
        reset = self._tape.resets[ref]
        return {"values": list(reset.leaves), "to_none": reset.to_none}

    def _write_details(self, ref: int) -> dict[str, Json]:
        changes: list[Json] = [
            {"before": c.before, "after": c.after} for c in self._tape.writes[ref]
        ]
        return {"changes": changes}

    def _gap_details(self, ref: int) -> dict[str, Json]:
        gap = self._tape.gaps[ref]
        changes: list[Json] = [{"before": c.before, "after": c.after} for c in gap.changes]
        gradients: list[Json] = [
            {"value": leaf, "after": self._snapshot(after)} for leaf, after in gap.gradients
        ]
        return {
            "loop": gap.loop,
            "first": gap.first,
            "last": gap.last,
            "changes": changes,
            "gradients": gradients,
        }

    def _rewrite_details(self, ref: int) -> dict[str, Json]:
        changes: list[Json] = [
            {"value": leaf, "after": self._snapshot(after)}
            for leaf, after in self._tape.rewrites[ref]
        ]
        return {"changes": changes}

    def _pass_details(self, ref: int) -> dict[str, Json]:
        return {"pass": ref, "call": self._tape.passes[ref].kind}

    _detail_functions: dict[str, Callable[["_Exporter", int], dict[str, Json]]] = {
        "leaf": lambda _, ref: {"value": ref},
        "op": lambda self, ref: {"op": self._tape.ops[ref].id},
        "enter": _module_details,
        "leave": _module_details,
        "backward": _pass_details,
        "node": lambda self, ref: {"node": self._tape.executions[ref].id},
        "accumulate": _accumulation_details,
        "end": _pass_details,
        "step": _step_details,
        "zero_grad": _reset_details,
        "grad": _rewrite_details,
        "write": _write_details,
        "gap": _gap_details,
        "print": lambda self, ref: {"text": self._tape.prints[ref]},
    }


def _step_loop(loop: StepLoop) -> Json:
    """Return a loop that was recorded in part, with the numbers of all its steps."""
    columns: list[Json] = []
    for column in loop.columns:
        steps: list[Json] = np.frombuffer(column.steps, "<u4").tolist()
        numbers = [_real(number) for number in np.frombuffer(column.numbers, "<f8").tolist()]
        columns.append(
            {
                "kind": column.kind,
                "name": column.name,
                "line": column.line,
                "value": column.value,
                "steps": steps,
                "numbers": numbers,
            }
        )
    full: list[Json] = [{"step": step, "event": event} for step, event in loop.full]
    return {
        "line": loop.line,
        "end_line": loop.end_line,
        "steps": loop.steps,
        "full": full,
        "columns": columns,
        "prints": [{"step": step, "print": number} for step, number in loop.prints],
    }


def _node_row(
    row: int,
    name: str,
    node: int,
    run: int | None,
    received: Sequence[Json] = (),
    order: int | None = None,
    hooked: bool = False,
) -> Json:
    return {
        "id": row,
        "name": name,
        "received": [*received],
        "order": order,
        "node": node,
        "pass": run,
        "hooked": hooked,
    }


def _op(op: Op) -> Json:
    return {
        "id": op.id,
        "op": op.op,
        "inputs": list(op.inputs),
        "outputs": list(op.outputs),
        "line": op.place.line,
        "scope": op.scope,
        "node": op.node,
    }


def _error(problem: Problem | None) -> Json:
    if problem is None:
        return None
    place = problem.place
    return {
        "type": problem.type,
        "message": problem.message,
        "hint": problem.hint,
        "line": place.line,
        "column": place.column,
        "end_line": place.end_line,
        "end_column": place.end_column,
    }


def _finding(finding: Finding) -> Json:
    return {
        "id": finding.id,
        "line": finding.place.line,
        "related_lines": list(dict.fromkeys(p.line for p in finding.related)),
        "message": finding.message,
        "why": finding.why,
        "fix": finding.fix,
        "unmended": finding.why_no_fix,
        "severity": finding.severity,
        "follows": finding.follows,
        "tried": finding.tried,
    }


def snapshot_to_json(snapshot: Snapshot) -> Json:
    """Return a tensor's numbers as nested lists (a scalar as a number), or its statistics.

    Numbers are exact: a float32 becomes the double of the same value. NaN and the infinities are
    the strings ``nan``, ``inf``, ``-inf``; a complex number is the pair ``[real, imaginary]``.
    """
    array = snapshot.array()
    if array is None or array.size > MAX_LISTED:
        return _summary(snapshot, array)
    if array.dtype.kind == "c":
        array = np.stack([array.real, array.imag], axis=-1)
    listed: Json = array.tolist()
    if array.dtype.kind == "f" and not np.isfinite(array).all():
        return _spelled(listed)
    return listed


def _spelled(x: Json) -> Json:
    if isinstance(x, list):
        return [_spelled(part) for part in x]
    return _real(x) if isinstance(x, float) else x


def _real(x: float | None) -> Json:
    if x is None or math.isfinite(x):
        return x
    return "nan" if math.isnan(x) else "inf" if x > 0 else "-inf"


def _summary(snapshot: Snapshot, array: np.ndarray | None) -> Json:
    mean, std, low, high = snapshot.mean, snapshot.std, snapshot.min, snapshot.max
    nan = snapshot.nan
    if array is not None:
        mean, std, low, high, nan = _statistics(array)
    return {
        "shape": list(snapshot.shape),
        "dtype": snapshot.dtype,
        "mean": _real(mean),
        "std": _real(std),
        "min": _real(low),
        "max": _real(high),
        "nan": nan,
    }


def _statistics(array: np.ndarray) -> tuple[float, float, float, float, int]:
    """Return mean, unbiased standard deviation, minimum, maximum and NaN count, as torch does."""
    real = np.abs(array) if array.dtype.kind == "c" else array
    wide = real.astype(np.float64)
    with np.errstate(invalid="ignore", over="ignore"):
        mean, std = float(wide.mean()), float(wide.std(ddof=1))
    return mean, std, float(wide.min()), float(wide.max()), int(np.isnan(wide).sum())
