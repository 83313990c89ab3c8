"""A run that the engine holds, and what the window wants of it."""

import math
from dataclasses import dataclass, field

from engine.tape import Problem
from engine.train.run import Run
from engine.training import asks


@dataclass
class Held:
    """A run, whether and how far it plays, and what was told of it last."""

    run: Run
    playing: bool = False
    rate: float = 0.0
    until: tuple[asks.Until, ...] = ()
    wishes: tuple[asks.Wish, ...] = ()
    due: dict[str, float] = field(default_factory=dict)
    """When each view may be made again."""
    seen: dict[str, int] = field(default_factory=dict)
    """The step at which each view was made last."""
    problem: Problem | None = None
    reached: str = ""
    began: float = 0.0
    began_at: int = 0
    told: float = 0.0
    best: tuple[float, int] = (math.inf, 0)
    event: int = 0
    goal: int | None = None
    """Where an `Advance` ends."""
    parent: tuple[int, int] | None = None
    beside: int | None = None
    """The right run that goes along."""
    memory: int = 0
    """Bytes that the process held when that began."""
