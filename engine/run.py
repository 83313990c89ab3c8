"""Run a document: fresh names, a seed, a time limit, its output caught, a recorder around it."""

import gc
import io
import linecache
import math
import random
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import msgspec
import numpy as np
import torch
import torch.nn.functional as F
from torch import nn, optim

from engine import errors, watchdog
from engine.record.backward import PassReached
from engine.record.freeze import freeze, leaves
from engine.record.log import NodeRow
from engine.record.recorder import Recorder
from engine.tape import Problem, Status, Tape
from engine.wire import Run

OUTPUT_LIMIT = 8_000_000
"""Characters of output a run keeps; a program that prints more runs on unheard."""


class Output(io.TextIOBase):
    """What a program prints: kept whole, told to the recorder line by line."""

    def __init__(self, recorder: Recorder, printed: Callable[[str], None] | None) -> None:
        self._recorder = recorder
        self._printed = printed
        self._parts: list[str] = []
        self._line: list[str] = []
        self._length = 0

    def write(self, text: str) -> int:
        """Take a piece of output; returns its length, as Python's streams do."""
        if self._length < OUTPUT_LIMIT:
            self._length += len(text)
            self._parts.append(text)
            if self._printed is not None:
                self._printed(text)
            self._split(text)
        return len(text)

    def _split(self, text: str) -> None:
        *whole, rest = text.split("\n")
        for line in whole:
            self._recorder.printed("".join([*self._line, line]))
            self._line.clear()
        if rest:
            self._line.append(rest)

    def writable(self) -> bool:
        """Return True: a program may print."""
        return True

    @property
    def encoding(self) -> str:  # type: ignore[override]
        """The encoding a program may ask for."""
        return "utf-8"

    def text(self) -> str:
        """Return all that was printed, cut at `OUTPUT_LIMIT`."""
        return "".join(self._parts)


class Finished:
    """The run before: its recorder, so that more numbers can be asked for."""

    def __init__(self, request: Run, recorder: Recorder, tape: Tape) -> None:
        self.request = request
        self.recorder = recorder
        self.tape = tape


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
    """Return a leaf that requires a gradient, of the default float dtype unless told otherwise."""
    if isinstance(value, torch.Tensor):
        value = value.detach().clone()
        return value.to(dtype or torch.get_default_dtype()).requires_grad_()
    return torch.tensor(value, dtype=dtype or torch.get_default_dtype(), requires_grad=True)


def execute(request: Run, printed: Callable[[str], None] | None = None) -> Tape:
    """Run a document to its end, its error or its time limit, and return its tape.

    ``printed`` is called with each piece of output as it comes. Nothing the document does to
    torch's global settings outlives the call.
    """
    global finished
    recorder = Recorder(request.source, request.filename, request.event_limit, request.memory)
    status, error, names, output = perform(request, recorder, printed)
    tape = freeze(recorder, leaves(recorder, names))
    tape = _with(tape, status, error, output, request.device)
    finished = Finished(request, recorder, tape)
    return tape


def _with(tape: Tape, status: Status, error: Problem | None, output: str, device: str) -> Tape:
    return msgspec.structs.replace(
        tape,
        status=status,
        error=error,
        stdout=output,
        torch=str(torch.__version__),
        device=device,
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


def perform(
    request: Run, recorder: Recorder, printed: Callable[[str], None] | None = None
) -> tuple[Status, Problem | None, dict[str, object], str]:
    """Run a document under a recorder; returns status, error, final namespace and output."""
    output = Output(recorder, printed)
    names = namespace(request)
    lines = request.source.splitlines(keepends=True)
    if request.filename.startswith("<"):
        linecache.cache[request.filename] = (len(request.source), None, lines, request.filename)
    status: Status = "ok"
    problem: Problem | None = None
    guard = watchdog.Guard(request.timeout)
    try:
        code = compile(request.source, request.filename, "exec", dont_inherit=True)
        with _clean(request.seed), _caught(output), guard, recorder:
            exec(code, names)
    except PassReached:
        pass
    except BaseException as exc:  # noqa: BLE001
        if not errors.is_clean_exit(exc):
            problem = _explained(exc, request, recorder)
            status = "timeout" if guard.why == "timeout" else "error"
            recorder.log.events.append(("error", 0, None))
    return status, problem, names, output.text()


def _explained(exc: BaseException, request: Run, recorder: Recorder) -> Problem:
    problem = errors.problem(exc, request.source, request.filename)
    failed = recorder.backward.failed
    if failed is None or not isinstance(exc, RuntimeError):
        return problem
    note = f"It happened in {failed.name}{_of_op(failed, recorder)}."
    return Problem(problem.type, problem.message, f"{note} {problem.hint}".strip(), problem.place)


def _of_op(row: NodeRow, recorder: Recorder) -> str:
    if row.op is None:
        return ""
    op = recorder.log.ops[row.op]
    span = recorder.source.span(op.where)
    return f", the backward of {op.op} on line {span[0]}" if span else f" of {op.op}"


@contextmanager
def _caught(output: Output) -> Iterator[None]:
    """Send what Python prints to ``output`` and give it an empty standard input."""
    before = sys.stdout, sys.stdin, sys.argv
    sys.stdout, sys.stdin, sys.argv = output, io.StringIO(), ["gradscribe"]
    try:
        yield
    finally:
        sys.stdout, sys.stdin, sys.argv = before


@contextmanager
def _clean(seed: int) -> Iterator[None]:
    """Give a program torch as it comes out of the box, and take back whatever it changes."""
    torch.manual_seed(seed)
    random.seed(seed)
    np.random.seed(seed % 2**32)
    printing = dict(vars(torch._tensor_str.PRINT_OPTS))
    thresholds = gc.get_threshold()
    gc.set_threshold(50_000, 20, 100)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("default")
            with torch.enable_grad():
                yield
    finally:
        gc.set_threshold(*thresholds)
        torch.set_default_dtype(torch.float32)
        torch.set_default_device(None)
        # The public setter imports the whole compiler.
        torch._C._set_deterministic_algorithms(False)
        torch.autograd.set_detect_anomaly(False)
        torch.set_grad_enabled(True)
        vars(torch._tensor_str.PRINT_OPTS).update(printing)
