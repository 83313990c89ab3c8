"""The programs of the ``.txt`` files here, which stand below headings of ``=== id: title``.

In ``learners.txt`` a line may end with what the healthy twin has in its place:
``# => loss.item()``; with nothing behind the arrow the twin goes without the line.
"""

import re
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).parent
MARK = "# !"
"""Ends the line that a finding must name."""
_TWIN = re.compile(r"^(\s*)(.*?)  #( !)?(?: =>(.*))?$")


class Program(NamedTuple):
    """A program, the finding it is about, and the line it is marked at (None: not marked)."""

    id: str
    title: str
    source: str
    line: int | None
    twin: str = ""
    """The same program without the mistake."""


def load(name: str) -> list[Program]:
    """Return the programs of one file."""
    found = []
    for part in (HERE / name).read_text(encoding="utf-8").split("=== ")[1:]:
        head, _, source = part.partition("\n")
        id_, _, title = head.partition(":")
        marked = [n for n, line in enumerate(source.split("\n"), 1) if MARK in line]
        found.append(Program(id_.strip(), title.strip(), source, marked[0] if marked else None))
    return found


def learners() -> list[Program]:
    """Return the sick programs with their healthy twins, without the marks."""
    found = []
    for program in load("learners.txt"):
        sick, well = [], []
        for row in program.source.split("\n"):
            match = _TWIN.match(row)
            if match is None or (match[3] is None and match[4] is None):
                sick.append(row)
                well.append(row)
                continue
            sick.append(match[1] + match[2])
            if match[4] is None or match[4].strip():
                well.append(match[1] + (match[2] if match[4] is None else match[4].strip()))
        twin = "\n".join(well) if well != sick else ""
        found.append(program._replace(source="\n".join(sick), twin=twin))
    return found


SICK, HEALTHY = load("sick.txt"), load("healthy.txt")
