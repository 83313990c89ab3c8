"""Names of values, taken from the program's source once the run is over."""

import ast
from collections.abc import Set

from gradscribe.engine.record.forward.arguments import tape_arguments
from gradscribe.engine.record.log import CodeLocation, Log, OpRow, ValueRow
from gradscribe.engine.record.recorder import Recorder
from gradscribe.engine.record.source import Source, Span


def name_values(recorder: Recorder) -> None:
    """Name values after the variables their expressions are assigned to."""
    log, source = recorder.log, recorder.source
    values = {v.id: v for v in log.values}
    unnamed = recorder.unnamed
    # The names by which the program's variables lead to leaves at its end.
    lasting = {row.tensor: row.name for row in log.values if row.name and row.role == "parameter"}
    # What a collective returns is no tensor, but a handle to wait for.
    collectives = {row.op for row in log.collectives}
    for at, op in enumerate(log.ops):
        call = log.calls[op.call] if op.call is not None else None
        # All ops inside torch's own modules have the place of the user's call, whose result is
        # named below.
        if at not in collectives and (call is None or call.where != op.where):
            _name(source, op.where, op.outputs, unnamed)
    # A tensor created inside a module is not what its call is assigned to.
    called = {source.span(call.where) for call in log.calls}
    # A function of torch's own in Python makes tensors for its inside at the place of its call.
    inner = {op.where for op in log.ops}
    for row in log.values:
        if row.op is None and not row.requires_grad and row.where in inner:
            continue
        if row.op is not None or row.name or row.maker == "grad":
            continue
        if source.span(row.where) not in called:
            _name(source, row.where, [row], unnamed)
    for run in log.passes:
        returned = [values[result] for result in run.results if result is not None]
        if returned and source.span(run.where) not in called and _is_grad(source, run.where):
            _name(source, run.where, returned, unnamed)
    for op in [*log.ops, *([recorder.failure.op] if recorder.failure.op else [])]:
        _name_arguments(recorder, op, values)
    _name_results(log, source, values, unnamed)
    _rename_leaves(log, lasting)
    # A name that a leaf got at the end also holds for its values before optimizer steps.
    last = {row.tensor: row.name for row in reversed(log.values) if row.name and row.op is None}
    for row in log.values:
        if not row.name and row.gradient_of in last:
            row.name = last[row.gradient_of] + ".grad"
        if row.name:
            last[row.tensor] = row.name
        else:
            row.name = last.get(row.tensor, "")


def _rename_leaves(log: Log, lasting: dict[int, str]) -> None:
    """Name all versions of a leaf alike.

    In ``for p in (w, b): p -= p.grad`` the leaves are w and b before and after the update.
    """
    leaves = [row for row in log.values if row.role == "parameter"]
    own = lasting | {row.tensor: row.name for row in leaves if row.name and row.op is None}
    for row in leaves:
        row.name = own.get(row.tensor, row.name)


def _name_results(log: Log, source: Source, values: dict[int, ValueRow], unnamed: Set[str]) -> None:
    """Name the results of module calls."""
    outer = {
        call.where: call.module
        for call in log.calls
        if call.parent is None or log.calls[call.parent].where != call.where
    }
    for call in log.calls:
        if call.result is None or call.where not in outer:
            continue
        if call.parent is not None and log.calls[call.parent].where == call.where:
            continue
        # ``net.forward(x)`` calls the children of net in turn: only the last result is its own.
        if _is_forward(source, call.where) and call.module != outer[call.where]:
            continue
        _name(source, call.where, [values[call.result]], unnamed)


def _is_forward(source: Source, where: CodeLocation) -> bool:
    span = source.span(where)
    expression = source.syntax.expressions.get(span) if span is not None else None
    if not isinstance(expression, ast.Call) or not isinstance(expression.func, ast.Attribute):
        return False
    return expression.func.attr == "forward"


def _is_grad(source: Source, where: CodeLocation) -> bool:
    """Return whether the program itself calls ``grad`` there, and not a function that does."""
    span = source.span(where)
    expression = source.syntax.expressions.get(span) if span is not None else None
    called = expression.func if isinstance(expression, ast.Call) else None
    return (called.attr if isinstance(called, ast.Attribute) else "") == "grad" or (
        isinstance(called, ast.Name) and called.id == "grad"
    )


def _name(source: Source, where: object, rows: list[ValueRow], unnamed: Set[str]) -> None:
    """Name the results of an expression after its targets, but not after a module or dict."""
    span = source.span(where)  # type: ignore[arg-type]
    names = source.syntax.targets.get(span) if span is not None else None
    if names is None:
        return
    if len(names) == 1:
        if len(rows) == 1 and names[0] not in unnamed:
            rows[0].name = rows[0].name or names[0]
    else:
        for name, row in zip(names, rows, strict=False):
            row.name = row.name or ("" if name in unnamed else name)


def _name_arguments(recorder: Recorder, op: OpRow, values: dict[int, ValueRow]) -> None:
    """Name values that no assignment named, as a loop's batches, after the variables passed."""
    source, log = recorder.source, recorder.log
    args = tape_arguments(op.args)
    nameless = [a.value for a in args if a.value and _is_nameless(values[a.value], op)]
    span = source.span(op.where) if nameless else None
    expression = source.syntax.expressions.get(span) if span is not None else None
    given = [a.value for a in args if not a.keyword]
    written: list[ast.expr] = []
    if isinstance(expression, ast.BinOp):
        written = [expression.left, expression.right]
    elif isinstance(expression, ast.Call):
        written, callee = list(expression.args), expression.func
        if op.call is not None and log.calls[op.call].where == op.where and len(written) == 1:
            # A module of torch: its parameters have names. Of several nameless tensors, as the
            # shards that FSDP gathers before the call, it is not known which was passed.
            given = [*nameless] if len(nameless) == 1 else []
        elif isinstance(callee, ast.Attribute) and len(given) == len(written) + 1:
            written = [callee.value, *written]
    if len(written) == len(given):
        for node, value in zip(written, given, strict=True):
            if isinstance(node, ast.Name) and node.id not in source.syntax.imported and value:
                row = values[value]
                # In ``dt * f(z)`` the result of f is the first operand, though dt is written first.
                if _is_nameless(row, op) and not _lies_in(source.span(row.where), span):
                    row.name = node.id


def _is_nameless(row: ValueRow, op: OpRow) -> bool:
    """Return whether an op's input has no name and was created elsewhere in the program."""
    return not row.name and row.gradient_of is None and row.where != op.where


def _lies_in(inner: Span | None, outer: Span | None) -> bool:
    if inner is None or outer is None:
        return False
    return outer[:2] <= inner[:2] and inner[2:] <= outer[2:]
