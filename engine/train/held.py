"""A run on the training server, with its playback state and requested views."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from engine.tape import Problem
from engine.train.goals import Goals
from engine.train.memory import Guard
from engine.train.run import Run
from engine.train.views.pace import Pace
from engine.training import asks


@dataclass
class Held:
    """A run, its playback state, and what was last sent of it."""

    run: Run
    playing: bool = False
    rate: float = 0.0
    until: tuple[asks.Until, ...] = ()
    wishes: tuple[asks.Wish, ...] = ()
    pace: Pace = field(default_factory=Pace)
    """Schedule of the views."""
    seen: dict[str, int] = field(default_factory=dict)
    """The step of which each view was last computed."""
    problem: Problem | None = None
    reached: str = ""
    began: float = 0.0
    began_at: int = 0
    told: float = 0.0
    tell_at: float = 0.0
    """Time at which to send its curves next."""
    measure_at: float = 0.0
    is_slow: bool = False
    """True if a step takes longer than the maximum time between updates."""
    guard: Guard = field(default_factory=Guard)
    goals: Goals = field(default_factory=lambda: Goals(()))
    """Stop conditions other than a step."""
    event: int = 0
    goal: int | None = None
    """The last step of an `Advance`."""
    parent: tuple[int, int] | None = None
    beside: int | None = None
    """Id of the paired correct run."""
    memory: int = 0
    """Resident bytes of the process when the runs were paired."""

    def __post_init__(self) -> None:
        """Schedule the requested views."""
        self.watch(self.wishes)
        self.settings = self.run.setup
        """The setup that was last sent."""

    def watch(self, wishes: tuple[asks.Wish, ...]) -> None:
        """Set the requested views; each is due at once."""
        self.wishes = wishes
        self.pace.want({key: wish.every_ms / 1000 for key, wish in self.wanted()})
        self.seen.clear()

    def wanted(self) -> Iterator[tuple[str, asks.Wish]]:
        """Yield the requested views, each with a unique key."""
        for number, wish in enumerate(self.wishes):
            yield (wish.kind if wish.kind == "beside" else f"{number}:{wish.kind}"), wish
