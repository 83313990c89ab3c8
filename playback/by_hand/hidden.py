"""Tapes without the numbers of gradients that are still to be guessed.

Every view is a function of the tape, so what is not on the tape cannot be seen in any of them.
"""

import math
import re
from collections import defaultdict
from collections.abc import Iterable

import numpy as np
from msgspec.structs import replace

from gradscribe.engine.protocol.tape import HIDDEN, Finding, Snapshot, StepLoop, Tape, Value
from gradscribe.playback.by_hand.targets import GradientKey, gradient_key, root_keys
from gradscribe.playback.tape.index import Index, index_of

MOST_NUMBERS = 100_000
"""Most hidden numbers that are looked for in printed text."""
_NUMBER = re.compile(r"(?<![\w.])[-−+]?\d+(?:\.(\d*))?(?:[eE]([-+]?\d+))?(?![\w])")

_SENTENCE_ENDS = re.compile(r"(?<=\. )(?=[A-Z])")
_LINES = re.compile(r"(\blines? \d+(?:(?:-|, | and )\d+)*)")
"""Places in the program, of which a finding speaks."""


def hide_gradients(tape: Tape, shown: frozenset[GradientKey]) -> Tape:
    """Return a tape on which only the gradients of these owners have numbers."""
    if not tape.passes:
        return tape
    return _Hiding(index_of(tape), shown).tape()


def hidden_keys(index: Index, shown: frozenset[GradientKey]) -> frozenset[GradientKey]:
    """Return the owners of gradients on the tape that are hidden if only these are shown."""
    return frozenset(index.arrivals) - _open_keys(index, shown)


def hidden_so_far(index: Index, shown: frozenset[GradientKey], position: int) -> list[GradientKey]:
    """Return the owners of hidden gradients that passes have reached, in that order."""
    owned = {gradient_key(index, value) for value in index.tape.values}
    reached = (
        (index.arrivals[key][0].event, key)
        for key in hidden_keys(index, shown) & owned
        if index.arrivals[key][0].event < position
    )
    return [key for _, key in sorted(reached)]


def _open_keys(index: Index, shown: frozenset[GradientKey]) -> frozenset[GradientKey]:
    """Return the owners whose gradients have numbers: shown, given, or between shown ones.

    Inner nodes of an op have no value to guess; they are shown with all that they lead to.
    """
    found = set(shown | root_keys(index))
    owned = {gradient_key(index, value) for value in index.tape.values}
    for execution in reversed(index.tape.executions):
        edges = [index.tape.edges[edge] for edge in execution.edges]
        ends = {index.target(e.target, e.input_nr) for e in edges if e.gradient is not None}
        if ends and ends <= found:
            found |= {
                key
                for nr in range(len(execution.received))
                if (key := (execution.node, nr)) not in owned
            }
    return frozenset(found)


