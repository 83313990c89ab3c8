"""A view of a training run: a widget, and the functions that keep it up to date."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Generic, Literal, TypeVar

import numpy as np
from numpy.typing import NDArray
from PySide6.QtWidgets import QWidget

from gradscribe.engine.protocol.training import DataSample, RunStarted, ViewReply, ViewRequest
from gradscribe.playback.translation import tr

W = TypeVar("W", bound=QWidget)
Place = Literal["output", "model", "steps", "numbers"]
"""The stack of outputs, of which one is shown, and the tabs of the page."""
SLOW_MS = 200
"""Interval of views that change slowly, or of which only numbers are shown."""


@dataclass(frozen=True)
class ShownRun:
    """The current run, as far as views may know it."""

    begun: RunStarted | None = None
    data: DataSample | None = None
    views: Mapping[str, ViewReply] = field(default_factory=dict)

    @property
    def is_regression(self) -> bool:
        """True if its targets are numbers."""
        return self.begun is not None and self.begun.task in ("regression", "any")

    @property
    def columns(self) -> int:
        """The number of its inputs; 0 for images and before the data are known."""
        return self.data.x.shape[1] if self.data and len(self.data.x.shape) == 2 else 0


def _ignore(*_: object) -> None:
    """Do nothing."""


@dataclass(frozen=True)
class TrainingView(Generic[W]):
    """A view on the training page; each of its functions is given the widget first."""

    tab: str
    """Title of its tab; the widget's accessible name is the full title."""
    place: Place
    order: int
    """Sort key among the tabs of its place, smallest first."""
    make: Callable[[], W]
    kinds: tuple[str, ...]
    """The engine's views that it shows."""
    wishes: Callable[[W, ShownRun], Sequence[ViewRequest]]
    """Return what to request while it is visible."""
    show: Callable[[W, ShownRun, ViewReply], None]
    """Show a view of one of its kinds."""
    clear: Callable[[W], None]
    """Show nothing: the current run has not begun."""
    begin: Callable[[W, RunStarted], None] = _ignore
    """Adapt to a run that has begun."""
    show_data: Callable[[W, ShownRun, NDArray[np.float64] | None], None] = _ignore
    """Show the run's data, or points drawn by hand by now."""
    applies: Callable[[ShownRun], bool] = lambda _run: True
    """Return whether it is the output to show for a run; the first that applies is shown."""


def size_note(begun: RunStarted, most: int) -> str:
    """Return why a model with more than ``most`` parameters is not shown; empty for others."""
    size = begun.parameter_count
    return tr("{size:,} parameters are too many to show", size=size) if size > most else ""
