"""Curves of a run: all steps not yet sent, and a bounded store of the whole run."""

import csv
import io
import math

import numpy as np

MAX_STEPS = 1 << 16
"""Maximum steps of the store; if exceeded, every second step is dropped."""
MOST_CHUNKS = 512
MOST_NORMS = 1 << 20
"""Maximum norms and ratios in the store; if exceeded, every second step is dropped."""
RECENT, SMOOTHED = 40, 20
"""Number of last losses in `TrainingHistory.recent`, and of those in the smoothed loss."""


Chunk = tuple[np.ndarray, np.ndarray, np.ndarray]
"""Steps, their losses, and their learning rates: each (n,)."""


class StepRows:
    """Loss and learning rate by step, in chunks as appended."""

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
        """Return all steps as one chunk."""
        if not self._chunks:
            return np.zeros(0, "<i8"), np.zeros(0), np.zeros(0)
        steps, losses, rates = map(np.concatenate, zip(*self._chunks, strict=True))
        return steps, losses, rates

    def up_to(self, step: int) -> "StepRows":
        """Return a copy that ends with ``step``."""
        steps, losses, rates = self.whole()
        end = int(np.searchsorted(steps, step, side="right"))
        return StepRows((steps[:end], losses[:end], rates[:end]))

    def every(self, stride: int) -> "StepRows":
        """Return a copy with only the multiples of ``stride``."""
        steps, losses, rates = self.whole()
        at = steps % stride == 0
        return StepRows((steps[at], losses[at], rates[at]))

    def last(self, count: int) -> list[float]:
        """Return the losses of the last ``count`` steps."""
        losses: list[float] = self.whole()[1][-count:].tolist()
        return losses


