"""The examples on the first screen: every script in the rooms of ``assets/examples``, by number.

An example is one file: its first line is a comment with the title, the comment lines below it are
a sentence on what to look for, and the one that begins with ``tags:`` lists words to find it by.
Adding a file is all it takes. Files of that name in ``edge`` and
``broken`` show it at its limits and with a mistake.
"""

from functools import cache
from importlib import resources
from importlib.resources.abc import Traversable
from itertools import takewhile

import msgspec
from msgspec import Struct

from gradscribe.assets.scripts import numbered_scripts
from gradscribe.playback.translation import tr

TAGS = "# tags: "
VARIANTS = ("broken", "edge")
"""Rooms with variants of examples, under the same names."""


class Example(Struct, frozen=True):
    """A script to start from. ``name`` is its file's name without number and suffix.

    ``edge`` is a variant at the limits of what works, ``broken`` one with a mistake.
    """

    name: str
    title: str
    about: str
    source: str
    edge: "Example | None" = None
    broken: "Example | None" = None
    tags: tuple[str, ...] = ()


@cache
def load() -> tuple[Example, ...]:
    """Return all examples, the simplest first."""
    folder = resources.files("gradscribe.assets") / "examples"
    return tuple(
        msgspec.structs.replace(
            parse(entry.name, entry.read_text(encoding="utf-8")),
            edge=_variant(folder / "edge" / entry.name),
            broken=_variant(folder / "broken" / entry.name),
        )
        for entry in numbered_scripts("examples", without=VARIANTS)
    )


def _variant(entry: Traversable) -> Example | None:
    if not entry.is_file():
        return None
    return parse(entry.name, entry.read_text(encoding="utf-8"))


def parse(filename: str, source: str) -> Example:
    """Return the example that the file ``NN_name.py`` holds.

    Raises:
        ValueError: the comment lines are missing.
    """
    comments = list(takewhile(lambda line: line.startswith("# "), source.splitlines()))
    head = [line for line in comments if not line.startswith(TAGS)]
    tags = [line.removeprefix(TAGS) for line in comments if line.startswith(TAGS)]
    if len(head) < 2:
        raise ValueError(f"{filename} must begin with two comments: a title and what to look for")
    title, *about = (line[2:].strip() for line in head)
    return Example(
        filename[3:].removesuffix(".py"),
        tr(title),
        tr(" ".join(about)),
        source,
        tags=tuple(tag.strip() for line in tags for tag in line.split(",")),
    )
