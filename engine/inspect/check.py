"""Check a gradient by finite differences: run the program again with one element changed.

The program is rerun up to the backward pass in question, with the value's element as it was, a
step higher and a step lower, and again with half the step; the same seed makes all else equal. The
value may be a leaf or the result of an op: it is changed as soon as it exists, and the rest of the
program goes on from there. The difference of the root's value, weighted by the pass's own seed, is
the numeric derivative. Source: central differences with step cbrt(machine epsilon), Numerical
Recipes 5.7.
"""

import cmath
from dataclasses import dataclass
from typing import NamedTuple

import torch

from gradscribe.engine.inspect.sharing import NotComparable, cut_line, needs_own_memory
from gradscribe.engine.protocol.messages import Check, Checked
from gradscribe.engine.protocol.tape import Tape, Value
from gradscribe.engine.record.values.nudges import Nudge
from gradscribe.engine.run import run


@dataclass
class _Target:
    value: Value
    run: int
    """Index of the pass."""
    autograd: complex
    at: complex
    own_memory: bool
    passes: int
    """Number of passes that brought a gradient."""
    is_older: bool
    """True if it is an earlier version of the leaf asked for, which got no gradient itself."""


class _Slopes(NamedTuple):
    """Difference quotients around the value: central, to the left, to the right."""

    central: float
    left: float
    right: float
    size: float
    """The largest size of the root's value."""


def check(request: Check) -> Checked:
    """Compare the gradient of a value's element by autograd with central differences.

    ``agrees`` allows for the error of the differences themselves, estimated from two step sizes,
    for rounding in the value's dtype, and for a kink, where each slope between those of its sides
    is a gradient. A complex element is nudged along both axes; autograd's gradient is
    ∂L/∂a + i ∂L/∂b there.
    """
    last = run.last_run
    try:
        if last is None:
            raise NotComparable("Nothing has run yet")
        if last.request.run_id != request.run_id:
            raise NotComparable("The program ran again since; run it to its end and check again")
        target = _target(last, request)
        return _compare(last, request, target)
    except NotComparable as reason:
        return Checked(request.run_id, request.value, request.index, 0, 0, 0, False, str(reason))


def _target(last: run.FinishedRun, request: Check) -> _Target:
    tape = last.tape
    value = next((v for v in tape.values if v.id == request.value), None)
    if value is None:
        raise NotComparable("There is no such value in this run")
    value = _last_with_gradient(tape, value)
    arrived = _gradients(tape, value)
    if not arrived or value.snapshot is None:
        raise NotComparable(
            "This leaf received no gradient" if value.is_leaf else "It received no gradient"
        )
    if value.dtype not in _DTYPES:
        raise NotComparable(f"A {value.dtype} tensor is too coarse to check")
    # A leaf adds up what all passes bring; the gradient of any other value is that of the last.
    number, gradient = arrived[0 if value.is_leaf else -1]
    own_memory = needs_own_memory(tape, value, number)
    sent = _element(last, gradient, request.index)
    at = _element(last, value.snapshot, request.index)
    if not cmath.isfinite(at):
        raise NotComparable(f"This number is {at.real}, which has no neighbours")
    older = value.id != request.value
    return _Target(value, number, sent, at, own_memory, len(arrived), older)


_DTYPES = ("float16", "bfloat16", "float32", "float64", "complex64", "complex128")


def _gradients(tape: Tape, value: Value) -> list[tuple[int, int]]:
    """Return the passes that reached a value, with the snapshots of the gradients they brought."""
    if value.is_leaf:
        added = (a for a in tape.accumulations if a.leaf == value.id)
        return [(a.run, a.sent) for a in added if a.sent is not None]
    ran = (e for e in tape.executions if e.node == value.node)
    found = ((e.run, e.received[value.output_nr : value.output_nr + 1]) for e in ran)
    return [(number, sent[0]) for number, sent in found if sent and sent[0] is not None]


def _last_with_gradient(tape: Tape, value: Value) -> Value:
    """Return a value, or of a leaf that was updated since the latest version with a gradient."""
    if not value.is_leaf:
        return value
    accumulated = {a.leaf for a in tape.accumulations if a.sent is not None}
    versions = [v for v in tape.values if v.tensor == value.tensor and v.id <= value.id]
    return next((v for v in reversed(versions) if v.id in accumulated), value)


def _element(last: run.FinishedRun, snapshot: int, index: int) -> complex:
    """Return one number of a snapshot, from the copy if the tape has a summary."""
    kept = last.recorder.log.snapshots[snapshot]
    numbers = last.tape.snapshots[snapshot].array()
    size = last.tape.snapshots[snapshot].numel
    if not 0 <= index < size:
        raise NotComparable(f"There is no element {index}")
    if numbers is not None:
        return complex(numbers.reshape(-1)[index])
    if not isinstance(kept, torch.Tensor):
        raise NotComparable("Its numbers were dropped: it is too big to check here")
    return complex(kept.reshape(-1)[index].item())


def _compare(last: run.FinishedRun, request: Check, target: _Target) -> Checked:
    machine = torch.finfo(getattr(torch, target.value.dtype)).eps
    step = machine ** (1 / 3) * max(1.0, abs(target.at))
    axes = (1, 1j) if target.value.dtype.startswith("complex") else (1,)
    base = _root(last, request, target, target.at)
    _demand_same_root(last, target, base, machine)
    numeric, error, size, kink = 0j, 0.0, 0.0, ""
    for axis in axes:
        wide = _slopes(last, request, target, step * axis, base)
        narrow = _slopes(last, request, target, step / 2 * axis, base)
        numeric += narrow.central * axis
        # The error of a central difference falls by four with half the step.
        error += abs(wide.central - narrow.central) * 4 / 3
        size = max(size, wide.size)
        if len(axes) == 1:
            kink = _kink(wide, narrow, target.autograd.real, 16 * machine * size / step)
    scale = max(abs(numeric), abs(target.autograd))
    tolerance = error + 8 * machine * size / step + (1e-4 + 4 * machine) * scale
    smooth = abs(numeric - target.autograd) <= tolerance
    return Checked(
        request.run_id,
        request.value,
        request.index,
        target.autograd.real,
        numeric.real,
        step,
        smooth or bool(kink),
        tolerance=tolerance,
        imaginary=(target.autograd.imag, numeric.imag) if len(axes) > 1 else None,
        note=_note(last.tape, target, smooth, kink),
    )


