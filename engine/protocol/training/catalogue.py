"""Catalogue of the data sets, models, losses etc. of a run, for setup forms: plain data."""

from typing import Literal

from msgspec import Struct

from gradscribe.engine.protocol.setup import JsonValue

OptionKind = Literal[
    "int", "float", "bool", "choice", "text", "ints", "floats", "choices", "points"
]
EntryKind = Literal["data", "model", "loss", "optimizer", "schedule", "feature"]
Task = Literal["regression", "binary", "classes", "tokens", "any"]

MAX_RATE = 1e30
"""Maximum learning rate: far beyond its slider, so that users can see what happens."""


class Option(Struct, frozen=True):
    """One option of an entry, as a form field.

    ``low`` and ``high`` are the accepted range and that of the slider, None where unbounded;
    ``log``: the slider is logarithmic. ``points`` are lists of numbers drawn by hand; ``text`` with
    ``lines`` above 1 is a program or a formula.
    """

    name: str
    kind: OptionKind
    default: JsonValue
    help: str = ""
    title: str = ""
    low: float | None = None
    high: float | None = None
    log: bool = False
    choices: tuple[str, ...] = ()
    lines: int = 1
    live: bool = False
    """True if it can change during a run; changing any other option restarts the run."""
    each: str = ""
    """Name of a list option: this one may then be a list with a value for each of its elements."""

    @property
    def most(self) -> float | None:
        """The greatest accepted number; for a learning rate far beyond the slider's end."""
        return MAX_RATE if self.name == "lr" else self.high


class CatalogueEntry(Struct, frozen=True):
    """A data set, a model, a loss, an optimizer or a schedule that can be chosen.

    ``task`` is the task of a data set, or of a loss; ``inputs`` is what the data has or the model
    takes: ``1``, ``2``, ``3``, ``n`` numbers, ``image``, ``tokens``, or ``any``. ``train`` is the
    default share of a data set that is used for training.
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
