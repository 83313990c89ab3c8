"""Small marks on cards and wires: shared memory, versions, cut gradients, output names."""

import math
from collections.abc import Set
from itertools import chain, count

from gradscribe.engine.protocol.tape import Op, Value
from gradscribe.playback.tape.index import Index
from gradscribe.playback.text import symbols

SHARED = "⧉"
"""Prefix of the base's name on every card that shares its memory."""


def shared_memory_marks(index: Index, ops: list[int]) -> dict[int, str]:
    """Return storage -> mark for the storages of which the ops (indices) made views.

    The base and all its views have the same mark, and no other storage has it: ``⧉ b``, ``⧉ b 2``
    for another ``b``, a number alone for a base without a name.
    """
    found: dict[int, str] = {}
    names: set[str] = set()
    for number in ops:
        for output in index.op(number).outputs:
            value = index.values[output]
            base = index.values.get(value.base) if value.base is not None else None
            if base is None or value.storage in found or is_detach(index.op(number)):
                continue
            name = _unique_name(base.name, names)
            names.add(name)
            found[value.storage] = f"{SHARED} {name}"
    return found


def _unique_name(name: str, taken: Set[str]) -> str:
    """Return the last part of a name; the whole, or with a number, where it is taken."""
    short = name.rpartition(".")[2]
    numbered = (f"{short} {n}".strip() for n in count(2 if short else 1))
    return next(
        words for words in chain(filter(None, (short, name)), numbered) if words not in taken
    )


def is_detach(op: Op) -> bool:
    """Return whether an op's name already says that its result shares memory: ``detach``."""
    return symbols.canonical_name(op.op) in ("detach", "detach_")


def card_mark(value: Value, inplace: bool, tags: dict[int, str]) -> str:
    """Return the mark of the card of ``value``: shared memory, version after an in-place op."""
    return joined(
        tags.get(value.storage, ""), f"v{value.version}" if inplace and value.version else ""
    )


def joined(*marks: str) -> str:
    """Return the marks of a card as a single one."""
    return " · ".join(filter(None, marks))


def cut_reason(op: Op, value: Value | None) -> str:
    """Return why the gradient of an operand stops at ``op``; empty where it passes or has none."""
    if value is None or not value.requires_grad or op.nodes:
        return ""
    if symbols.canonical_name(op.op) in ("detach", "detach_"):
        return "detach"
    return "" if op.inplace and op.grad_mode else "no_grad" if not op.grad_mode else op.op


def broadcast(
    index: Index, op: Op, value: Value | None
) -> tuple[tuple[int, ...], tuple[int, ...]] | None:
    """Return the shape of an operand and of the result where an op stretches it, else None."""
    name = symbols.canonical_name(op.op).removesuffix("_")
    if value is None or not op.outputs or not (name in symbols.ELEMENTWISE or name in _STRETCHES):
        return None
    shape, onto = value.shape, index.values[op.outputs[0]].shape
    fits = len(shape) <= len(onto) and all(
        own in (1, size) for own, size in zip(shape[::-1], onto[::-1], strict=False)
    )
    return (shape, onto) if fits and math.prod(shape) < math.prod(onto) else None


_STRETCHES = frozenset(
    "pow float_power addcmul addcdiv lerp expand expand_as broadcast_to logaddexp hypot".split()
)
"""Ops that broadcast, apart from those with operators."""


def output_label(op: Op, value: Value) -> str:
    """Return the label of an op's output, its name or ``[1]``; empty for the only output."""
    if len(op.outputs) < 2 or value.id not in op.outputs:
        return ""
    return value.name or f"[{op.outputs.index(value.id)}]"