def _note(tape: Tape, target: _Target, smooth: bool, kink: str) -> str:
    """Return what explains a difference, and which of several passes was compared."""
    notes = list[str]()
    if not smooth and kink:
        notes.append(kink)
    elif not smooth:
        line = cut_line(tape, target.value, target.run)
        if any(e.hooked for e in tape.executions if e.run == target.run):
            notes.append("A hook changed a gradient of this pass")
        if line is not None:
            notes.append(f"Autograd does not follow line {line}; differences do")
    if target.is_older:
        notes.append("With its numbers before the last update")
    if target.passes > 1:
        notes.append(
            f"In the {'first' if target.value.is_leaf else 'last'} of {target.passes} backward "
            "passes that reach it"
        )
    return ". ".join(notes)


def _kink(wide: _Slopes, narrow: _Slopes, autograd: float, noise: float) -> str:
    """Return a sentence if the root bends sharply here and autograd has a slope of its sides.

    On a smooth curve the slopes of both sides approach each other as the step shrinks: at half the
    step they are half as far apart.
    """
    scale = max(abs(narrow.left), abs(narrow.right), abs(autograd))
    gap = abs(narrow.left - narrow.right)
    if gap <= max(0.1 * scale, noise):
        return ""
    near = 0.02 * scale + noise
    sides = (wide.left, narrow.left), (wide.right, narrow.right)
    on_side = any(abs(a - b) <= near and abs(b - autograd) <= near for a, b in sides)
    low, high = sorted((narrow.left, narrow.right))
    lasting = gap > 0.9 * abs(wide.left - wide.right)
    if on_side or (lasting and low - near <= autograd <= high + near):
        return f"A kink: the slope is {narrow.left:.3g} below and {narrow.right:.3g} above"
    return ""


def _slopes(
    last: run.FinishedRun, request: Check, target: _Target, step: complex, base: float
) -> _Slopes:
    """Return the difference quotients for one step."""
    # The steps as rounded to the dtype: in bfloat16 rounding changes them considerably.
    above, below = (_rounded(target, sign * step) for sign in (1, -1))
    high = _root(last, request, target, above)
    low = _root(last, request, target, below)
    up, down = abs(above - target.at), abs(target.at - below)
    size = max(abs(high), abs(low))
    return _Slopes((high - low) / abs(above - below), (base - low) / down, (high - base) / up, size)


def _rounded(target: _Target, step: complex) -> complex:
    dtype = getattr(torch, target.value.dtype)
    at = target.at + step
    there = torch.tensor(at if dtype.is_complex else at.real, dtype=dtype)
    return complex(there.item())


def _root(last: run.FinishedRun, request: Check, target: _Target, to: complex) -> float:
    """Return the root's value, weighted by its seed, with the element set to a number."""
    asked = last.request
    recorder = run.new_recorder(asked)
    nudge = Nudge(target.value.id, request.index, to, target.own_memory)
    recorder.tensors.nudge = nudge
    recorder.backward.stop_at_pass = target.run
    done = run.perform(asked, recorder)
    recorder.release()
    if done.error is not None:
        raise NotComparable(done.error.message)
    if nudge.problem:
        raise NotComparable(nudge.problem)
    if not recorder.backward.reached_roots:
        raise NotComparable("The program took another path this time")
    if not nudge.was_applied:
        raise NotComparable("It is made during the backward pass itself, not before")
    if nudge.before != target.at and nudge.before == nudge.before:
        raise NotComparable("The program makes other numbers each time it runs")
    return _weighted_roots(last, target.run, recorder.backward.reached_roots)


def _weighted_roots(last: run.FinishedRun, number: int, roots: list[torch.Tensor]) -> float:
    row = last.recorder.log.passes[number]
    total = 0.0
    for root, seed in zip(roots, row.seeds, strict=True):
        kept = last.recorder.log.snapshots[seed] if seed is not None else None
        weight = kept if isinstance(kept, torch.Tensor) else torch.ones_like(root)
        total += _weighted(root.detach(), weight)
    return total


def _demand_same_root(last: run.FinishedRun, target: _Target, base: float, machine: float) -> None:
    """Raise if the program, with nothing changed, gives another result than it recorded."""
    values = {v.id: v for v in last.tape.values}
    recorded = list[torch.Tensor]()
    for root in last.tape.passes[target.run].roots:
        number = values[root].snapshot if root is not None and root in values else None
        kept = last.recorder.log.snapshots[number] if number is not None else None
        if not isinstance(kept, torch.Tensor):
            return
        recorded.append(kept)
    before = _weighted_roots(last, target.run, recorded)
    if not cmath.isfinite(before):
        raise NotComparable(f"The result is {before}, which has no differences")
    if abs(before - base) > 64 * machine * max(abs(before), abs(base)):
        raise NotComparable("The program gives another result each time it runs")


def _weighted(root: torch.Tensor, weight: torch.Tensor) -> float:
    """Return the real part of the sum of root times conjugate seed, in double precision."""
    wide = torch.complex128 if root.is_complex() else torch.float64
    return float((root.to(wide) * weight.to(wide).conj()).sum().real)
