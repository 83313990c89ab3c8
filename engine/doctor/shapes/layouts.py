"""Layouts: the dimensions of earlier tensors that each dimension of a tensor is made of.

A dimension that came into being as a whole (of data, of a layer's result) is an axis. Merging puts
several axes into a dimension, splitting makes new ones, permuting moves them.
"""

import ast
import itertools
from collections.abc import Iterable, Sequence
from typing import NamedTuple
from weakref import WeakKeyDictionary

from gradscribe.engine.doctor.evidence import Evidence
from gradscribe.engine.protocol.tape import Op

VIEWS = frozenset("view reshape flatten unflatten view_as reshape_as squeeze unsqueeze".split())
_TRANSPOSES = frozenset("transpose swapaxes swapdims permute movedim moveaxis T mT t".split())
_LAYERS = frozenset("linear embedding lstm gru rnn_tanh rnn_relu conv1d conv2d conv3d".split())
_REDUCTIONS = frozenset("mean sum amax amin max min argmax logsumexp norm std var".split())
_MIXED = frozenset("matmul bmm rmatmul __matmul__".split())
_SAME = frozenset("einsum sort flip roll gather scatter cumsum".split())
_POOLS = frozenset("max_pool1d max_pool2d avg_pool1d avg_pool2d interpolate pad".split())


class TensorAxis(NamedTuple):
    """A dimension as it came into being; ``made`` names the op (empty: data)."""

    number: int
    size: int
    made: str = ""
    is_part: bool = False
    """True if it was split from another."""


Layout = tuple[tuple[TensorAxis, ...], ...]


