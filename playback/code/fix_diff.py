"""Diff between a program and its fixed version: source lines, and results of both runs."""

import difflib
from typing import NamedTuple

import numpy as np

from gradscribe.engine.protocol.tape import Snapshot, Tape
from gradscribe.playback.tape import snapshot_text
from gradscribe.playback.text import formatting
from gradscribe.playback.translation import ngettext, tr

MOST_LEAVES = 6
TRIED_IN_PART = tr("Tried for a part of the run, as the whole takes longer than a trial may")
"""Words for a fix that works as far as it was run; without a full stop."""


class FixRow(NamedTuple):
    """A measure taken from both runs, as text."""

    name: str
    before: str
    after: str


def changed_lines(source: str, fix: str) -> list[str]:
    """Return the lines that a fix removes (``- ``) and adds (``+ ``); none without a fix."""
    if not fix:
        return []
    before = source.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    rows = difflib.ndiff(before, fix.split("\n"))
    return [row for row in rows if row.startswith(("- ", "+ "))]


def compare_runs(before: Tape, after: Tape) -> list[FixRow]:
    """Return the outcome, the losses and the leaf gradients of both runs.

    Tensor gradients are given by their norm. Rows that are equal in both runs are left out.
    """
    rows = [FixRow("run", _ended(before), _ended(after))]
    losses = [_losses(tape) for tape in (before, after)]
    if any(losses):
        rows.append(FixRow(tr("loss, first"), _at(losses[0], 0), _at(losses[1], 0)))
        rows.append(FixRow(tr("loss, last"), _at(losses[0], -1), _at(losses[1], -1)))
    grads = [_gradients(tape) for tape in (before, after)]
    names = list(dict.fromkeys([*grads[0], *grads[1]]))
    leaves = [FixRow(f"{n}.grad", grads[0].get(n, "–"), grads[1].get(n, "–")) for n in names]
    differing = [row for row in leaves if row.before != row.after]
    rows += differing[:MOST_LEAVES]
    rows.append(FixRow("findings", _found(before), _found(after)))
    return [row for row in rows if row.before != row.after] or rows[:1]


def _ended(tape: Tape) -> str:
    return tape.error.type if tape.error is not None else tr("ran to its end")


def _found(tape: Tape) -> str:
    return ngettext("{count:,} finding", "{count:,} findings", len(tape.findings))


def _losses(tape: Tape) -> list[str]:
    values = {value.id: value for value in tape.values}
    found = []
    for run in tape.passes:
        root = values.get(run.roots[0] or 0) if run.roots else None
        if root is not None and root.snapshot is not None:
            found.append(snapshot_text.value(tape.snapshots[root.snapshot]))
    return found


def _at(losses: list[str], index: int) -> str:
    return losses[index] if losses else "–"


def _size(snapshot: Snapshot) -> str:
    array = snapshot.array()
    if snapshot.numel == 1 or (array is None and snapshot.norm is None):
        return snapshot_text.value(snapshot)
    norm = snapshot.norm if array is None else float(np.linalg.norm(array.astype(np.complex128)))
    return tr("size {number}", number=formatting.number(norm or 0.0))


def _gradients(tape: Tape) -> dict[str, str]:
    learning = {value.id for value in tape.values if value.requires_grad}
    return {
        leaf.name: "none" if leaf.grad is None else _size(tape.snapshots[leaf.grad])
        for leaf in tape.leaves
        if leaf.value in learning
    }
