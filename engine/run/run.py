"""Run a program in a fresh namespace, with a seed, a time limit, captured output, a recorder."""

import ast
import gc
import io
import linecache
import math
import random
import sys
import warnings
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, redirect_stderr, redirect_stdout, suppress
from dataclasses import dataclass, replace
from types import CodeType, ModuleType

import msgspec
import numpy as np
import torch
import torch.nn.functional as F
from torch import nn, optim

from gradscribe.engine import hints
from gradscribe.engine.doctor.examine import examine_each, finding_kinds, sort_findings
from gradscribe.engine.doctor.number_cuts import number_cuts_safely
from gradscribe.engine.plotting import capture as plots
from gradscribe.engine.protocol.messages import Run
from gradscribe.engine.protocol.tape import Event, Finding, Place, Problem, Status, Tape
from gradscribe.engine.record import code_positions
from gradscribe.engine.record.backward.backward_pass import PassReached
from gradscribe.engine.record.backward.derivatives import formulas_for
from gradscribe.engine.record.draft import draft
from gradscribe.engine.record.freeze import freeze, freeze_leaves, leaves
from gradscribe.engine.record.log import EventRow, NodeRow
from gradscribe.engine.record.loops.plan import StepPlan
from gradscribe.engine.record.loops.recorder import StepReached
from gradscribe.engine.record.loops.sites import compile_with_sites
from gradscribe.engine.record.recorder import Recorder
from gradscribe.engine.run import async_devices, breakpoints, errors, watchdog
from gradscribe.engine.run.cleanup import NamesRestorer
from gradscribe.engine.run.custom_functions.function_checks import function_checks
from gradscribe.engine.run.exits import AtexitCallbacks
from gradscribe.engine.run.live import drafts, scalar_sender
from gradscribe.engine.run.live.live_scalars import LiveScalars
from gradscribe.engine.run.streams import OUTPUT_LIMIT, StderrCapture, StdoutCapture
from gradscribe.engine.run.word_lists import word_lists
from gradscribe.engine.sandbox.confine import box
from gradscribe.engine.sandbox.policy import program
from gradscribe.engine.sandbox.policy.refusal import Refusal
from gradscribe.engine.system import without_gc

plots.watch_imports()
EXPLAIN_S = 1.0
"""Time limit for describing an exception, which may run the program's ``__str__``."""
EXAMINE_S = 20.0
"""Time limit for the search for mistakes on a tape."""
FINALIZE_S = 0.5
"""Time limit for the finalizers of a program's objects."""
YOUNG_GENERATION = 1
"""Garbage collector generation of a program's objects: collecting only up to it is quick."""
THREADS = torch.get_num_threads()
"""Torch's default number of threads."""

_streams: deque[object] = deque(maxlen=4)
"""Streams of the last programs: Python crashes if a thread prints into a freed stream."""


class FinishedRun:
    """A finished run with its recorder, from which more numbers can be requested."""

    def __init__(
        self, request: Run, recorder: Recorder, tape: Tape, names: dict[str, object]
    ) -> None:
        self.request = request
        self.recorder = recorder
        self.tape = tape
        self.names: dict[str, object] | None = names
        """The program's global names; None after `free_last_program`."""


last_run: FinishedRun | None = None
"""The latest run; replaced by each `execute`."""


def initial_names(request: Run) -> dict[str, object]:
    """Return the names that a program starts with: torch's usual abbreviations and `param`."""
    return {
        "__name__": "__main__",
        "__file__": request.filename,
        "__builtins__": __builtins__,
        "torch": torch,
        "nn": nn,
        "F": F,
        "optim": optim,
        "math": math,
        "np": np,
        "tensor": torch.tensor,
        "param": param,
        "device": torch.device(request.device),
    }


def param(value: object, dtype: torch.dtype | None = None) -> torch.Tensor:
    """Return a leaf that requires a gradient; integers become the default float dtype."""
    if isinstance(value, torch.Tensor):
        copy = value.detach().clone()
        if dtype is None and not (copy.is_floating_point() or copy.is_complex()):
            dtype = torch.get_default_dtype()
        return (copy if dtype in (None, copy.dtype) else copy.to(dtype)).requires_grad_()
    if dtype is None and not isinstance(value, complex):
        dtype = torch.get_default_dtype()
    return torch.tensor(value, dtype=dtype, requires_grad=True)


