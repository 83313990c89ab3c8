"""Plain-text tables of a tape for the terminal."""

import sys
from collections.abc import Iterable, Sequence

from gradscribe.engine.protocol.tape import Problem, Tape
from gradscribe.playback.tape import snapshot_text, track
from gradscribe.playback.text import formatting

TRUST_HINT = "if you trust the script, run it with --trust"

GAP = 3
"""Blanks between columns."""


def leaf_table(tape: Tape) -> str:
    """Return a table of the named leaves at the program's end, with value and gradient."""
    values = {value.id: value for value in tape.values}
    rows = []
    for leaf in tape.leaves:
        value = values.get(leaf.value)
        snapshot = value.snapshot if value is not None else None
        shown = snapshot_text.value(tape.snapshots[snapshot]) if snapshot is not None else ""
        grad = (
            snapshot_text.gradient(tape.snapshots[leaf.grad]) if leaf.grad is not None else "none"
        )
        rows.append((leaf.name, shown, grad))
    return table(("leaf", "value", "gradient"), rows) if rows else ""


def value_table(tape: Tape) -> str:
    """Return a table of all named values, results first, with value and gradient."""
    rows = track.value_rows(tape, len(tape.events))
    return table(("name", "value", "gradient"), [(r.name, r.value, r.gradient) for r in rows])


def counts_line(tape: Tape) -> str:
    """Return the numbers of ops, backward nodes and events in one line."""
    ops, nodes, events = tape.left_out
    return ", ".join(
        (
            formatting.count(len(tape.ops) + ops, "op"),
            formatting.count(len(tape.executions) + nodes, "backward node"),
            formatting.count(len(tape.events) + events, "event"),
        )
    )


_CONTROLS = dict.fromkeys(
    (*range(9), 11, 12, *range(14, 32), *range(127, 160)), "\N{REPLACEMENT CHARACTER}"
)


def strip_controls(text: str) -> str:
    """Return ``formatting`` with control characters replaced, one for one."""
    return text.translate(_CONTROLS)


def error_text(problem: Problem, filename: str) -> str:
    """Return an error with its place in one line, and its hint, if any, in a second."""
    place = problem.place
    where = f"{filename}:{place.line}:{place.column + 1}" if place.line else filename
    message = f": {problem.message}" if problem.message else ""
    hint = f"\n  {problem.hint}" if problem.hint else ""
    return f"{where}: {problem.type}{message}{hint}"


def write_problem(tape: Tape, filename: str) -> None:
    """Write the error of a tape to standard error, with the hint at ``--trust``."""
    if tape.error is not None:
        sys.stderr.write(f"{error_text(tape.error, filename)}\n")
    if tape.status == "refused":
        sys.stderr.write(f"gradscribe: {TRUST_HINT}\n")


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return aligned columns; each line ends with a newline."""
    lines = [tuple(head), *(tuple(row) for row in rows)]
    widths = [max(len(line[i]) for line in lines) for i in range(len(head))]
    return "".join(
        (" " * GAP)
        .join(cell.ljust(width) for cell, width in zip(line, widths, strict=True))
        .rstrip()
        + "\n"
        for line in lines
    )
