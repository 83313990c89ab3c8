"""Points with classes, drawn by the user."""

from typing import cast

import torch

from gradscribe.engine.protocol.setup import SetupError
from gradscribe.engine.protocol.training.catalogue import Option
from gradscribe.engine.zoo.entry import Data, Options

MOST_CLASSES = 1000
"""Limit of class numbers, as a model has an output for each class up to the highest."""


def split_names(names: str) -> list[str]:
    """Return the names in a comma-separated text."""
    return [name.strip() for name in names.split(",")]


def points(
    points: list[list[float]], names: str, rng: torch.Generator
) -> tuple[torch.Tensor, torch.Tensor, list[str]]:
    """Return rows of [x1, x2, class] as (n, 2) points and (n,) classes, and the class names.

    A class with an empty name is called by its number.
    """
    table = torch.tensor(points, dtype=torch.float32)
    return table[:, :-1], table[:, -1].long(), split_names(names)


def _note(options: Options) -> str:
    rows = cast("list[list[float]]", options["points"])
    for number, row in enumerate(rows, 1):
        kind = row[-1]
        if not (0 <= kind < MOST_CLASSES and kind == int(kind)):
            why = f"classes are numbered from 0, up to {MOST_CLASSES - 1}"
            raise SetupError(f"row {number} is of class {kind:g}; {why}", "data.points")
    return ""


ENTRY = Data(
    points,
    "Drawn points",
    "Points of two or more classes, drawn and moved with the mouse",
    "classes",
    "2",
    options=(
        Option(
            "points",
            "points",
            [[-1.0, -1.0, 0], [-0.6, 0.9, 0], [0.8, -0.7, 1], [1.0, 1.0, 1]],
            "Rows of x1, x2, class",
        ),
        Option(
            "names",
            "text",
            "",
            "What the classes are called, commas between; or click twice on a name below",
            "Names",
            live=True,
        ),
    ),
    uses=(split_names,),
    note=_note,
    group="Your own",
    train=1.0,
    class_names=True,
)
