"""`train`: a training run without a window, from a setup as the training page and the CLI take."""

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np

    from gradscribe.app.cli.train import TrainOutcome
    from gradscribe.engine.protocol.setup import Setup
    from gradscribe.engine.protocol.training.advice import Advice
    from gradscribe.engine.protocol.training.replies import TrainState


class TrainingError(RuntimeError):
    """Raised when a training run cannot begin, or its process ends; the message says why."""


@dataclass(frozen=True, repr=False)
class TrainedRun:
    """A training run that has ended: its curves, its script and its weights."""

    setup: "Setup"
    """The setup with every default filled in."""
    steps: int
    """Number of steps made."""
    step: "np.ndarray"
    """Steps at which the curves have a number, shape [n]."""
    loss: "np.ndarray"
    """Training loss after each of `step`, shape [n]; NaN where there is none."""
    validation_loss: "np.ndarray"
    """Validation loss at each of `step`, shape [n]; NaN where it was not measured."""
    learning_rate: "np.ndarray"
    """Learning rate at each of `step`, shape [n]."""
    seconds: float
    """Duration of the steps."""
    problem: str
    """Reason why the run ended early, as a loss that is NaN; empty if it did not."""
    script: str
    """PyTorch program that trains the same run to the same losses."""
    safetensors: bytes = field(default=b"")
    """Weights and buffers as a safetensors file."""
    advice: "tuple[Advice, ...]" = ()
    """Advice about data and setup."""

    def __repr__(self) -> str:
        """Return a line: number of steps, last loss, and why it ended early."""
        known = self.loss[self.loss == self.loss]
        last = f", loss {known[-1]:.6g}" if len(known) else ""
        return (
            f"<TrainedRun: {self.steps} steps{last}{f', {self.problem}' if self.problem else ''}>"
        )


def train(
    setup: "Setup | Mapping[str, object] | str | os.PathLike[str]",
    /,
    *,
    steps: int | None = None,
    trust: bool = False,
    progress: Callable[[int, float], object] | None = None,
) -> TrainedRun:
    """Train a small model in an engine of its own, and return the run once it has ended.

    The numbers are those of the training page and of ``gradscribe train`` with the same setup.
    The first Ctrl-C ends the run early, and what there is is returned.

    Args:
        setup: a mapping as in a set-up's JSON, its path, or a `Setup`.
        steps: number of steps, instead of that in the setup.
        trust: run a module in the setup with your permissions, not with those of a stranger's.
        progress: called now and then with the number of steps made and the last loss.

    Raises:
        ValueError: it is no setup, or cannot be run; the message names the option.
        TrainingError: the engine ended.
    """
    from gradscribe.app.cli import train as headless
    from gradscribe.app.files.documents import Refused
    from gradscribe.engine.protocol import setup as setups
    from gradscribe.engine.protocol.structs import replace

    def report(state: "TrainState", loss: float) -> None:
        if progress is not None:
            progress(state.step, loss)

    try:
        given = _setup(setup)
        if steps is not None:
            given = replace(given, steps=steps)
            setups.validate(given)
        done = headless.run(given, ("script", "safetensors"), report, policy=not trust)
    except (Refused, setups.SetupError) as error:
        raise ValueError(str(error)) from error
    except headless.EngineDied as error:
        raise TrainingError(str(error)) from error
    return _result(done, replace(done.begun.setup, steps=given.steps))


def _setup(given: "Setup | Mapping[str, object] | str | os.PathLike[str]") -> "Setup":
    from gradscribe.app.files import documents
    from gradscribe.engine.protocol import setup as setups

    if isinstance(given, setups.Setup):
        setups.validate(given)
        return given
    if isinstance(given, str | os.PathLike):
        return setups.parse_text(documents.read(Path(given), ".json"))
    if not isinstance(given, Mapping):
        raise TypeError(f"train needs a setup, a mapping or a path, not {type(given).__name__}")
    return setups.parse(dict(given))


def _result(done: "TrainOutcome", setup: "Setup") -> TrainedRun:
    import numpy as np

    curves = {name: np.asarray(numbers, np.float64) for name, numbers in done.curves.items()}
    problem = done.state.problem
    reason = (problem.message or problem.type) if problem is not None else ""
    if done.interrupted and not reason:
        reason = "interrupted"
    return TrainedRun(
        setup,
        done.state.step,
        curves["step"].astype(np.int64),
        curves["loss"],
        curves["val"],
        curves["lr"],
        done.seconds,
        reason,
        done.files["script"].decode(),
        done.files["safetensors"],
        done.advice,
    )
