"""Measured costs of a computation as a table and sentences."""

from typing import NamedTuple

from gradscribe.engine.protocol.messages import CostKind, CostName, CostRow, MeasuredCosts
from gradscribe.playback.text import formatting
from gradscribe.playback.translation import ngettext, pgettext, tr, translated

TITLES: dict[CostKind, str] = {
    "no_grad": tr("no_grad next to grad"),
    "modes": tr("Reverse mode next to forward mode"),
}
COLUMNS = (
    tr("Way"),
    tr("Time"),
    tr("Middle half of the runs"),
    pgettext("how often", "Runs"),
    tr("Memory at most"),
    tr("At the end"),
)
_WAYS: dict[CostName, str] = {
    "graph": tr("Forward, recorded for backward"),
    "no_grad": tr("Forward under no_grad"),
    "reverse": tr("Reverse mode: forward and backward"),
    "jvp": tr("Forward mode: one direction"),
    "jvps": tr("Forward mode: every direction"),
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
    spread = (
        ""
        if row.estimated
        else tr("{time} to {time_2}", time=_time(row.low), time_2=_time(row.high))
    )
    return (
        _WAYS[row.name],
        _time(row.seconds),
        spread,
        tr("from one direction") if row.estimated else f"{row.runs:,}",
        formatting.size(row.bytes) if row.bytes >= 0 else "",
        formatting.size(row.held) if row.held >= 0 else "",
    )


def cost_words(answer: MeasuredCosts) -> str:
    """Return what the measured costs are of, and what follows from them."""
    if answer.problem:
        return tr("Not measured. {problem}.", problem=translated(answer.problem))
    rows = {row.name: row for row in answer.rows}
    said = _of_recording(rows) if answer.kind == "no_grad" else _of_modes(rows, answer)
    notes = [translated(answer.note)] if answer.note else []
    if not answer.agrees:
        notes.append(tr("The two modes do not give the same derivative of this program"))
    if answer.is_random:
        notes.append(tr("Its ops draw random numbers, other ones in each run"))
    return ". ".join((_subject(answer), *said, *notes)) + "."


def _subject(answer: MeasuredCosts) -> str:
    leaves = ngettext("{count:,} leaf", "{count:,} leaves", answer.leaves)
    return tr(
        "{calls} of PyTorch from {leaves} with {numbers} to the root of the first "
        "backward, on {device} with {threads}, repeated in the engine; times are "
        "medians",
        calls=ngettext("{count:,} call", "{count:,} calls", answer.calls),
        leaves=leaves,
        numbers=ngettext("{count:,} number", "{count:,} numbers", answer.entries),
        device=answer.device,
        threads=ngettext("{count:,} thread", "{count:,} threads", answer.threads),
    )


def _of_recording(rows: dict[CostName, CostRow]) -> list[str]:
    graph, bare = rows.get("graph"), rows.get("no_grad")
    if graph is None or bare is None:
        return []
    said = [tr("Recording for backward takes {times} the time", times=_times(graph, bare))]
    if graph.low <= bare.high:
        said = [tr("The times with and without recording differ by less than their scatter")]
    most, bare_most = formatting.size(graph.bytes), formatting.size(bare.bytes)
    held, bare_held = formatting.size(graph.held), formatting.size(bare.held)
    said.append(
        tr(
            "Inputs and parameters aside, tensors take at most {most} with the graph "
            "and {bare_most} without; when the forward has ended, backward keeps "
            "{held} alive, and without the graph {bare_held} are left",
            most=most,
            bare_most=bare_most,
            held=held,
            bare_held=bare_held,
        )
    )
    return said


def _of_modes(rows: dict[CostName, CostRow], answer: MeasuredCosts) -> list[str]:
    forward, reverse = rows.get("no_grad"), rows.get("reverse")
    if forward is None or reverse is None:
        return []
    numbers = ngettext("{count:,} number", "{count:,} numbers", answer.entries)
    all_in = tr(
        "{numbers} in {time}, {times} the time of",
        numbers=numbers,
        time=_time(reverse.seconds),
        times=_times(reverse, forward),
    )
    said = [tr("Reverse mode has the derivatives by all {all_in} a forward", all_in=all_in)]
    one, whole = rows.get("jvp"), rows.get("jvps")
    if one is not None and whole is not None:
        how = tr("would take") if whole.estimated else "took"
        said.append(
            tr(
                "Forward mode has a single direction in {time}; all {entries:,} {how} "
                "{time_2}, {times} that of reverse mode",
                time=_time(one.seconds),
                entries=answer.entries,
                how=how,
                time_2=_time(whole.seconds),
                times=_times(whole, reverse),
            )
        )
    return said


def _times(row: CostRow, other: CostRow) -> str:
    ratio = row.seconds / other.seconds if other.seconds else 0.0
    return (
        tr("{ratio:,.0f} times", ratio=ratio)
        if ratio >= 100
        else tr("{ratio:.3g} times", ratio=ratio)
    )


def _time(seconds: float) -> str:
    return formatting.duration(seconds * 1e9)