def execute(request: Run, printed: Callable[[str], None] | None = None) -> Tape:
    """Run a program to its end, its error or its time limit, and return its tape.

    ``printed`` is called with each piece of output. Nothing that the program does to torch's
    global settings outlives the call.
    """
    global last_run
    if last_run is not None:
        if last_run.names is not None:
            free_last_program(YOUNG_GENERATION)
        last_run.recorder.release()
        last_run = None
    recorder = new_recorder(request)
    if scalar_sender.current is not None:
        scalar_sender.current.watch(LiveScalars(recorder.log, recorder.source, recorder.loops))
    done = perform(request, recorder, printed)
    tape = finished_tape(request, recorder, done)
    last_run = FinishedRun(request, recorder, tape, done.names)
    return tape


def finished_tape(request: Run, recorder: Recorder, done: "RunOutcome") -> Tape:
    """Return the tape of a program that has ended, examined if that was asked for."""
    if failure := async_devices.device_failure():
        recorder.drop_lost_copies()
        done = _failed_late(done, failure, recorder)
    with without_gc():
        found = leaves(recorder, done.names)
        frozen = (freeze_leaves if request.leaves_only else freeze)(recorder, found)
        tape = _completed(frozen, done, request.device)
        if request.examine and not request.leaves_only:
            tape = _examined(tape, request.source, recorder.log.snapshots)
    recorder.backward.failed_by = None
    return tape


def _examined(tape: Tape, source: str, copies: Sequence[object]) -> Tape:
    """Return a tape with the mistakes found on it until the time for that is up, or Stop."""
    checks = function_checks(tape, source, copies)
    tape = msgspec.structs.replace(tape, function_checks=checks) if checks else tape
    found, left = list[Finding](), {kind.id for kind in finding_kinds()}
    guard = watchdog.InterruptGuard(EXAMINE_S, is_last=True, patience=0.0)
    with suppress(watchdog.Interrupted), guard:
        for kind, more in examine_each(_without_examples(tape), source):
            found += more
            left.discard(kind.id)
        tape = msgspec.structs.replace(tape, number_cuts=number_cuts_safely(tape, source))
    tape = msgspec.structs.replace(tape, findings=sort_findings(found))
    if not left:
        return tape
    why = f"took longer than {EXAMINE_S:g} s" if guard.why == "timeout" else "was stopped"
    note = f"The search for mistakes {why}; {len(left)} kinds of them were not looked for."
    return msgspec.structs.replace(tape, truncated=f"{tape.truncated} {note}".strip())


def _without_examples(tape: Tape) -> Tape:
    """Return a tape without the numbers inside a vmap: one example is no reason for a finding."""
    if not any(value.examples for value in tape.values):
        return tape
    values = tuple(
        msgspec.structs.replace(value, snapshot=None) if value.examples else value
        for value in tape.values
    )
    return msgspec.structs.replace(tape, values=values)


def new_recorder(request: Run) -> Recorder:
    """Return a recorder for a program; the same request is recorded the same way."""
    text = program.parsable_source(request.source) if request.policy else request.source
    plan = StepPlan(request.full_events, request.wanted_steps)
    recorder = Recorder(text, request.filename, request.event_limit, request.memory, plan)
    recorder.modules.watched = request.watched_module
    return recorder


def _failed_late(done: "RunOutcome", failure: str, recorder: Recorder) -> "RunOutcome":
    """Return the outcome of a program whose device failed asynchronously, after its last line."""
    if done.error is not None:
        return done
    recorder.log.events.append(EventRow("error", 0, None))
    hint = hints.hint(RuntimeError(failure), "", Place(), None)
    return replace(done, status="error", error=Problem("AcceleratorError", failure, hint))


def free_last_program(generation: int = 2) -> None:
    """Free the objects of the last program within a time limit: finalizers may run its code.

    ``generation``: up to which Python's garbage collector looks for reference cycles.
    """
    with suppress(watchdog.Interrupted), watchdog.InterruptGuard(FINALIZE_S, is_last=True):
        if last_run is not None:
            last_run.names = None
        gc.collect(generation)
        async_devices.release_cached_memory()


def tidy_last_program() -> None:
    """Free the objects of the last program, unless a module of it is asked for next."""
    if last_run is None or not last_run.request.watched_module:
        free_last_program()


@dataclass
class RunOutcome:
    """Outcome of a program: its status, its error, its global names, and its output."""

    status: Status
    error: Problem | None
    names: dict[str, object]
    stdout: str
    stderr: str


