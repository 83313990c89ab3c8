"""Compare gradients computed by hand with autograd's: an expression, or lines of backward code.

The code sees the program's global names as they stand when the backward pass begins, tensors as
copies without a graph, and the named tensors of functions. Nothing it changes reaches the program.
"""

import ast
from typing import NamedTuple

import numpy as np
import torch

from gradscribe.engine.inspect.by_hand.live_pass import LivePass, reached_pass
from gradscribe.engine.inspect.by_hand.slips import SlipSearch, WrongGradient
from gradscribe.engine.inspect.sharing import NotComparable
from gradscribe.engine.protocol.messages import HandCheck, HandChecked, HandRow, Slip
from gradscribe.engine.protocol.safe_text import type_name
from gradscribe.engine.protocol.structs import replace
from gradscribe.engine.protocol.tape import Problem, Tape, Value
from gradscribe.engine.run import errors, run, watchdog
from gradscribe.engine.sandbox.policy import program

TIMEOUT_S = 5.0
COMPARE_S = 15.0
"""Time limit of the comparison, which runs the program's hooks."""
FILENAME = "<by hand>"
MAX_ROWS = 1_000
TYPED = 0.01
"""Relative tolerance of typed numbers, which are rounded."""
COMPUTED = 1e-4
"""Relative tolerance of computed numbers: another order of summation changes the last digits."""


class NoGradient(Exception):
    """The code is no gradient; carries the reason to show."""


class Code(NamedTuple):
    """Parsed code; ``is_typed``: it consists of numbers alone."""

    tree: ast.Module
    is_typed: bool


def hand_check(request: HandCheck) -> HandChecked:
    """Run the code at the backward pass, and compare what it computes with the pass."""
    last = run.last_run
    try:
        if last is None or last.request.run_id != request.run_id:
            raise NotComparable("The program ran again since; check again")
        with reached_pass(last, request.number) as live:
            return _compared(request, last, live)
    except (NotComparable, NoGradient) as reason:
        return _failed(request, Problem("NotCompared", str(reason)))
    except BaseException as exc:  # noqa: BLE001 - the code is the user's
        with watchdog.InterruptGuard(run.EXPLAIN_S, is_last=True):
            return _failed(request, errors.to_problem(exc, request.code, FILENAME))


def _failed(request: HandCheck, problem: Problem) -> HandChecked:
    return HandChecked(request.run_id, request.number, request.value, problem=problem)


def _compared(request: HandCheck, last: run.FinishedRun, live: LivePass) -> HandChecked:
    guarded = last.request.policy
    code = parse_code(request.code, guarded=guarded, is_expression=request.value is not None)
    copies = Copies(last)
    names = _namespace(request, live, copies)
    unrecorded = run.unrecorded(last.request.seed, threads=1)
    with unrecorded, watchdog.InterruptGuard(TIMEOUT_S), torch.no_grad():
        found = _evaluated(code, names, request)
    with run.unrecorded(threads=1), watchdog.InterruptGuard(COMPARE_S):
        search = SlipSearch(live, request.number, copies.value, _is_close)
        rows: list[HandRow] = []
        slips: tuple[Slip, ...] = ()
        slip_row = -1
        for name, value, own in found:
            if value is None:
                rows.append(HandRow(name, -1, "unnamed"))
                continue
            true = copies.gradient(value, request.number)
            row = compare(name, value.id, own, true, code.is_typed)
            if request.value is not None and row.verdict == "kind" and true is not None:
                as_tensor(own, true)  # raises the reason
            if slip_row < 0 and row.verdict in ("differs", "shape") and true is not None:
                slip_row = len(rows)
                slips = search.find(WrongGradient(value, as_tensor(own, true), true))
            rows.append(row)
    return HandChecked(request.run_id, request.number, request.value, tuple(rows), slips, slip_row)


def parse_code(source: str, *, guarded: bool, is_expression: bool) -> Code:
    """Parse the code, under the policy if ``guarded``.

    Raises:
        NoGradient: an expression is asked for, and it is none.
    """
    tree = program.parse_guarded(source, FILENAME) if guarded else ast.parse(source, FILENAME)
    if is_expression and not (len(tree.body) == 1 and isinstance(tree.body[0], ast.Expr)):
        raise NoGradient("Type a number or one expression, such as 2 * x")
    named = any(isinstance(node, ast.Name | ast.Call) for node in ast.walk(tree))
    return Code(tree, not named)


