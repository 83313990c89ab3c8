"""Headless training: the same engine and messages as the window's training page."""

from __future__ import annotations

import math
import signal
import sys
import threading
import time
from array import array
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType

import msgspec
import numpy as np

from gradscribe.app.cli.record import (
    BlockingEngine,
    EngineGone,
    NoDevice,
    NoReply,
    full_device_name,
)
from gradscribe.app.files import documents
from gradscribe.app.link import launch
from gradscribe.app.link.interpreters import Interpreter
from gradscribe.app.training.setup import csv_sample
from gradscribe.app.training.setup.files import needed_file as file_needed
from gradscribe.engine.protocol import messages
from gradscribe.engine.protocol import setup as setups
from gradscribe.engine.protocol.setup import Setup, SetupError
from gradscribe.engine.protocol.tape import Problem, Tape
from gradscribe.engine.protocol.training import replies, requests
from gradscribe.engine.protocol.training.advice import Advice, RunAdvice, with_change
from gradscribe.engine.protocol.training.catalogue import hint_for_option

RUN_ID = 1
REPLY_TIMEOUT_S = 600.0
"""Most seconds without a message: for a single step, or for generating the data."""
FORMAT = 1
_Handler = Callable[[int, FrameType | None], object] | int | None
OPTIONS: dict[str, dict[str, setups.JsonValue]] = {"weights": {"most": 1 << 25}}
TRUST = "If you trust the setup, run it with --trust"


class EngineDied(Exception):
    """The engine ended, or did not reply."""


class InterruptedEarly(KeyboardInterrupt):
    """Raised on Ctrl-C, or SIGTERM, before a run has started."""


@dataclass
class TrainOutcome:
    """The result of a training run."""

    begun: replies.RunStarted
    state: replies.TrainState
    data: replies.DataSample
    seconds: float = 0.0
    interrupted: bool = False
    curves: dict[str, array[float]] = field(default_factory=dict)
    """``step``, ``loss``, ``val`` and ``lr``, one number per step; NaN for a missing one."""
    views: dict[str, replies.ViewReply] = field(default_factory=dict)
    files: dict[str, bytes] = field(default_factory=dict)
    advice: tuple[Advice, ...] = ()
    """Advice about its data and setup."""
    given: Setup = field(default_factory=Setup)
    """The setup as it was given, without defaults filled in."""

    @property
    def loss(self) -> float:
        """The last loss; NaN before the first step."""
        return next((loss for loss in reversed(self.curves["loss"]) if loss == loss), math.nan)


def read_setup(name: str) -> Setup:
    """Return the setup in a file, ``-`` for standard input.

    Raises:
        Refused: the file is missing, is not JSON, or is no setup.
    """
    text = sys.stdin.read() if name == "-" else documents.read(Path(name), ".json")
    try:
        return setups.parse_text(text, _option_hint)
    except SetupError as error:
        raise documents.Refused(f"{name}: {error}") from error


def catalogue() -> replies.Catalogue:
    """Return the catalogue of data, models, losses, optimizers, schedules. Raises `EngineDied`."""
    with BlockingEngine() as engine:
        wait_ready(engine)
        engine.send(requests.ListCatalogue())
        while True:
            match next_message(engine):
                case replies.Catalogue() as listing:
                    return listing


def _option_hint(key: str, value: object) -> str:
    """Return a hint at the part that has an option; it takes an engine, which knows them."""
    try:
        return hint_for_option(catalogue().entries, key, value)
    except EngineDied:
        return ""


def run(
    setup: Setup,
    files: tuple[str, ...] = (),
    progress: Callable[[replies.TrainState, float], None] | None = None,
    *,
    policy: bool = False,
    interpreter: Interpreter | None = None,
) -> TrainOutcome:
    """Train in a new engine for ``setup.steps`` steps, or until Ctrl-C or SIGTERM.

    ``files``: exports to make at the end: ``script``, ``safetensors``. ``progress`` is called with
    each state and the last loss. ``policy``: a module in the setup came from outside.
    ``interpreter``: another Python to train in.

    Raises:
        Refused: the setup cannot be run; the text is one line with the reason.
        Died: the engine ended.
        TooSoon: interrupted before the run had started.
    """
    interrupts = _Interrupts()
    with interrupts, _engine(interpreter) as engine:
        ready = wait_ready(engine)

        def report(state: replies.TrainState, outcome: TrainOutcome) -> None:
            if progress is not None:
                progress(state, outcome.loss)

        return train_in(engine, ready, setup, files, report, policy, interrupts)