def _completed(tape: Tape, done: RunOutcome, device: str) -> Tape:
    events = tape.events
    if done.error is not None and events and events[-1].kind == "error":
        events = (*events[:-1], Event("error", 0, done.error.place.line))
    return msgspec.structs.replace(
        tape,
        status=done.status,
        error=done.error,
        events=events,
        stdout=done.stdout,
        stderr=done.stderr,
        torch=str(torch.__version__),
        device=device,
        formulas=formulas_for(node.name for node in tape.nodes),
        word_lists=word_lists(done.names),
    )


def record(
    source: str,
    *,
    filename: str = "<gradscribe>",
    seed: int = 0,
    device: str = "cpu",
    timeout: float = 60.0,
    event_limit: int = 200_000,
    full_events: int = 0,
) -> Tape:
    """Run ``source`` and return its tape: a short form of `execute` for tests and scripts.

    All steps of loops are recorded in full, unless ``full_events`` limits them.
    """
    return execute(
        Run(
            0,
            source,
            filename,
            seed=seed,
            device=device,
            timeout=timeout,
            event_limit=event_limit,
            full_events=full_events,
        )
    )


def perform(
    request: Run, recorder: Recorder, printed: Callable[[str], None] | None = None
) -> RunOutcome:
    """Run a program under a recorder."""
    output, warned = StdoutCapture(recorder.record_print, printed), StderrCapture(recorder.source)
    # Pickle, dataclasses and typing look up the program's classes in this module.
    module = ModuleType("__main__")
    names = module.__dict__
    given = initial_names(request)
    names.update(program.guarded_names(given) if request.policy else given)
    # Not splitlines: to Python a form feed does not end a line.
    lines = io.StringIO(request.source).readlines()
    if request.filename.startswith("<"):
        linecache.cache[request.filename] = (len(request.source), None, lines, request.filename)
    status: Status = "ok"
    problem: Problem | None = None
    guard = watchdog.InterruptGuard(request.timeout)
    try:
        code = _compiled(request, recorder)
        with (
            _default_settings(request.seed, request.threads or THREADS),
            _caught(module, output, warned, request.arguments),
            breakpoints.print_breakpoints(),
            guard,
            recorder,
            NamesRestorer() as kept,
            AtexitCallbacks(request.filename) as exits,
        ):
            try:
                if request.drafts and drafts.current is not None:
                    drafts.current.watch(recorder, lambda: _draft(request, recorder, names, output))
                _capture_figures(recorder, output, may_write=not request.policy)
                _run_with_callbacks(code, names, exits)
            finally:
                guard.finish()
                kept.stop_tracing()
                plots.capture.end()
    except (PassReached, StepReached):
        pass
    except BaseException as exc:  # noqa: BLE001
        if not errors.is_clean_exit(exc):
            _find_failure(exc, recorder)
            problem = _explained(exc, request, recorder)
            status = "timeout" if guard.why == "timeout" else "error"
            if isinstance(exc, Refusal):
                status = "refused"
            recorder.log.events.append(EventRow("error", 0, None))
    if output.cut:
        warned.write(f"Output past {OUTPUT_LIMIT:,} characters was discarded.\n")
    return RunOutcome(status, problem, names, output.text(), warned.text())


def _draft(
    request: Run, recorder: Recorder, names: dict[str, object], output: StdoutCapture
) -> Tape:
    with without_gc(), torch.no_grad():
        tape = draft(recorder, names)
    return msgspec.structs.replace(
        tape,
        stdout=output.text(),
        torch=str(torch.__version__),
        device=request.device,
        formulas=formulas_for(node.name for node in tape.nodes),
    )


def _capture_figures(recorder: Recorder, output: StdoutCapture, *, may_write: bool) -> None:
    """Put figures on the tape, after the lines that were printed before them."""
    plots.capture.begin(
        lambda figure: recorder.record_figure(
            msgspec.structs.replace(figure, after=output.line_count())
        ),
        may_write=may_write and not box.is_confined(),
    )


def _find_failure(exc: BaseException, recorder: Recorder) -> None:
    try:
        recorder.failure.find(exc)
    except Exception as fault:  # noqa: BLE001 - whatever it is, it is not the program's
        recorder.log.stop_on_error(fault)


def _run_with_callbacks(code: CodeType, names: dict[str, object], exits: AtexitCallbacks) -> None:
    """Run a program and its atexit callbacks, even if it raises, but not if it is interrupted."""
    try:
        exec(code, names)
    except watchdog.Interrupted:
        raise
    except BaseException:
        exits.call()
        raise
    exits.call()