def _evaluated(
    code: Code, names: dict[str, object], request: HandCheck
) -> list[tuple[str, Value | None, object]]:
    """Run the code; return the gradients that it computes with their values."""
    values = {named.value: named for named in request.names}
    tape_values = {v.id: v for v in run.last_run.tape.values} if run.last_run is not None else {}
    if request.value is not None:
        asked = tape_values.get(request.value)
        if asked is None:
            raise NotComparable("There is no such tensor in this run")
        statement = code.tree.body[0]
        assert isinstance(statement, ast.Expr)
        own = eval(compile(ast.Expression(statement.value), FILENAME, "eval"), names)
        name = values[request.value].name if request.value in values else asked.name
        return [(name, asked, own)]
    before = dict(names)
    exec(compile(code.tree, FILENAME, "exec", dont_inherit=True), names)
    by_name = {f"d{named.name}": tape_values.get(named.value) for named in request.names}
    found = [
        (name[1:], by_name.get(name), names[name])
        for name in _assigned(code.tree)
        if name in names and names[name] is not before.get(name)
    ][:MAX_ROWS]
    if not found:
        example = f"d{request.names[0].name}" if request.names else "dw"
        raise NoGradient(f"No gradient is assigned: write a line such as {example} = …")
    return found


def _assigned(tree: ast.Module) -> list[str]:
    """Return the names like ``dw`` that code assigns, in order."""
    stored = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    ]
    stored.sort(key=lambda node: (node.lineno, node.col_offset))
    return [
        name for name in dict.fromkeys(n.id for n in stored) if len(name) > 1 and name[0] == "d"
    ]


def _namespace(request: HandCheck, live: LivePass, copies: "Copies") -> dict[str, object]:
    """Return the names for the code: the program's, with tensors copied, and those of functions."""
    names = {
        name: value.detach().clone() if isinstance(value, torch.Tensor) else value
        for name, value in live.names.items()
    }
    values = {v.id: v for v in live.tape.values}
    for named in request.names:
        value = values.get(named.value)
        if value is None or not named.name.isidentifier():
            continue
        copy = copies.value(value.id)
        if copy is not None and (value.name != named.name or named.name not in live.names):
            names[named.name] = copy.clone()
        gradient = copies.gradient(value, request.number) if named.given else None
        if gradient is not None and value.id != request.value:
            names.setdefault(f"d{named.name}", gradient.clone())
    return names


class Copies:
    """Numbers of the finished run: values as they were made, and gradients of a pass."""

    def __init__(self, last: run.FinishedRun) -> None:
        self._tape: Tape = last.tape
        self._kept = last.recorder.log.snapshots
        self._snapshots = {v.id: v.snapshot for v in last.tape.values}

    def value(self, value: int) -> torch.Tensor | None:
        """Return a value's numbers; None if they are gone."""
        return self._numbers(self._snapshots.get(value))

    def gradient(self, value: Value, number: int) -> torch.Tensor | None:
        """Return the gradient that a pass brought to a value; None if it brought none.

        Raises:
            NotComparable: the numbers were dropped.
        """
        snapshot = arrived_snapshot(self._tape, value, number)
        found = self._numbers(snapshot)
        if snapshot is not None and found is None:
            raise NotComparable(
                f"The gradient of {value.name} is too big: its numbers were dropped"
            )
        return found

    def _numbers(self, snapshot: int | None) -> torch.Tensor | None:
        kept = self._kept[snapshot] if snapshot is not None else None
        if isinstance(kept, torch.Tensor):
            return kept.detach()
        known = self._tape.snapshots[snapshot] if snapshot is not None else None
        array = known.array() if known is not None else None
        if known is None or array is None:
            return None
        return torch.from_numpy(array.copy()).to(getattr(torch, known.dtype))


def arrived_snapshot(tape: Tape, value: Value, number: int) -> int | None:
    """Return the snapshot of the gradient that a pass brought to a value, summed over its uses."""
    found: int | None = None
    row = tape.passes[number]
    for target, result in zip(row.inputs, row.results, strict=False):
        if target == ((value.id, 0) if value.node is None else (value.node, value.output_nr)):
            found = next((v.snapshot for v in tape.values if v.id == result), None)
    if found is not None:
        return found
    if value.node is None:
        sent = [a.sent for a in tape.accumulations if a.run == number and a.leaf == value.id]
        return sent[-1] if sent else None
    for execution in tape.executions:
        if (execution.run, execution.node) == (number, value.node):
            received = execution.received
            return received[value.output_nr] if value.output_nr < len(received) else None
    return None