class _Hiding:
    """The copy of one tape with hidden snapshots in place of some."""

    def __init__(self, index: Index, shown: frozenset[GradientKey]) -> None:
        self._index, self._tape = index, index.tape
        self._open = _open_keys(index, shown)
        self._all_open = frozenset(index.arrivals) <= self._open
        self._owners = self._snapshot_owners()
        self._values = self._hidden_values()
        self._visible = self._visible_snapshots()
        self._snapshots = list(self._tape.snapshots)
        self._hidden: dict[int, int] = {}
        self._numbers: list[np.ndarray] = []

    def tape(self) -> Tape:
        if self._all_open:
            return self._tape
        tape = self._tape
        passes = self._passes(tape)
        return self._with_texts(self._leaves(passes))

    def _passes(self, tape: Tape) -> Tape:
        """Return the tape without hidden gradients in values and passes."""
        target = self._index.target
        return replace(
            tape,
            values=tuple(map(self._value, tape.values)),
            edges=tuple(
                replace(e, gradient=self._of(e.gradient, target(e.target, e.input_nr)))
                for e in tape.edges
            ),
            executions=tuple(
                replace(
                    e,
                    received=tuple(self._of(s, (e.node, nr)) for nr, s in enumerate(e.received)),
                )
                for e in tape.executions
            ),
            function_checks=(),
        )

    def _leaves(self, tape: Tape) -> Tape:
        """Return the tape without hidden gradients in what leaves and optimizers have."""
        of_leaf = self._of_leaf
        return replace(
            tape,
            accumulations=tuple(
                replace(
                    a,
                    before=of_leaf(a.before, a.leaf),
                    sent=of_leaf(a.sent, a.leaf),
                    after=of_leaf(a.after, a.leaf),
                )
                for a in tape.accumulations
            ),
            leaves=tuple(
                replace(leaf, grad=of_leaf(leaf.grad, leaf.value)) for leaf in tape.leaves
            ),
            rewrites=tuple(
                tuple((leaf, self._hide_for(leaf, s)) for leaf, s in row) for row in tape.rewrites
            ),
            gaps=tuple(
                replace(gap, gradients=tuple((leaf, of_leaf(s, leaf)) for leaf, s in gap.gradients))
                for gap in tape.gaps
            ),
            steps=tuple(
                replace(step, memory=tuple((v, name, of_leaf(s, v)) for v, name, s in step.memory))
                for step in tape.steps
            ),
            step_loops=tuple(map(_without_gradient_numbers, tape.step_loops)),
        )

    def _value(self, value: Value) -> Value:
        if value.id not in self._values or value.snapshot is None:
            return value
        return replace(value, snapshot=self._hide(value.snapshot))

    def _of(self, snapshot: int | None, key: GradientKey) -> int | None:
        return snapshot if snapshot is None or key in self._open else self._hide(snapshot)

    def _of_leaf(self, snapshot: int | None, leaf: int) -> int | None:
        return self._of(snapshot, (self._index.first_version(leaf), 0))

    def _hide_for(self, leaf: int, snapshot: int) -> int:
        hidden = self._of_leaf(snapshot, leaf)
        return snapshot if hidden is None else hidden

    def _hide(self, snapshot: int) -> int:
        """Return the number of the snapshot without numbers; that of a shown one is a new one."""
        if snapshot not in self._hidden:
            known = self._tape.snapshots[snapshot]
            array = known.array()
            if array is not None:
                self._numbers.append(array)
            empty = Snapshot(known.shape, known.dtype, HIDDEN)
            if snapshot in self._visible:
                self._snapshots.append(empty)
                self._hidden[snapshot] = len(self._snapshots) - 1
            else:
                self._snapshots[snapshot] = empty
                self._hidden[snapshot] = snapshot
        return self._hidden[snapshot]

    def _snapshot_owners(self) -> dict[int, set[GradientKey]]:
        """Return the owners of each snapshot of a gradient."""
        index, tape = self._index, self._tape
        found: dict[int, set[GradientKey]] = defaultdict(set)
        for edge in tape.edges:
            if edge.gradient is not None:
                found[edge.gradient].add(index.target(edge.target, edge.input_nr))
        for execution in tape.executions:
            for nr, snapshot in enumerate(execution.received):
                if snapshot is not None:
                    found[snapshot].add((execution.node, nr))
        for added in tape.accumulations:
            for snapshot in (added.before, added.sent, added.after):
                if snapshot is not None:
                    found[snapshot].add((index.first_version(added.leaf), 0))
        for leaf, snapshot in (pair for row in tape.rewrites for pair in row):
            found[snapshot].add((index.first_version(leaf), 0))
        for row in tape.passes:
            for target, result in zip(row.inputs, row.results, strict=False):
                made = index.values.get(result) if result is not None else None
                if target is not None and made is not None and made.snapshot is not None:
                    found[made.snapshot].add(index.target(*target))
        return found

    def _hidden_values(self) -> set[int]:
        """Return the values that are hidden gradients, or computed from these alone."""
        index = self._index
        begun = min((first for first, _ in index.passes.values()), default=len(index.tape.events))
        found: set[int] = set()
        for value in index.tape.values:
            if index.created_at.get(value.id, -1) <= begun or self._all_open:
                continue
            owners = self._owners.get(value.snapshot, set()) if value.snapshot is not None else ()
            is_gradient = bool(owners) or value.maker == ".grad"
            if is_gradient and not self._open & set(owners):
                found.add(value.id)
        for number, op in enumerate(index.tape.ops):
            inside = index.kinds[number] == "backward"
            if index.op_events.get(number, -1) > begun and (
                inside or (op.inputs and all(used in found for used in op.inputs))
            ):
                found.update(op.outputs)
        return found

    def _visible_snapshots(self) -> set[int]:
        """Return the snapshots that a shown record refers to."""
        tape = self._tape
        shown = {v.snapshot for v in tape.values if v.id not in self._values}
        shown |= {s for s, owners in self._owners.items() if owners & self._open}
        shown |= {seed for row in tape.passes for seed in row.seeds}
        return {s for s in shown if s is not None}

    def _with_texts(self, tape: Tape) -> Tape:
        """Return the tape with hidden numbers replaced in what was printed, and in findings."""
        numbers = _sorted_numbers(self._numbers)
        first = min((at for at, _ in self._index.passes.values()), default=0)
        prints = [event.ref for event in tape.events[:first] if event.kind == "print"]
        before = max(prints, default=-1) + 1
        lines = tape.stdout.split("\n")
        return replace(
            tape,
            snapshots=tuple(self._snapshots),
            prints=tuple(
                line if at < before else hide_numbers(line, numbers)
                for at, line in enumerate(tape.prints)
            ),
            stdout="\n".join(
                line if at < before else hide_numbers(line, numbers)
                for at, line in enumerate(lines)
            ),
            findings=tuple(_hidden_finding(found, numbers) for found in tape.findings),
        )


