"""Compare a custom Function's backward with central differences, by torch's own gradcheck.

The program is rerun up to the call in question, so that its own inputs, settings and limits apply.
Inputs are converted to double precision where the Function allows it: in float32 differences are
good for two or three digits only. Source: `torch.autograd.gradcheck`, with its defaults of step
1e-6, absolute tolerance 1e-5 and relative tolerance 1e-3.
"""

from collections.abc import Callable, Iterator
from itertools import islice
from typing import NamedTuple

import torch
from torch.autograd.gradcheck import GradcheckError

from gradscribe.engine.protocol.check_replies import MAX_COMPARED, MAX_PAIRS, MAX_WHOLE_SIDE
from gradscribe.engine.protocol.messages import Gradcheck, Gradchecked, JacobianPair
from gradscribe.engine.protocol.safe_text import type_name, without_surrogates
from gradscribe.engine.run import errors, run

WHOLE = 256
"""Elements above which torch's fast mode is used, which checks random projections."""

Function = Callable[..., object]
Tensors = tuple[torch.Tensor, ...]
TensorFunction = Callable[..., Tensors]


class _Limits(NamedTuple):
    eps: float
    atol: float
    rtol: float


_FINE, _COARSE = _Limits(1e-6, 1e-5, 1e-3), _Limits(1e-3, 1e-2, 1e-2)


class _Call(NamedTuple):
    """A call by the program: its function, and its arguments with tensors copied."""

    apply: Function
    args: tuple[object, ...]
    kwargs: dict[str, object]


def gradcheck(request: Gradcheck) -> Gradchecked:
    """Compare a custom Function's Jacobians by its backward with those by central differences."""
    last = run.last_run
    if last is None or last.request.run_id != request.run_id:
        return _not_comparable(
            request, "", "The program ran again since; check it in its newest run"
        )
    if not 0 <= request.op < len(last.tape.ops):
        return _not_comparable(request, "", "There is no such op in this run")
    name = last.tape.ops[request.op].op
    asked, found = last.request, list[Gradchecked]()
    recorder = run.new_recorder(asked)

    def compare(apply: Function, args: tuple[object, ...], kwargs: dict[str, object]) -> None:
        found.append(_compared(request, name, _Call(apply, args, kwargs)))

    recorder.ops.stop_at_function = request.op, compare
    done = run.perform(asked, recorder)
    recorder.release()
    if found:
        return found[0]
    why = (
        done.error.message if done.error is not None else "The program took another path this time"
    )
    return _not_comparable(request, name, why)


def _first_line(message: object) -> str:
    return without_surrogates(str(message).strip().split("\n")[0][: errors.MAX_MESSAGE_CHARS])


def _not_comparable(request: Gradcheck, name: str, why: str) -> Gradchecked:
    return Gradchecked(request.run_id, request.op, name, problem=why)


def _compared(request: Gradcheck, name: str, call: _Call) -> Gradchecked:
    """Check in double precision, or in the program's dtype if double is not supported."""
    refused: Exception | None = None
    for dtype in (torch.float64, None):
        tensors = [t for t in _tensors(call, dtype) if t.requires_grad]
        if not tensors:
            return _not_comparable(request, name, "None of its inputs requires a gradient")
        try:
            given, function = _function(call, dtype)
            outputs = [t for t in _outputs(function, given) if _is_real(t)]
        except Exception as error:  # noqa: BLE001 - a program's own code may raise anything
            refused = refused or error
            continue
        if dtype is not None and any(t.dtype not in _DOUBLES for t in outputs):
            continue
        return _result(request, name, given, function, dtype is not None)
    why = _first_line(refused) if refused is not None else "it has no real output"
    return _not_comparable(request, name, f"{name} cannot be called again by itself: {why}")


_DOUBLES = (torch.float64, torch.complex128)


def _is_real(t: torch.Tensor) -> bool:
    return t.is_floating_point() or t.is_complex()


def _as_leaf(t: torch.Tensor, dtype: torch.dtype | None) -> torch.Tensor:
    """Return a copy of a tensor as a new leaf, in double precision if ``dtype`` is given."""
    fresh = t.detach().clone()
    if dtype is not None and _is_real(fresh):
        fresh = fresh.to(torch.complex128 if fresh.is_complex() else dtype)
    return fresh.requires_grad_(t.requires_grad and _is_real(fresh))


def _tensors(call: _Call, dtype: torch.dtype | None) -> list[torch.Tensor]:
    every = [*call.args, *call.kwargs.values()]
    return [_as_leaf(t, dtype) for t in every if isinstance(t, torch.Tensor)]


def _function(call: _Call, dtype: torch.dtype | None) -> tuple[Tensors, TensorFunction]:
    """Return the inputs that require a gradient, and the call as a function of these alone.

    It draws the same random numbers in each call: otherwise differences compare two functions.
    """
    args = [_as_leaf(a, dtype) if isinstance(a, torch.Tensor) else a for a in call.args]
    inputs = tuple(a for a in args if isinstance(a, torch.Tensor) and a.requires_grad)

    def function(*given: torch.Tensor) -> Tensors:
        fresh: Iterator[torch.Tensor] = iter(given)
        taken = [
            # A Function may write into its input, which a leaf does not allow.
            next(fresh).clone() if isinstance(a, torch.Tensor) and a.requires_grad else a
            for a in args
        ]
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(0)
            out = call.apply(*taken, **call.kwargs)
        every = out if isinstance(out, tuple | list) else (out,)
        return tuple(t for t in every if isinstance(t, torch.Tensor) and _is_real(t))

    return inputs, function


