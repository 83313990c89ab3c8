"""A run on the training server, with its playback state and requested views."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from gradscribe.engine.protocol.tape import Problem
from gradscribe.engine.protocol.training import requests
from gradscribe.engine.train.memory import MemoryGuard
from gradscribe.engine.train.runs.run import TrainingRun
from gradscribe.engine.train.runs.stop_conditions import StopConditions
from gradscribe.engine.train.views.scheduler import ViewScheduler


@dataclass
class HostedRun:
    """A run, its playback state, and what was last sent of it."""

    run: TrainingRun
    playing: bool = False
    rate: float = 0.0
    until: tuple[requests.StopCondition, ...] = ()
    wishes: tuple[requests.ViewRequest, ...] = ()
    pace: ViewScheduler = field(default_factory=ViewScheduler)
    """Schedule of the views."""
    seen: dict[str, int] = field(default_factory=dict)
    """The step of which each view was last computed."""
    problem: Problem | None = None
    reached: str = ""
    play_start: float = 0.0
    play_start_step: int = 0
    sent_at: float = 0.0
    next_send_at: float = 0.0
    """Time at which to send its curves next."""
    next_measure_at: float = 0.0
    is_slow: bool = False
    """True if a step takes longer than the maximum time between updates."""
    guard: MemoryGuard = field(default_factory=MemoryGuard)
    goals: StopConditions = field(default_factory=lambda: StopConditions(()))
    """Stop conditions other than a step."""
    event: int = 0
    goal: int | None = None
    """The last step of an `Advance`."""
    parent: tuple[int, int] | None = None
    paired_id: int | None = None
    """Id of the paired correct run."""
    memory: int = 0
    """Resident bytes of the process when the runs were paired."""

    def __post_init__(self) -> None:
        """Schedule the requested views."""
        self.watch(self.wishes)
        self.settings = self.run.setup
        """The setup that was last sent."""

    def watch(self, wishes: tuple[requests.ViewRequest, ...]) -> None:
        """Set the requested views; each is due at once."""
        self.wishes = wishes
        self.pace.set_intervals({key: wish.every_ms / 1000 for key, wish in self.keyed_wishes()})
        self.seen.clear()

    def keyed_wishes(self) -> Iterator[tuple[str, requests.ViewRequest]]:
        """Yield the requested views, each with a unique key."""
        for number, wish in enumerate(self.wishes):
            yield (wish.kind if wish.kind == "beside" else f"{number}:{wish.kind}"), wish
