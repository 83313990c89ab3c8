"""Rows: which entries of which data the first dimension of a tensor comes from, in their order."""

import ast
import re
from typing import NamedTuple

import numpy as np

from gradscribe.engine.doctor.evidence import Evidence
from gradscribe.engine.protocol.tape import Op

_ALONG = frozenset(
    "add sub mul div rsub rdiv pow neg exp log sqrt abs clamp sin cos relu sigmoid tanh gelu elu "
    "leaky_relu silu softplus dropout gt lt ge le eq ne float double half long int to bool clone "
    "detach contiguous flatten view reshape unsqueeze squeeze where linear conv1d conv2d conv3d "
    "embedding batch_norm layer_norm one_hot softmax log_softmax max_pool1d max_pool2d avg_pool2d "
    "matmul mm floordiv remainder logical_not".split()
)
_REDUCTIONS = frozenset("sum mean argmax argmin amax amin max min any all prod norm".split())
_MOST_ROWS = 4096


class Rows(NamedTuple):
    """The rows of a tensor as entries of the data ``root``, which has ``size`` of them."""

    root: int
    size: int
    order: np.ndarray
    picked: Op | None = None
    """The op that took them by a tensor of indices, if any did."""
    indices: int | None = None
    """The value of the indices."""
    is_stacked: bool = False
    """True if single entries were put together, as a loader does."""


class RowTable:
    """The rows of a tape's values, computed for all ops in order; mixed ones are unknown."""

    def __init__(self, evidence: Evidence) -> None:
        self._evidence = evidence
        self._known: dict[int, Rows | None] = {}
        self._single: dict[int, tuple[Rows, int]] = {}
        for op in evidence.tape.ops:
            if op.phase == "forward" and op.inputs and op.outputs:
                self._run(op)

    def of(self, value: int) -> Rows | None:
        """Return the rows of a value; None if they are unknown."""
        if value not in self._known:
            self._known[value] = self._own(value)
        return self._known[value]

    def _own(self, value: int) -> Rows | None:
        known = self._evidence.values[value]
        if known.requires_grad or not known.shape or not 2 <= known.shape[0] <= _MOST_ROWS:
            return None
        return Rows(value, known.shape[0], np.arange(known.shape[0]))

    def _run(self, op: Op) -> None:
        output = op.outputs[0]
        if op.inplace:
            self._known[output] = None
        elif op.op in ("getitem", "index_select"):
            self._pick(op, output)
        elif op.op == "stack":
            self._known[output] = self._stacked(op)
        elif op.op in _ALONG or (op.op in _REDUCTIONS and _keeps_first(op)):
            found, is_known = self._along(op, output)
            if is_known:
                self._known[output] = found

    def _along(self, op: Op, output: int) -> tuple[Rows | None, bool]:
        """Return the rows that all inputs with as many rows share, and whether there are any."""
        values = self._evidence.values
        shape = values[output].shape
        sources = op.inputs[:1] if op.op in ("matmul", "mm", "linear") else op.inputs
        deepest = max(len(values[v].shape) for v in sources)
        found: Rows | None = None
        for value in sources:
            known = values[value]
            if not shape or len(known.shape) < deepest or known.shape[:1] != shape[:1]:
                continue
            if known.is_leaf and known.requires_grad:
                continue
            rows = self.of(value)
            if rows is None:
                return None, True
            if found is not None and not np.array_equal(rows.order, found.order):
                return None, True
            found = found if found is not None and found.picked is not None else rows
        return found, found is not None

    def _pick(self, op: Op, output: int) -> None:
        rows = self.of(op.inputs[0])
        if rows is None:
            self._known[output] = None
            return
        if len(op.inputs) == 2:
            self._known[output] = self._by_tensor(op, rows)
            return
        before, after = (self._evidence.values[v].shape for v in (op.inputs[0], output))
        if op.args[-1].text == "ndarray" or _is_list(op, len(before) == len(after)):
            self._known[output] = self._by_numbers(op, rows)
            return
        first = _first_index(op) if len(op.inputs) == 1 and op.op == "getitem" else None
        if isinstance(first, int) and -len(rows.order) <= first < len(rows.order):
            self._single[output] = rows, int(rows.order[first])
        elif isinstance(first, slice):
            self._known[output] = rows._replace(order=rows.order[first])
        elif first is None:
            self._known[output] = None

    def _by_tensor(self, op: Op, rows: Rows) -> Rows | None:
        is_plain = len(op.args) == 2 or (op.op == "index_select" and op.args[1].text == "0")
        snapshot = self._evidence.snapshot(op.inputs[1])
        index = snapshot.array() if snapshot is not None and is_plain else None
        if index is None or index.ndim != 1 or index.dtype.kind not in "iub":
            return None
        if snapshot is not None and snapshot.dtype == "bool":
            index = np.flatnonzero(index)
        if index.size and not -len(rows.order) <= index.min() <= index.max() < len(rows.order):
            return None
        return rows._replace(order=rows.order[index], picked=op, indices=op.inputs[1])

    def _by_numbers(self, op: Op, rows: Rows) -> Rows | None:
        """Return the rows picked by an array or list, which the tape lacks: by their numbers."""
        before, after = (self._evidence.snapshot(v) for v in (op.inputs[0], op.outputs[0]))
        source = before.array() if before is not None else None
        result = after.array() if after is not None else None
        if source is None or result is None or source.shape[1:] != result.shape[1:]:
            return None
        known = {row.tobytes(): at for at, row in enumerate(source)}
        found = [known.get(row.tobytes()) for row in result]
        if len(known) < len(source) or None in found:
            return None
        return rows._replace(order=rows.order[np.array(found, dtype=int)], picked=op)

    def _stacked(self, op: Op) -> Rows | None:
        parts = [self._single.get(v) for v in op.inputs]
        known = [part for part in parts if part is not None]
        if len(known) < len(parts) or len({rows.root for rows, _ in known}) != 1:
            return None
        order = np.array([at for _, at in known])
        return known[0][0]._replace(order=order, picked=op, is_stacked=True)


def _is_list(op: Op, keeps_dimensions: bool) -> bool:
    """Return whether an index is a list of numbers; as a tuple it would take dimensions away."""
    return keeps_dimensions and re.fullmatch(r"\(-?\d+(, -?\d+)*,?\)", op.args[-1].text) is not None


def _keeps_first(op: Op) -> bool:
    """Return whether a reduction is over later dimensions alone."""
    dims = [a.text for a in op.args if a.value is None and a.keyword in ("", "dim", "axis")]
    try:
        value = ast.literal_eval(dims[0]) if dims else None
    except (ValueError, SyntaxError):
        return False
    several = value if isinstance(value, tuple | list) else (value,)
    return all(type(n) is int and n != 0 for n in several)


def _first_index(op: Op) -> int | slice | None:
    """Return the index of the first dimension; None if it is neither a number nor a slice."""
    texts = [a.text for a in op.args if a.value is None]
    try:
        node = ast.parse(texts[0].replace("…", "..."), mode="eval").body if texts else None
    except SyntaxError:
        return None
    if isinstance(node, ast.Tuple) and node.elts:
        node = node.elts[0]
    if isinstance(node, ast.Call) and ast.unparse(node.func) == "slice":
        try:
            return slice(*(ast.literal_eval(argument) for argument in node.args))
        except (ValueError, TypeError):
            return None
    if isinstance(node, ast.Constant) and node.value is Ellipsis:
        return slice(None)
    try:
        value = ast.literal_eval(node) if node is not None else None
    except (ValueError, SyntaxError):
        return None
    return value if type(value) is int else None
