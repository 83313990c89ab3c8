"""Run a document: fresh names, a seed, a time limit, its output caught, a recorder around it."""

import gc
import io
import linecache
import math
import random
import sys
import warnings
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout, suppress
from dataclasses import dataclass, replace
from types import CodeType, ModuleType

import msgspec
import numpy as np
import torch
import torch.nn.functional as F
from torch import nn, optim

from engine import asynchronous, breaks, errors, hints, watchdog
from engine.derivatives import formulas
from engine.doctor.examine import examine_safely
from engine.exits import Exits
from engine.leftovers import Kept
from engine.plotting.pyplot import offer, pyplot
from engine.policy import program
from engine.policy.refusal import Refusal
from engine.record.backward import PassReached
from engine.record.freeze import freeze, leaves
from engine.record.log import EventRow, NodeRow
from engine.record.recorder import Recorder
from engine.streams import OUTPUT_LIMIT, Output, Warned
from engine.tape import Event, Place, Problem, Status, Tape
from engine.wire import Run

offer()
EXPLAIN_S = 1.0
"""How long putting an exception into words may take: that runs code of the program's own."""
AFTERMATH_S = 0.5
"""So long may an object of a program take to die before it is interrupted."""
YOUNG = 1
"""The generation of what a program made: to look no further takes no time."""
THREADS = torch.get_num_threads()
"""As many threads as torch takes by itself."""

_streams: deque[object] = deque(maxlen=4)
"""Streams of the last programs: Python crashes where a thread prints into one that is gone."""


class Finished:
    """The run before: its recorder, so that more numbers can be asked for."""

    def __init__(
        self, request: Run, recorder: Recorder, tape: Tape, names: dict[str, object]
    ) -> None:
        self.request = request
        self.recorder = recorder
        self.tape = tape
        self.names: dict[str, object] | None = names
        """Its program's names, until `tidy`."""


finished: Finished | None = None
"""The latest run; replaced by each `execute`."""


def namespace(request: Run) -> dict[str, object]:
    """Return the names a document starts with: torch's usual abbreviations and `param`."""
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
        made = value.detach().clone()
        if dtype is None and not (made.is_floating_point() or made.is_complex()):
            dtype = torch.get_default_dtype()
        return (made if dtype in (None, made.dtype) else made.to(dtype)).requires_grad_()
    if dtype is None and not isinstance(value, complex):
        dtype = torch.get_default_dtype()
    return torch.tensor(value, dtype=dtype, requires_grad=True)


def execute(request: Run, printed: Callable[[str], None] | None = None) -> Tape:
    """Run a document to its end, its error or its time limit, and return its tape.

    ``printed`` is called with each piece of output as it comes. Nothing the document does to
    torch's global settings outlives the call.
    """
    global finished
    if finished is not None:
        if finished.names is not None:
            tidy(YOUNG)
        finished.recorder.release()
        finished = None
    text = program.readable(request.source) if request.policy else request.source
    recorder = Recorder(text, request.filename, request.event_limit, request.memory)
    done = perform(request, recorder, printed)
    if failure := asynchronous.lost():
        recorder.forget_devices()
        done = _told_late(done, failure, recorder)
    with _uncollected():
        tape = _with(freeze(recorder, leaves(recorder, done.names)), done, request.device)
        tape = msgspec.structs.replace(tape, findings=examine_safely(tape, request.source))
    recorder.backward.failed_by = None
    finished = Finished(request, recorder, tape, done.names)
    return tape


def _told_late(done: "Done", failure: str, recorder: Recorder) -> "Done":
    """Return how a program ended whose device failed after its last line had asked for it."""
    if done.error is not None:
        return done
    recorder.log.events.append(EventRow("error", 0, None))
    hint = hints.hint(RuntimeError(failure), "", Place(), None)
    return replace(done, status="error", error=Problem("AcceleratorError", failure, hint))


def tidy(generation: int = 2) -> None:
    """Let the objects of the last program go: that may run code of its own, but not for ever.

    ``generation``: up to which Python's collector looks for those that hold each other.
    """
    with suppress(watchdog.Interrupted), watchdog.Guard(AFTERMATH_S, is_last=True):
        if finished is not None:
            finished.names = None
        gc.collect(generation)
        asynchronous.give_back()


@dataclass
class Done:
    """How a program ended: its status, its error, its names then, and what it wrote."""

    status: Status
    error: Problem | None
    names: dict[str, object]
    stdout: str
    stderr: str


def _with(tape: Tape, done: Done, device: str) -> Tape:
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
        formulas=formulas(node.name for node in tape.nodes),
    )


def record(
    source: str,
    *,
    filename: str = "<gradscribe>",
    seed: int = 0,
    device: str = "cpu",
    timeout: float = 60.0,
    event_limit: int = 200_000,
) -> Tape:
    """Run ``source`` and return its tape: `execute` for tests and scripts."""
    return execute(
        Run(0, source, filename, seed=seed, device=device, timeout=timeout, event_limit=event_limit)
    )


