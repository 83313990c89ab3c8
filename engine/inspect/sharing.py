"""Memory and paths of a value up to a backward pass, read off the tape for finite differences.

A value that has its memory to itself is nudged in place: the program goes on with the new number,
and so do the tensors that save it. A view is nudged in a copy, since its base has other uses, which
its own gradient does not include. A copy does not follow writes: a view whose memory is written to
and that is used again cannot be nudged.
"""

from collections.abc import Iterator

from gradscribe.engine.protocol.tape import Op, Tape, Value


class NotComparable(Exception):
    """No comparison is possible; the message is for the user."""


def needs_own_memory(tape: Tape, value: Value, run: int) -> bool:
    """Return whether a value must be nudged in a copy of its own; raise `NotComparable`.

    ``run`` is the index of the pass whose gradient is compared.
    """
    overlapping = any(n > 1 and s == 0 for n, s in zip(value.shape, value.stride, strict=False))
    ops = list(_ops_until(tape, run))
    if not overlapping and (value.is_leaf or not _is_shared(tape, value)):
        if value.op is not None and value.id not in tape.ops[value.op].outputs:
            _demand_unused_before(tape, value, ops)
        return False
    if _is_overtaken(tape, value, ops, run):
        raise NotComparable(
            "It shares its memory with other tensors, which is written in place afterwards: "
            "it cannot be changed by itself"
        )
    return True


def cut_line(tape: Tape, value: Value, run: int) -> int | None:
    """Return the line at which a way from a value to the pass's roots leaves autograd's graph.

    Such a way leads through ``detach``, ``no_grad`` or ``.data``: differences follow it. None if
    there is no such way.
    """
    values = {v.id: v for v in tape.values}
    followed, lines = {value.id}, dict[int, int]()
    for op in _ops_until(tape, run):
        outputs = [values[o] for o in op.outputs]
        found = next((lines[i] for i in op.inputs if i in lines), None)
        if found is not None:
            lines.update(dict.fromkeys(op.outputs, found))
        if followed.isdisjoint(op.inputs):
            continue
        real = [o for o in outputs if o.dtype.startswith(("float", "bfloat", "complex"))]
        if real and not any(o.requires_grad for o in real):
            lines.update(dict.fromkeys(op.outputs, op.place.line))
        else:
            followed.update(op.outputs)
    roots = tape.passes[run].roots
    return next((lines[root] for root in roots if root in lines), None)


def _ops_until(tape: Tape, run: int) -> Iterator[Op]:
    """Yield the ops before a pass, those inside earlier passes included."""
    last = -1
    for event in tape.events:
        if event.kind == "backward" and event.ref == run:
            break
        if event.kind == "op":
            last = event.ref
    yield from tape.ops[: last + 1]


def _is_shared(tape: Tape, value: Value) -> bool:
    """Return whether a new value lies in memory of another tensor."""
    if value.base is not None:
        return True
    if value.storage < 0 or (value.op is not None and tape.ops[value.op].inplace):
        # The views of a tensor that is changed in place change with it, to autograd too.
        return False
    return any(
        v.storage == value.storage and v.tensor != value.tensor and v.id < value.id
        for v in tape.values
    )


def _is_overtaken(tape: Tape, value: Value, ops: list[Op], run: int) -> bool:
    """Return whether a copy of a value would miss a write, or a write to it would miss others."""
    values = {v.id: v for v in tape.values}
    home = {v.id for v in tape.values if v.storage == value.storage}
    later = [w for w in _written(tape, ops, run) if w > value.id and w in home]
    if not later:
        return False
    derived, tensors = {value.id}, {value.tensor}
    for op in ops:
        if op.id > value.id and not derived.isdisjoint(op.inputs):
            derived |= home.intersection(op.outputs)
            tensors |= {values[o].tensor for o in home.intersection(op.outputs)}
    if any(values[w].tensor in tensors for w in later):
        return True
    since = min(later)
    read = [i for op in ops if op.id > since for i in op.inputs]
    read += [root for root in tape.passes[run].roots if root is not None]
    return any(i in home and i > value.id and values[i].tensor in tensors for i in read)


def _written(tape: Tape, ops: list[Op], run: int) -> list[int]:
    """Return the values that were made by writing to memory, up to a pass."""
    written = [o for op in ops if op.inplace for o in op.outputs]
    for event in tape.events:
        if event.kind == "backward" and event.ref == run:
            break
        if event.kind == "write":
            written += [change.after for change in tape.writes[event.ref]]
        elif event.kind == "step":
            written += [change.after for change in tape.steps[event.ref].changes]
    return written


def _demand_unused_before(tape: Tape, value: Value, ops: list[Op]) -> None:
    """Raise if a value written through a view was read through it before it was seen itself."""
    home = {v.id for v in tape.values if v.storage == value.storage}
    made = value.op or 0
    if any(home.intersection(op.inputs) for op in ops[made + 1 :] if op.id < value.id):
        raise NotComparable("It was changed through a view, which was used before it")
