"""A sweep as its trials: each a setup of its own, which any engine trains to the same bits."""

import copy
import hashlib
import json
import math
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product

from gradscribe.app.training.sweep.axes import (
    MAX_TRIALS,
    AnyAxis,
    ListedAxis,
    RandomAxis,
    SweepError,
)
from gradscribe.app.training.sweep.options import PARTS
from gradscribe.engine.protocol import setup as setups
from gradscribe.engine.protocol.setup import JsonValue, Setup, SetupError
from gradscribe.playback.translation import ngettext, tr

DRAWS = 20
"""Number of draws unless it is given."""
KEY_CHARS = 12


@dataclass(frozen=True)
class Trial:
    """A setup, and the values in it that differ between the trials of its sweep."""

    number: int
    """Position among the trials, from 1."""
    values: dict[str, JsonValue]
    setup: Setup

    @property
    def text(self) -> str:
        """The setup as a JSON text, equal for equal setups."""
        return json.dumps(setups.to_dict(self.setup), sort_keys=True)

    @property
    def key(self) -> str:
        """The beginning of its setup's SHA-256: trials of equal setups have equal keys."""
        return hashlib.sha256(self.text.encode()).hexdigest()[:KEY_CHARS]

    @property
    def title(self) -> str:
        """Its values as text: ``optimizer.lr 0.01, seed 3``."""
        return ", ".join(f"{name} {short(value)}" for name, value in self.values.items())


def short(value: JsonValue) -> str:
    """Return a value of an option as text, numbers with four digits."""
    if isinstance(value, float):
        return f"{value:.4g}"
    return value if isinstance(value, str) else json.dumps(value)


@dataclass(frozen=True)
class Sweep:
    """A setup and the options that are varied: all combinations, and these for each draw."""

    base: Setup
    axes: tuple[AnyAxis, ...]
    draws: int = DRAWS
    """Number of draws of all random options together; without such an option it has no effect."""
    draw_seed: int = 0

    @property
    def grid(self) -> list[ListedAxis]:
        """The options with a value for each trial."""
        return [axis for axis in self.axes if isinstance(axis, ListedAxis)]

    @property
    def drawn(self) -> list[RandomAxis]:
        """The options whose values are drawn."""
        return [axis for axis in self.axes if isinstance(axis, RandomAxis)]

    @property
    def count(self) -> int:
        """Number of trials."""
        return math.prod(len(axis.values) for axis in self.grid) * (self.draws if self.drawn else 1)

    def trials(self) -> list[Trial]:
        """Return all trials, the last option varied first.

        More draws leave those before as they are.

        Raises:
            SweepError: there are too many, or none.
            SetupError: values that do not fit together.
        """
        self.check_count()
        found: dict[str, Trial] = {}
        for values in self._values():
            trial = Trial(len(found) + 1, values, with_values(self.base, values))
            found.setdefault(trial.key, trial)
        return [*found.values()]

    def check_count(self) -> None:
        """Raise `SweepError` unless there is an option, and not too many trials."""
        if not self.axes:
            raise SweepError(tr("a sweep varies one option at least"))
        if not 0 < self.count <= MAX_TRIALS:
            raise SweepError(
                tr(
                    "these are {product} trials, but at most {max_trials:,} run",
                    product=self._product(),
                    max_trials=MAX_TRIALS,
                )
            )

    def _product(self) -> str:
        factors = [f"{len(axis.values):,} {axis.name}" for axis in self.grid]
        factors += [tr("{draws:,} draws", draws=self.draws)] if self.drawn else []
        return f"{self.count:,} ({' x '.join(factors)})" if len(factors) > 1 else f"{self.count:,}"

    def _values(self) -> Iterator[dict[str, JsonValue]]:
        source = random.Random(self.draw_seed)
        grid = [[(axis.name, value) for value in axis.values] for axis in self.grid]
        for _ in range(self.draws if self.drawn else 1):
            drawn = {axis.name: axis.draw(source) for axis in self.drawn}
            for chosen in product(*grid):
                both = {**drawn, **dict(chosen)}
                yield {axis.name: both[axis.name] for axis in self.axes}


def with_values(base: Setup, values: dict[str, JsonValue]) -> Setup:
    """Return a setup with other values of some options, named as in a sweep.

    A part that becomes another loses its options; one that stays keeps them.

    Raises:
        SetupError: no setup has such a value.
    """
    whole = copy.deepcopy(setups.to_dict(base))
    for name in sorted(values, key=lambda name: "." in name):
        key, dot, option = name.partition(".")
        value = copy.deepcopy(values[name])
        if dot:
            part = whole.get(key, getattr(base, key).name if getattr(base, key) else None)
            if isinstance(part, str):
                part = {"name": part}
            if not isinstance(part, dict):
                raise SetupError(tr("the setup names no {key}", key=key), key)
            whole[key] = {**part, option: value}
        elif not (key in PARTS and value == _name(whole.get(key))):
            whole[key] = value
    setup = setups.parse(whole)
    setups.validate(setup)
    return setup


def _name(part: object) -> object:
    return part.get("name") if isinstance(part, dict) else part


def summary(count: int, axes: Sequence[AnyAxis]) -> str:
    """Return the size of a sweep as text: ``60 trials of optimizer.lr, seed``."""
    return tr(
        "{trials} of {join}",
        trials=ngettext("{count:,} trial", "{count:,} trials", count),
        join=", ".join(axis.name for axis in axes),
    )
