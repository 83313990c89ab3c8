"""The curves of a run: all steps since they were last told, and a bounded store of the rest."""

import math
from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np

KEPT = 1 << 16
"""Steps of the store; past it every second step is given up."""
RECENT, SMOOTHED = 40, 20
"""How many of the last losses are at hand, and over how many of them the mean goes."""


@dataclass
class Rows:
    """Some steps, rising, with loss and learning rate: lists of plain numbers are quickest."""

    steps: list[int] = field(default_factory=list)
    losses: list[float] = field(default_factory=list)
    rates: list[float] = field(default_factory=list)

    def add(self, steps: Iterable[int], losses: list[float], rates: list[float]) -> None:
        """Append steps."""
        self.steps.extend(steps)
        self.losses.extend(losses)
        self.rates.extend(rates)

    def upto(self, step: int) -> "Rows":
        """Return a copy that ends with ``step``."""
        end = int(np.searchsorted(np.array(self.steps, dtype="<i8"), step, side="right"))
        return Rows(self.steps[:end], self.losses[:end], self.rates[:end])

    def every(self, stride: int) -> "Rows":
        """Return a copy with the steps that are multiples of ``stride``."""
        at = [i for i, step in enumerate(self.steps) if step % stride == 0]
        return Rows(
            [self.steps[i] for i in at],
            [self.losses[i] for i in at],
            [self.rates[i] for i in at],
        )


class History:
    """Loss, validation loss and learning rate of each step; norms of some."""

    def __init__(self, parameters: list[str]) -> None:
        self.columns = (
            "loss", "val", "lr",
            *(f"grad:{name}" for name in parameters),
            *(f"ratio:{name}" for name in parameters),
        )  # fmt: skip
        self._rows = Rows()
        self._val: dict[int, float] = {}
        self._norms: dict[int, list[float]] = {}
        self._kept = Rows()
        self._kept_val: dict[int, float] = {}
        self._stride = 1
        self._forget: int | None = None
        self.recent: list[float] = []
        """The losses of the last `RECENT` steps."""

    def add(self, first: int, losses: list[float], rates: list[float]) -> None:
        """Note steps in a row, the first of them ``first``."""
        end = first + len(losses)
        self._rows.add(range(first, end), losses, rates)
        self.recent = [*self.recent, *losses[-RECENT:]][-RECENT:]
        skipped = -first % self._stride
        some = slice(skipped, None, self._stride)
        self._kept.add(range(first + skipped, end, self._stride), losses[some], rates[some])
        while len(self._kept.steps) > KEPT:
            self._thin()

    def _thin(self) -> None:
        self._stride *= 2
        self._kept = self._kept.every(self._stride)
        kept = sorted(self._kept_val)
        if len(kept) > KEPT:
            self._kept_val = {step: self._kept_val[step] for step in kept[::2]}

    def validated(self, step: int, loss: float) -> None:
        """Note a validation loss."""
        self._val[step] = self._kept_val[step] = loss

    def measured(self, step: int, norms: list[float], ratios: list[float]) -> None:
        """Note gradient norms and update ratios of one step."""
        self._norms[step] = [*norms, *ratios]

    def smoothed(self) -> float:
        """Return the mean of the last `SMOOTHED` losses; NaN before the first."""
        last = self.recent[-SMOOTHED:]
        return sum(last) / len(last) if last else math.nan

    def last_val(self) -> float:
        """Return the last validation loss; NaN before the first."""
        return next(reversed(self._kept_val.values()), math.nan)

    def waiting(self) -> int:
        """Return how many steps have not been told."""
        return len(self._rows.steps)

    def take(self) -> tuple[np.ndarray, np.ndarray, int | None] | None:
        """Return steps (n,), values (n, columns) not told yet, and the step to forget from."""
        rows = self._rows
        if not rows.steps and not self._val and self._forget is None:
            return None
        steps = told = np.array(rows.steps, dtype="<i8")
        at: slice | np.ndarray = slice(None)
        if self._val:
            steps = np.union1d(told, np.array(list(self._val), dtype="<i8"))
            at = np.searchsorted(steps, told)
        values = np.full((len(steps), len(self.columns)), np.nan)
        values[at, 0], values[at, 2] = rows.losses, rows.rates
        if self._val:
            values[np.searchsorted(steps, list(self._val)), 1] = list(self._val.values())
        for step, norms in self._norms.items():
            place = int(np.searchsorted(steps, step))
            if place < len(steps) and steps[place] == step:
                values[place, 3:] = norms
        forget, self._forget = self._forget, None
        self._rows, self._val, self._norms = Rows(), {}, {}
        return steps, values, forget

    def forget_after(self, step: int) -> None:
        """Forget what came after ``step``, here and at whoever was told."""
        self._rows, self._kept = self._rows.upto(step), self._kept.upto(step)
        self._val = {at: loss for at, loss in self._val.items() if at <= step}
        self._kept_val = {at: loss for at, loss in self._kept_val.items() if at <= step}
        self._norms = {at: norms for at, norms in self._norms.items() if at <= step}
        self._forget = step
        self.recent = self._kept.losses[-RECENT:]

    def copied(self, step: int) -> "History":
        """Return the store up to ``step``, for another run; it tells all of it again."""
        made = History([])
        made.columns, made._stride = self.columns, self._stride
        made._kept, made._rows = self._kept.upto(step), self._kept.upto(step)
        made._kept_val = {at: loss for at, loss in self._kept_val.items() if at <= step}
        made._val = dict(made._kept_val)
        made.recent = made._kept.losses[-RECENT:]
        return made

    def store(self) -> tuple[np.ndarray, np.ndarray, int]:
        """Return rows of (step, loss, rate), rows of (step, validation loss), and the stride."""
        rows = self._kept
        kept = np.array([rows.steps, rows.losses, rows.rates], np.float64).T
        val = np.array(sorted(self._kept_val.items()), np.float64).reshape(-1, 2)
        return kept, val, self._stride

    @staticmethod
    def restored(
        columns: tuple[str, ...], kept: np.ndarray, val: np.ndarray, stride: int
    ) -> "History":
        """Return what `store` told of; whoever restores it knows the curves already."""
        made = History([])
        made.columns, made._stride = columns, stride
        steps, losses, rates = kept.T.tolist()
        made._kept.add(map(int, steps), losses, rates)
        made._kept_val = {int(step): loss for step, loss in val.tolist()}
        made.recent = made._kept.losses[-RECENT:]
        return made

    def csv(self) -> str:
        """Return the store as CSV: step, loss, validation loss, learning rate."""
        kept = zip(self._kept.losses, self._kept.rates, strict=True)
        rows = dict(zip(self._kept.steps, kept, strict=True))
        lines = ["step,loss,val,lr"]
        for step in sorted(rows.keys() | self._kept_val.keys()):
            loss, lr = rows.get(step, ("", ""))
            lines.append(
                f"{step},{loss!r},{self._kept_val.get(step, '')!r},{lr!r}".replace("''", "")
            )
        return "\n".join(lines) + "\n"
