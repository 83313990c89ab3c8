"""The result of each trial as a row: its values, its losses, and how it ended."""

import json
import math
from collections.abc import Iterable, Sequence
from typing import Literal

import msgspec
from msgspec import Struct

from gradscribe.app.training.sweep.trials import Trial, short
from gradscribe.engine.protocol.setup import JsonValue
from gradscribe.playback.translation import tr

Status = Literal["waiting", "running", "ok", "nan", "error", "refused", "died", "interrupted"]
ENDED: tuple[Status, ...] = ("ok", "nan", "error", "refused")
"""Ends of a trial that another try would not change: these are on the disk."""


class TrialRow(Struct, frozen=True):
    """A trial and what it reached."""

    number: int
    """Position among the trials, from 1."""
    values: dict[str, JsonValue]
    """The options that the sweep varies, by name."""
    status: Status = "waiting"
    step: int = 0
    """Number of steps made."""
    loss: float | None = None
    """Loss on the training data, of a running trial that of its last batch."""
    validation_loss: float | None = None
    seconds: float = 0.0
    problem: str = ""
    """Reason why it ended early, in a line."""
    setup: str = ""
    """Path of its setup's file, relative to the folder of the results."""

    @property
    def score(self) -> float:
        """The loss by which trials are compared: on validation data, if there is any, else NaN."""
        value = self.loss if self.validation_loss is None else self.validation_loss
        return math.nan if self.status != "ok" or value is None else value

    @property
    def title(self) -> str:
        """Its values as text."""
        return ", ".join(f"{name} {short(value)}" for name, value in self.values.items())


def waiting(trial: Trial) -> TrialRow:
    """Return the row of a trial that has not begun."""
    return TrialRow(trial.number, trial.values)


def row(trial: Trial, result: dict[str, object], setup: str = "") -> TrialRow:
    """Return the row of a trial with its result, the JSON of a run.

    Raises:
        msgspec.ValidationError: it is no such result.
    """
    scores = result.get("scores")
    scores = scores if isinstance(scores, dict) else {}
    loss = scores.get("train_loss", result.get("loss"))
    found = {
        "number": trial.number,
        "values": trial.values,
        "status": result.get("status"),
        "step": result.get("steps", 0),
        "loss": loss if is_number(loss) else None,
        "validation_loss": scores.get("val_loss") if is_number(scores.get("val_loss")) else None,
        "seconds": result.get("seconds", 0.0),
        "problem": _problem(result.get("problem")),
        "setup": setup,
    }
    return msgspec.convert(found, TrialRow)


def is_number(value: object) -> bool:
    """Return whether a value in JSON is a number; infinities are texts there."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def _problem(problem: object) -> str:
    if not isinstance(problem, dict):
        return ""
    return str(problem.get("message") or problem.get("type") or "")


def best(rows: Iterable[TrialRow]) -> TrialRow | None:
    """Return the trial with the lowest loss on the validation data, the first of equals.

    Without such data the loss on the training data decides. None: no trial has ended well.
    """
    found = [each for each in rows if math.isfinite(each.score)]
    return min(found, key=lambda each: each.score, default=None)


def ranked(rows: Iterable[TrialRow]) -> list[TrialRow]:
    """Return the rows, the best first, those without a loss last."""
    return sorted(rows, key=lambda each: (not math.isfinite(each.score), each.score, each.number))


def to_csv(rows: Sequence[TrialRow]) -> bytes:
    """Return the rows as CSV, numbers exact to the bit, missing ones as empty cells."""
    import csv
    import io

    names = [*rows[0].values] if rows else []
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(
        ["trial", *names, "status", "steps", "loss", "validation_loss", "seconds", "setup"]
    )
    for each in rows:
        values = [_cell(value) for value in each.values.values()]
        losses = ["" if loss is None else repr(loss) for loss in (each.loss, each.validation_loss)]
        writer.writerow(
            [each.number, *values, each.status, each.step, *losses, each.seconds, each.setup]
        )
    return out.getvalue().encode()


def _cell(value: JsonValue) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def failure_line(rows: Sequence[TrialRow]) -> str:
    """Return a line on trials of which none has ended well; empty if one has."""
    if best(rows) is not None or not rows:
        return ""
    diverged = [each for each in rows if each.status == "nan"]
    ended = [each for each in rows if each.status in ("refused", "error", "died")]
    if len(diverged) == len(rows):
        rates = [each.values.get("optimizer.lr") for each in rows]
        numbers = [float(rate) for rate in rates if isinstance(rate, int | float)]
        hint = (
            tr(": the lowest learning rate was {min:.4g}, try less", min=min(numbers))
            if numbers
            else ""
        )
        return tr(
            "all {rows_count:,} trials diverged, their loss became NaN{hint}",
            rows_count=len(rows),
            hint=hint,
        )
    if ended:
        return tr(
            "no trial ended well; the first that failed, {title}: {problem}",
            title=ended[0].title,
            problem=ended[0].problem,
        )
    return tr("no trial has ended")
