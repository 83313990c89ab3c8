"""The curves of a run: all steps since they were last told, and a bounded store of the rest."""

import math

import numpy as np

KEPT = 1 << 16
"""Rows of the store; past it every second step is given up."""


class History:
    """Loss, validation loss and learning rate of each step; norms of some."""

    def __init__(self, parameters: list[str]) -> None:
        self.columns = (
            "loss", "val", "lr",
            *(f"grad:{name}" for name in parameters),
            *(f"ratio:{name}" for name in parameters),
        )  # fmt: skip
        self._rows: list[tuple[int, float, float]] = []
        self._val: dict[int, float] = {}
        self._norms: dict[int, list[float]] = {}
        self._kept: list[tuple[int, float, float]] = []
        self._kept_val: dict[int, float] = {}
        self._stride = 1
        self._forget: int | None = None
        self.recent: list[float] = []
        """The losses of the last 20 steps."""

    def add(self, step: int, loss: float, lr: float) -> None:
        """Note one step."""
        row = (step, loss, lr)
        self._rows.append(row)
        self.recent.append(loss)
        if len(self.recent) > 40:
            del self.recent[:20]
        if step % self._stride == 0:
            self._kept.append(row)
            if len(self._kept) > KEPT:
                self._thin()

    def _thin(self) -> None:
        self._stride *= 2
        self._kept = [row for row in self._kept if row[0] % self._stride == 0]
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
        """Return the mean loss of the last 20 steps; NaN before the first."""
        last = self.recent[-20:]
        return sum(last) / len(last) if last else math.nan

    def waiting(self) -> int:
        """Return how many steps have not been told."""
        return len(self._rows)

    def take(self) -> tuple[np.ndarray, np.ndarray, int | None] | None:
        """Return steps (n,), values (n, columns) not told yet, and the step to forget from."""
        steps = sorted({row[0] for row in self._rows} | self._val.keys())
        if not steps and self._forget is None:
            return None
        values = np.full((len(steps), len(self.columns)), np.nan)
        at = {step: index for index, step in enumerate(steps)}
        for step, loss, lr in self._rows:
            values[at[step], 0] = loss
            values[at[step], 2] = lr
        for step, loss in self._val.items():
            values[at[step], 1] = loss
        for step, norms in self._norms.items():
            if step in at:
                values[at[step], 3:] = norms
        forget, self._forget = self._forget, None
        self._rows, self._val, self._norms = [], {}, {}
        return np.array(steps, dtype="<i8"), values, forget

    def forget_after(self, step: int) -> None:
        """Forget what came after ``step``, here and at whoever was told."""
        self._rows = [row for row in self._rows if row[0] <= step]
        self._kept = [row for row in self._kept if row[0] <= step]
        self._val = {at: loss for at, loss in self._val.items() if at <= step}
        self._kept_val = {at: loss for at, loss in self._kept_val.items() if at <= step}
        self._norms = {at: norms for at, norms in self._norms.items() if at <= step}
        self._forget = step
        self.recent = [row[1] for row in self._kept[-20:]]

    def copied(self, step: int) -> "History":
        """Return the store up to ``step``, for another run; it tells all of it again."""
        made = History([])
        made.columns, made._stride = self.columns, self._stride
        made._kept = [row for row in self._kept if row[0] <= step]
        made._kept_val = {at: loss for at, loss in self._kept_val.items() if at <= step}
        made._rows, made._val = list(made._kept), dict(made._kept_val)
        made.recent = [row[1] for row in made._kept[-20:]]
        return made

    def store(self) -> tuple[np.ndarray, np.ndarray, int]:
        """Return rows of (step, loss, rate), rows of (step, validation loss), and the stride."""
        kept = np.array(self._kept, np.float64).reshape(-1, 3)
        val = np.array(sorted(self._kept_val.items()), np.float64).reshape(-1, 2)
        return kept, val, self._stride

    @staticmethod
    def restored(
        columns: tuple[str, ...], kept: np.ndarray, val: np.ndarray, stride: int
    ) -> "History":
        """Return what `store` told of; whoever restores it knows the curves already."""
        made = History([])
        made.columns, made._stride = columns, stride
        made._kept = [(int(step), loss, lr) for step, loss, lr in kept.tolist()]
        made._kept_val = {int(step): loss for step, loss in val.tolist()}
        made.recent = [row[1] for row in made._kept[-20:]]
        return made

    def csv(self) -> str:
        """Return the store as CSV: step, loss, validation loss, learning rate."""
        rows = {step: (loss, lr) for step, loss, lr in self._kept}
        lines = ["step,loss,val,lr"]
        for step in sorted(rows.keys() | self._kept_val.keys()):
            loss, lr = rows.get(step, ("", ""))
            lines.append(
                f"{step},{loss!r},{self._kept_val.get(step, '')!r},{lr!r}".replace("''", "")
            )
        return "\n".join(lines) + "\n"