def _outputs(function: TensorFunction, given: Tensors) -> Tensors:
    with torch.enable_grad():
        return function(*given)


def _result(
    request: Gradcheck, name: str, given: Tensors, function: TensorFunction, is_double: bool
) -> Gradchecked:
    limits = _FINE if is_double else _COARSE
    dtype = "float64" if is_double else str(given[0].dtype).removeprefix("torch.")
    problem = ""
    try:
        pairs = tuple(islice(_pairs(function, given, limits), MAX_PAIRS))
        says = _verdict(function, given, limits)
    except Exception as error:  # noqa: BLE001 - its backward may raise anything
        pairs, says = (), f"{type_name(type(error))}: {errors.error_message(error)}"
    agrees = not says and all(not pair.differ for pair in pairs)
    if says and all(not pair.differ for pair in pairs):
        problem = _first_line(says)
    return Gradchecked(request.run_id, request.op, name, dtype, limits.eps, agrees, pairs, problem)


def _verdict(function: TensorFunction, given: Tensors, limits: _Limits) -> str:
    """Return the message of torch's gradcheck; empty if it passes."""
    sizes = [t.numel() for t in (*given, *_outputs(function, given))]
    try:
        with torch.enable_grad():
            torch.autograd.gradcheck(
                function, given, **limits._asdict(), fast_mode=max(sizes) > WHOLE
            )
    except GradcheckError as objection:
        return str(objection)
    return ""


def _pairs(function: TensorFunction, given: Tensors, limits: _Limits) -> Iterator[JacobianPair]:
    """Yield for each pair of a real input and output both Jacobians, or their worst entry."""
    outputs = _outputs(function, given)
    for i, source in enumerate(given):
        if source.is_complex():
            continue
        columns = _sampled_indices(source.numel())
        moved = [_slopes(function, given, i, at, limits.eps) for at in columns]
        for o, out in enumerate(outputs):
            if out.is_complex() or not out.numel() or not source.numel():
                continue
            rows = _sampled_indices(out.numel())
            numeric = torch.stack([m[o].reshape(-1)[rows] for m in moved], 1)
            analytic = _by_backward(out, source, rows, columns)
            yield _pair(i, o, source, out, rows, columns, analytic, numeric, limits)


def _sampled_indices(size: int) -> list[int]:
    if size <= MAX_COMPARED:
        return list(range(size))
    return [round(at * (size - 1) / (MAX_COMPARED - 1)) for at in range(MAX_COMPARED)]


def _slopes(
    function: TensorFunction, given: Tensors, which: int, at: int, eps: float
) -> list[torch.Tensor]:
    """Return the central difference of every output along one element of one input."""
    sides = []
    for step in (eps, -eps):
        nudged = [t.detach().clone() for t in given]
        flat = nudged[which].reshape(-1)
        flat[at] += step
        nudged[which] = flat.reshape(nudged[which].shape)
        with torch.no_grad():
            sides.append([t.detach().double() for t in function(*nudged)])
    return [(high - low) / (2 * eps) for high, low in zip(*sides, strict=True)]


def _by_backward(
    out: torch.Tensor, source: torch.Tensor, rows: list[int], columns: list[int]
) -> torch.Tensor:
    """Return the analytic Jacobian, one row and one backward pass per element of the output."""
    found = []
    for row in rows:
        seed = torch.zeros_like(out)
        seed.reshape(-1)[row] = 1
        sent = None
        if out.requires_grad:
            (sent,) = torch.autograd.grad(out, source, seed, retain_graph=True, allow_unused=True)
        flat = torch.zeros(source.numel()) if sent is None else sent.detach().reshape(-1)
        found.append(flat.double()[columns])
    return torch.stack(found)


def _pair(
    which: int,
    output: int,
    source: torch.Tensor,
    out: torch.Tensor,
    rows: list[int],
    columns: list[int],
    analytic: torch.Tensor,
    numeric: torch.Tensor,
    limits: _Limits,
) -> JacobianPair:
    gap = (analytic - numeric).abs()
    # NaN is no agreement either.
    wrong = ~(gap <= limits.atol + limits.rtol * numeric.abs())
    worst = int(torch.where(wrong, gap.nan_to_num(torch.inf) + 1, gap).argmax())
    row, column = divmod(worst, len(columns))
    whole = len(rows) <= MAX_WHOLE_SIDE and len(columns) <= MAX_WHOLE_SIDE
    return JacobianPair(
        input=which,
        output=output,
        of_output=_place(out, rows[row]),
        of_input=_place(source, columns[column]),
        by_backward=float(analytic[row, column]),
        by_differences=float(numeric[row, column]),
        entries=gap.numel(),
        differ=int(wrong.sum()),
        backward_rows=_listed(analytic) if whole else (),
        difference_rows=_listed(numeric) if whole else (),
    )


def _place(t: torch.Tensor, flat: int) -> tuple[int, ...]:
    found: list[int] = []
    for size in reversed(t.shape):
        flat, at = divmod(flat, size)
        found.insert(0, at)
    return tuple(found)


def _listed(matrix: torch.Tensor) -> tuple[tuple[float, ...], ...]:
    return tuple(tuple(float(x) for x in row) for row in matrix)
