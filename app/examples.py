"""The examples on the first screen: every script in ``assets/examples``, in the order of its name.

An example is one file: its first line is a comment with the title, the comment lines below it are
a sentence on what to look for. Adding a file is all it takes.
"""

import re
from importlib import resources
from itertools import takewhile

from msgspec import Struct


class Example(Struct, frozen=True):
    """A script to start from. ``name`` is its file's name without number and ending."""

    name: str
    title: str
    about: str
    source: str


def load() -> tuple[Example, ...]:
    """Return all examples, the simplest first."""
    folder = resources.files("assets") / "examples"
    scripts = [entry for entry in folder.iterdir() if re.fullmatch(r"\d\d_\w+\.py", entry.name)]
    return tuple(
        parse(entry.name, entry.read_text(encoding="utf-8"))
        for entry in sorted(scripts, key=lambda entry: entry.name)
    )


def parse(filename: str, source: str) -> Example:
    """Return the example that the file ``NN_name.py`` holds.

    Raises:
        ValueError: the comment lines are not there.
    """
    head = list(takewhile(lambda line: line.startswith("# "), source.splitlines()))
    if len(head) < 2:
        raise ValueError(f"{filename} must begin with two comments: a title and what to look for")
    title, *about = (line[2:].strip() for line in head)
    return Example(filename[3:].removesuffix(".py"), title, " ".join(about), source)