def as_tensor(own: object, like: torch.Tensor) -> torch.Tensor:
    """Return a number, list or array as a tensor; a tensor unchanged.

    Raises:
        NoGradient: it is none of these.
    """
    if isinstance(own, torch.Tensor):
        return own.detach()
    if isinstance(own, bool | int | float | complex | list | tuple | np.ndarray | np.generic):
        try:
            exact = torch.as_tensor(
                own, dtype=torch.complex128 if like.is_complex() else torch.float64
            )
        except (TypeError, ValueError, RuntimeError, OverflowError) as error:
            raise NoGradient(f"This is no tensor: {str(error).splitlines()[0]}") from error
        return exact
    raise NoGradient(_kind_problem(own))


def _kind_problem(own: object) -> str:
    kind = "None" if own is None else f"a {type_name(type(own))}"
    return f"This is {kind}; a gradient is a number or a tensor"


def compare(
    name: str, value: int, own: object, true: torch.Tensor | None, is_typed: bool = False
) -> HandRow:
    """Return how a gradient by hand compares with autograd's."""
    if true is None:
        return HandRow(name, value, "none")
    try:
        mine = as_tensor(own, true)
    except NoGradient:
        return HandRow(name, value, "kind", true_shape=tuple(true.shape))
    shapes = tuple(mine.shape), tuple(true.shape)
    count = true.numel()
    # A single typed number stands for all elements, and brackets around one are not typed.
    loose = not isinstance(own, torch.Tensor) and (mine.numel() == 1 or count == 1)
    if shapes[0] != shapes[1] and not (loose and mine.numel() in (1, count)):
        return HandRow(name, value, "shape", own_shape=shapes[0], true_shape=shapes[1])
    mine = mine.expand_as(true) if mine.numel() == 1 and count != 1 else mine.reshape(true.shape)
    is_tensor = isinstance(own, torch.Tensor)
    dtypes = _names(mine, true) if is_tensor and mine.dtype != true.dtype else ("", "")
    row = HandRow(name, value, "equal", entries=count, true_shape=shapes[1], dtypes=dtypes)
    return _numbers(row, mine, true, TYPED if is_typed else COMPUTED)


def _numbers(row: HandRow, mine: torch.Tensor, true: torch.Tensor, tolerance: float) -> HandRow:
    """Return the row with the comparison of two tensors of one shape."""
    wide = torch.complex128 if true.is_complex() or mine.is_complex() else torch.float64
    a, b = mine.to(wide).cpu(), true.to(wide).cpu()
    unequal = ~((a == b) | (a.isnan() & b.isnan()))
    differ = int(unequal.sum())
    if not differ:
        return replace(row, verdict="close" if row.dtypes[0] else "equal")
    is_close = _is_close(mine, true, tolerance)
    off = unequal & ~((a - b).abs() <= tolerance * b.abs() + 1e-6)
    flat = int((unequal if is_close or not off.any() else off).reshape(-1).long().argmax())
    shape = tuple(true.shape)
    return replace(
        row,
        verdict="close" if is_close else "differs",
        at=tuple(int(i) for i in np.unravel_index(flat, shape)) if shape else (),
        own=float(a.reshape(-1)[flat].real),
        true=float(b.reshape(-1)[flat].real),
        differ=differ,
        largest=float((a - b).abs().nan_to_num(float("inf")).max()),
        own_shape=shape,
    )


def _names(*tensors: torch.Tensor) -> tuple[str, str]:
    first, second = (str(t.dtype).removeprefix("torch.") for t in tensors)
    return first, second


def _is_close(own: torch.Tensor, true: torch.Tensor, tolerance: float = COMPUTED) -> bool:
    """Return whether all elements agree; whole numbers that were typed agree exactly."""
    if own.shape != true.shape:
        if own.numel() != 1 or own.dtype != torch.float64:
            return False
        own = own.expand_as(true)
    wide = torch.complex128 if own.is_complex() or true.is_complex() else torch.float64
    a, b = own.to(wide).cpu(), true.to(wide).cpu()
    if tolerance == TYPED and not wide.is_complex and _is_whole(a) and _is_whole(b):
        tolerance = 1e-6
    scale = float(b.abs().nan_to_num(0.0, 0.0, 0.0).max()) if b.numel() else 0.0
    small = 1e-6 * scale if tolerance == COMPUTED else 1e-6
    return bool(torch.allclose(a, b, rtol=tolerance, atol=small, equal_nan=True))


def _is_whole(t: torch.Tensor) -> bool:
    return bool((t == t.round()).all())
