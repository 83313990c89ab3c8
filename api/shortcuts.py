"""Calls in one line: the graph of a model, the doctor, the difference of two runs."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from gradscribe.recording import record
from gradscribe.run_tape import RunTape

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


def doctor(function: Callable[..., object], /, *args: object) -> "tuple[Finding, ...]":
    """Call a function and return the mistakes that its run shows: sure ones before hints.

    Raises:
        RecordingError: a recording is running already.
        TypeError: ``function`` cannot be called.
    """
    if not callable(function):
        raise TypeError(f"doctor needs a function, not {type(function).__name__}")

    if args:
        tape: RunTape = record(function, *args)
        return tape.findings
    recorded = record(function)
    recorded()
    return recorded.tape.findings


def compare(left: RunTape, right: RunTape) -> "tuple[Difference, ...]":
    """Return what differs between two runs: each cause, then what follows from it.

    Raises:
        RecordingError: a recording has not ended.
    """
    from gradscribe.playback.compare.comparison import Comparison

    return Comparison(left.index, right.index).differences
