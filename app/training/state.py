"""What the training room knows: the setup one edits, the runs that came of it, where one looks."""

import math
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import count
from pathlib import PurePath
from typing import Protocol

from msgspec import Struct
from msgspec.structs import replace
from PySide6.QtCore import SignalInstance

from app.state import EngineNews
from engine.setup import Part, Plain, Setup
from engine.training import (
    Begun,
    Catalogue,
    DataShown,
    Happened,
    TrainRequest,
    TrainState,
    View,
)
from playback import text
from widgets.plots.series import Series

START = Setup(
    data=Part("moons"),
    model=Part("mlp"),
    optimizer=Part("adam", {"lr": 0.03}),
    batch=16,
    validate_every=10,
)
"""What training opens with: two moons, solved to the eye within seconds."""

FINE_CURVES = ("loss", "val", "lr")
"""Curves that are kept step by step; the others are thinned to `COARSE` numbers."""
COARSE = 16_384
PATIENCE_MS, NUMBERS_A_MS = 6000, 2000
"""An engine that is asked to pause and says nothing for so long is replaced; for each so many
numbers that the model learns it has a millisecond more."""


class TrainLook(Struct, frozen=True):
    """Where one looks: the run that is driven, and runs whose curves are hidden."""

    run_id: int = 0
    hidden: frozenset[int] = frozenset()
    rate: float = 0.0
    """Steps per second at most; 0 is as fast as it goes."""
    alone: bool = False
    """Whether what the model says has all of the room, without set-up, steps and curves."""


@dataclass
class Run:
    """One run and everything it has told. The session alone writes it."""

    run_id: int
    setup: Setup
    name: str
    color: int = 0
    begun: Begun | None = None
    data: DataShown | None = None
    state: TrainState | None = None
    series: dict[str, Series] = field(default_factory=dict)
    ahead: dict[str, Series] = field(default_factory=dict)
    """Losses as they were before it went back, until it has gone on otherwise."""
    views: dict[str, View] = field(default_factory=dict)
    happened: list[Happened] = field(default_factory=list)
    furthest: int = 0
    alive: bool = True
    """Whether the engine still holds it; an earlier run's curves stay without."""
    problem: str = ""
    stood: int = 0
    """Of a fork, or a run out of a file: the step it stood at, until the engine tells."""
    branch: tuple[int, int] | None = None
    """Of a fork: the run it was made of, and at which step."""
    christened: bool = False
    """Whether its name was given by hand."""

    @property
    def step(self) -> int:
        """The step it stands at."""
        return self.state.step if self.state is not None else self.stood

    @property
    def running(self) -> bool:
        """Whether it makes steps by itself."""
        return self.state is not None and self.state.status == "running"

    def call(self, name: str) -> None:
        """Give it a name that tells of its setup, unless it has one of the user's."""
        self.name = self.name if self.christened else name

    def curve(self, name: str) -> Series:
        """Return a curve, empty where it has no number yet."""
        if name not in self.series:
            self.series[name] = new_curve(name)
        return self.series[name]

    def whole(self, name: str) -> Series:
        """Return a curve with what came after the step that it went back to, if that is known."""
        return self.ahead[name] if name in self.ahead else self.curve(name)


def new_curve(name: str) -> Series:
    """Return an empty curve of that name."""
    return Series(None if name in FINE_CURVES else COARSE)


class TrainEngine(EngineNews, Protocol):
    """What the session asks of the link to the training engine."""

    @property
    def asked(self) -> SignalInstance:
        """Carries each request as the engine is given it."""

    @property
    def progressed(self) -> SignalInstance:
        """Carries the path of a file that is being read, and how much of it is."""

    def stop_reading(self) -> None:
        """Leave that file alone."""

    def next_id(self) -> int:
        """Return a run id that no run has had."""

    def send(self, message: TrainRequest) -> None:
        """Send a request."""

    def kill(self, why: str) -> None:
        """End an engine that does not answer."""

    def close(self) -> None:
        """End the engine."""


Listed = Callable[[Catalogue], None]


def size_of(run: Run) -> int:
    """Return how many numbers its model learns; 0 before the engine has told."""
    return sum(math.prod(one.shape) for one in run.begun.parameters) if run.begun else 0


