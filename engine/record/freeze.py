"""Conversion of a log into a tape: decode positions, name values, summarize copies."""

import ast
import functools
from collections.abc import Callable, Sequence
from contextlib import suppress
from math import prod
from typing import TypeVar, cast

import torch
from torch import nn

from gradscribe.engine.protocol.safe_text import MAX_NAME_CHARS, type_name
from gradscribe.engine.protocol.structs import replace
from gradscribe.engine.protocol.tape import (
    Arg,
    Call,
    Change,
    Collective,
    Event,
    Execution,
    Leaf,
    Node,
    Op,
    Pass,
    Place,
    Saved,
    Snapshot,
    Step,
    Tape,
    Value,
)
from gradscribe.engine.record.forward.arguments import tape_arguments
from gradscribe.engine.record.log import (
    CallRow,
    CollectiveRow,
    EventRow,
    Log,
    NodeRow,
    OpRow,
    PassRow,
    ValueRow,
)
from gradscribe.engine.record.naming import name_values
from gradscribe.engine.record.recorder import Recorder
from gradscribe.engine.record.source import Source, Span
from gradscribe.engine.record.values import containers
from gradscribe.engine.record.values.snapshots import concrete_sizes, dtype_name, snapshots
from gradscribe.engine.record.values.tensors import is_leaf, version

_SWAPPED = {"mul", "add", "eq", "ne", "logical_and", "logical_or"}
"""Ops that arrive as ``tensor.op(number)`` even where the source has the number first."""


def leaves(recorder: Recorder, namespace: dict[str, object]) -> list[Leaf]:
    """Return every named leaf tensor of a namespace, modules' parameters included.

    Also names values that no assignment named, and records a last value for tensors whose data
    changed without a new version (numpy, ``.data``, fused optimizers).
    """
    found = list[Leaf]()
    written: list[tuple[torch.Tensor, int | None]] = []
    changes: list[Change] = []
    with torch._C.DisableTorchFunction():
        for name, t in _named_tensors_of_run(recorder, namespace):
            try:
                leaf = _leaf(recorder, name, t, changes)
            except RecursionError:
                continue  # A class that recurses without end would do so again.
            except Exception as error:  # noqa: BLE001 - a class of the program's may raise anything
                recorder.log.stop_on_error(error)
                continue
            if leaf is not None:
                found.append(leaf)
                written.append((t, None))
        try:
            recorder.log.add_changes(changes, None)
            recorder.writes.gradients(written, None)
        except Exception as error:  # noqa: BLE001 - a class of the program's may raise anything
            recorder.log.stop_on_error(error)
    return found


def draft_leaves(recorder: Recorder, namespace: dict[str, object]) -> list[Leaf]:
    """Return the named leaf tensors that were recorded so far, without their gradients.

    Names values as `leaves` does, and records nothing.
    """
    found = list[Leaf]()
    with torch._C.DisableTorchFunction():
        for name, t in _named_tensors_of_run(recorder, namespace):
            known = recorder.tensors.known(t)
            if known is None:
                continue
            if not known.name or known.name in recorder.modules.provisional:
                known.name = name
            if is_leaf(t):
                found.append(Leaf(name[:MAX_NAME_CHARS], known.id, None))
    return found


def _named_tensors_of_run(
    recorder: Recorder, namespace: dict[str, object]
) -> list[tuple[str, torch.Tensor]]:
    """Return the tensors of a namespace with their names, those in modules and containers, too."""
    # The target of a loop is the name of its last element only: of a module that has another
    # name it is none.
    passing = recorder.source.syntax.passing
    lasting = {name: thing for name, thing in namespace.items() if name not in passing}
    named = _named_tensors(lasting)
    inside = functools.partial(_in_containers, recorder, lasting, named)
    named += _attempt(recorder.log, inside) or []
    seen = {id(t) for _, t in named}
    rest = {name: thing for name, thing in namespace.items() if name in passing}
    named += [(n, t) for n, t in _named_tensors(rest) if n in rest or id(t) not in seen]
    recorder.unnamed = {
        name
        for name, thing in namespace.items()
        if type(thing) is dict or issubclass(type(thing), nn.Module)
    }
    return named


def _leaf(recorder: Recorder, name: str, t: torch.Tensor, changes: list[Change]) -> Leaf | None:
    """Name a tensor and record a change without a new version; return None for a non-leaf."""
    tensors = recorder.tensors
    known = tensors.known(t)
    if known is None:
        known = tensors.add(t, None)
    elif known.version != version(t):
        known = tensors.value(t, None)
    elif tensors.differs(t, known):
        before = known
        known = tensors.add(t, None, op=known.op, maker=known.maker)
        changes.append(Change(before.id, known.id))
    if not known.name or known.name in recorder.modules.provisional:
        known.name = name
    if not is_leaf(t):
        return None
    return Leaf(name[:MAX_NAME_CHARS], known.id, _gradient(recorder, t))


