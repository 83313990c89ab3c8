"""A run that the engine holds, and what the window wants of it."""

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
    """A run, whether and how far it plays, and what was told of it last."""

    run: Run
    playing: bool = False
    rate: float = 0.0
    until: tuple[asks.Until, ...] = ()
    wishes: tuple[asks.Wish, ...] = ()
    pace: Pace = field(default_factory=Pace)
    """When each view may be made again."""
    seen: dict[str, int] = field(default_factory=dict)
    """The step at which each view was made last."""
    problem: Problem | None = None
    reached: str = ""
    began: float = 0.0
    began_at: int = 0
    told: float = 0.0
    tell_at: float = 0.0
    """When its curves are told again."""
    measure_at: float = 0.0
    is_slow: bool = False
    """Whether a step of it takes longer than it is to be silent."""
    guard: Guard = field(default_factory=Guard)
    goals: Goals = field(default_factory=lambda: Goals(()))
    """What it plays until, besides a step."""
    event: int = 0
    goal: int | None = None
    """Where an `Advance` ends."""
    parent: tuple[int, int] | None = None
    beside: int | None = None
    """The right run that goes along."""
    memory: int = 0
    """Bytes that the process held when that began."""

    def __post_init__(self) -> None:
        """Begin to show what is wanted."""
        self.watch(self.wishes)
        self.settings = self.run.setup
        """The settings that were told of last."""

    def watch(self, wishes: tuple[asks.Wish, ...]) -> None:
        """Take the views that are wanted from now on; each is due at once."""
        self.wishes = wishes
        self.pace.want({key: wish.every_ms / 1000 for key, wish in self.wanted()})
        self.seen.clear()

    def wanted(self) -> Iterator[tuple[str, asks.Wish]]:
        """Yield the views that are wanted, each with a name of its own."""
        for number, wish in enumerate(self.wishes):
            yield (wish.kind if wish.kind == "beside" else f"{number}:{wish.kind}"), wish
