"""torch's own operator suite, run with and without the recorder.

For every sample of every differentiable operator: the results, the leaves' gradients and any
exception must be the same bit for bit; at every backward node the shares that arrived must add up
to what the node received; every node must be known to the op that made it.
"""

import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import torch
from torch.utils._pytree import tree_leaves, tree_map

import gradscribe as gs
from gradscribe.engine.record.recorder import Recorder
from gradscribe.engine.record.values.tensors import same_elements

Outcome = tuple[list[torch.Tensor], list[torch.Tensor | None], str]


UNSTEADY = {
    "linalg.lstsq": "LAPACK's last digits depend on where its buffers lie; plain runs differ too"
}
"""Operators of which nothing can be said where numbers differ, each with its reason."""


@dataclass
class Report:
    """Comparisons of an operator, and those that differ."""

    name: str
    samples: int = 0
    refused: int = 0
    """Samples that plain torch itself rejects."""
    unsteady: int = 0
    """Samples of an operator in `UNSTEADY` that differed."""
    reason: str = ""
    """Why nothing can be said of those."""
    sums: int = 0
    many: int = 0
    """Of `sums`, those with more than one share."""
    unmapped: list[str] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)


def operators() -> list[object]:
    """Return the operators that have a gradient."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from torch.testing._internal.common_methods_invocations import op_db
    return [op for op in op_db if op.supports_autograd]


def fresh(thing: object) -> object:
    """Return a copy of a sample's argument; leaves stay leaves."""

    def copy(t: object) -> object:
        if not isinstance(t, torch.Tensor):
            return t
        return t.detach().clone().requires_grad_(t.requires_grad)

    return tree_map(copy, thing)


def run(op: Callable[..., object], sample: object, twice: bool, inplace: bool) -> Outcome:
    """Run one sample forward and backward: results, gradients, exception."""
    args = fresh((sample.input, sample.args, sample.kwargs))
    leaves = [t for t in tree_leaves(args) if isinstance(t, torch.Tensor) and t.requires_grad]
    given, rest, keywords = args
    torch.manual_seed(1)
    results: list[torch.Tensor] = []
    try:
        if inplace:
            given = given.clone()
        out = op(given, *rest, **keywords)
        results = [t for t in tree_leaves(out) if isinstance(t, torch.Tensor)]
        roots = [t for t in results if t.requires_grad]
        if roots:
            seeds = [torch.rand_like(t) for t in roots]
            if twice:
                grads = torch.autograd.grad(
                    roots, leaves, seeds, create_graph=True, allow_unused=True
                )
                again = [g for g in grads if g is not None and g.requires_grad]
                if again:
                    torch.autograd.backward(again, [torch.rand_like(g) for g in again])
            else:
                torch.autograd.backward(roots, seeds)
    except (RuntimeError, NotImplementedError, ValueError, TypeError) as error:
        return results, [t.grad for t in leaves], f"{type(error).__name__}: {error}"
    return [t.detach() for t in results], [t.grad for t in leaves], ""


def same(a: Outcome, b: Outcome) -> bool:
    """Tell whether two outcomes are equal bit for bit."""
    return (
        a[2] == b[2]
        and len(a[0]) == len(b[0])
        and all(_equal(x, y) for x, y in zip(a[0], b[0], strict=True))
        and all(_equal(x, y) for x, y in zip(a[1], b[1], strict=True))
    )


def _equal(a: torch.Tensor | None, b: torch.Tensor | None) -> bool:
    if a is None or b is None:
        return a is b
    a, b = a.detach(), b.detach()
    if a.layout is not torch.strided:
        a, b = a.to_dense(), b.to_dense()
    return same_elements(a, b)


def check(
    info: object,
    dtype: torch.dtype,
    *,
    twice: bool = False,
    inplace: bool = False,
    most: int = 10**6,
    by_api: bool = False,
) -> Report:
    """Compare every sample of one operator; ``twice`` takes the gradient of the gradient too.

    ``by_api`` records in the user's own way, by ``with gs.record()``, whose tape is assembled, too.
    """
    report = Report(info.name + ("." + info.variant_test_name if info.variant_test_name else ""))
    op = info.inplace_variant if inplace else info.op
    for number, sample in enumerate(info.sample_inputs("cpu", dtype, requires_grad=True)):
        if number >= most:
            break
        plain = run(op, sample, twice, inplace)
        if plain[2]:
            report.refused += 1
        recorder = None if by_api else Recorder("", __file__)
        with gs.record() if recorder is None else recorder as tape:
            recorded = run(op, sample, twice, inplace)
        report.samples += 1
        if not same(plain, recorded):
            if info.name in UNSTEADY:
                report.unsteady, report.reason = report.unsteady + 1, UNSTEADY[info.name]
            else:
                report.wrong.append(f"sample {number}: {plain[2] or 'numbers'} | {recorded[2]}")
        if recorder is not None:
            _examine(recorder, report, number, twice=twice)
        elif isinstance(tape, gs.RunTape):
            assert not tape.data.truncated, tape.data.truncated
            report.sums += sum(len(execution.received) for execution in tape.data.executions)
    return report


def _examine(recorder: Recorder, report: Report, number: int, twice: bool) -> None:
    log = recorder.log
    assert not log.truncated, log.truncated
    recorder.passes.process_notes()
    arrived: dict[tuple[int, int, int], list[int]] = {}
    for edge in log.edges:
        if edge.gradient is not None:
            key = (edge.target, edge.input_nr, edge.run)
            arrived.setdefault(key, []).append(edge.gradient)
    for execution in log.executions:
        for nr, snapshot in enumerate(execution.received):
            if snapshot is None:
                continue
            report.sums += 1
            shares = arrived.get((execution.node, nr, execution.run), [])
            report.many += len(shares) > 1
            if execution.hooked or not shares or not _adds_up(log.snapshots, snapshot, shares):
                report.wrong.append(f"sample {number}: the shares do not add up")
    if not twice:
        ran = {e.node for e in log.executions}
        report.unmapped += [n.kind.name for n in log.nodes if n.op is None and n.id in ran]


def _adds_up(snapshots: list[object], snapshot: int, shares: list[int]) -> bool:
    tensors = [snapshots[i] for i in [snapshot, *shares]]
    if not all(isinstance(t, torch.Tensor) for t in tensors):
        return True
    dense = [t if t.layout is torch.strided else t.to_dense() for t in tensors]
    total = dense[1]
    for t in dense[2:]:
        total = total + t
    return same_elements(total, dense[0])


def reports(
    dtype: torch.dtype,
    *,
    twice: bool = False,
    inplace: bool = False,
    most: int = 10**6,
    names: frozenset[str] | None = None,
    by_api: bool = False,
) -> Iterator[Report]:
    """Yield a report for every operator that has a gradient in ``dtype``."""
    for info in operators():
        if names is not None and info.name not in names:
            continue
        if dtype not in info.supported_backward_dtypes("cpu"):
            continue
        if twice and not info.supports_gradgrad:
            continue
        if inplace and info.inplace_variant is None:
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield check(info, dtype, twice=twice, inplace=inplace, most=most, by_api=by_api)
