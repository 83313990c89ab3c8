"""The catalogue of what a run can be made of, as a form shows it: plain data."""

from typing import Literal

from msgspec import Struct

from engine.setup import Plain

OptionKind = Literal[
    "int", "float", "bool", "choice", "text", "ints", "floats", "choices", "points"
]
EntryKind = Literal["data", "model", "loss", "optimizer", "schedule", "feature"]
Task = Literal["regression", "binary", "classes", "tokens", "any"]

MOST_RATE = 1e30
"""A learning rate may be greater than what its slider offers: see what comes of it."""


class Option(Struct, frozen=True):
    """One option of an entry, as a form shows it.

    ``low`` and ``high`` are what a slider spans, None where unbounded; so much is accepted, too;
    ``log``: the slider is logarithmic. ``points`` are lists of numbers drawn by hand; ``text`` with
    ``lines`` above 1 is a program or a formula.
    """

    name: str
    kind: OptionKind
    default: Plain
    help: str = ""
    title: str = ""
    low: float | None = None
    high: float | None = None
    log: bool = False
    choices: tuple[str, ...] = ()
    lines: int = 1
    live: bool = False
    """It can change while the run goes on; others begin the run anew."""
    each: str = ""
    """Another option, a list: this one may be a list, too, of a value for each of its elements."""

    @property
    def most(self) -> float | None:
        """The greatest number that is accepted; of a rate it lies far beyond the slider's end."""
        return MOST_RATE if self.name == "lr" else self.high


class Entry(Struct, frozen=True):
    """A data set, a model, a loss, an optimizer or a schedule that can be chosen.

    ``task`` tells what a data set asks for, or what a loss is for; ``inputs`` is what the data has
    or the model takes: ``1``, ``2``, ``3``, ``n`` numbers, ``image``, ``tokens``, or ``any``.
    ``train`` is the share of a data set that one trains on where nobody says otherwise.
    """

    kind: EntryKind
    name: str
    title: str
    help: str = ""
    options: tuple[Option, ...] = ()
    task: Task = "any"
    inputs: str = "any"
    group: str = ""
    train: float = 0.8