def _gradient(recorder: Recorder, leaf: torch.Tensor) -> int | None:
    """Return the snapshot of a leaf's ``.grad``; a ``.grad`` without data has shape and dtype."""
    grad = leaf.grad
    kept = recorder.copies.keep(grad) if grad is not None else None
    if grad is None or kept is not None or grad.is_nested:
        return kept
    numbered = recorder.log.snapshots
    numbered.append(Snapshot(concrete_sizes(grad.shape), dtype_name(grad.dtype)))
    return len(numbered) - 1


def _named_tensors(namespace: dict[str, object]) -> list[tuple[str, torch.Tensor]]:
    result: list[tuple[str, torch.Tensor]] = []
    for name, thing in list(namespace.items()):
        # A key that is no plain str came from `globals()`: no source text can refer to it.
        if type(name) is not str or name.startswith("__"):
            continue
        # Not isinstance, which asks the object: its ``__class__`` may be the program's code.
        if issubclass(type(thing), torch.Tensor):
            result.append((name, cast("torch.Tensor", thing)))
        elif issubclass(type(thing), nn.Module):
            # A module may be half initialized, and the program's own override might not return.
            with suppress(Exception):
                result.extend(
                    (f"{name}.{path}", p)
                    for path, p in nn.Module.named_parameters(cast("nn.Module", thing))
                    if isinstance(p, torch.Tensor)
                )
    return [(name, t) for name, t in result if not nn.parameter.is_lazy(t)]


def tensors_in(namespace: dict[str, object]) -> list[torch.Tensor]:
    """Return the tensors that variables lead to: themselves, modules' parameters, elements."""
    inside: list[torch.Tensor] = []
    # Classes are the program's, and may raise anything.
    with suppress(Exception):
        inside = [t for _, t in containers.tensors_inside(namespace)]
    return [t for _, t in _named_tensors(namespace)] + inside


def _in_containers(
    recorder: Recorder, namespace: dict[str, object], named: list[tuple[str, torch.Tensor]]
) -> list[tuple[str, torch.Tensor]]:
    """Return the leaves in lists, tuples, dicts and objects, by the expression that reaches them.

    A tensor that no op met and that requires no gradient is left out: it is data at rest.
    """
    seen = {id(t) for _, t in named}
    found: list[tuple[str, torch.Tensor]] = []
    for name, t in containers.tensors_inside(namespace):
        if id(t) in seen or not is_leaf(t) or nn.parameter.is_lazy(t):
            continue
        seen.add(id(t))
        known = recorder.tensors.known(t)
        if t.requires_grad:
            found.append((name, t))
        elif known is not None and not known.name:
            known.name = name
    return found


def freeze(recorder: Recorder, found: list[Leaf]) -> Tape:
    """Return what was recorded as a tape without status, output and versions.

    Where that fails, the tape has what does not depend on it: at worst what was printed and drawn.
    """
    log = recorder.log
    with torch._C.DisableTorchFunction():
        _attempt(log, recorder.passes.process_notes)
    _attempt(log, functools.partial(name_values, recorder))
    tape = _attempt(log, functools.partial(_tape, recorder, found))
    return tape if tape is not None else _printed(log)


def freeze_leaves(recorder: Recorder, found: list[Leaf]) -> Tape:
    """Return a tape of the leaves alone, with the number of everything else that was recorded."""
    log = recorder.log
    with torch._C.DisableTorchFunction():
        _attempt(log, recorder.passes.process_notes)
        tape = _attempt(log, functools.partial(_leaves_tape, recorder, found))
    return tape if tape is not None else _printed(log)


def _leaves_tape(recorder: Recorder, found: list[Leaf]) -> Tape:
    log, used = recorder.log, dict[int, int]()

    def moved(snapshot: int | None) -> int | None:
        return None if snapshot is None else used.setdefault(snapshot, len(used))

    leaves = tuple(replace(leaf, grad=moved(leaf.grad)) for leaf in found)
    named = {leaf.value for leaf in found}
    values = [_value(row, recorder.source) for row in log.values if row.id in named]
    shown = tuple(
        replace(value, snapshot=moved(value.snapshot), base=None, op=None, node=None)
        for value in values
    )
    events = sum(type(event) is EventRow for event in log.events)
    return Tape(
        snapshots=_snapshots([log.snapshots[at] for at in used], log.dropped),
        values=shown,
        leaves=leaves,
        dropped=log.dropped,
        truncated=log.describe_omissions(),
        left_out=(len(log.ops), len(log.executions), events),
    )


