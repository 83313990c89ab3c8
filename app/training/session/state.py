"""State of the training page: setup, runs, view."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import count
from pathlib import PurePath
from typing import Protocol

from msgspec import Struct, structs
from PySide6.QtCore import SignalInstance

from gradscribe.app.document.state import EngineSignals
from gradscribe.app.link.far_engine import FarEngine
from gradscribe.app.link.interpreters import Interpreter
from gradscribe.engine.protocol.setup import JsonValue, Part, Setup
from gradscribe.engine.protocol.step_order import describe_order
from gradscribe.engine.protocol.structs import replace
from gradscribe.engine.protocol.training import (
    Advice,
    Catalogue,
    DataSample,
    EventDone,
    RunStarted,
    StopCondition,
    TrainRequest,
    TrainState,
    ViewReply,
)
from gradscribe.playback.text import formatting
from gradscribe.playback.translation import tr, translated
from gradscribe.widgets.plots.spread_table import SpreadTable
from gradscribe.widgets.plots.step_series import StepSeries

DEFAULT_SETUP = Setup(
    data=Part("moons"),
    model=Part("mlp"),
    optimizer=Part("adam", {"lr": 0.03}),
    batch=16,
    validate_every=10,
)
"""The default setup: two moons, which is visibly solved within seconds."""

FIRST_RATE = 30.0
"""Steps per second of the first run: slow enough to watch."""
UNTIL_SOLVED = (StopCondition("solved"), StopCondition("plateau", 5000))
"""Conditions that pause a run which began by itself or from an example: solved, or no better."""
UNTHINNED_CURVES = ("loss", "val", "lr")
"""Curves that are stored step by step; others are thinned to `THINNED_SIZE` numbers."""
THINNED_SIZE = 16_384
REPLY_TIMEOUT_MS, PARAMETERS_PER_MS = 6000, 2000
"""Milliseconds without a reply to Pause before the engine is replaced, and parameters of the model
per additional millisecond."""


class ViewSettings(Struct, frozen=True):
    """The view: the current run, its speed, and runs whose curves are hidden."""

    run_id: int = 0
    hidden: frozenset[int] = frozenset()
    rate: float = 0.0
    """Most steps per second; 0 is unlimited."""
    alone: bool = False
    """True while only the model's views are shown, without set-up, steps and curves."""
    graph_column: bool = True
    """True if the graph of the step has a column of its own in a large window."""


Flag = tuple[int, str]
"""A step after which a setting or a weight changed, and what, in a few words."""


