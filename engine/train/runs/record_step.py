"""Record one step of a run: its tape, and the origin of a NaN."""

import linecache
import math
import time
from collections.abc import Iterator
from contextlib import contextmanager

import msgspec
import torch

from gradscribe.engine.doctor.examine import examine_safely
from gradscribe.engine.protocol.tape import Problem, Snapshot, Tape
from gradscribe.engine.record.code_positions import compile_text
from gradscribe.engine.record.freeze import freeze, leaves
from gradscribe.engine.record.recorder import Recorder
from gradscribe.engine.run.errors import USER_ERRORS
from gradscribe.engine.train.runs.run import TrainingRun
from gradscribe.engine.train.source.program import TrainingProgram, suppress_warnings

FILENAME = "<training step>"
EVENTS = 20_000


def record_step(run: TrainingRun, step: int | None = None) -> tuple[Tape, str, int]:
    """Return the tape of the step after ``step``, its source and ``step``. The run is unchanged."""
    step = run.step if step is None else max(0, min(step, run.step))
    if run.events is not None:
        # Going back would change weights that the statements still to come read.
        rng = run.program.random_state()
        try:
            return *_recorded(run.fork(step)), step
        finally:
            run.program.set_random_state(rng)
    with _restored(run):
        # `go_to` replays steps from the preceding checkpoint.
        if step != run.step:
            run.go_to(step)
        tape, source = _recorded(run)
    return tape, source, step


def step_seconds(run: TrainingRun) -> float:
    """Return the seconds that the next step takes; infinity if it fails. The run is unchanged."""
    with _restored(run):
        begun = time.perf_counter()
        try:
            with suppress_warnings():
                run.program.step(run.draw())
        except USER_ERRORS:
            return math.inf
        return time.perf_counter() - begun


@contextmanager
def _restored(run: TrainingRun) -> Iterator[None]:
    """Bring the run back to where it is, with the losses that it keeps by mistake."""
    now, problem = run.state(), run.problem
    losses = run.program.names["kept"]
    assert isinstance(losses, list)
    kept = list(losses)
    try:
        yield
    finally:
        run.load(now)
        run.problem = problem
        losses[:] = kept


def _recorded(run: TrainingRun) -> tuple[Tape, str]:
    program = run.program
    source = "\n".join(text for _, text in program.lines) + "\n"
    linecache.cache[FILENAME] = (len(source), None, source.splitlines(keepends=True), FILENAME)
    batches = run.draw()
    scope = _scope(program)
    scope["batches"] = batches
    scope["inputs"], scope["targets"] = batches[0]
    recorder = Recorder(source, FILENAME, EVENTS)
    error: Problem | None = None
    with suppress_warnings():
        try:
            with recorder:
                exec(compile_text(source, FILENAME), scope)
        except USER_ERRORS as raised:
            error = program.failure(raised)
    names = ["model", "inputs", "targets", "output", "loss"]
    shown = {name: scope[name] for name in names if name in scope}
    tape = freeze(recorder, leaves(recorder, shown))
    recorder.release()
    findings = examine_safely(msgspec.structs.replace(tape, error=error), source)
    return msgspec.structs.replace(
        tape,
        findings=tuple(msgspec.structs.replace(f, fix="", why_no_fix=_SET_UP) for f in findings),
        status="ok" if error is None else "error",
        error=error,
        torch=str(torch.__version__),
        device=program.setup.device,
    ), source


_SET_UP = "This is a step of a training run, whose set-up writes these lines: change it there"


def _scope(program: TrainingProgram) -> dict[str, object]:
    """Return the names that a step needs, without the whole data set."""
    away = ("x", "y", "order", "x_train", "y_train", "x_val", "y_val", "train_rows", "val_rows")
    return {name: thing for name, thing in program.names.items() if name not in away}


def explain_nan(run: TrainingRun) -> Problem:
    """Rewind to the step before the first non-finite number, and name the op that produced it.

    Afterwards the run is at that step, with finite weights unless those of step 0 are not.
    """
    bad, loss = run.step, run.history.recent[-1] if run.history.recent else math.nan
    step = bad - 1
    run.go_to(step)
    while step > 0 and not _has_finite_weights(run):
        step -= 1
        run.go_to(step)
    tape, _, _ = record_step(run, step)
    run.rewind(step)
    run.forget_later()
    where = describe_first_non_finite(tape)
    if step + 1 == bad:
        detail = f": {where}" if where else ""
    else:
        detail = f". Step {step + 1:,}: {where}" if where else f". Step {step + 1:,} went wrong"
    problem = Problem(
        "NaN",
        f"The loss of step {bad:,} is {'NaN' if math.isnan(loss) else 'infinite'}{detail}",
        "The run stands before that step: lower the learning rate, or clip gradients, and go on.",
    )
    run.problem = None
    return problem


def _has_finite_weights(run: TrainingRun) -> bool:
    return all(bool(torch.isfinite(p).all()) for p in run.program.model.parameters())


def describe_first_non_finite(tape: Tape) -> str:
    """Describe the first op, backward node or update that produced a non-finite number."""
    values = {value.id: value for value in tape.values}

    def bad(index: int | None) -> str:
        return _non_finite(tape.snapshots[index]) if index is not None else ""

    for event in tape.events:
        if event.kind == "op":
            op = tape.ops[event.ref]
            inputs = [bad(values[i].snapshot) for i in op.inputs if i in values]
            outputs = [bad(values[i].snapshot) for i in op.outputs if i in values]
            if any(outputs) and not any(inputs):
                first = next(filter(None, outputs))
                if op.scope:
                    return f"{op.op} in {op.scope} made the first {first}"
                return f"{op.op} made the first {first}"
        elif event.kind == "node":
            execution = tape.executions[event.ref]
            sent = [bad(tape.edges[i].gradient) for i in execution.edges]
            if any(sent) and not any(bad(i) for i in execution.received):
                names = {node.id: node.name for node in tape.nodes}
                name = names.get(execution.node, "a backward node")
                return f"{name} sent the first {next(filter(None, sent))} on the way back"
        elif event.kind == "step":
            for change in tape.steps[event.ref].changes:
                after = bad(values[change.after].snapshot) if change.after in values else ""
                if after:
                    return f"the update made the first {after}, in {values[change.after].name}"
    return ""


def _non_finite(snapshot: Snapshot) -> str:
    array = snapshot.array()
    nan, inf = snapshot.nan, snapshot.inf
    if array is not None and array.dtype.kind == "f":
        finite = array[array == array]
        nan, inf = array.size - finite.size, int((abs(finite) == math.inf).sum())
    return "NaN" if nan else "infinity" if inf else ""
