"""Comparison of custom Functions' backward with central differences, after a run.

What is called is a copy of the Function, made from its source text (`isolated_function`), with
copies of the inputs of the program's own calls in double precision. So the check neither sees nor
changes anything of the program, and is reported only where the gradient that the run sent is wrong.

Left alone is what differs on purpose: a result without a slope (a straight-through estimator, a
surrogate gradient), a result equal to an input (a reversed, scaled or clipped gradient), a backward
that is not linear in the gradient that arrives, and elements at which the slope jumps.
Source: central differences, Numerical Recipes 5.7.
"""

import ast
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from time import monotonic
from typing import NamedTuple

import torch

from gradscribe.engine.protocol.tape import FunctionCheck, Op, Tape
from gradscribe.engine.run import watchdog
from gradscribe.engine.run.custom_functions.isolated_function import (
    NotIsolated,
    custom_functions,
    isolated_function,
)
from gradscribe.engine.sandbox.builtins import use_original_builtins

use_original_builtins(globals())

LIMIT_S = 0.3
"""Time limit for all checks of a run."""
MAX_CLASSES, MAX_CALLS = 8, 3
MAX_ELEMENTS = 24
"""Elements of an input that are nudged; of larger inputs as many, spread evenly."""
MAX_COPIED = 100_000
STEP, TOLERANCE = 1e-4, 0.01
"""Relative step; share by which differences and backward may differ, as approximations do."""
_ROUNDING = 1e-6

Apply = Callable[..., object]
Tensors = list[torch.Tensor]


def function_checks(
    tape: Tape, source: str, copies: Sequence[object] = ()
) -> tuple[FunctionCheck, ...]:
    """Return the custom Functions whose backward was wrong in a run, at most a check per input.

    ``copies``: the recorder's copies of tensors, for those of which the tape has a summary only.
    """
    tree = _parsed(source)
    known = custom_functions(tree) if tree is not None else {}
    found: list[FunctionCheck] = []
    if tree is None or not known:
        return ()
    with suppress(watchdog.Interrupted), watchdog.InterruptGuard(LIMIT_S, is_last=True):
        # A list grows, so that what was found before the limit remains.
        found.extend(_checks(_Run(tape, copies), tree, known))
    return tuple(found)


def _parsed(source: str) -> ast.Module | None:
    if "Function" not in source:
        return None
    try:
        return ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _checks(
    run: "_Run", tree: ast.Module, known: dict[str, ast.ClassDef]
) -> Iterator[FunctionCheck]:
    names = [name for name in known if name in run.calls]
    end = monotonic() + LIMIT_S
    for name in names[:MAX_CLASSES]:
        with suppress(Exception):
            apply = isolated_function(tree, name).apply
            count = _argument_count(known[name])
            for op in run.calls[name][:MAX_CALLS]:
                if monotonic() > end:
                    return
                found = list(_check(run, op, apply, count))
                yield from found
                if found:
                    break


def _argument_count(node: ast.ClassDef) -> int:
    """Return the number of arguments that forward takes besides the context."""
    (forward,) = (m for m in node.body if isinstance(m, ast.FunctionDef) and m.name == "forward")
    separate = any(isinstance(m, ast.FunctionDef) and m.name == "setup_context" for m in node.body)
    if forward.args.vararg or forward.args.kwonlyargs or forward.args.kwarg:
        raise NotIsolated(node.name)
    return len(forward.args.posonlyargs) + len(forward.args.args) - (not separate)


