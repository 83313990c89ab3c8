"""A view of a run's current step."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from gradscribe.engine.protocol.setup import JsonValue
from gradscribe.engine.train.arrays import ViewData
from gradscribe.engine.train.runs.run import TrainingRun


@dataclass(frozen=True)
class EngineView:
    """A kind of view, and the function that computes it."""

    kind: str
    make: Callable[[TrainingRun, Mapping[str, JsonValue]], ViewData | None]
    """Computes it with options from the window; None if it does not apply to the run. Its docstring
    lists options, arrays and facts."""
    needs_gradients: bool = False
    """True if it reads gradients: the view process gets only what the requested views need."""
    needs_optimizer_state: bool = False
    needs_weight_path: bool = False
    only_paused: bool = False
    """True if it makes steps of the run and takes them back: computed where the run is, while it is
    paused, in the mode that its modules are in."""
