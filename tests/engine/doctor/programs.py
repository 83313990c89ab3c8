"""The programs of ``sick.txt`` and ``healthy.txt``, which stand below headings of ``=== id``."""

from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).parent
MARK = "# !"
"""Ends the line that a finding must name."""


class Program(NamedTuple):
    """A program, the finding it is about, and the line it is marked at (None: not marked)."""

    id: str
    title: str
    source: str
    line: int | None


def load(name: str) -> list[Program]:
    """Return the programs of one file."""
    found = []
    for part in (HERE / name).read_text(encoding="utf-8").split("=== ")[1:]:
        head, _, source = part.partition("\n")
        id_, _, title = head.partition(":")
        marked = [n for n, line in enumerate(source.split("\n"), 1) if MARK in line]
        found.append(Program(id_.strip(), title.strip(), source, marked[0] if marked else None))
    return found


SICK, HEALTHY = load("sick.txt"), load("healthy.txt")