@dataclass
class RunState:
    """A run and everything received about it. Only the session writes it."""

    run_id: int
    setup: Setup
    name: str
    color: int = 0
    begun: RunStarted | None = None
    data: DataSample | None = None
    state: TrainState | None = None
    series: dict[str, StepSeries] = field(default_factory=dict)
    spread: SpreadTable = field(default_factory=SpreadTable)
    """Quantiles of its tensors since the first step that was seen."""
    ahead: dict[str, StepSeries] = field(default_factory=dict)
    """Curves from before it went back, until new steps differ from them."""
    spread_ahead: SpreadTable = field(default_factory=SpreadTable)
    """The quantiles of `ahead`."""
    views: dict[str, ViewReply] = field(default_factory=dict)
    advice: tuple[Advice, ...] = ()
    """All advice on its setup by now."""
    happened: list[EventDone] = field(default_factory=list)
    furthest: int = 0
    alive: bool = True
    """True while the run exists in the engine; the curves stay without it."""
    is_dormant: bool = False
    """True if the engine dropped it for others, and its state is here to go on with."""
    problem: str = ""
    stood: int = 0
    """The step of a fork or a run out of a file, until the engine reports its state."""
    branch: tuple[int, int] | None = None
    """The source run and step of a fork."""
    origin: Setup | None = None
    """Of a fork: the setup of its source, after which it is named by what differs."""
    made_itself: bool = False
    """True for a fork that was made before the later steps of its source would be lost."""
    follows_source: bool = False
    """True for a fork with the settings of its step, until the engine reports it."""
    edited: str = ""
    """The weight that was set by hand last, as text, since it is a fork."""
    aim: int | None = None
    """The step of the last rewind, until the engine has replied."""
    rewinds: int = 0
    """Rewinds without a reply."""
    rejoins: bool = False
    """True until an engine that was left running reports it."""
    sent: list[Setup] = field(default_factory=list)
    """Setups that were sent to the engine without a reply."""
    restarts_with: Setup | None = None
    """The setup with which it is about to restart."""
    setup_ahead: Setup | None = None
    """The setup at the end of `ahead`, if it differed from that of the step it went back to."""
    flags: list[Flag] = field(default_factory=list)
    turns: int = 0
    """Number of times that its curves were set aside or brought back."""
    flags_ahead: list[Flag] = field(default_factory=list)
    """Flags from before it went back."""
    christened: bool = False
    """True if the user named it."""

    @property
    def step(self) -> int:
        """The current step."""
        return self.state.step if self.state is not None else self.stood

    @property
    def position(self) -> int:
        """The step where the engine will be after a pending rewind, else the current step."""
        return self.step if self.aim is None else self.aim

    def add_flag(self, step: int, words: str) -> None:
        """Note a change after ``step``; of the same setting there is one flag a step."""
        what = words.rpartition(" ")[0]
        same = [flag for flag in self.flags if flag[0] == step]
        older = [flag for flag in same if flag[1].rpartition(" ")[0] != what]
        self.flags = [flag for flag in self.flags if flag[0] != step] + [*older, (step, words)]

    def aim_at(self, step: int) -> None:
        """Note a rewind to ``step`` that was requested."""
        self.aim = step
        self.rewinds += 1

    def note_rewind(self) -> None:
        """Note the reply to a rewind."""
        self.rewinds = max(0, self.rewinds - 1)
        self.aim = self.aim if self.rewinds else None

    @property
    def last_known(self) -> int:
        """The last step that a rewind left, or where it is; later steps have to be made."""
        known = [self.position]
        if "loss" in self.ahead:
            known.append(int(self.ahead["loss"].last))
        if self.aim is not None:
            known.append(int(self.curve("loss").last))
        return max(known)

    @property
    def has_own_steps(self) -> bool:
        """True unless it is a fork that has made no step since it left its source."""
        return self.branch is None or max(self.furthest, self.last_known) > self.branch[1]

    @property
    def has_later_steps(self) -> bool:
        """True after going back: another way from here would lose the steps after this one."""
        return self.last_known > self.position

    @property
    def expected_setup(self) -> Setup:
        """The setup once the engine has replied to everything that was sent."""
        return self.sent[-1] if self.sent else self.setup

    def changes_until(self, step: float) -> bool:
        """Return whether a setting changed after the position, before ``step`` was made.

        Only changes that going back took back count, or will.
        """
        later = [at for at, _ in self.flags_ahead]
        later += [at for at, _ in self.flags if at > self.position]
        return self.has_later_steps and any(self.position <= at < step for at in later)

    @property
    def can_go_on(self) -> bool:
        """True if it can be continued."""
        return self.alive or self.is_dormant

    @property
    def running(self) -> bool:
        """True while it trains."""
        return self.state is not None and self.state.status == "running"

    def call(self, name: str) -> None:
        """Set a name made from its setup, unless the user named it."""
        self.name = self.name if self.christened else name

    def curve(self, name: str) -> StepSeries:
        """Return a curve, which may be empty."""
        if name not in self.series:
            self.series[name] = new_curve(name)
        return self.series[name]

    def whole(self, name: str) -> StepSeries:
        """Return a curve with the steps past a rewind, if they are retained."""
        return self.ahead[name] if name in self.ahead else self.curve(name)


def new_curve(name: str) -> StepSeries:
    """Return an empty curve for the quantity ``name``."""
    return StepSeries(None if name in UNTHINNED_CURVES else THINNED_SIZE)


class TrainEngine(EngineSignals, Protocol):
    """Interface of the link to the training engine."""

    interpreter: Interpreter | None
    """The Python of new runs; None for Gradscribe's own."""

    leaves: bool
    """True if the engine goes on without the window, on another machine."""

    @property
    def far(self) -> FarEngine | None:
        """The engine if it is on another machine and ready."""

    def adopt(self, left: FarEngine, last_id: int) -> None:
        """Go on with an engine on another machine whose runs have ids up to ``last_id``."""

    @property
    def asked(self) -> SignalInstance:
        """Carries each request when it is sent to the engine."""

    @property
    def progressed(self) -> SignalInstance:
        """Carries the path of a file that is being read, and the share that is read."""

    def stop_reading(self) -> None:
        """Stop reading that file."""

    def next_id(self) -> int:
        """Return a run id that no run has had."""

    def send(self, message: TrainRequest) -> None:
        """Send a request."""

    def renew(self) -> None:
        """Replace an engine in another Python than the one that was chosen last."""

    def kill(self, why: str) -> None:
        """End an engine that does not reply."""

    def close(self) -> None:
        """End the engine."""