def train_in(
    engine: BlockingEngine,
    ready: messages.Ready,
    setup: Setup,
    files: tuple[str, ...] = (),
    progress: Callable[[replies.TrainState, TrainOutcome], None] | None = None,
    policy: bool = False,
    interrupts: _Interrupts | None = None,
) -> TrainOutcome:
    """Train in an engine that is ready, after other runs or not, to the same bits; see `run`."""
    device = full_device_name(setup.device)
    if device not in ready.devices:
        raise NoDevice(f"no device {setup.device} here; there is {', '.join(ready.devices)}")
    train = requests.Train(RUN_ID, msgspec.structs.replace(setup, device=device), policy=policy)
    need = file_needed(train)
    if need is not None:
        engine.send(csv_sample.read_file(need.path, need.rows))
    engine.send(train)
    outcome = _begin(engine)
    outcome.given = setup
    if interrupts is not None:
        interrupts.pause(engine, outcome)
    began = time.monotonic()
    engine.send(requests.Advance(RUN_ID, setup.steps))
    if outcome.interrupted:
        # The interrupt came before Advance, which has undone its pause: pause again.
        engine.send(requests.Pause(RUN_ID))
    _follow(engine, outcome, progress)
    outcome.seconds = time.monotonic() - began
    _finish(engine, outcome, files)
    return outcome


def _engine(interpreter: Interpreter | None) -> BlockingEngine:
    """Return an engine that stays for long without a line if it is on another machine."""
    return BlockingEngine(interpreter=interpreter, linger=launch.TRAINING_LINGER_S)


def wait_ready(engine: BlockingEngine) -> messages.Ready:
    """Wait until the engine can take requests. Raises `EngineDied`."""
    ready = engine.wait_ready()
    if isinstance(ready, Tape):
        raise EngineDied(ready.error.message if ready.error else "the engine does not start")
    return ready


def next_message(engine: BlockingEngine) -> object:
    """Return the engine's next message. Raises `EngineDied`."""
    try:
        return engine.next(time.monotonic() + REPLY_TIMEOUT_S)
    except EngineGone:
        raise EngineDied(f"the engine ended ({engine.exit_reason()})") from None
    except NoReply:
        raise EngineDied("the engine does not answer") from None


def _begin(engine: BlockingEngine) -> TrainOutcome:
    begun: replies.RunStarted | None = None
    data: replies.DataSample | None = None
    curves = {name: array("d") for name in ("step", "loss", "val", "lr")}
    while True:
        match next_message(engine):
            case replies.RunStarted() as begun:
                pass
            case replies.DataSample() as data:
                pass
            case replies.SeriesChunk() as series:
                _extend(curves, series)
            case replies.TrainProblem(_, problem, place):
                message = problem.message or problem.type
                where = f"{place}: " if place and not message.startswith(place) else ""
                line = f" (line {problem.place.line})" if problem.place.line else ""
                hint = TRUST if problem.type == "Refused" else problem.hint
                hint = f". {hint}" if hint else ""
                raise documents.Refused(f"{where}{message}{line}{hint}")
            case replies.TrainState() as state:
                assert begun is not None
                assert data is not None
                return TrainOutcome(begun, state, data, curves=curves)


def _extend(curves: dict[str, array[float]], series: replies.SeriesChunk) -> None:
    steps, values = series.steps.array(), series.values.array()
    if series.after is not None:
        kept = int(np.searchsorted(curves["step"], series.after, side="right"))
        for name in curves:
            del curves[name][kept:]
    curves["step"].extend(steps.astype(np.float64).tolist())
    for column, name in enumerate(("loss", "val", "lr")):
        curves[name].extend(values[:, column].tolist())


def _follow(
    engine: BlockingEngine,
    outcome: TrainOutcome,
    progress: Callable[[replies.TrainState, TrainOutcome], None] | None,
) -> None:
    """Handle messages until the run pauses."""
    while True:
        match next_message(engine):
            case replies.SeriesChunk() as series:
                _extend(outcome.curves, series)
            case RunAdvice(_, advice):
                outcome.advice = advice
            case replies.TrainState() as state:
                outcome.state = state
                if progress is not None:
                    progress(state, outcome)
                if state.status != "running":
                    return


