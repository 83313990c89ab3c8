"""The curves of a run: all steps since they were last told, and a bounded store of the rest."""

import csv
import io
import math

import numpy as np

KEPT = 1 << 16
"""Steps of the store; past it every second step is given up."""
MOST_CHUNKS = 512
MOST_NORMS = 1 << 20
"""Numbers of the store that are norms and ratios; past it every second step is given up."""
RECENT, SMOOTHED = 40, 20
"""How many of the last losses are at hand, and over how many of them the mean goes."""


Chunk = tuple[np.ndarray, np.ndarray, np.ndarray]
"""Steps in a row, their losses, and the learning rates: each (n,)."""


class Rows:
    """Steps, rising, with loss and learning rate, in chunks as they came."""

    def __init__(self, *chunks: Chunk) -> None:
        self._chunks = list(chunks)
        self.count = sum(len(steps) for steps, _, _ in chunks)

    def add(self, chunk: Chunk) -> None:
        """Append steps."""
        self._chunks.append(chunk)
        self.count += len(chunk[0])
        if len(self._chunks) > MOST_CHUNKS:
            self._chunks = [self.whole()]

    def whole(self) -> Chunk:
        """Return all of them as one chunk."""
        if not self._chunks:
            return np.zeros(0, "<i8"), np.zeros(0), np.zeros(0)
        steps, losses, rates = map(np.concatenate, zip(*self._chunks, strict=True))
        return steps, losses, rates

    def upto(self, step: int) -> "Rows":
        """Return a copy that ends with ``step``."""
        steps, losses, rates = self.whole()
        end = int(np.searchsorted(steps, step, side="right"))
        return Rows((steps[:end], losses[:end], rates[:end]))

    def every(self, stride: int) -> "Rows":
        """Return a copy with the steps that are multiples of ``stride``."""
        steps, losses, rates = self.whole()
        at = steps % stride == 0
        return Rows((steps[at], losses[at], rates[at]))

    def last(self, count: int) -> list[float]:
        """Return the losses of the last ``count`` steps."""
        losses: list[float] = self.whole()[1][-count:].tolist()
        return losses


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
        self._kept_norms: dict[int, list[float]] = {}
        self._stride = 1
        self._forget: int | None = None
        self.recent: list[float] = []
        """The losses of the last `RECENT` steps."""

    def add(self, first: int, losses: list[float], rates: list[float]) -> None:
        """Note steps in a row, the first of them ``first``."""
        steps = np.arange(first, first + len(losses))
        chunk = steps, np.array(losses), np.array(rates)
        self._rows.add(chunk)
        self.recent = [*self.recent, *losses[-RECENT:]][-RECENT:]
        some = slice(-first % self._stride, None, self._stride)
        self._kept.add((chunk[0][some], chunk[1][some], chunk[2][some]))
        while self._kept.count > KEPT:
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
        self._norms[step] = self._kept_norms[step] = [*norms, *ratios]
        if len(self._kept_norms) * len(self.columns) > MOST_NORMS:
            kept = sorted(self._kept_norms)
            self._kept_norms = {at: self._kept_norms[at] for at in kept[::2]}

    def smoothed(self) -> float:
        """Return the mean of the last `SMOOTHED` losses; NaN before the first."""
        last = self.recent[-SMOOTHED:]
        return sum(last) / len(last) if last else math.nan

    @property
    def is_whole(self) -> bool:
        """Whether the store has every step."""
        return self._stride == 1

    def highest(self) -> float:
        """Return the highest loss of the store; NaN before the first."""
        losses = self._kept.whole()[1]
        return float(losses.max()) if len(losses) else math.nan

    def last_val(self) -> float:
        """Return the last validation loss; NaN before the first."""
        return next(reversed(self._kept_val.values()), math.nan)

    def waiting(self) -> int:
        """Return how many steps have not been told."""
        return self._rows.count

    def take(self) -> tuple[np.ndarray, np.ndarray, int | None] | None:
        """Return steps (n,), values (n, columns) not told yet, and the step to forget from.

        The columns of norms are left out where none was measured.
        """
        if not self._rows.count and not self._val and self._forget is None:
            return None
        told, losses, rates = self._rows.whole()
        steps = told
        at: slice | np.ndarray = slice(None)
        if self._val:
            steps = np.union1d(told, np.array(list(self._val), dtype="<i8"))
            at = np.searchsorted(steps, told)
        values = np.full((len(steps), len(self.columns) if self._norms else 3), np.nan)
        values[at, 0], values[at, 2] = losses, rates
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
        self._kept_norms = {at: norms for at, norms in self._kept_norms.items() if at <= step}
        self._forget = step
        self.recent = self._kept.last(RECENT)

    def copied(self, step: int) -> "History":
        """Return the store up to ``step``, for another run; it tells all of it again."""
        made = History([])
        made.columns, made._stride = self.columns, self._stride
        made._kept, made._rows = self._kept.upto(step), self._kept.upto(step)
        made._kept_val = {at: loss for at, loss in self._kept_val.items() if at <= step}
        made._val = dict(made._kept_val)
        made._kept_norms = {at: norms for at, norms in self._kept_norms.items() if at <= step}
        made.recent = made._kept.last(RECENT)
        return made

    def store(self) -> tuple[np.ndarray, np.ndarray, int]:
        """Return rows of (step, loss, rate), rows of (step, validation loss), and the stride."""
        kept = np.array(self._kept.whole(), np.float64).T
        val = np.array(sorted(self._kept_val.items()), np.float64).reshape(-1, 2)
        return kept, val, self._stride

    def norms(self) -> np.ndarray:
        """Return rows of step, gradient norms and update ratios: of each step that was measured."""
        rows = [[step, *norms] for step, norms in sorted(self._kept_norms.items())]
        return np.array(rows, np.float64).reshape(-1, len(self.columns) - 2)

    @staticmethod
    def restored(
        columns: tuple[str, ...], kept: np.ndarray, val: np.ndarray, norms: np.ndarray, stride: int
    ) -> "History":
        """Return what `store` and `norms` told; whoever restores it knows the curves already."""
        made = History([])
        made.columns, made._stride = columns, stride
        steps, losses, rates = kept.reshape(-1, 3).T
        made._kept.add((steps.astype("<i8"), losses, rates))
        made._kept_val = {int(step): loss for step, loss in val.tolist()}
        made._kept_norms = {int(step): rest for step, *rest in norms.tolist()}
        made.recent = made._kept.last(RECENT)
        return made

    def csv(self) -> str:
        """Return the store as CSV, empty where there is no number.

        Step, loss, validation loss, learning rate; then the norm of each parameter's gradient and
        its update by its size, where any were measured.
        """
        steps, losses, rates = (part.tolist() for part in self._kept.whole())
        rows = dict(zip(steps, zip(losses, rates, strict=True), strict=True))
        norms, file = self._kept_norms, io.StringIO()
        columns = self.columns if norms else self.columns[:3]
        out = csv.writer(file, lineterminator="\n")
        out.writerow(["step", *columns])
        for step in sorted(rows.keys() | self._kept_val.keys() | norms.keys()):
            loss, lr = rows.get(step, (None, None))
            numbers = [loss, self._kept_val.get(step), lr, *norms.get(step, ())]
            numbers += [None] * (len(columns) - len(numbers))
            out.writerow([step, *("" if one is None else repr(one) for one in numbers)])
        return file.getvalue()