def patience_ms(run: Run) -> int:
    """Return how long its engine may say nothing: a step of a big model takes a while."""
    rate = run.state.rate if run.state is not None else 0.0
    return max(PATIENCE_MS + size_of(run) // NUMBERS_A_MS, round(3000 / rate) if rate else 0)


def progress(run: Run, plays: bool) -> str:
    """Return where a run stands in words: ``step 1,204 · 3,000 steps/s``."""
    state, words = run.state, f"step {run.step:,}"
    if state is None or not run.running:
        return words
    if not plays:
        return f"{words} · pausing…"
    if state.rate >= 1:
        return f"{words} · {state.rate:,.0f} steps/s"
    return f"{words} · {1 / state.rate:.3g} s a step" if state.rate else words


def named(setup: Setup) -> str:
    """Return what a run is called in a table: its data, model and optimizer."""
    rate = setup.optimizer.options.get("lr")
    path = setup.data.options.get("path")
    data = text.file_name(PurePath(str(path)).name) if path else setup.data.name
    parts = [data, setup.model.name, setup.optimizer.name]
    wrong = "".join(f" · {name.replace('_', ' ')}" for name in setup.mistakes)
    return " · ".join(parts) + (f" {rate:g}" if isinstance(rate, int | float) else "") + wrong


def branch(run: Run) -> tuple[int, int] | None:
    """Return the run that one was forked from, and at which step; None for one of its own."""
    begun = run.begun
    told = (begun.parent, begun.parent_step) if begun and begun.parent is not None else None
    return told or run.branch


def branched(name: str, step: int) -> str:
    """Return what a branch is called of a run called ``name``, which may be a branch itself."""
    return f"{re.sub(r' from [0-9]+( [(][0-9]+[)])?$', '', name)} from {step}"


def distinct(name: str, runs: Iterable[Run]) -> str:
    """Return ``name``, with a number behind it where one of ``runs`` is called so."""
    taken = {run.name for run in runs}
    return next(one for one in _numbered(name) if one not in taken)


def _numbered(name: str) -> Iterator[str]:
    yield name
    yield from (f"{name} ({number})" for number in count(2))


def reseeded(setup: Setup, made: Setup) -> Setup:
    """Return the setup with the weights and data that a run was made with: they may be new ones."""
    return replace(setup, weight_seed=made.weight_seed, data_seed=made.data_seed)


def taken_back(setup: Setup, before: Setup, now: Setup) -> Setup:
    """Return a setup with what ``now`` has otherwise than ``before``: both have every default.

    What is the same in both stays as short as it is in ``setup``.
    """
    changed: dict[str, object] = {}
    for key in Setup.__struct_fields__:
        was, own, mine = getattr(before, key), getattr(now, key), getattr(setup, key)
        if was == own:
            continue
        changed[key] = own
        parts = isinstance(was, Part) and isinstance(own, Part) and isinstance(mine, Part)
        if parts and was.name == own.name == mine.name:
            other = {k: v for k, v in own.options.items() if v != was.options.get(k)}
            changed[key] = Part(own.name, {**mine.options, **other})
    return replace(setup, **changed)


def options_of(part: Part, kind: str, catalogue: Catalogue | None) -> dict[str, Plain]:
    """Return all options of a part, those it is not given with their defaults, where known."""
    entries = catalogue.entries if catalogue is not None else ()
    entry = next((e for e in entries if (e.kind, e.name) == (kind, part.name)), None)
    defaults = {one.name: one.default for one in entry.options} if entry is not None else {}
    return {**defaults, **part.options}


def difference(setup: Setup, other: Setup, catalogue: Catalogue | None = None) -> str:
    """Return in few words what ``setup`` has that ``other`` has not: ``lr 0.1, batch 32``.

    An option that is not given has the default of the ``catalogue``.
    """
    words = []
    for key in Setup.__struct_fields__:
        mine, theirs = getattr(setup, key), getattr(other, key)
        if mine is None and key.endswith("_seed"):
            # It follows the seed where it has none of its own.
            mine = None if theirs is None else setup.seed
        if mine == theirs:
            continue
        if isinstance(mine, Part) and isinstance(theirs, Part) and mine.name == theirs.name:
            own, before = (options_of(part, key, catalogue) for part in (mine, theirs))
            changed = [k for k in sorted(own | before) if own.get(k) != before.get(k)]
            words += [f"{k} {_short(own.get(k, 'default'))}" for k in changed]
        elif isinstance(mine, Part):
            words.append(mine.name)
        else:
            words.append(f"{key.replace('_', ' ')} {_short(mine)}")
    return ", ".join(words)


def _short(value: object) -> str:
    if isinstance(value, float):
        return f"{value:g}"
    if value in ("", (), []) or value is None:
        return "none"
    if isinstance(value, list | tuple):
        return "-".join(map(str, value)) if len(value) < 8 else f"{len(value)} values"
    words = str(value)
    return words if len(words) <= 24 else words[:23] + "…"