T = TypeVar("T")


def _attempt(log: Log, step: Callable[[], T]) -> T | None:
    """Return the result of a step; None, and a note on the tape, if it fails."""
    try:
        return step()
    except Exception as error:  # noqa: BLE001 - no fault here may cost what the program did
        log.truncated = log.truncated or (
            f"The recording could not be read as a whole ({type_name(type(error))}); "
            "the program ran as usual."
        )
        return None


def _printed(log: Log) -> Tape:
    """Return a tape of what was printed and drawn alone."""
    prints = (e.ref for e in log.events if type(e) is EventRow and e.kind == "print")
    ends = [Event("error", 0, 0)] if log.ends_in_error() else []
    return Tape(
        prints=tuple(log.prints),
        figures=tuple(log.figures),
        events=(*(Event("print", ref, 0) for ref in prints), *ends),
        truncated=log.describe_omissions(),
    )


def _tape(recorder: Recorder, found: list[Leaf]) -> Tape:
    log, source, failed = recorder.log, recorder.source, recorder.failure
    called = {v.id: v.name for v in log.values}
    with torch._C.DisableTorchFunction():
        kept = _snapshots(log.snapshots, log.dropped)
    return Tape(
        snapshots=kept,
        values=tuple(_value(v, source) for v in log.values),
        ops=tuple(_op(o, log, source, called) for o in log.ops),
        calls=tuple(_call(i, c) for i, c in enumerate(log.calls)),
        nodes=tuple(_node(n, log) for n in log.nodes),
        edges=tuple(log.edges),
        executions=tuple(
            Execution(e.id, e.node, e.order, e.run, tuple(e.received), tuple(e.edges), e.hooked)
            for e in log.executions
        ),
        accumulations=tuple(log.accumulations),
        passes=tuple(_pass(p, source) for p in log.passes),
        steps=_steps(log, source),
        resets=tuple(log.resets),
        rewrites=tuple(log.rewrites),
        writes=tuple(log.writes),
        prints=tuple(log.prints),
        figures=tuple(log.figures),
        events=tuple(_event(e, log, source) for e in log.events if type(e) is EventRow),
        leaves=tuple(found),
        dropped=log.dropped,
        truncated=log.describe_omissions(),
        held=tuple(log.optimized_tensors),
        times=tuple(o.took for o in log.ops),
        fault=None if failed.op is None else _op(failed.op, log, source, called),
        stuck=failed.node,
        loops=tuple(source.syntax.loops),
        arms=tuple(source.syntax.arms),
        step_loops=recorder.loops.step_loops(),
        gaps=recorder.loops.gaps(),
        collectives=tuple(_collective(c, source) for c in log.collectives),
    )


def _event(e: EventRow, log: Log, source: Source) -> Event:
    line = log.gaps[e.ref].line if e.kind == "gap" else _line(source.span(e.where))
    return Event(e.kind, e.ref, line)


def _collective(row: CollectiveRow, source: Source) -> Collective:
    return Collective(
        row.kind,
        row.group,
        row.number,
        source.place(source.span(row.where)),
        row.op,
        tuple(value.id for value in row.inputs),
        tuple(value.id for value in row.outputs),
        row.reduce,
        row.root,
        row.owner,
        row.run,
        row.is_done,
    )


def _pass(p: PassRow, source: Source) -> Pass:
    line, roots, seeds = _line(source.span(p.where)), tuple(p.roots), tuple(p.seeds)
    inputs, results = tuple(p.inputs), tuple(p.results)
    return Pass(p.kind, line, roots, seeds, p.retain_graph, p.create_graph, inputs, results)


def _steps(log: Log, source: Source) -> tuple[Step, ...]:
    return tuple(
        Step(
            s.optimizer[:MAX_NAME_CHARS],
            _line(source.span(s.where)),
            tuple(s.changes),
            s.lr,
            s.optimized_set,
            tuple((value, name[:MAX_NAME_CHARS], kept) for value, name, kept in s.memory),
        )
        for s in log.steps
    )


def _snapshots(kept: Sequence[torch.Tensor | Snapshot], dropped: int) -> tuple[Snapshot, ...]:
    copies = [s for s in kept if not isinstance(s, Snapshot)]
    made = iter(snapshots(copies, dropped))
    return tuple(s if isinstance(s, Snapshot) else next(made) for s in kept)


