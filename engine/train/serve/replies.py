"""Replies about a run: its description, data, curves and exports."""

from collections.abc import Iterator, Sequence

import msgspec
import torch

from gradscribe.engine.protocol.safe_text import type_name
from gradscribe.engine.protocol.setup import Setup, SetupError
from gradscribe.engine.protocol.tape import Problem
from gradscribe.engine.protocol.training.advice import Advice
from gradscribe.engine.protocol.training.replies import (
    SERIES_STEPS,
    DataSample,
    Exported,
    Parameter,
    RunStarted,
    SeriesChunk,
    UnitLayer,
)
from gradscribe.engine.run.errors import USER_ERRORS
from gradscribe.engine.train import advice
from gradscribe.engine.train.arrays import to_array
from gradscribe.engine.train.runs import ddp_export, export
from gradscribe.engine.train.runs.history import TrainingHistory
from gradscribe.engine.train.runs.run import TrainingRun
from gradscribe.engine.train.serve.model_files import model_file
from gradscribe.engine.train.source import codegen
from gradscribe.engine.train.source.program import TrainingProgram
from gradscribe.engine.train.user_module import attributes
from gradscribe.engine.train.views import maps

MOST_ROWS = 4000


def run_started(
    run_id: int, run: TrainingRun, parent: tuple[int, int] | None, resumed: bool = False
) -> RunStarted:
    """Return the description of a new run."""
    program, layers = run.program, layers_by_depth(run)
    return RunStarted(
        run_id,
        program.setup,
        program.task,
        parameters(run),
        layers if maps.can_draw_units(run) else (),
        run.history.columns,
        tuple(program.lines),
        tuple(program.input_names),
        program.class_names,
        parent[0] if parent else None,
        parent[1] if parent else 0,
        program.note,
        resumed,
        tuple(name[:100] for name in run.left[:10]) if resumed else (),
        (len(program.tensor("train_rows")), len(program.tensor("val_rows"))),
        class_counts(program),
        layers,
    )


def class_counts(program: TrainingProgram) -> tuple[int, ...]:
    """Return the number of rows of each class; empty without classes."""
    if not program.classes:
        return ()
    return tuple(torch.bincount(program.y, minlength=program.classes).tolist())


def parameters(run: TrainingRun) -> tuple[Parameter, ...]:
    """Return the model's parameters with their offsets in a flat vector of all."""
    model, start, result = run.program.model, 0, []
    kinds = {name: type_name(type(module)) for name, module in model.named_modules()}
    for name, parameter in model.named_parameters():
        kind = kinds.get(name.rpartition(".")[0], "")
        shape = tuple(parameter.shape)
        result.append(Parameter(name, shape, start, kind, parameter.requires_grad))
        start += parameter.numel()
    return tuple(result)


def layers_by_depth(run: TrainingRun) -> tuple[UnitLayer, ...]:
    """Return the layers whose outputs are collected; none if the model cannot be evaluated."""
    if run.program.has_external_state:
        return ()
    try:
        with attributes.evaluating(run.program):
            return maps.layers_by_depth(run)
    except USER_ERRORS:
        return ()


def data_sample(run_id: int, run: TrainingRun) -> DataSample:
    """Return the data, at most `MOST_ROWS` evenly spaced rows."""
    program = run.program
    rows = torch.arange(0, len(program.x), -(-len(program.x) // MOST_ROWS))
    x, y = program.x[rows], program.y[rows]
    return DataSample(
        run_id,
        to_array(x, "<f4" if x.is_floating_point() else "<i8"),
        to_array(y, "<f4" if y.is_floating_point() else "<i8"),
        to_array(torch.isin(rows, program.tensor("train_rows")), "|b1"),
        program.raw_names,
        program.target_names,
    )


def series(run_id: int, history: TrainingHistory) -> Iterator[SeriesChunk]:
    """Yield all steps that have not been sent, in messages of bounded length."""
    taken = history.take()
    if taken is None:
        return
    steps, values, forget = taken
    joined = history.take_joined()
    for at in range(0, max(1, len(steps)), SERIES_STEPS):
        chunk = slice(at, at + SERIES_STEPS)
        after = forget if at == 0 else None
        until = joined if chunk.stop >= len(steps) else None
        parts = to_array(steps[chunk], "<i8"), to_array(values[chunk], "<f8")
        yield SeriesChunk(run_id, *parts, 1, after, until)


def exported(
    run_id: int, run: TrainingRun, kind: str, steps: int | None, given: Sequence[Advice] = ()
) -> Exported:
    """Return the file that an `Export` requests, or the problem; ``given``: advice on the run."""
    try:
        match kind:
            case "script":
                count = run.step if steps is None else steps
                data = export.script(run, count, advice.script_remarks(given)).encode()
            case "ddp":
                count = run.step if steps is None else steps
                data = ddp_export.script(run, count, advice.script_remarks(given)).encode()
            case "csv":
                data = run.history.csv().encode()
            case _:
                data = model_file(run, kind)
    except SetupError as error:
        return Exported(run_id, kind, b"", Problem("Setup", str(error)))
    return Exported(run_id, kind, data)


def reseeded(setup: Setup, weights: bool, data: bool) -> Setup:
    """Return the setup with the next seed for the weights, the data, or both."""
    weight_seed, data_seed = codegen.seeds(setup)
    return msgspec.structs.replace(
        setup, weight_seed=weight_seed + int(weights), data_seed=data_seed + int(data)
    )