class Layouts:
    """The layouts of a tape's values, computed for all ops in order."""

    def __init__(self, evidence: Evidence) -> None:
        self._evidence = evidence
        self._counter = itertools.count()
        self._known: dict[int, Layout] = {}
        for op in evidence.tape.ops:
            if op.phase == "forward" and op.inputs and op.outputs:
                self._run(op)

    def of(self, value: int) -> Layout:
        """Return the layout of a value; that of data has an axis for each dimension."""
        found = self._known.get(value)
        if found is None:
            found = self._known[value] = self._fresh(self._shape(value), "")
        return found

    def axis(self, size: int, made: str, *, is_part: bool = False) -> TensorAxis:
        """Return a new axis."""
        return TensorAxis(next(self._counter), size, made, is_part)

    def _shape(self, value: int) -> tuple[int, ...]:
        return self._evidence.values[value].shape

    def _fresh(self, shape: Iterable[int], made: str) -> Layout:
        return tuple((self.axis(size, made),) for size in shape)

    def _run(self, op: Op) -> None:
        first = self.of(op.inputs[0])
        for index, output in enumerate(op.outputs):
            shape = self._shape(output)
            found = self._result(op, first, shape, index)
            if found is None or tuple(map(_size, found)) != shape:
                found = self._fresh(shape, op.op)
            self._known[output] = found

    def _result(self, op: Op, first: Layout, shape: tuple[int, ...], index: int) -> Layout | None:
        if op.op in VIEWS:
            return self.viewed(first, shape)
        if op.op in _TRANSPOSES:
            order = transposed(op, len(first))
            return tuple(first[i] for i in order) if order is not None else None
        if op.op in ("getitem", "select"):
            return self._picked(op, first, shape)
        if op.op in _REDUCTIONS:
            return self._reduced(op, first)
        if op.op in _LAYERS or op.op == "multi_head_attention_forward":
            return self._layer(op, first, shape, index)
        if op.op in _MIXED and len(op.inputs) == 2:
            other = self.of(op.inputs[1])
            return (*first[:-1], other[-1]) if len(other) == len(first) == len(shape) else None
        if op.op in ("cat", "concat", "stack"):
            return self._joined(op, first, shape)
        if op.op in _POOLS:
            return (*first[:2], *self._fresh(shape[2:], op.op))
        if op.op in _SAME:
            return None
        same = (self.of(v) for v in op.inputs if self._shape(v) == shape)
        return next(same, None)

    def viewed(self, layout: Layout, shape: Sequence[int]) -> Layout | None:
        """Return the layout after a view that merges or splits whole axes; else None."""
        axes = [axis for part in layout for axis in part if axis.size > 1]
        found: list[tuple[TensorAxis, ...]] = []
        for size in shape:
            part: list[TensorAxis] = []
            left = size
            while left > 1:
                if not axes:
                    return None
                axis = axes.pop(0)
                if left % axis.size == 0:
                    part.append(axis)
                    left //= axis.size
                elif axis.size % left == 0 and not part:
                    part.append(self.axis(left, axis.made, is_part=True))
                    axes.insert(0, self.axis(axis.size // left, axis.made, is_part=True))
                    left = 1
                else:
                    return None
            found.append(tuple(part) or (self.axis(1, ""),))
        return tuple(found) if not axes else None

    def _picked(self, op: Op, first: Layout, shape: tuple[int, ...]) -> Layout | None:
        items = _indices(op)
        if items is None:
            return None
        if Ellipsis in items:
            at = items.index(Ellipsis)
            taken = sum(item is not None for item in items) - 1
            items[at : at + 1] = [slice(None)] * (len(first) - taken)
        found: list[tuple[TensorAxis, ...]] = []
        left = list(first)
        for item in items:
            if item is None:
                found.append((self.axis(1, ""),))
            elif not left:
                return None
            elif isinstance(item, int):
                left.pop(0)
            else:
                part = left.pop(0)
                size = shape[len(found)] if len(found) < len(shape) else 0
                found.append(part if _size(part) == size else (self.axis(size, part[0].made),))
        return (*found, *left)

    def _reduced(self, op: Op, first: Layout) -> Layout | None:
        dims = [a for a in op.args if a.keyword in ("", "dim", "axis") and a.value is None]
        keep = any(a.keyword == "keepdim" and a.text == "True" for a in op.args)
        numbers = _numbers(dims[0].text) if dims else None
        if numbers is None or keep:
            return None
        gone = {n % len(first) for n in numbers} if first else set()
        return tuple(part for at, part in enumerate(first) if at not in gone)

    def _layer(self, op: Op, first: Layout, shape: tuple[int, ...], index: int) -> Layout | None:
        if op.op == "embedding":
            number = op.inputs[0] if self._shape(op.inputs[0]) == shape[:-1] else op.inputs[-1]
            return (*self.of(number), *self._fresh(shape[-1:], op.op))
        if op.op.startswith("conv"):
            return (*first[:1], *self._fresh(shape[1:], op.op))
        if op.op in ("lstm", "gru", "rnn_tanh", "rnn_relu") and index and len(first) == 3:
            batch = first[0] if is_batch_first(op) else first[1]
            return (*self._fresh(shape[:1], op.op), batch, *self._fresh(shape[2:], op.op))
        if op.op == "multi_head_attention_forward" and index:
            return None
        return (*first[:-1], *self._fresh(shape[-1:], op.op))

    def _joined(self, op: Op, first: Layout, shape: tuple[int, ...]) -> Layout | None:
        given = [_numbers(a.text) for a in op.args if a.value is None and a.keyword in ("", "dim")]
        numbers = next((n for n in given if n), None) or [0]
        parts = {self._shape(v) for v in op.inputs}
        if len(parts) != 1 or not shape:
            return None
        at = numbers[0] % len(shape)
        pieces = self.axis(len(op.inputs), "")
        if op.op == "stack":
            return (*first[:at], (pieces,), *first[at:])
        return (*first[:at], (pieces, *first[at]), *first[at + 1 :])


def _size(part: tuple[TensorAxis, ...]) -> int:
    size = 1
    for axis in part:
        size *= axis.size
    return size


def is_batch_first(op: Op) -> bool:
    """Return whether a recurrent op was called with ``batch_first``: its last flag."""
    flags = [a.text for a in op.args if a.text in ("True", "False")]
    return bool(flags) and flags[-1] == "True"


def _indices(op: Op) -> list[object] | None:
    """Return the indices of a getitem or select without tensors: ints, slices, None, Ellipsis."""
    if len(op.inputs) != 1:
        return None
    texts = [a.text for a in op.args if a.value is None]
    if op.op == "select":
        numbers = [_numbers(text) for text in texts]
        if len(numbers) != 2 or not numbers[0] or numbers[0][0] < 0:
            return None
        return [slice(None)] * numbers[0][0] + [0]
    if len(texts) != 1:
        return None
    try:
        node = ast.parse(texts[0].replace("…", "..."), mode="eval").body
    except SyntaxError:
        return None
    found: list[object] = []
    for item in node.elts if isinstance(node, ast.Tuple) else [node]:
        text = ast.unparse(item)
        if text.startswith("slice("):
            found.append(slice(None))
        elif text == "...":
            found.append(Ellipsis)
        elif text == "None":
            found.append(None)
        elif text.lstrip("-").isdigit():
            found.append(int(text))
        else:
            return None
    return found


def _numbers(text: str) -> list[int] | None:
    """Return the whole numbers of a literal: a number, or a tuple or list of them."""
    try:
        value = ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return None
    several = value if isinstance(value, tuple | list) else (value,)
    return list(several) if all(type(n) is int for n in several) else None


def transposed(op: Op, count: int) -> tuple[int, ...] | None:
    """Return the order of dimensions that a permute, transpose or movedim gives."""
    texts = [a.text for a in op.args if a.value is None]
    found = [_numbers(text) for text in texts]
    numbers = [n for part in found for n in part or ()]
    if None in found or any(not -count <= n < count for n in numbers):
        return None
    numbers = [n % count for n in numbers]
    order = list(range(count))
    if op.op == "permute":
        return tuple(numbers) if sorted(numbers) == order else None
    if op.op in ("T", "t"):
        return tuple(reversed(order))
    if op.op == "mT":
        numbers = [count - 2, count - 1]
    if len(numbers) != 2 or count < 2:
        return None
    one, other = numbers
    if op.op in ("movedim", "moveaxis"):
        order.insert(other, order.pop(one))
    else:
        order[one], order[other] = order[other], order[one]
    return tuple(order)


_FOUND: WeakKeyDictionary[Evidence, Layouts] = WeakKeyDictionary()


def layouts_of(evidence: Evidence) -> Layouts:
    """Return the layouts of a tape's values, computed once."""
    found = _FOUND.get(evidence)
    if found is None:
        found = _FOUND[evidence] = Layouts(evidence)
    return found
