"""Measured costs of a computation as a table and sentences."""

from typing import NamedTuple

from gradscribe.engine.protocol.messages import CostKind, CostName, CostRow, MeasuredCosts
from gradscribe.playback.text import formatting

TITLES: dict[CostKind, str] = {
    "no_grad": "no_grad next to grad",
    "modes": "Reverse mode next to forward mode",
}
COLUMNS = ("Way", "Time", "Middle half of the runs", "Runs", "Memory at most", "At the end")
_WAYS: dict[CostName, str] = {
    "graph": "Forward, recorded for backward",
    "no_grad": "Forward under no_grad",
    "reverse": "Reverse mode: forward and backward",
    "jvp": "Forward mode: one direction",
    "jvps": "Forward mode: every direction",
}


class CostCells(NamedTuple):
    """A row of the table as text; ``share`` is its time by the longest, 0 to 1."""

    cells: tuple[str, ...]
    share: float


def cost_cells(answer: MeasuredCosts) -> list[CostCells]:
    """Return the rows of the table of measured costs."""
    longest = max((row.seconds for row in answer.rows), default=0.0)
    return [
        CostCells(_cells(row), row.seconds / longest if longest else 0.0) for row in answer.rows
    ]


def _cells(row: CostRow) -> tuple[str, ...]:
    spread = "" if row.estimated else f"{_time(row.low)} to {_time(row.high)}"
    return (
        _WAYS[row.name],
        _time(row.seconds),
        spread,
        "from one direction" if row.estimated else f"{row.runs:,}",
        formatting.size(row.bytes) if row.bytes >= 0 else "",
        formatting.size(row.held) if row.held >= 0 else "",
    )


def cost_words(answer: MeasuredCosts) -> str:
    """Return what the measured costs are of, and what follows from them."""
    if answer.problem:
        return f"Not measured. {answer.problem}."
    rows = {row.name: row for row in answer.rows}
    said = _of_recording(rows) if answer.kind == "no_grad" else _of_modes(rows, answer)
    notes = [answer.note] if answer.note else []
    if not answer.agrees:
        notes.append("The two modes do not give the same derivative of this program")
    if answer.is_random:
        notes.append("Its ops draw random numbers, other ones in each run")
    return ". ".join((_subject(answer), *said, *notes)) + "."


def _subject(answer: MeasuredCosts) -> str:
    leaves = "1 leaf" if answer.leaves == 1 else f"{answer.leaves:,} leaves"
    return (
        f"{formatting.count(answer.calls, 'call')} of PyTorch from {leaves} with "
        f"{formatting.count(answer.entries, 'number')} to the root of the first backward, "
        f"on {answer.device} with {formatting.count(answer.threads, 'thread')}, "
        "repeated in the engine; times are medians"
    )


def _of_recording(rows: dict[CostName, CostRow]) -> list[str]:
    graph, bare = rows.get("graph"), rows.get("no_grad")
    if graph is None or bare is None:
        return []
    said = [f"Recording for backward takes {_times(graph, bare)} the time"]
    if graph.low <= bare.high:
        said = ["The times with and without recording differ by less than their scatter"]
    most, bare_most = formatting.size(graph.bytes), formatting.size(bare.bytes)
    held, bare_held = formatting.size(graph.held), formatting.size(bare.held)
    said.append(
        f"Inputs and parameters aside, tensors take at most {most} with the graph and {bare_most} "
        f"without; when the forward has ended, backward keeps {held} alive, and without the graph "
        f"{bare_held} are left"
    )
    return said


def _of_modes(rows: dict[CostName, CostRow], answer: MeasuredCosts) -> list[str]:
    forward, reverse = rows.get("no_grad"), rows.get("reverse")
    if forward is None or reverse is None:
        return []
    numbers = formatting.count(answer.entries, "number")
    all_in = f"{numbers} in {_time(reverse.seconds)}, {_times(reverse, forward)} the time of"
    said = [f"Reverse mode has the derivatives by all {all_in} a forward"]
    one, whole = rows.get("jvp"), rows.get("jvps")
    if one is not None and whole is not None:
        how = "would take" if whole.estimated else "took"
        said.append(
            f"Forward mode has a single direction in {_time(one.seconds)}; all {answer.entries:,} "
            f"{how} {_time(whole.seconds)}, {_times(whole, reverse)} that of reverse mode"
        )
    return said


def _times(row: CostRow, other: CostRow) -> str:
    ratio = row.seconds / other.seconds if other.seconds else 0.0
    return f"{ratio:,.0f} times" if ratio >= 100 else f"{ratio:.3g} times"


def _time(seconds: float) -> str:
    return formatting.duration(seconds * 1e9)
