"""Catalogue of the data sets, models, losses etc. of a run, for setup forms: plain data."""

import json
from collections.abc import Iterable
from typing import Literal

from msgspec import Struct

from gradscribe.engine.protocol.setup import JsonValue, Setup
from gradscribe.engine.protocol.slips.near_words import nearest

OptionKind = Literal[
    "int",
    "float",
    "bool",
    "choice",
    "text",
    "ints",
    "floats",
    "choices",
    "points",
    "names",
    "columns",
]
EntryKind = Literal["data", "model", "loss", "optimizer", "schedule", "feature"]
Task = Literal["regression", "binary", "classes", "tokens", "any"]

MAX_EXAMPLE_CHARS = 60
MAX_RATE = 1e30
"""Maximum learning rate: far beyond its slider, so that users can see what happens."""


class Option(Struct, frozen=True):
    """One option of an entry, as a form field.

    ``low`` and ``high`` are the accepted range and that of the slider, None where unbounded;
    ``log``: the slider is logarithmic. ``points`` are lists of numbers drawn by hand; ``text`` with
    ``lines`` above 1 is a program or a formula. ``names`` is a name or a list of names, ``columns``
    an object with choices for columns of a table.
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
    fold: str = ""
    """Title of the fold in which the form has the option; empty: none."""

    @property
    def most(self) -> float | None:
        """The greatest accepted number; for a learning rate far beyond the slider's end."""
        return MAX_RATE if self.name == "lr" else self.high


class CatalogueEntry(Struct, frozen=True):
    """A data set, a model, a loss, an optimizer or a schedule that can be chosen.

    ``task`` is the task of a data set, or of a loss; ``inputs`` is what the data has: ``1``, ``2``,
    ``3`` or ``n`` numbers, ``image``, ``tokens``, or ``any``; ``takes`` are the ``inputs`` that a
    model accepts, empty for all. ``train`` is the default share of a data set that is used for
    training.
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
    takes: tuple[str, ...] = ()


def hint_for_option(
    entries: Iterable[CatalogueEntry],
    word: str,
    value: object,
    besides: str = "",
    exactly: bool = False,
) -> str:
    """Return a hint at the place of an option in a setup, with an example; else empty.

    ``besides`` is the kind of part to leave out: the option was given there. With ``exactly`` only
    the very names count, else also other names and misspelled ones.
    """
    keys = Setup.__struct_fields__
    if word in keys:
        return "it belongs at the top level of the setup"
    others = [entry for entry in entries if entry.kind != besides]
    options = {option.name: None for entry in others for option in entry.options}
    name = word if word in options or exactly else nearest(word, (*keys, *options))
    if name in keys:
        return f"it is {name!r} at the top level of the setup" if besides else ""
    for entry in others:
        if any(option.name == name for option in entry.options):
            example = json.dumps({"name": entry.name, name: value}, default=str)
            if len(example) > MAX_EXAMPLE_CHARS:
                example = f'{{"name": "{entry.name}", "{name}": …}}'
            return f'it belongs to the {entry.kind}, as in "{entry.kind}": {example}'
    return ""