def _sorted_numbers(arrays: Iterable[np.ndarray]) -> np.ndarray:
    flat = [np.asarray(a).reshape(-1) for a in arrays]
    real = [part for a in flat for part in ((a.real, a.imag) if a.dtype.kind == "c" else (a,))]
    found = np.concatenate([a.astype("f8") for a in real]) if real else np.zeros(0)
    return np.unique(found[np.isfinite(found)])[:MOST_NUMBERS]


def hide_numbers(text: str, numbers: np.ndarray) -> str:
    """Return a text with ``?`` for each number that is one of these, as far as it is written."""

    def replaced(match: re.Match[str]) -> str:
        written = match.group().replace("−", "-")
        number = float(written)
        digits, power = match.group(1), int(match.group(2) or 0)
        if not math.isfinite(number) or not numbers.size:
            return match.group()
        step = 10.0 ** (power - len(digits)) if digits else 0.0
        near = 0.5000001 * step + 1e-6 * abs(number)
        at = int(np.searchsorted(numbers, number - near))
        return "?" if at < numbers.size and numbers[at] <= number + near else match.group()

    return _NUMBER.sub(replaced, text)


def _hidden_finding(found: Finding, numbers: np.ndarray) -> Finding:
    return replace(
        found,
        title=_hide_sentences(found.title, numbers),
        message=_hide_sentences(found.message, numbers),
    )


def _hide_sentences(text: str, numbers: np.ndarray) -> str:
    """Return a text in which a sentence with a hidden number has none but those of lines.

    Its other numbers would tell the hidden one: "gets 12, and not ?: 33% of it is lost".
    """
    return "".join(_hide_sentence(part, numbers) for part in _SENTENCE_ENDS.split(text))


def _hide_sentence(text: str, numbers: np.ndarray) -> str:
    parts = _LINES.split(text)
    if all(hide_numbers(part, numbers) == part for part in parts[::2]):
        return text
    parts[::2] = [_NUMBER.sub("?", part) for part in parts[::2]]
    return "".join(parts)


def _without_gradient_numbers(loop: StepLoop) -> StepLoop:
    """Return a loop without the norms of gradients and of updates in its steps."""
    columns = tuple(
        replace(column, numbers=np.full(len(column.numbers) // 8, np.nan).tobytes())
        if column.kind in ("gradient", "update")
        else column
        for column in loop.columns
    )
    return replace(loop, columns=columns)
