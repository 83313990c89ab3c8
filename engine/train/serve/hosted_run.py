"""A run on the training server, with its playback state and requested views."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from gradscribe.engine.protocol.tape import Problem
from gradscribe.engine.protocol.training import requests
from gradscribe.engine.train.memory import allocated_bytes, data_limit, resident_bytes
from gradscribe.engine.train.runs.run import TrainingRun
from gradscribe.engine.train.runs.stop_conditions import StopConditions
from gradscribe.engine.train.views.scheduler import ViewScheduler

MEMORY_EVERY_S = 0.25
MEMORY_GROWTH = 1 << 29
"""Maximum growth in bytes by graphs that the mistake ``keep_graphs`` retains, per play."""
MEMORY_SHARE = 0.8
"""Maximum share of the process's memory limit."""


class MemoryGuard:
    """Monitor of memory use by one run while it plays."""

    def __init__(self) -> None:
        self._began = 0
        self._next = 0.0

    def begin(self) -> None:
        """Measure growth from now on."""
        self._began = resident_bytes()

    def problem(self, run: TrainingRun, now: float) -> Problem | None:
        """Return why a run must pause, or None; ``now`` in seconds of any clock."""
        if now < self._next:
            return None
        self._next = now + MEMORY_EVERY_S
        cap = data_limit()
        grown = resident_bytes() - self._began
        full = cap and allocated_bytes() > MEMORY_SHARE * cap
        losses = run.program.names["kept"]
        if "keep_graphs" in run.setup.mistakes and isinstance(losses, list):
            if grown > min(MEMORY_GROWTH, cap // 4 or MEMORY_GROWTH) or full:
                return Problem(
                    "Memory",
                    f"Paused at step {run.step:,}: {len(losses):,} losses and their graphs hold "
                    f"{(len(losses) and grown) / 1e9:.1f} GB more memory",
                    "Keep loss.item() in place of the loss. Going back lets go of them.",
                )
        elif full:
            return Problem(
                "Memory",
                f"Paused at step {run.step:,}: {allocated_bytes() / 1e9:.1f} GB of memory are in "
                f"use, of {cap / 1e9:.1f} GB that there may be",
                "Something keeps what each step makes. Make a size smaller, or reset.",
            )
        return None


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