class TrainingHistory:
    """Loss, validation loss and learning rate of each step; norms of some."""

    def __init__(self, parameters: list[str]) -> None:
        norms = [f"grad:{name}" for name in parameters]
        self.columns = ("loss", "val", "lr", *norms, *(f"ratio:{name}" for name in parameters))
        self._rows = StepRows()
        self._val: dict[int, float] = {}
        self._norms: dict[int, list[float]] = {}
        self._store = StepRows()
        self._store_val: dict[int, float] = {}
        self._store_norms: dict[int, list[float]] = {}
        self._stride = 1
        self._forget: int | None = None
        self._joined: int | None = None
        self.recent: list[float] = []
        """The losses of the last `RECENT` steps."""

    def add(self, first: int, losses: list[float], rates: list[float]) -> None:
        """Add consecutive steps that begin with ``first``."""
        steps = np.arange(first, first + len(losses))
        chunk = steps, np.array(losses), np.array(rates)
        self._rows.add(chunk)
        self.recent = [*self.recent, *losses[-RECENT:]][-RECENT:]
        sampled = slice(-first % self._stride, None, self._stride)
        self._store.add((chunk[0][sampled], chunk[1][sampled], chunk[2][sampled]))
        while self._store.count > MAX_STEPS:
            self._thin()

    def _thin(self) -> None:
        self._stride *= 2
        self._store = self._store.every(self._stride)
        stored = sorted(self._store_val)
        if len(stored) > MAX_STEPS:
            self._store_val = {step: self._store_val[step] for step in stored[::2]}

    def add_validation(self, step: int, loss: float) -> None:
        """Add a validation loss."""
        self._val[step] = self._store_val[step] = loss

    def add_norms(self, step: int, norms: list[float], ratios: list[float]) -> None:
        """Add gradient norms and update ratios of one step."""
        self._norms[step] = self._store_norms[step] = [*norms, *ratios]
        if len(self._store_norms) * len(self.columns) > MOST_NORMS:
            stored = sorted(self._store_norms)
            self._store_norms = {at: self._store_norms[at] for at in stored[::2]}

    def smoothed(self) -> float:
        """Return the mean of the last `SMOOTHED` losses; NaN before the first."""
        last = self.recent[-SMOOTHED:]
        return sum(last) / len(last) if last else math.nan

    @property
    def is_whole(self) -> bool:
        """True if the store has every step."""
        return self._stride == 1

    def highest(self) -> float:
        """Return the highest loss of the store; NaN before the first."""
        losses = self._store.whole()[1]
        return float(losses.max()) if len(losses) else math.nan

    def last_val(self) -> float:
        """Return the last validation loss; NaN before the first."""
        return next(reversed(self._store_val.values()), math.nan)

    def unsent_count(self) -> int:
        """Return how many steps have not been sent."""
        return self._rows.count

    def take(self) -> tuple[np.ndarray, np.ndarray, int | None] | None:
        """Return steps (n,) and values (n, columns) not yet sent, and the step to forget after.

        The columns of norms are omitted if none was measured. None if there is nothing to send.
        """
        is_joined = self._joined is not None
        if not self._rows.count and not self._val and self._forget is None and not is_joined:
            return None
        trained, losses, rates = self._rows.whole()
        steps = trained
        at: slice | np.ndarray = slice(None)
        if self._val:
            steps = np.union1d(trained, np.array(list(self._val), dtype="<i8"))
            at = np.searchsorted(steps, trained)
        values = np.full((len(steps), len(self.columns) if self._norms else 3), np.nan)
        values[at, 0], values[at, 2] = losses, rates
        if self._val:
            values[np.searchsorted(steps, list(self._val)), 1] = list(self._val.values())
        for step, norms in self._norms.items():
            place = int(np.searchsorted(steps, step))
            if place < len(steps) and steps[place] == step:
                values[place, 3:] = norms
        forget, self._forget = self._forget, None
        self._rows, self._val, self._norms = StepRows(), {}, {}
        return steps, values, forget

    def forget_after(self, step: int) -> None:
        """Discard everything after ``step``, here and, with the next `take`, at the receiver."""
        self._rows, self._store = self._rows.up_to(step), self._store.up_to(step)
        self._val = {at: loss for at, loss in self._val.items() if at <= step}
        self._store_val = {at: loss for at, loss in self._store_val.items() if at <= step}
        self._norms = {at: norms for at, norms in self._norms.items() if at <= step}
        self._store_norms = {at: norms for at, norms in self._store_norms.items() if at <= step}
        self._forget = step
        self.recent = self._store.last(RECENT)

    def take_joined(self) -> int | None:
        """Return the step up to which the receiver brings its curves back, once; None for none."""
        joined, self._joined = self._joined, None
        return joined

    def join(self, whole: "TrainingHistory", step: int) -> None:
        """Bring the steps of ``whole`` up to ``step`` back, which `forget_after` discarded."""
        self._stride, self._store = whole._stride, whole._store.up_to(step)
        self._store_val = {at: loss for at, loss in whole._store_val.items() if at <= step}
        self._store_norms = {at: norms for at, norms in whole._store_norms.items() if at <= step}
        self._joined = step
        self.recent = self._store.last(RECENT)

    def send_again_after(self, step: int) -> None:
        """Have the store after ``step`` sent with the next `take`; nothing else waits for it."""
        steps, losses, rates = self._store.whole()
        at = steps > step
        self._rows = StepRows((steps[at], losses[at], rates[at]))
        self._val = {at: loss for at, loss in self._store_val.items() if at > step}
        self._norms = {at: norms for at, norms in self._store_norms.items() if at > step}
        self._forget = self._joined = None

    def copied(self, step: int) -> "TrainingHistory":
        """Return the store up to ``step``, for another run, which sends all of it again."""
        copy = TrainingHistory([])
        copy.columns, copy._stride = self.columns, self._stride
        copy._store, copy._rows = self._store.up_to(step), self._store.up_to(step)
        copy._store_val = {at: loss for at, loss in self._store_val.items() if at <= step}
        copy._val = dict(copy._store_val)
        copy._store_norms = {at: norms for at, norms in self._store_norms.items() if at <= step}
        copy.recent = copy._store.last(RECENT)
        return copy

    def store(self) -> tuple[np.ndarray, np.ndarray, int]:
        """Return rows of (step, loss, rate), rows of (step, validation loss), and the stride."""
        rows = np.array(self._store.whole(), np.float64).T
        val = np.array(sorted(self._store_val.items()), np.float64).reshape(-1, 2)
        return rows, val, self._stride

    def norms(self) -> np.ndarray:
        """Return rows of step, gradient norms and update ratios, one for each measured step."""
        rows = [[step, *norms] for step, norms in sorted(self._store_norms.items())]
        return np.array(rows, np.float64).reshape(-1, len(self.columns) - 2)

    @staticmethod
    def restored(
        columns: tuple[str, ...], kept: np.ndarray, val: np.ndarray, norms: np.ndarray, stride: int
    ) -> "TrainingHistory":
        """Return the history of `store` and `norms`; the receiver already has these curves."""
        history = TrainingHistory([])
        history.columns, history._stride = columns, stride
        steps, losses, rates = kept.reshape(-1, 3).T
        history._store.add((steps.astype("<i8"), losses, rates))
        history._store_val = {int(step): loss for step, loss in val.tolist()}
        history._store_norms = {int(step): rest for step, *rest in norms.tolist()}
        history.recent = history._store.last(RECENT)
        return history

    def csv(self) -> str:
        """Return the store as CSV, with empty cells for missing numbers.

        Columns: step, loss, validation loss, learning rate; then gradient norm and update ratio of
        each parameter if any were measured.
        """
        steps, losses, rates = (part.tolist() for part in self._store.whole())
        rows = dict(zip(steps, zip(losses, rates, strict=True), strict=True))
        norms, file = self._store_norms, io.StringIO()
        columns = self.columns if norms else self.columns[:3]
        out = csv.writer(file, lineterminator="\n")
        out.writerow(["step", *columns])
        for step in sorted(rows.keys() | self._store_val.keys() | norms.keys()):
            loss, lr = rows.get(step, (None, None))
            numbers = [loss, self._store_val.get(step), lr, *norms.get(step, ())]
            numbers += [None] * (len(columns) - len(numbers))
            out.writerow([step, *("" if number is None else repr(number) for number in numbers)])
        return file.getvalue()
