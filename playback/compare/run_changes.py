"""Changes from one run of a document to the next, in order of execution.

They begin with what was edited (lines, seed, device), then name each value, gradient, print and
finding that differs, where the later run reaches it.
"""

import difflib
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Literal

from msgspec import Struct

from gradscribe.engine.protocol.tape import Event, Finding, Tape
from gradscribe.playback.code.fix_diff import changed_lines
from gradscribe.playback.compare.comparison import Comparison
from gradscribe.playback.compare.differences import Difference
from gradscribe.playback.tape.index import Index
from gradscribe.playback.text import formatting
from gradscribe.playback.translation import ngettext, tr

ChangeKind = Literal["value", "gradient", "op", "setting", "print", "error", "finding"]
MOST_PRINTS = 2000
"""Most printed lines of a run that are compared, the first ones."""
MOST_LINES_NAMED = 1
SAME_PROGRAM = tr("the same program again")


class ProgramRun(Struct, frozen=True, eq=False):
    """A finished run of a document: what ran, with what, and its tape."""

    source: str
    seed: int
    device: str
    tape: Tape


class RunChange(Struct, frozen=True):
    """Something that differs from the run before.

    ``line``: in the later program, 0 where it has none. ``value``: id on the later tape, None
    where that has none. ``at``: event of the later run (of the earlier for what only that has).
    ``is_cause``: it differs by itself, and not because of a change before it.
    """

    kind: ChangeKind
    name: str
    words: str
    line: int
    value: int | None
    at: int
    is_cause: bool = False

    def text(self) -> str:
        """Return the change in a line: ``gradient of x: 4.0000 → 12.000``."""
        name = tr("gradient of {name}", name=self.name) if self.kind == "gradient" else self.name
        return f"{name}: {self.words}" if name and self.words else name or self.words


def edit_words(before: ProgramRun, after: ProgramRun) -> str:
    """Return what differs between two runs' programs and settings, in a line.

    ``line 3: lr = 0.1 → lr = 0.2 · seed 0 → 1``; of several lines their number.
    """
    parts = [_lines_words(before.source, after.source)]
    if before.seed != after.seed:
        parts.append(tr("seed {seed} → {seed_2}", seed=before.seed, seed_2=after.seed))
    if before.device != after.device:
        parts.append(
            tr("device {device} → {device_2}", device=before.device, device_2=after.device)
        )
    return " · ".join(filter(None, parts)) or SAME_PROGRAM


def unique_lines(before: str, after: str) -> tuple[list[str], list[str]]:
    """Return the lines that only one of two programs has, each with its number: ``3  y = 2``."""
    old, new = _rows(before), _rows(after)
    left, right = [], []
    for tag, i, stop_i, j, stop_j in _opcodes(old, new):
        if tag != "equal":
            left += [f"{n + 1}  {old[n]}" for n in range(i, stop_i) if old[n].strip()]
            right += [f"{n + 1}  {new[n]}" for n in range(j, stop_j) if new[n].strip()]
    return left, right


def edited_lines(before: str, after: str) -> tuple[int, ...]:
    """Return the numbers of the lines of ``after`` that were edited.

    For lines that were only removed, that is the line which now stands in their place.
    """
    old, new = _rows(before), _rows(after)
    found: list[int] = []
    for tag, _, _, j, stop_j in _opcodes(old, new):
        if tag != "equal":
            found += range(j + 1, stop_j + 1) if stop_j > j else [min(j + 1, len(new))]
    return tuple(dict.fromkeys(found))


def run_changes(before: ProgramRun, after: ProgramRun, compared: Comparison) -> list[RunChange]:
    """Return all changes between two runs in order of execution of the later, findings last."""
    found = list(_tape_changes(compared))
    found += _print_changes(before.tape, after.tape)
    found.sort(key=lambda change: change.at)
    return found + list(_finding_changes(before.tape, after.tape))


def count_words(changes: list[RunChange]) -> str:
    """Return ``3 values, 2 gradients and 1 print changed``; of none that nothing did."""
    kinds = Counter("call" if c.kind == "op" else c.kind for c in changes)
    order = ("call", "value", "gradient", "print", "error", "finding")
    parts = [formatting.count(kinds[kind], kind) for kind in order if kinds[kind]]
    if not parts:
        return tr("No value, gradient, print or finding changed")
    joined = tr(" and ").join(filter(None, (", ".join(parts[:-1]), parts[-1])))
    return tr("{joined} changed", joined=joined)


def _rows(source: str) -> list[str]:
    return source.replace("\r\n", "\n").replace("\r", "\n").split("\n")


def _opcodes(old: list[str], new: list[str]) -> Sequence[tuple[str, int, int, int, int]]:
    return difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes()


