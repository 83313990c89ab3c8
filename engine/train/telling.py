"""Replies about a run: its description, data, curves, views and state."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Literal

import msgspec
import torch

from engine.errors import RAISES, name_of
from engine.setup import BadSetup, Setup
from engine.tape import Problem
from engine.train import export, files, texts, views
from engine.train.history import History
from engine.train.run import Run
from engine.train.views import maps, pace
from engine.train.views.arrays import packed
from engine.training.answers import (
    SERIES_STEPS,
    Begun,
    DataShown,
    Exported,
    Parameter,
    Series,
    TrainState,
    Unit,
    View,
    WentBack,
)

if TYPE_CHECKING:
    from engine.train.held import Held

MOST_ROWS = 4000


def begun(run_id: int, run: Run, parent: tuple[int, int] | None, resumed: bool = False) -> Begun:
    """Return the description of a new run."""
    program = run.program
    return Begun(
        run_id,
        program.setup,
        program.task,
        parameters(run),
        units(run),
        run.history.columns,
        lines(run),
        str(program.model)[:20_000],
        tuple(program.names_of_inputs),
        program.class_names,
        parent[0] if parent else None,
        parent[1] if parent else 0,
        program.note,
        resumed,
        tuple(name[:100] for name in run.left[:10]) if resumed else (),
    )


def lines(run: Run) -> tuple[tuple[str, str], ...]:
    """Return the current lines of a step, each with its event."""
    return tuple((event, text) for event, text in run.program.lines)


def settings(run_id: int, hosted: Held) -> Iterator[WentBack]:
    """Yield a reply if the setup is not the one last sent, as after a rewind past a change."""
    before, hosted.settings = hosted.settings, hosted.run.setup
    if before != hosted.settings:
        run = hosted.run
        names = run.program.class_names
        yield WentBack(run_id, run.step, before, hosted.settings, lines(run), names)


def parameters(run: Run) -> tuple[Parameter, ...]:
    """Return the model's parameters with their offsets in a flat vector of all."""
    model, start, result = run.program.model, 0, []
    kinds = {name: name_of(type(module)) for name, module in model.named_modules()}
    for name, parameter in model.named_parameters():
        kind = kinds.get(name.rpartition(".")[0], "")
        shape = tuple(parameter.shape)
        result.append(Parameter(name, shape, start, kind, parameter.requires_grad))
        start += parameter.numel()
    return tuple(result)


def units(run: Run) -> tuple[Unit, ...]:
    """Return the layers whose units can be drawn; none if the model cannot be evaluated."""
    if run.program.keeps_elsewhere:
        return ()
    try:
        with views.looking(run):
            return maps.describe(run)
    except RAISES:
        return ()


def data_shown(run_id: int, run: Run) -> DataShown:
    """Return the data, at most `MOST_ROWS` evenly spaced rows."""
    program = run.program
    rows = torch.arange(0, len(program.x), -(-len(program.x) // MOST_ROWS))
    x, y = program.x[rows], program.y[rows]
    return DataShown(
        run_id,
        packed(x, "<f4" if x.is_floating_point() else "<i8"),
        packed(y, "<f4" if y.is_floating_point() else "<i8"),
        packed(torch.isin(rows, program.tensor("train_rows")), "|b1"),
        program.raw_names,
        (str(target),) if (target := run.setup.data.options.get("target")) else (),
    )


def series(run_id: int, history: History) -> Iterator[Series]:
    """Yield all steps that have not been sent, in messages of bounded length."""
    taken = history.take()
    if taken is None:
        return
    steps, values, forget = taken
    for at in range(0, max(1, len(steps)), SERIES_STEPS):
        chunk = slice(at, at + SERIES_STEPS)
        after = forget if at == 0 else None
        yield Series(run_id, packed(steps[chunk], "<i8"), packed(values[chunk], "<f8"), 1, after)


def budget(hosted: Held) -> float:
    """Return the share of a run's time that its views may take."""
    return pace.BUDGET[hosted.run.mode]


def pictures(run_id: int, hosted: Held, at_once: bool) -> Iterator[View]:
    """Yield the requested views that are due; with ``at_once`` all not yet sent for this step.

    Views for which the module raises are skipped.
    """
    for key, wish in hosted.wanted():
        now = time.perf_counter()
        if hosted.seen.get(key) == hosted.run.step or wish.kind == "beside":
            continue
        if not at_once and not hosted.pace.is_due(key, now):
            continue
        try:
            picture = views.show(hosted.run, wish.kind, wish.options)
        except RAISES:
            # It may work with other weights.
            hosted.seen[key] = hosted.run.step
            hosted.pace.made(key, time.perf_counter() - now, now, budget(hosted))
            continue
        hosted.seen[key] = hosted.run.step
        if picture is None:
            hosted.pace.never(key)
            continue
        yield View(run_id, wish.kind, hosted.run.step, picture.arrays, picture.facts)
        hosted.pace.made(key, time.perf_counter() - now, now, budget(hosted))


def state(run_id: int, hosted: Held, now: float) -> TrainState:
    """Return the state of a run."""
    run = hosted.run
    rate = 0.0
    if hosted.playing and now > hosted.began:
        rate = (run.step - hosted.began_at) / (now - hosted.began)
    status: Literal["running", "paused", "failed"] = "running" if hosted.playing else "paused"
    if hosted.problem is not None and hosted.problem.type not in ("NaN", "Memory"):
        status = "failed"
    return TrainState(
        run_id,
        status,
        run.step,
        run.epoch,
        rate,
        run.mode,
        run.why,
        event=hosted.event,
        problem=hosted.problem,
        reached=hosted.reached,
        checkpoints=len(run.past),
    )


def exported(run_id: int, run: Run, kind: str, steps: int | None) -> Exported:
    """Return the file that an `Export` requests, or the problem."""
    try:
        match kind:
            case "script":
                data = export.script_of(run, run.step if steps is None else steps).encode()
            case "csv":
                data = run.history.csv().encode()
            case _:
                data = files.safetensors(run)
    except BadSetup as error:
        return Exported(run_id, kind, b"", Problem("Setup", str(error)))
    return Exported(run_id, kind, data)


def reseeded(setup: Setup, weights: bool, data: bool) -> Setup:
    """Return the setup with the next seed for the weights, the data, or both."""
    weight_seed, data_seed = texts.seeds(setup)
    return msgspec.structs.replace(
        setup, weight_seed=weight_seed + int(weights), data_seed=data_seed + int(data)
    )
