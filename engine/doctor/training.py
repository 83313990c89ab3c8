"""Statistics of training: loss curves, update sizes, gradients by layer, scales of data."""

import math
from itertools import takewhile
from typing import NamedTuple

import numpy as np

from gradscribe.engine.doctor.evidence import Evidence
from gradscribe.engine.doctor.snapshot_stats import norm, real, rms
from gradscribe.engine.protocol.tape import Op, Tape

_LAYERS = frozenset(
    "linear conv1d conv2d conv3d matmul mm addmm bmm mul lstm gru rnn_tanh_cell rnn_relu_cell "
    "lstm_cell gru_cell".split()
)


class LossCurve(NamedTuple):
    """Loss curve of a line that calls backward, with parameter updates in between.

    ``losses`` has those of the steps that were not recorded in full, too, ``passes`` has not.
    """

    line: int
    passes: tuple[int, ...]
    losses: tuple[float, ...]


def loss_curves(evidence: Evidence) -> list[LossCurve]:
    """Return the loss curves of lines that train: three passes or more, with updates between."""
    found = _curves(evidence.losses) if evidence.updated else []
    found = [curve for curve in found if _is_updated_between(evidence, curve)]
    return [_of_all_steps(evidence.tape, curve) for curve in found or _asked(evidence)]


def _of_all_steps(tape: Tape, curve: LossCurve) -> LossCurve:
    """Return a curve with the losses of the steps that were not recorded in full."""
    columns = [
        column
        for loop in tape.step_loops
        for column in loop.columns
        if (column.kind, column.line) == ("loss", curve.line)
    ]
    # In a line that several loops reach, or several times a step, a loss has no step of its own.
    if len(columns) != 1 or len(columns[0].numbers) < 8 * len(curve.losses):
        return curve
    return curve._replace(losses=tuple(np.frombuffer(columns[0].numbers, "<f8").tolist()))


def _is_updated_between(evidence: Evidence, curve: LossCurve) -> bool:
    """Return whether a parameter changed between a curve's first and last pass."""
    first, last = (evidence.pass_at.get(curve.passes[at], 0) for at in (0, -1))
    updates = (m for moments in evidence.leaf_events.values() for m in moments)
    return any(m.kind == "update" and first < m.position < last for m in updates)


def _curves(losses: dict[int, list[tuple[int, float]]]) -> list[LossCurve]:
    return [
        LossCurve(line, tuple(n for n, _ in rows), tuple(x for _, x in rows))
        for line, rows in losses.items()
        if len(rows) >= 3
    ]


def _asked(evidence: Evidence) -> list[LossCurve]:
    """Return the loss curves of lines that call `autograd.grad` for manual updates."""
    tape, found = evidence.tape, dict[int, list[tuple[int, float]]]()
    by_hand = {t for t, ms in evidence.leaf_events.items() if any(m.kind == "update" for m in ms)}
    asked = {
        e.run
        for e in tape.edges
        if e.target in evidence.values and evidence.values[e.target].tensor in by_hand
    }
    for number, current in enumerate(tape.passes):
        if current.kind != "grad" or current.create_graph or len(current.roots) != 1:
            continue
        if number not in asked:
            continue
        snapshot = evidence.snapshot(current.roots[0]) if current.roots[0] is not None else None
        item = snapshot.item() if snapshot is not None else None
        if isinstance(item, int | float):
            found.setdefault(current.line, []).append((number, float(item)))
    return _curves(found)


def diverged(curve: LossCurve) -> bool:
    """Return whether a loss diverged: ten times its start and still rising, or then infinite.

    NaN in a loss that had not risen before has another cause.
    """
    losses = curve.losses
    if not math.isfinite(losses[0]):
        return False
    if not all(map(math.isfinite, losses)):
        finite = [*takewhile(math.isfinite, losses)]
        grown = max(map(abs, finite)) > 10 * max(abs(losses[0]), 1e-12)
        return grown or not math.isnan(losses[len(finite)])
    start, end = abs(losses[0]), losses[-1]
    return end > 10 * max(start, 1e-12) and end > losses[0] and end >= 0.5 * max(losses)