def _lines_words(before: str, after: str) -> str:
    rows = changed_lines(before, after) if before != after and after else []
    old = [row[2:].strip() for row in rows if row.startswith("- ") and row[2:].strip()]
    new = [row[2:].strip() for row in rows if row.startswith("+ ") and row[2:].strip()]
    if not old and not new:
        return ""
    lines = edited_lines(before, after)
    at = tr("line {lines}: ", lines=lines[0]) if lines else ""
    if len(old) == len(new) == MOST_LINES_NAMED:
        return f"{at}{old[0]} → {new[0]}" if old != new else f"{at}indentation"
    if len(old) + len(new) == MOST_LINES_NAMED:
        return (
            tr("{at}{new} added", at=at, new=new[0])
            if new
            else tr("{at}{old} removed", at=at, old=old[0])
        )
    return tr(
        "{lines} from line {lines_2} on",
        lines=ngettext("{count:,} line", "{count:,} lines", max(len(old), len(new))),
        lines_2=lines[0],
    )


def _tape_changes(compared: Comparison) -> Iterator[RunChange]:
    seen: set[Difference] = set()
    for cause in compared.causes:
        for group, is_cause in ((cause.differences, True), (cause.following, False)):
            for difference in group:
                if difference not in seen:
                    seen.add(difference)
                    yield _change(difference, is_cause, cause.lines[1] * is_cause, compared)


def _change(found: Difference, is_cause: bool, line: int, compared: Comparison) -> RunChange:
    index, value = (
        (compared.right, found.right) if found.right is not None else (compared.left, found.left)
    )
    is_gradient = found.kind == "gradient"
    at = _event_of(index, value, is_gradient)
    is_new = found.right is not None
    if found.kind in ("left fails", "right fails"):
        side = compared.right if found.kind == "right fails" else compared.left
        gone = "" if side is compared.right else tr("no longer: ")
        words = f"{gone}{found.words}" if found.words else tr("{gone}the program fails", gone=gone)
        error = side.tape.error
        # The line of an error that is gone is one of the earlier program.
        line = error.place.line if error is not None and side is compared.right else 0
        return RunChange("error", found.name, words, line, None, len(side.tape.events), is_cause)
    if value is not None and is_new:
        line = line or index.values[value].place.line
    kind: ChangeKind = "value"
    words = found.words
    if found.kind == "left":
        kind, words = "op", tr("{words} no longer runs", words=words).strip()
    elif found.kind == "right":
        kind, words = "op", tr("{words} runs now", words=words).strip()
    elif found.kind in ("gradient", "op", "setting"):
        kind = found.kind
    return RunChange(kind, found.name, words, line, value if is_new else None, at, is_cause)


def _event_of(index: Index, value: int | None, is_gradient: bool) -> int:
    """Return the event at which a value, or its last gradient, came to be."""
    end = len(index.tape.events)
    if value is None:
        return end
    if not is_gradient:
        return index.created_at.get(value, end)
    made = index.values[value]
    if made.node is None:
        found = index.accumulated.get(index.first_version(value), ())
        return found[-1][0] if found else end
    runs = index.node_runs.get(made.node, ())
    return runs[-1][0] if runs else end


def _prints(tape: Tape) -> list[tuple[str, Event, int]]:
    """Return the printed lines of a run, each with its event and the position of that."""
    found = []
    for at, event in enumerate(tape.events):
        if event.kind == "print" and event.ref < len(tape.prints):
            rows = tape.prints[event.ref].split("\n")
            rows = rows[:-1] if rows[-1] == "" and len(rows) > 1 else rows
            found += [(row, event, at) for row in rows]
        if len(found) >= MOST_PRINTS:
            break
    return found[:MOST_PRINTS]


def _print_changes(before: Tape, after: Tape) -> Iterator[RunChange]:
    old, new = _prints(before), _prints(after)
    texts = [row for row, _, _ in old], [row for row, _, _ in new]
    for tag, i, stop_i, j, stop_j in _opcodes(*texts):
        if tag == "equal":
            continue
        for n in range(max(stop_i - i, stop_j - j)):
            was = old[i + n] if i + n < stop_i else None
            now = new[j + n] if j + n < stop_j else None
            if now is not None:
                words = (
                    f"{was[0]} → {now[0]}" if was is not None else tr("{now} is new", now=now[0])
                )
                yield RunChange("print", "", words, now[1].line, None, now[2])
            elif was is not None:
                at = new[j + n - (j + n - stop_j) - 1][2] if stop_j else 0
                yield RunChange("print", "", tr("{was} is gone", was=was[0]), 0, None, at)


def _finding_changes(before: Tape, after: Tape) -> Iterator[RunChange]:
    old, new = before.findings, after.findings
    for finding in _without(new, old):
        line = finding.place.line
        yield RunChange("finding", finding.title, "new", line, None, len(after.events))
    for finding in _without(old, new):
        yield RunChange("finding", finding.title, "gone", 0, None, len(after.events))


def _without(some: tuple[Finding, ...], others: tuple[Finding, ...]) -> list[Finding]:
    """Return the findings whose like is not among the others; their lines may have moved."""
    left = Counter((finding.id, finding.title) for finding in others)
    found = []
    for finding in some:
        key = finding.id, finding.title
        if left[key]:
            left[key] -= 1
        else:
            found.append(finding)
    return found