def perform(request: Run, recorder: Recorder, printed: Callable[[str], None] | None = None) -> Done:
    """Run a document under a recorder."""
    output, warned = Output(recorder, printed), Warned(recorder)
    # Classes of the document are looked up here by pickle, dataclasses and typing.
    module = ModuleType("__main__")
    names = module.__dict__
    given = namespace(request)
    names.update(program.names(given) if request.policy else given)
    # Not splitlines: a form feed ends no line for Python.
    lines = io.StringIO(request.source).readlines()
    if request.filename.startswith("<"):
        linecache.cache[request.filename] = (len(request.source), None, lines, request.filename)
    status: Status = "ok"
    problem: Problem | None = None
    guard = watchdog.Guard(request.timeout)
    try:
        code = _compiled(request)
        with (
            _clean(request.seed, request.threads or THREADS),
            _caught(module, output, warned),
            breaks.noted(),
            guard,
            recorder,
            Kept() as kept,
            Exits(request.filename) as exits,
        ):
            try:
                pyplot.begin(recorder.plotted)
                _to_the_end(code, names, exits)
            finally:
                kept.untrace()
                pyplot.end()
    except PassReached:
        pass
    except BaseException as exc:  # noqa: BLE001
        if not errors.is_clean_exit(exc):
            recorder.failed.ended(exc)
            problem = _explained(exc, request, recorder)
            status = "timeout" if guard.why == "timeout" else "error"
            if isinstance(exc, Refusal):
                status = "refused"
            recorder.log.events.append(EventRow("error", 0, None))
    if output.cut:
        warned.write(f"Output past {OUTPUT_LIMIT:,} characters was not kept.\n")
    return Done(status, problem, names, output.text(), warned.text())


def _to_the_end(code: CodeType, names: dict[str, object], exits: Exits) -> None:
    """Run a program, and what it wants done at its end even where it raises; but not in haste."""
    try:
        exec(code, names)
    except watchdog.Interrupted:
        raise
    except BaseException:
        exits.call()
        raise
    exits.call()


def _compiled(request: Run) -> CodeType:
    if request.policy:
        return program.prepare(request.source, request.filename)
    return compile(request.source, request.filename, "exec", dont_inherit=True)


def _explained(exc: BaseException, request: Run, recorder: Recorder) -> Problem:
    # The text of an exception is made by code of the program's own, which may never end.
    limit = 0.0 if isinstance(exc, watchdog.Interrupted) else EXPLAIN_S
    with watchdog.Guard(limit, is_last=True):
        problem = errors.problem(exc, request.source, request.filename)
    failed = recorder.backward.failed
    if failed is None or recorder.backward.failed_by is not exc:
        return problem
    note = f"It happened in {failed.kind.name}{_of_op(failed, recorder)}."
    return Problem(problem.type, problem.message, f"{note} {problem.hint}".strip(), problem.place)


def _of_op(row: NodeRow, recorder: Recorder) -> str:
    if row.op is None:
        return ""
    op = recorder.log.ops[row.op]
    span = recorder.source.span(op.where)
    return f", the backward of {op.op} on line {span[0]}" if span else f" of {op.op}"


@contextmanager
def _caught(module: ModuleType, output: Output, warned: "Warned") -> Iterator[None]:
    """Give a program its own streams, an empty standard input and itself as ``__main__``."""
    _streams.extend((output, warned))
    before = sys.stdout, sys.stderr, sys.stdin, sys.argv
    main = sys.modules["__main__"]
    sys.stdout, sys.stderr, sys.stdin = output, warned, io.StringIO()
    sys.argv = [str(module.__dict__["__file__"])]
    sys.modules["__main__"] = module
    warnings.showwarning = warned.show
    try:
        yield
    finally:
        output.is_open = False
        sys.stdout, sys.stderr, sys.stdin, sys.argv = before
        sys.modules["__main__"] = main


@contextmanager
def aside(seed: int = 0, threads: int = THREADS) -> Iterator[None]:
    """Give code that is not recorded torch as it comes out of the box; its output is not kept."""
    with _clean(seed, threads), redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
        yield


@contextmanager
def _uncollected() -> Iterator[None]:
    """Let Python's collector rest: all that is made meanwhile is kept, and there may be much."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def _filter_as_python_does() -> None:
    """Let warnings show that show in a script: of what is deprecated those of its own lines."""
    warnings.resetwarnings()
    for kind in (ResourceWarning, ImportWarning, PendingDeprecationWarning, DeprecationWarning):
        warnings.simplefilter("ignore", kind)
    # Those of the recorder's lines are filtered again, in the name of the program's.
    for module in ("__main__", r"engine\.record\."):
        warnings.filterwarnings("default", category=DeprecationWarning, module=module)


@contextmanager
def _clean(seed: int, threads: int = 1) -> Iterator[None]:
    """Give a program torch as it comes out of the box, and take back whatever it changes."""
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