class _Interrupts:
    """Let the first Ctrl-C, or SIGTERM, pause the run, if any, and the second end the program."""

    def __init__(self) -> None:
        self._running: tuple[BlockingEngine, TrainOutcome] | None = None
        self._before: dict[signal.Signals, _Handler] = {}

    def pause(self, engine: BlockingEngine, outcome: TrainOutcome) -> None:
        """Pause this run from now on."""
        self._running = engine, outcome

    def __enter__(self) -> None:
        if threading.current_thread() is threading.main_thread():
            both = (signal.SIGINT, signal.SIGTERM)
            self._before = {number: signal.signal(number, self._take) for number in both}

    def __exit__(self, *_: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def _take(self, _signal: int, _frame: object) -> None:
        if self._running is None:
            raise InterruptedEarly
        engine, outcome = self._running
        if outcome.interrupted:
            raise KeyboardInterrupt
        outcome.interrupted = True
        engine.send(requests.Pause(RUN_ID))


def _finish(engine: BlockingEngine, outcome: TrainOutcome, files: tuple[str, ...]) -> None:
    kinds = ("scores", "weights", "boundary", "fit", "confusion")
    engine.send(
        requests.WatchViews(
            RUN_ID,
            tuple(requests.ViewRequest(kind, options=OPTIONS.get(kind, {})) for kind in kinds),
        )
    )
    for kind in files:
        engine.send(requests.Export(RUN_ID, kind))  # type: ignore[arg-type]
    engine.send(requests.ListCatalogue(RUN_ID))
    while True:
        match next_message(engine):
            case replies.ViewReply(_, kind) as view:
                outcome.views[kind] = view
            case RunAdvice(_, advice):
                outcome.advice = advice
            case replies.Exported(_, kind, data, problem):
                if problem is not None:
                    raise documents.Refused(problem.message)
                outcome.files[kind] = data
            case replies.Catalogue():
                return


def to_json(outcome: TrainOutcome) -> bytes:
    """Return the outcome as JSON; see the README."""
    return msgspec.json.encode(to_document(outcome)) + b"\n"


def to_document(outcome: TrainOutcome) -> object:
    """Return the outcome as an object of JSON."""
    state, begun = outcome.state, outcome.begun
    scores = outcome.views["scores"].facts if "scores" in outcome.views else {}
    weights: dict[str, object] = {}
    if "weights" in outcome.views:
        flat = outcome.views["weights"].arrays["flat"].array()
        for parameter in begun.parameters:
            size = math.prod(parameter.shape)
            values = flat[parameter.start : parameter.start + size]
            weights[parameter.name] = values.reshape(parameter.shape).tolist()
    document = {
        "format": FORMAT,
        "status": status(outcome),
        "problem": _problem(state.problem),
        "setup": setups.to_dict(begun.setup),
        "task": begun.task,
        "steps": state.step,
        "epochs": state.epoch,
        "loss": outcome.loss,
        "scores": scores,
        "seconds": outcome.seconds,
        "mode": state.mode,
        "why": state.why,
        "note": begun.note,
        "notes": [_note(advice, outcome.given) for advice in outcome.advice],
        "rows": _rows(outcome),
        "classes": class_rows(outcome),
        "series": {
            "step": [int(step) for step in outcome.curves["step"]],
            **{name: outcome.curves[name].tolist() for name in ("loss", "val", "lr")},
        },
        "weights": weights,
    }
    return _plain(document)


def _note(advice: Advice, setup: Setup) -> dict[str, object]:
    """Return a piece of advice; ``change`` are keys of the setup as they are to be, if any."""
    note: dict[str, object] = {"place": advice.place, "words": advice.words}
    written = as_written(advice, setup)
    return {**note, "change": written} if written else note


def as_written(advice: Advice, setup: Setup) -> dict[str, object]:
    """Return the keys that a piece of advice changes in a setup, as they stand in its file.

    Empty for a change that this setup cannot have: an engine runs code of the user's.
    """
    try:
        whole = setups.to_dict(with_change(setup, advice.change))
    except SetupError:
        return {}
    names = dict.fromkeys(key.partition(".")[0] for key in advice.change)
    return {name: whole.get(name, getattr(Setup(), name)) for name in names}


def _rows(outcome: TrainOutcome) -> dict[str, int]:
    train, validation = outcome.begun.rows
    return {"train": train, "validation": validation}


def class_rows(outcome: TrainOutcome) -> dict[str, int]:
    """Return the number of rows of each class by its name; empty without classes."""
    begun = outcome.begun
    return dict(zip(begun.classes, begun.class_counts, strict=False))


def _problem(problem: Problem | None) -> dict[str, object] | None:
    if problem is None:
        return None
    words = {"type": problem.type, "message": problem.message, "hint": problem.hint}
    return {**words, "line": problem.place.line}


def _plain(value: object) -> object:
    """Replace floats that JSON does not have: NaN by null, infinities by strings."""
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None if value != value else "inf" if value > 0 else "-inf"
    return value


def status(outcome: TrainOutcome) -> str:
    """Return ``ok``, ``interrupted``, ``nan``, or ``error``: the model raised."""
    if outcome.state.reached == "nan":
        return "nan"
    if outcome.state.problem is not None:
        return "error"
    return "interrupted" if outcome.interrupted else "ok"


def to_csv(outcome: TrainOutcome) -> bytes:
    """Return the curves as CSV, numbers exact to the bit, missing ones as empty cells."""
    lines = ["step,loss,val,lr"]
    columns = [outcome.curves[name] for name in ("step", "loss", "val", "lr")]
    for step, *rest in zip(*columns, strict=True):
        cells = ["" if value != value else repr(value) for value in rest]
        lines.append(",".join([str(int(step)), *cells]))
    return ("\n".join(lines) + "\n").encode()
