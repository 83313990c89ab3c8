"""Small marks on cards and wires: shared memory, versions, cuts, and which output it is."""

from string import ascii_uppercase

from engine.tape import Op, Value
from playback import symbols
from playback.index import Index

SHARED = "⧉"
"""Stands before the name of the base on every card that shares its memory."""


def shared(index: Index, ops: list[int]) -> dict[int, str]:
    """Return storage -> mark, for the storages of which the ops (indices) made views.

    The mark is the same on the base and on every view: ``⧉ b``, or a letter for a base without a
    name of its own.
    """
    found: dict[int, str] = {}
    letters = iter(ascii_uppercase)
    for number in ops:
        for output in index.op(number).outputs:
            value = index.values[output]
            base = index.values.get(value.base) if value.base is not None else None
            if base is None or value.storage in found or is_whole(index.op(number)):
                continue
            name = base.name.rsplit(".", 1)[-1] or next(letters, "…")
            found[value.storage] = f"{SHARED} {name}"
    return found


def is_whole(op: Op) -> bool:
    """Tell whether an op's result shares memory by its nature and says so: ``detach``."""
    return symbols.plain(op.op) in ("detach", "detach_")


def card(value: Value, inplace: bool, tags: dict[int, str]) -> str:
    """Return the mark of a card that shows ``value``: shared memory, and the version it made."""
    version = f"v{value.version}" if inplace else ""
    return " · ".join(filter(None, (tags.get(value.storage, ""), version)))


def cut(op: Op, value: Value | None) -> str:
    """Return why the gradient of an operand stops at ``op``; empty where it passes or has none."""
    if value is None or not value.requires_grad or op.nodes:
        return ""
    if symbols.plain(op.op) in ("detach", "detach_"):
        return "detach"
    return "" if op.inplace and op.grad_mode else "no_grad" if not op.grad_mode else op.op


def part(op: Op, value: Value) -> str:
    """Return which output of an op a value is, as one reads it; empty where there is but one."""
    if len(op.outputs) < 2 or value.id not in op.outputs:
        return ""
    return value.name or f"[{op.outputs.index(value.id)}]"