def _node(n: NodeRow, log: Log) -> Node:
    """Return a node; saved tensors are matched to the inputs and results of its op."""
    op = log.ops[n.op] if n.op is not None else None
    values = (*op.inputs, *op.outputs) if op is not None else ()
    kept = []
    for name, shape, dtype, storage in n.kept:
        plain = concrete_sizes(shape)
        same = (
            v.id for v in values if v.storage == storage >= 0 and concrete_sizes(v.shape) == plain
        )
        size = prod(plain) * dtype.itemsize
        kept.append(Saved(name, next(same, None), plain, dtype_name(dtype), size, storage))
    return Node(
        n.id,
        n.kind.name[:MAX_NAME_CHARS],
        n.op,
        tuple(n.next or ()),
        n.kind.saved,
        tuple(kept),
        n.made,
        n.freed,
    )


def _line(span: Span | None) -> int:
    return span[0] if span is not None else 0


def _value(row: ValueRow, source: Source) -> Value:
    span = source.span(row.where)
    shape, stride = concrete_sizes(row.shape), concrete_sizes(row.stride)
    if row.op is None and row.is_leaf:
        # A leaf that was first seen as an argument belongs where it was bound.
        bound = source.syntax.bound_at.get(row.name)
        if bound is not None and (span is None or span not in source.syntax.targets):
            span = bound
    return Value(
        id=row.id,
        name=row.name[:MAX_NAME_CHARS],
        shape=shape,
        dtype=dtype_name(row.dtype),
        device=str(row.device),
        requires_grad=row.requires_grad,
        is_leaf=row.is_leaf,
        version=row.version,
        snapshot=row.snapshot,
        role=row.role,
        tensor=row.tensor,
        storage=row.storage,
        stride=stride,
        offset=row.offset,
        contiguous=_is_contiguous(shape, stride),
        base=row.base,
        op=row.op,
        maker=row.maker,
        node=row.node,
        output_nr=row.output_nr,
        place=source.place(span),
        examples=row.examples,
    )


def _is_contiguous(shape: tuple[int, ...], stride: tuple[int, ...]) -> bool:
    """Return whether elements lie in row-major order without gaps, by torch's definition.

    A layout without strides counts as contiguous, and a dimension of size 1 may have any stride.
    """
    expected = 1
    for size, step in zip(reversed(shape), reversed(stride), strict=False):
        if size != 1 and step != expected:
            return 0 in shape
        expected *= size
    return True


def _op(row: OpRow, log: Log, source: Source, called: dict[int, str]) -> Op:
    span = source.span(row.where)
    args = tape_arguments(row.args)
    expression = source.syntax.expressions.get(span) if span is not None else None
    if isinstance(expression, ast.BinOp):
        args = _named_operands(row, args, expression, called)
    return Op(
        id=row.id,
        op=row.op[:MAX_NAME_CHARS],
        inputs=tuple(v.id for v in row.inputs),
        outputs=tuple(v.id for v in row.outputs),
        args=tuple(args),
        place=source.place(span) if span is not None else Place(),
        scope=log.calls[row.call].name[:MAX_NAME_CHARS] if row.call is not None else "",
        call=row.call,
        node=row.node,
        nodes=tuple(row.nodes),
        grad_mode=row.grad_mode,
        phase=row.phase,
        inplace=row.inplace,
    )


def _named_operands(
    row: OpRow, args: list[Arg], expression: ast.BinOp, called: dict[int, str]
) -> list[Arg]:
    """Restore the source's order of a number and a tensor; name the number by its variable."""
    numbers = [a for a in args if a.number is not None]
    if len(args) != 2 or len(numbers) != 1:
        return args
    number = numbers[0]
    tensor = args[0] if args[1] is number else args[1]
    name = called.get(tensor.value or 0)
    left, right = expression.left, expression.right
    reversed_op = row.op in ("rsub", "rdiv", "rpow", "rmatmul")
    first = reversed_op or (
        row.op in _SWAPPED
        and (_is_number(left) or (isinstance(right, ast.Name) and right.id == name))
    )
    side = left if first else right
    if isinstance(side, ast.Name):
        name = side.id[:MAX_NAME_CHARS]
        number = Arg(None, number.text, number.number, name, number.keyword)
    return [number, tensor] if first else [tensor, number]


def _is_number(node: ast.expr) -> bool:
    if isinstance(node, ast.UnaryOp):
        node = node.operand
    return isinstance(node, ast.Constant)


def _call(index: int, row: CallRow) -> Call:
    return Call(
        id=index,
        name=row.name[:MAX_NAME_CHARS],
        kind=row.kind[:MAX_NAME_CHARS],
        parent=row.parent,
        module=row.module,
        training=row.training,
        parameters=row.parameters,
        about=row.about[:MAX_NAME_CHARS],
        hooks=tuple(name[:MAX_NAME_CHARS] for name in row.hooks),
        state=tuple(replace(entry, name=entry.name[:MAX_NAME_CHARS]) for entry in row.state),
    )