def reply_timeout_ms(run: RunState) -> int:
    """Return the timeout for its engine: a step of a big model takes a while."""
    rate = run.state.rate if run.state is not None else 0.0
    size = run.begun.parameter_count if run.begun is not None else 0
    return max(REPLY_TIMEOUT_MS + size // PARAMETERS_PER_MS, round(3000 / rate) if rate else 0)


def progress_text(run: RunState, plays: bool) -> str:
    """Return a run's progress as text: ``step 1,204 · 3,000 steps/s``."""
    state, words = run.state, tr("step {step:,}", step=run.step)
    if state is None or not run.running:
        return words
    if not plays:
        return tr("{words} · pausing…", words=words)
    if state.rate >= 1:
        return tr("{words} · {rate:,.0f} steps/s", words=words, rate=state.rate)
    if not state.rate:
        return words
    return tr("{words} · {seconds:.3g} s a step", words=words, seconds=1 / state.rate)


def title_of(part: Part, kind: str, catalogue: Catalogue | None) -> str:
    """Return the title of a part in the catalogue; its name if it has none."""
    entries = catalogue.entries if catalogue is not None else ()
    found = (translated(e.title) for e in entries if (e.kind, e.name) == (kind, part.name))
    return next(found, "") or part.name.replace("_", " ")


def run_name(setup: Setup, catalogue: Catalogue | None = None) -> str:
    """Return the name of a run in the table: its data, model and optimizer."""
    rate = setup.optimizer.options.get("lr")
    path = setup.data.options.get("path")
    data = formatting.file_name(PurePath(str(path)).name) if path else ""
    parts = [
        data or title_of(setup.data, "data", catalogue),
        title_of(setup.model, "model", catalogue),
        title_of(setup.optimizer, "optimizer", catalogue),
    ]
    deviations = [name.replace("_", " ") for name in setup.mistakes]
    deviations += [words for words in (step_words(setup),) if words]
    wrong = "".join(f" · {words}" for words in deviations)
    return " · ".join(parts) + (f" {rate:g}" if isinstance(rate, int | float) else "") + wrong


def order_words(setup: Setup) -> str:
    """Return what differs in the order of a setup's step, in the window's language; else empty."""
    return ", ".join(map(translated, describe_order(setup.order).split(", ")))


def step_words(setup: Setup) -> str:
    """Return what differs in a setup's step from the usual one: ``no zero_grad``; else empty."""
    by_hand = (tr("update by hand"),) if setup.manual_update else ()
    return ", ".join((*filter(None, (order_words(setup),)), *by_hand))


def fork_origin(run: RunState) -> tuple[int, int] | None:
    """Return the source run and step of a fork; None for other runs."""
    begun = run.begun
    known = (begun.parent, begun.parent_step) if begun and begun.parent is not None else None
    return known or run.branch


def fork_name(differs: str, name: str, step: int) -> str:
    """Return the name of a fork: what differs from its source, else ``name``, and its step."""
    return tr("{value} from step {step:,}", value=differs or name, step=step)


def unique_name(name: str, runs: Iterable[RunState]) -> str:
    """Return ``name``, with a number appended if a run of ``runs`` has that name."""
    taken = {run.name for run in runs}
    return next(numbered for numbered in _numbered(name) if numbered not in taken)


def _numbered(name: str) -> Iterator[str]:
    yield name
    yield from (f"{name} ({number})" for number in count(2))


def with_seeds_of(setup: Setup, made: Setup) -> Setup:
    """Return the setup with the seeds of the weights and data that a run was ``made`` with."""
    return replace(setup, weight_seed=made.weight_seed, data_seed=made.data_seed)


def revert_changes(setup: Setup, before: Setup, now: Setup) -> Setup:
    """Return a setup with the differences of ``now`` from ``before``, which have every default.

    Settings that are equal in both stay as in ``setup``, without spelled-out defaults.
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
    return structs.replace(setup, **changed)


def options_of(part: Part, kind: str, catalogue: Catalogue | None) -> dict[str, JsonValue]:
    """Return all options of a part, with the catalogue's defaults for those that are missing."""
    entries = catalogue.entries if catalogue is not None else ()
    entry = next((e for e in entries if (e.kind, e.name) == (kind, part.name)), None)
    defaults = {option.name: option.default for option in entry.options} if entry else {}
    return {**defaults, **part.options}


def describe_difference(setup: Setup, other: Setup, catalogue: Catalogue | None = None) -> str:
    """Return a short text of what ``setup`` changes in ``other``: ``lr 0.1, batch 32``.

    A missing option has the default of the ``catalogue``.
    """
    words = []
    for key in Setup.__struct_fields__:
        mine, theirs = getattr(setup, key), getattr(other, key)
        if mine is None and key.endswith("_seed"):
            # Without a seed of its own it follows the general seed.
            mine = None if theirs is None else setup.seed
        if mine == theirs:
            continue
        if key == "order":
            words.append(order_words(setup) or tr("the usual order"))
            continue
        if key == "manual_update":
            words.append(
                tr("update by hand") if setup.manual_update else tr("update by the optimizer")
            )
            continue
        if isinstance(mine, Part) and isinstance(theirs, Part) and mine.name == theirs.name:
            own, before = (options_of(part, key, catalogue) for part in (mine, theirs))
            changed = [k for k in sorted(own | before) if own.get(k) != before.get(k)]
            words += [f"{k} {_short(own.get(k, 'default'))}" for k in changed]
        elif isinstance(mine, Part):
            rate = mine.options.get("lr") if key == "optimizer" else None
            with_rate = f" {rate:g}" if isinstance(rate, int | float) else ""
            words.append(title_of(mine, key, catalogue) + with_rate)
        else:
            words.append(f"{key.replace('_', ' ')} {_short(mine)}")
    return ", ".join(words)


def _short(value: object) -> str:
    if isinstance(value, float):
        return f"{value:g}"
    if value in ("", (), []) or value is None:
        return "none"
    if isinstance(value, list | tuple):
        return (
            "-".join(map(str, value))
            if len(value) < 8
            else tr("{value_count} values", value_count=len(value))
        )
    words = str(value)
    return words if len(words) <= 24 else words[:23] + "…"