class _Run:
    """The calls of custom Functions on a tape, with their inputs and gradients."""

    def __init__(self, tape: Tape, copies: Sequence[object] = ()) -> None:
        self.tape, self._copies = tape, copies
        self.values = {v.id: v for v in tape.values}
        self.arrived: dict[int, tuple[int | None, ...]] = {}
        for execution in tape.executions:
            if not execution.hooked:
                self.arrived.setdefault(execution.node, execution.received)
        self.calls: dict[str, list[int]] = {}
        for index, op in enumerate(tape.ops):
            if op.node in self.arrived and op.phase == "forward":
                self.calls.setdefault(op.op, []).append(index)

    def arguments(self, op: Op) -> list[object]:
        """Return a call's arguments: tensors as leaves in double precision, and plain literals."""
        return [
            self._tensor(a.value) if a.value is not None else ast.literal_eval(a.text)
            for a in op.args
        ]

    def _tensor(self, number: int) -> torch.Tensor:
        value = self.values[number]
        fresh = self._numbers(value.snapshot)
        return fresh.requires_grad_(value.requires_grad) if fresh.is_floating_point() else fresh

    def _numbers(self, snapshot: int | None) -> torch.Tensor:
        array = self.tape.snapshots[snapshot].array() if snapshot is not None else None
        copy = self._copies[snapshot] if snapshot is not None and self._copies else None
        if array is None and isinstance(copy, torch.Tensor) and copy.numel() <= MAX_COPIED:
            array = copy.detach().cpu().numpy()
        if array is None or array.dtype.kind == "c":
            raise NotIsolated("numbers")
        return torch.tensor(array.astype("f8") if array.dtype.kind == "f" else array.copy())

    def gradients(self, op: Op) -> list[torch.Tensor | None]:
        """Return the gradients that arrived at a call's results."""
        assert op.node is not None
        received = self.arrived[op.node]
        return [self._numbers(s) if s is not None else None for s in received]


class _Function(NamedTuple):
    """A call as a function of those of its inputs that require a gradient."""

    apply: Apply
    arguments: list[object]
    places: list[int]
    """Positions of the inputs that require a gradient, among the arguments."""

    def results(self, inputs: Tensors) -> Tensors:
        """Return the results; random numbers are the same in each call."""
        given = list(self.arguments)
        for place, tensor in zip(self.places, inputs, strict=True):
            # A Function may write into its input, which a leaf does not allow.
            given[place] = tensor.clone()
        torch.manual_seed(0)
        out = self.apply(*given)
        return [t for t in (out if isinstance(out, tuple) else (out,)) if _is_double(t)]

    def backward(self, inputs: Tensors, seeds: Tensors) -> list[torch.Tensor | None]:
        """Return the gradients that backward gives for the gradients ``seeds`` of the results."""
        leaves = [t.detach().clone().requires_grad_() for t in inputs]
        with torch.enable_grad():
            pairs = [
                (out, seed)
                for out, seed in zip(self.results(leaves), seeds, strict=True)
                if out.requires_grad
            ]
        outs, given = [out for out, _ in pairs], [seed for _, seed in pairs]
        return list(torch.autograd.grad(outs, leaves, given, allow_unused=True))


def _is_double(thing: object) -> bool:
    return isinstance(thing, torch.Tensor) and thing.dtype is torch.float64


def _check(run: _Run, index: int, apply: Apply, count: int) -> Iterator[FunctionCheck]:
    op = run.tape.ops[index]
    if len(op.args) != count or any(a.keyword for a in op.args):
        return
    arguments = run.arguments(op)
    places = [i for i, a in enumerate(arguments) if isinstance(a, torch.Tensor) and a.requires_grad]
    function = _Function(apply, arguments, places)
    inputs = [t for i in places if isinstance(t := arguments[i], torch.Tensor)]
    with torch.random.fork_rng(devices=[]):
        outs = function.results(inputs)
        seeds = [
            torch.zeros_like(out) if seed is None else seed
            for out, seed in zip(outs, run.gradients(op), strict=True)
        ]
        if _is_on_purpose(function, inputs, outs, seeds):
            return
        sent = function.backward(inputs, seeds)
        again = function.backward(inputs, _probe(seeds, 3))
        tables = [
            _compare(function, inputs, number, seeds, sent[number]) for number in range(len(places))
        ]
        if any(map(_passes_through, tables)):
            return
        for number, (place, rows) in enumerate(zip(places, tables, strict=True)):
            wrong = [row for row in rows if row.is_wrong]
            if not wrong:
                continue
            other, mine = again[number], sent[number]
            ignores = mine is not None and other is not None and torch.equal(mine, other)
            product = ignores and _completes(mine, seeds, rows)
            worst = max(wrong, key=lambda row: abs(row.sent - row.expected))
            yield FunctionCheck(
                index, place, worst.sent, worst.expected, _factor(rows), ignores, product
            )