def blew_up(evidence: Evidence) -> bool:
    """Return whether a loss grew a thousandfold over several steps while it was finite.

    Infinities or dead units after that are consequences and not findings of their own.
    """
    for curve in loss_curves(evidence):
        finite = [*takewhile(math.isfinite, curve.losses)]
        if len(finite) > 2 and abs(finite[-1]) > 1e3 * max(abs(finite[0]), 1e-12):
            return True
    return False


def update_ratios(evidence: Evidence) -> list[tuple[int, float]]:
    """Return (step, |after - before| / |before|) for each parameter that a step changed."""
    found = []
    for number, step in enumerate(evidence.tape.steps):
        for change in step.changes:
            before, after = evidence.snapshot(change.before), evidence.snapshot(change.after)
            if before is None or after is None:
                continue
            a, b = real(before), real(after)
            if a is None or b is None or a.shape != b.shape:
                continue
            size = float(np.sqrt(np.square(a).sum()))
            if size > 0:
                with np.errstate(over="ignore", invalid="ignore"):
                    found.append((number, float(np.sqrt(np.square(b - a).sum())) / size))
    return found


class LayerGradient(NamedTuple):
    """A layer's op in a pass, and the root mean square of its result's gradient."""

    op: Op
    gradient: float


def layers(evidence: Evidence, number: int) -> list[LayerGradient]:
    """Return the ops with parameters that a pass went through, in forward order."""
    tape = evidence.tape
    received = {e.node: e for e in tape.executions if e.run == number}
    found = []
    for op in tape.ops:
        if op.node not in received or op.op not in _LAYERS:
            continue
        if not any(evidence.values[i].tensor in evidence.leaves for i in op.inputs):
            continue
        index = received[op.node].received[:1]
        if index and index[0] is not None:
            found.append(LayerGradient(op, rms(tape.snapshots[index[0]])))
    return found


_DEPTH, _PASSES = 4, 3


def deep_pass(evidence: Evidence) -> tuple[int, list[LayerGradient]]:
    """Return the first of the early passes through many layers, and them; else no layers.

    None counts if a pass was differentiated again.
    """
    again = any(p.create_graph for p in evidence.tape.passes)
    for number in range(0 if again else min(len(evidence.tape.passes), _PASSES)):
        found = layers(evidence, number)
        if len(found) >= _DEPTH:
            return number, found
    return 0, []


def gradient_norms(evidence: Evidence, number: int) -> list[tuple[str, float]]:
    """Return the names of leaves that a pass sent gradients to, with the gradients' norms."""
    return [
        (evidence.values[a.leaf].name, norm(evidence.tape.snapshots[a.sent]))
        for a in evidence.tape.accumulations
        if a.run == number and a.sent is not None
    ]


class DataScale(NamedTuple):
    """Root mean squares of the largest and smallest column of a data tensor."""

    value: int
    largest: float
    smallest: float


def data_scales(evidence: Evidence) -> list[DataScale]:
    """Return the scales of the data that trained layers multiply, per column if 2-D."""
    found: dict[int, DataScale] = {}
    for op in evidence.tape.ops:
        if op.phase != "forward" or op.op not in _LAYERS or not op.outputs:
            continue
        if op.outputs[0] not in evidence.root_dependencies:
            continue
        if not any(evidence.values[i].tensor in evidence.updated for i in op.inputs):
            continue
        for i in op.inputs:
            value = evidence.values[i]
            if value.role != "parameter" and not value.requires_grad and i not in found:
                scale = _scale(evidence, i)
                if scale is not None:
                    found[i] = scale
    return list(found.values())


def _scale(evidence: Evidence, value: int) -> DataScale | None:
    snapshot = evidence.snapshot(value)
    if snapshot is None or not evidence.values[value].shape:
        return None
    array = real(snapshot)
    if array is None:
        size = rms(snapshot)
        return DataScale(value, size, size)
    if not array.size or not np.isfinite(array).all():
        return None
    columns = array.reshape(-1, array.shape[-1]) if array.ndim == 2 else array.reshape(-1, 1)
    sizes = np.sqrt(np.square(columns).mean(0))
    sizes = sizes[sizes > 0]
    return DataScale(value, float(sizes.max()), float(sizes.min())) if sizes.size else None
