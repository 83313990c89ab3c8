"""Programs with and without mistakes: those of the findings' own files, and more in text files.

In a ``.txt`` file here each program is below a heading ``=== id: title``.
In ``learners.txt`` a line may end with what the healthy twin has in its place:
``# => loss.item()``; with nothing behind the arrow the twin goes without the line.
"""

import re
from pathlib import Path
from typing import NamedTuple

from gradscribe.engine.doctor.examine import finding_kinds
from gradscribe.engine.doctor.finding_kind import FindingKind

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
    """Return the programs of one text file."""
    found = []
    for part in (HERE / name).read_text(encoding="utf-8").split("=== ")[1:]:
        head, _, source = part.partition("\n")
        id_, _, title = head.partition(":")
        found.append(_program(id_.strip(), title.strip(), source))
    return found


def _program(id_: str, title: str, source: str) -> Program:
    marked = [n for n, line in enumerate(source.split("\n"), 1) if MARK in line]
    return Program(id_, title, source, marked[0] if marked else None)


def declared(entry: FindingKind) -> tuple[list[Program], list[Program]]:
    """Return the sick and the healthy programs of a finding's file; a comment may be the title."""
    sick, healthy = (
        [
            _program(entry.id, source.partition("\n")[0][2:] if source[0] == "#" else "", source)
            for source in sources
        ]
        for sources in (entry.sick, entry.healthy)
    )
    return sick, healthy


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


SICK = [program for entry in finding_kinds() for program in declared(entry)[0]]
SICK += load("sick.txt")
HEALTHY = [program for entry in finding_kinds() for program in declared(entry)[1]]
HEALTHY += load("healthy.txt")