def _is_on_purpose(function: _Function, inputs: Tensors, outs: Tensors, seeds: Tensors) -> bool:
    """Return whether a result equals an input, or backward is neither constant nor linear."""
    for out in outs:
        if any(
            out.numel() == t.numel() and torch.equal(out.flatten(), t.flatten()) for t in inputs
        ):
            return True
    probes = [_probe(seeds, number) for number in (1, 2)]
    both = [a + b for a, b in zip(*probes, strict=True)]
    first, second, summed, turned = (
        function.backward(inputs, given) for given in (*probes, both, [-seed for seed in probes[0]])
    )
    for a, b, c, d in zip(first, second, summed, turned, strict=True):
        if a is None or b is None or c is None or d is None:
            continue
        is_constant = all(torch.equal(a, other) for other in (b, c, d))
        if not is_constant and not (torch.allclose(a + b, c) and torch.allclose(a, -d)):
            return True
    return False


def _probe(seeds: Tensors, number: int) -> Tensors:
    """Return random gradients of the results, of both signs."""
    generator = torch.Generator().manual_seed(number)
    return [torch.randn(s.shape, generator=generator, dtype=torch.float64) for s in seeds]


def _passes_through(rows: "list[_Row]") -> bool:
    """Return whether gradients reach elements on which the result does not depend.

    A mask the wrong way round does so, too, but keeps them from the elements that need them.
    """
    through = any(row.is_flat and row.sent for row in rows)
    return through and not any(not row.is_flat and row.sent == 0 for row in rows)


class _Row(NamedTuple):
    """An element of an input: what backward sends it and what differences expect."""

    position: int
    sent: float
    expected: float
    is_wrong: bool
    is_flat: bool


def _compare(
    function: _Function, inputs: Tensors, number: int, seeds: Tensors, sent: torch.Tensor | None
) -> list[_Row]:
    """Compare the elements of an input at which the slope does not jump."""
    given = inputs[number].detach()
    flat = sent.flatten() if sent is not None else torch.zeros(given.numel(), dtype=torch.float64)
    rows = []
    base = _weighted(function, inputs, seeds)
    for position in range(0, given.numel(), max(1, -(-given.numel() // MAX_ELEMENTS))):
        at = given.flatten()[position].item()
        step = STEP * max(1e-2, abs(at))

        def moved(by: float, position: int = position) -> float:
            nudged = given.clone()
            nudged.view(-1)[position] += by
            changed = [*inputs[:number], nudged, *inputs[number + 1 :]]
            return _weighted(function, changed, seeds)

        up, down = moved(step), moved(-step)
        slopes = (up - base) / step, (base - down) / step, (up - down) / (2 * step)
        wide = (moved(8 * step) - moved(-8 * step)) / (16 * step)
        mine, slope = flat[position].item(), slopes[2]
        size = max(map(abs, (*slopes, wide)))
        noise = _ROUNDING * (1 + abs(base)) / 1e2
        # At a kink or a jump differences mean nothing.
        if not max(abs(s - slope) for s in (*slopes, wide)) <= TOLERANCE / 2 * size + noise:
            continue
        is_flat = size <= noise
        is_wrong = abs(mine - slope) > TOLERANCE * max(abs(mine), abs(slope)) + noise
        rows.append(_Row(position, mine, slope, is_wrong, is_flat))
    return rows


def _weighted(function: _Function, inputs: Tensors, seeds: Tensors) -> float:
    with torch.no_grad():
        outs = function.results(inputs)
        return sum(float((o * s).sum()) for o, s in zip(outs, seeds, strict=True))


def _factor(rows: list[_Row]) -> float | None:
    """Return sent / expected if it is the same for all elements."""
    ratios = [row.sent / row.expected for row in rows if not row.is_flat]
    first = ratios[0] if ratios else 0.0
    same = all(abs(r - first) <= TOLERANCE / 4 * abs(first) + _ROUNDING for r in ratios)
    return first if ratios and same else None


def _completes(mine: torch.Tensor | None, seeds: Tensors, rows: list[_Row]) -> bool:
    """Return whether backward times the gradient that arrives is right for each element."""
    if mine is None or len(seeds) != 1 or seeds[0].numel() not in (1, mine.numel()):
        return False
    right = seeds[0].flatten().expand(mine.numel())
    return all(
        abs(row.sent * right[row.position].item() - row.expected)
        <= TOLERANCE * abs(row.expected) + _ROUNDING
        for row in rows
    )