def _compiled(request: Run, recorder: Recorder) -> CodeType:
    """Compile a program, with calls into the recorder in its loops if steps may be left out."""
    text, name = request.source, request.filename

    def tree() -> ast.Module:
        return program.parse_guarded(text, name) if request.policy else ast.parse(text, name)

    if request.policy:
        code = program.compile_guarded(text, name)
    else:
        code = compile(text, name, "exec", dont_inherit=True)
    code_positions.remember_tree(code, tree)
    if not request.full_events:
        return code
    try:
        with warnings.catch_warnings():
            # Python has warned of the program's own text already.
            warnings.simplefilter("ignore")
            marked = tree()
            code, sites = compile_with_sites(marked, name, text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return code
    code_positions.remember_tree(code, lambda: marked)
    recorder.loops.watch(sites)
    return code


def _explained(exc: BaseException, request: Run, recorder: Recorder) -> Problem:
    # An exception's ``__str__`` may be the program's and never end.
    limit = 0.0 if isinstance(exc, watchdog.Interrupted) else EXPLAIN_S
    with watchdog.InterruptGuard(limit, is_last=True):
        problem = errors.to_problem(exc, request.source, request.filename)
    failed = recorder.backward.failed
    if failed is None or recorder.backward.failed_by is not exc:
        return problem
    hint = f"{_where_it_failed(failed, recorder)} {problem.hint}".strip()
    return Problem(problem.type, problem.message, hint, problem.place)


def _where_it_failed(row: NodeRow, recorder: Recorder) -> str:
    name = row.kind.name
    if row.op is None:
        return f"It happened in {name}."
    op = recorder.log.ops[row.op]
    span = recorder.source.span(op.where)
    if span:
        return f"It happened in {name}, the backward of {op.op} on line {span[0]}."
    return f"It happened in {name} of {op.op}."


@contextmanager
def _caught(
    module: ModuleType,
    output: StdoutCapture,
    warned: "StderrCapture",
    arguments: tuple[str, ...] = (),
) -> Iterator[None]:
    """Redirect the program's output, empty its standard input, make its module ``__main__``."""
    _streams.extend((output, warned))
    before = sys.stdout, sys.stderr, sys.stdin, sys.argv
    main = sys.modules["__main__"]
    sys.stdout, sys.stderr, sys.stdin = output, warned, io.StringIO()
    sys.argv = [str(module.__dict__["__file__"]), *arguments]
    sys.modules["__main__"] = module
    warnings.showwarning = warned.show
    try:
        yield
    finally:
        output.is_open = False
        sys.stdout, sys.stderr, sys.stdin, sys.argv = before
        sys.modules["__main__"] = main


@contextmanager
def unrecorded(seed: int = 0, threads: int = THREADS) -> Iterator[None]:
    """Run unrecorded code with torch's default settings; its output is discarded."""
    with (
        _default_settings(seed, threads),
        redirect_stdout(io.StringIO()),
        redirect_stderr(io.StringIO()),
    ):
        yield


def _filter_as_python_does() -> None:
    """Show the warnings that a script shows: deprecations only where its own lines cause them."""
    warnings.resetwarnings()
    for kind in (ResourceWarning, ImportWarning, PendingDeprecationWarning, DeprecationWarning):
        warnings.simplefilter("ignore", kind)
    # Warnings of the recorder's lines are reported again as warnings of the program's lines.
    for module in ("__main__", r"engine\.record\."):
        warnings.filterwarnings("default", category=DeprecationWarning, module=module)


@contextmanager
def _default_settings(seed: int, threads: int = 1) -> Iterator[None]:
    """Give a program torch with default settings, and restore them afterwards."""
    torch.manual_seed(seed)
    random.seed(seed)
    np.random.seed(seed % 2**32)
    printing = dict(vars(torch._tensor_str.PRINT_OPTS))
    threads_before = torch.get_num_threads()
    torch.set_num_threads(threads)
    thresholds = gc.get_threshold()
    gc.set_threshold(50_000, 20, 100)
    try:
        with warnings.catch_warnings(), torch.enable_grad():
            _filter_as_python_does()
            yield
    finally:
        gc.set_threshold(*thresholds)
        torch.set_num_threads(threads_before)
        torch.set_default_dtype(torch.float32)
        torch.set_default_device(None)
        # The public setter imports the whole compiler.
        torch._C._set_deterministic_algorithms(False)
        torch.autograd.set_detect_anomaly(False)
        torch.set_grad_enabled(True)
        vars(torch._tensor_str.PRINT_OPTS).update(printing)
