"""Check a gradient by finite differences: run the program again with one element changed.

The program is rerun up to the backward pass in question, once with the leaf's element a step
higher and once a step lower, and again with half the step; the same seed makes all else equal. The
difference of the root's value, weighted by the pass's own seed, is the numeric derivative. Source:
central differences with step cbrt(machine epsilon), Numerical Recipes 5.7.
"""

from dataclasses import dataclass

import torch

from gradscribe.engine.protocol.messages import Check, Checked
from gradscribe.engine.protocol.tape import Accumulation, Tape, Value
from gradscribe.engine.run import run


class NotComparable(Exception):
    """No comparison is possible; the message is for the user."""


@dataclass
class _Target:
    value: Value
    accumulation: Accumulation
    autograd: complex
    at: complex


def check(request: Check) -> Checked:
    """Compare a leaf element's gradient by autograd with central differences.

    ``agrees`` allows for the error of the differences themselves, estimated from two step sizes,
    and for rounding in the leaf's dtype. A complex element is nudged along both axes; autograd's
    gradient is ∂L/∂a + i ∂L/∂b there.
    """
    last = run.last_run
    try:
        if last is None:
            raise NotComparable("Nothing has run yet")
        if last.request.run_id != request.run_id:
            raise NotComparable("The program ran again since; run it to its end and check again")
        target = _target(last.tape, request)
        return _compare(last, request, target)
    except NotComparable as reason:
        return Checked(request.run_id, request.value, request.index, 0, 0, 0, False, str(reason))


def _target(tape: Tape, request: Check) -> _Target:
    value = next((v for v in tape.values if v.id == request.value), None)
    if value is None or not value.is_leaf:
        raise NotComparable("Only a leaf can be checked")
    accumulation = next((a for a in tape.accumulations if a.leaf == request.value), None)
    if accumulation is None or accumulation.sent is None or value.snapshot is None:
        raise NotComparable("This leaf received no gradient")
    if value.dtype not in _DTYPES:
        raise NotComparable(f"A {value.dtype} leaf is too coarse to check")
    numbers = tape.snapshots[accumulation.sent].array()
    values = tape.snapshots[value.snapshot].array()
    if numbers is None or values is None:
        raise NotComparable("This leaf is too big to check here")
    if not 0 <= request.index < numbers.size:
        raise NotComparable(f"There is no element {request.index}")
    at = complex(values.reshape(-1)[request.index])
    return _Target(value, accumulation, complex(numbers.reshape(-1)[request.index]), at)


_DTYPES = ("float16", "bfloat16", "float32", "float64", "complex64", "complex128")


def _compare(last: run.FinishedRun, request: Check, target: _Target) -> Checked:
    machine = torch.finfo(getattr(torch, target.value.dtype)).eps
    step = machine ** (1 / 3) * max(1.0, abs(target.at))
    axes = (1, 1j) if target.value.dtype.startswith("complex") else (1,)
    numeric, error, size = 0j, 0.0, 0.0
    for axis in axes:
        wide, reach = _difference(last, request, target, step * axis)
        narrow, _ = _difference(last, request, target, step / 2 * axis)
        numeric += narrow * axis
        # The error of a central difference falls by four with half the step.
        error += abs(wide - narrow) * 4 / 3
        size = max(size, reach)
    scale = max(abs(numeric), abs(target.autograd))
    tolerance = error + 8 * machine * size / step + (1e-4 + 4 * machine) * scale
    return Checked(
        request.run_id,
        request.value,
        request.index,
        target.autograd.real,
        numeric.real,
        step,
        abs(numeric - target.autograd) <= tolerance,
        tolerance=tolerance,
        imaginary=(target.autograd.imag, numeric.imag) if len(axes) > 1 else None,
    )


def _difference(
    last: run.FinishedRun, request: Check, target: _Target, step: complex
) -> tuple[float, float]:
    """Return the central difference quotient, and the size of the root's value."""
    # The steps as rounded to the dtype: in bfloat16 rounding changes them considerably.
    up, down = (_rounded(target, sign * step) for sign in (1, -1))
    high = _root(last, request, target, up)
    low = _root(last, request, target, down)
    return (high - low) / abs(up - down), max(abs(high), abs(low))


def _rounded(target: _Target, step: complex) -> complex:
    dtype = getattr(torch, target.value.dtype)
    at = target.at + step
    there = torch.tensor(at if dtype.is_complex else at.real, dtype=dtype)
    return complex(there.item()) - target.at


def _root(last: run.FinishedRun, request: Check, target: _Target, nudge: complex) -> float:
    asked = last.request
    recorder = run.new_recorder(asked)
    recorder.tensors.nudge = (target.value.id, request.index, nudge)
    recorder.backward.stop_at_pass = target.accumulation.run
    done = run.perform(asked, recorder)
    recorder.release()
    if done.error is not None:
        raise NotComparable(done.error.message)
    if not recorder.backward.reached_roots:
        raise NotComparable("The program took another path this time")
    row = last.recorder.log.passes[target.accumulation.run]
    total = 0.0
    for root, seed in zip(recorder.backward.reached_roots, row.seeds, strict=True):
        kept = last.recorder.log.snapshots[seed] if seed is not None else None
        weight = kept if isinstance(kept, torch.Tensor) else torch.ones_like(root)
        total += _weighted(root.detach(), weight)
    return total


def _weighted(root: torch.Tensor, weight: torch.Tensor) -> float:
    """Return the real part of the sum of root times conjugate seed, in double precision."""
    wide = torch.complex128 if root.is_complex() else torch.float64
    return float((root.to(wide) * weight.to(wide).conj()).sum().real)
