"""Calls in one line: the graph of a model, the doctor, the difference of two runs."""

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from gradscribe.recording import record
from gradscribe.run_tape import RunTape
from gradscribe.tape_store import load

if TYPE_CHECKING:
    from gradscribe.engine.protocol.tape import Finding
    from gradscribe.playback.compare.differences import Difference


def draw_graph(model: Callable[..., object], /, *inputs: object, **options: object) -> RunTape:
    """Call a model once and return the tape, which shows itself as its graph in a notebook.

    The call is like any other: batch norm in training mode updates its statistics, dropout draws.

    Args:
        model: a module, or any function of tensors.
        inputs: what it is called with.
        options: keyword arguments of the call.

    Raises:
        RecordingError: a recording is running already.
        TypeError: there are no inputs, or ``model`` cannot be called.
    """
    if not inputs and not options:
        raise TypeError("draw_graph needs the model's inputs: draw_graph(model, x)")
    tape: RunTape = record(model, *inputs, **options)
    return tape


def doctor(
    function: "Callable[..., object] | str | os.PathLike[str]", /, *args: object
) -> "tuple[Finding, ...]":
    """Call a function and return the mistakes that its run shows: sure ones before hints.

    A path is that of a script, which is run in a process of its own, with your permissions; its
    output is dropped, and an error that ends it is no obstacle.

    Raises:
        RecordingError: a recording is running already.
        TypeError: ``function`` cannot be called, or there are arguments for a script.
        ValueError: the script cannot be recorded; the message says why.
    """
    if isinstance(function, str | os.PathLike):
        if args:
            raise TypeError("doctor takes a script without arguments")
        return _run_script(Path(function)).findings
    if not callable(function):
        raise TypeError(f"doctor needs a function or a path, not {type(function).__name__}")

    if args:
        tape: RunTape = record(function, *args)
        return tape.findings
    recorded = record(function)
    recorded()
    return recorded.tape.findings


def _run_script(path: Path) -> RunTape:
    """Record a script as ``gradscribe record --trust`` does, and return its tape."""
    with tempfile.TemporaryDirectory() as folder:
        tape = Path(folder, "run.tape")
        command = [sys.executable, "-m", "gradscribe", "record", str(path), "--trust"]
        done = subprocess.run([*command, "--tape", str(tape)], capture_output=True, check=False)
        if tape.exists():
            return load(tape)
    lines = done.stderr.decode(errors="replace").strip().splitlines()
    raise ValueError(lines[-1] if lines else f"{path} ended with code {done.returncode}")


def compare(left: RunTape, right: RunTape) -> "tuple[Difference, ...]":
    """Return what differs between two runs: each cause, then what follows from it.

    Raises:
        RecordingError: a recording has not ended.
    """
    from gradscribe.playback.compare.comparison import Comparison

    return Comparison(left.index, right.index).differences
