"""Trial of a fix: the fixed program is run, and both outcomes are compared."""

import difflib
import math
from collections.abc import Callable, Generator, Iterator, Sequence
from itertools import pairwise
from typing import Literal, NamedTuple

from gradscribe.engine.doctor.evidence import Evidence
from gradscribe.engine.doctor.finding_kind import PARTIAL_CUT
from gradscribe.engine.protocol.outcome import FeedingPasses, LeafGradients, LineLosses, Outcome
from gradscribe.engine.protocol.structs import replace
from gradscribe.engine.protocol.tape import Finding, Tape

MOST_ROUNDS = 4
"""Maximum number of runs for a fix: the same mistake on the next line is fixed along with it."""
MOST_CASES = 3
ENOUGH_PASSES = 10
"""Backward passes after which a run that was cut proves as much as a whole one."""
RISE, MORE_RISE = 0.1, 0.4
"""Rise of a loss that counts, as a share of its start, and beyond that without the fix."""
MOST_LEAVES, MOST_ELEMENTS, MOST_MEASURED = 16, 256, 3
"""Leaves, elements of each and passes of which an outcome has the gradients."""
STEADY, MANY = 4, 8
"""Least number of losses of which each is higher, and of those whose means are compared."""


class FixTrial(NamedTuple):
    """Result of a trial: the program that works and how far it ran, else the reason."""

    fix: str
    reason: str = ""
    """The reason why no program works; without a full stop."""
    extent: Literal["whole", "part"] = "whole"
    measured: str = ""
    """The share of a gradient that it brings back, in words; without a full stop."""


def outcome_of(tape: Tape, source: str) -> Outcome:
    """Return the outcome of a run of ``source``."""
    evidence = Evidence(tape, source)
    return Outcome(
        status=tape.status,
        error=tape.error,
        is_cut=bool(tape.truncated) or tape.status in ("timeout", "died"),
        findings=tape.findings,
        curves=tuple(
            LineLosses(line, tuple(x for _, x in rows)) for line, rows in evidence.losses.items()
        ),
        feeds=_feeds(evidence),
        learning=tuple(sorted(_learning(evidence))),
        reached=tuple(sorted({e.line for e in tape.events if e.kind != "error"})),
        passes=len(tape.passes),
        gradients=tuple(_gradients(evidence)),
    )


def _gradients(evidence: Evidence) -> Iterator[LeafGradients]:
    """Yield what the first passes added to each of the first named leaves, where it is small."""
    tape, found = evidence.tape, dict[str, list[tuple[float, ...]]]()
    for added in tape.accumulations:
        name = evidence.values[added.leaf].name if added.leaf in evidence.values else ""
        array = tape.snapshots[added.sent].array() if added.sent is not None else None
        if not name or array is None or array.size > MOST_ELEMENTS or array.dtype.kind != "f":
            continue
        if name in found or len(found) < MOST_LEAVES:
            passes = found.setdefault(name, [])
            if len(passes) < MOST_MEASURED:
                passes.append(tuple(array.ravel().tolist()))
    yield from (LeafGradients(name, tuple(passes)) for name, passes in found.items())


def lost_share(before: Outcome, after: Outcome) -> str:
    """Return which share of a leaf's gradient is missing ``before``; empty if none is known.

    By the first pass in which they differ: later ones may begin at other parameters.
    """
    whole = {leaf.name: leaf.passes for leaf in after.gradients}
    for leaf in before.gradients:
        for cut, true in zip(leaf.passes, whole.get(leaf.name, ()), strict=False):
            size, missing = math.hypot(*true), math.dist(cut, true) if len(cut) == len(true) else 0
            if not missing > 1e-6 * size or not math.isfinite(missing):
                continue
            share = f": {missing / size:.0%} of it is lost here" if 0 < missing <= size else ""
            if len(true) == 1:
                return (
                    f"Without the cut {leaf.name} gets {true[0]:.6g}, and not {cut[0]:.6g}{share}"
                )
            return (
                f"Without the cut the gradient of {leaf.name} has the norm {size:.6g}, and not "
                f"{math.hypot(*cut):.6g}{share}"
            )
    return ""


def outcome_without_tape(tape: Tape) -> Outcome:
    """Return the outcome of a run whose engine is gone: its end alone."""
    return Outcome(tape.status, tape.error, is_cut=True)


def _learning(evidence: Evidence) -> set[str]:
    changes = (c for step in evidence.tape.steps for c in step.changes)
    return {evidence.values[c.before].name for c in changes if c.before in evidence.values} - {""}


def _feeds(evidence: Evidence) -> tuple[FeedingPasses, ...]:
    """Return for each line that steps the lines of the passes whose gradients it has used."""
    tape, found = evidence.tape, dict[int, set[int]]()
    for moments in evidence.leaf_events.values():
        since = set[int]()
        for moment in moments:
            if moment.kind == "reset":
                since.clear()
            elif moment.kind == "add":
                since.add(tape.passes[tape.accumulations[moment.ref].run].line)
            elif moment.ref >= 0:
                found.setdefault(tape.steps[moment.ref].line, set()).update(since)
    return tuple(FeedingPasses(step, tuple(sorted(lines))) for step, lines in found.items())


def trial_runs(finding: Finding, source: str, before: Outcome) -> Generator[str, Outcome, FixTrial]:
    """Yield the programs to run, take their outcomes, and return the result of the trial.

    ``before`` is the outcome of ``source``. If the fix reveals the same mistake elsewhere, that is
    fixed, too: the program that is returned has all of these fixes.
    """
    if not any((f.id, f.place) == (finding.id, finding.place) for f in before.findings):
        return FixTrial("", "nothing can be said: a second run of the program does not show this")
    fix, found, program = finding.fix, finding, source
    for _ in range(MOST_ROUNDS):
        after = yield fix
        reason = judge(finding, before, after, LineMap(source, fix))
        if not reason:
            extent: Literal["whole", "part"] = (
                "part" if after.is_cut and not before.is_cut else "whole"
            )
            measured = lost_share(before, after) if finding.id == PARTIAL_CUT else ""
            return FixTrial(fix, "", extent, measured)
        again = _same_elsewhere(found, after, LineMap(program, fix))
        if again is None:
            return FixTrial("", reason)
        program, fix, found = fix, again.fix, again
    return FixTrial("", reason)


def try_fix(
    finding: Finding, source: str, before: Outcome, run: Callable[[str], Outcome]
) -> FixTrial:
    """Return the result of a trial; ``run`` runs a program and returns its outcome."""
    runs = trial_runs(finding, source, before)
    try:
        program = next(runs)
        while True:
            program = runs.send(run(program))
    except StopIteration as end:
        result: FixTrial = end.value
        return result


def _same_elsewhere(finding: Finding, after: Outcome, lines: "LineMap") -> Finding | None:
    """Return a finding of the same kind at another place of the fixed program, if it has a fix.

    ``lines`` maps the lines of the program in which ``finding`` was found.
    """
    place = finding.place
    for other in after.findings:
        is_another = (other.place.line, other.place.column) != (lines[place.line], place.column)
        if other.id == finding.id and other.fix and is_another:
            return other
    return None


class LineMap:
    """Line numbers of a program -> those of its changed version, also where a line was moved."""

    def __init__(self, before: str, after: str) -> None:
        old, new = (
            text.replace("\r\n", "\n").replace("\r", "\n").split("\n") for text in (before, after)
        )
        self._lines: dict[int, int] = {}
        changed, added = list[tuple[int, int]](), dict[str, list[int]]()
        matcher = difflib.SequenceMatcher(None, old, new, autojunk=False)
        for tag, first, last, start, end in matcher.get_opcodes():
            if tag == "equal":
                self._lines.update({n + 1: start + n - first + 1 for n in range(first, last)})
                continue
            for number in range(start, end):
                added.setdefault(new[number].strip(), []).append(number + 1)
            changed += [(n, min(start + n - first + 1, end)) for n in range(first, last)]
            if tag == "delete":
                changed[first - last :] = [(n, 0) for n in range(first, last)]
        for number, instead in changed:
            places = added.get(old[number].strip())
            self._lines[number + 1] = places.pop(0) if places else instead

    def __getitem__(self, line: int) -> int:
        """Return the line in the changed version; 0 if it was removed, or has no place."""
        return self._lines.get(line, 0)

    def where(self, line: int) -> str:
        """Return `` on line 3`` for a line of the changed version, by its number before."""
        found = next((n for n, now in self._lines.items() if now == line and line), 0)
        return f" on line {found}" if found else ""


def judge(finding: Finding, before: Outcome, after: Outcome, lines: LineMap) -> str:
    """Return the reason why a fix does not work; empty if it does.

    ``lines`` maps the lines of the program to those of the fixed program, which led to ``after``.
    """
    return (
        _failure(before, after, lines)
        or _remaining(finding, before, after, lines)
        or _unproved(finding, before, after, lines)
        or _worse(before, after, lines)
    )


def _failure(before: Outcome, after: Outcome, lines: LineMap) -> str:
    """Return the error that the fix leads to, or that it has not removed."""
    if after.status == "died":
        return "Python ends when it runs"
    error, known = after.error, before.error
    if error is None or after.status == "timeout":
        return ""
    if known is not None and (known.type, known.message) == (error.type, error.message):
        return ""
    where = lines.where(error.place.line)
    first = error.message.strip().partition("\n")[0][:160].rstrip(".")
    return f"it stops{where} with {error.type}: {first}" if first else f"it stops{where}"


def _places(before: Outcome, lines: LineMap) -> set[tuple[str, int]]:
    return {(f.id, lines[f.place.line]) for f in before.findings}


def _remaining(finding: Finding, before: Outcome, after: Outcome, lines: LineMap) -> str:
    """Return the finding that is left or new in the fixed program."""
    place = lines[finding.place.line]
    known = _places(before, lines) - {(finding.id, place)}
    full = {f.id for f in before.findings if _count(before, f.id) >= MOST_CASES}
    for found in after.findings:
        if (found.id, found.place.line) in known or found.id in full - {finding.id}:
            continue
        where = lines.where(found.place.line)
        if found.id == finding.id:
            if found.id in full and found.place.line != place:
                continue
            return f"the same is found{where}"
        return f"something else is found{where}: {found.title[0].lower()}{found.title[1:]}"
    return ""


def _count(outcome: Outcome, finding: str) -> int:
    return sum(f.id == finding for f in outcome.findings)


def _unproved(finding: Finding, before: Outcome, after: Outcome, lines: LineMap) -> str:
    """Return a reason if the run was cut before it could prove anything."""
    if not after.is_cut:
        return ""
    place = lines[finding.place.line]
    if place and finding.place.line in before.reached and place not in after.reached:
        return "it does not get to this line in the time of a trial"
    if after.passes < min(before.passes, ENOUGH_PASSES):
        return "it takes longer than a trial may"
    return ""


def _worse(before: Outcome, after: Outcome, lines: LineMap) -> str:
    """Return in which way training is worse with the fix."""
    curves = {lines[curve.line]: curve.losses for curve in before.curves}
    for curve in after.curves:
        known = curves.get(curve.line, ())
        bad = _first_nonfinite(curve.losses)
        if bad < len(curve.losses) and bad < (_first_nonfinite(known) if known else math.inf):
            return f"the loss{lines.where(curve.line)} becomes {curve.losses[bad]}"
        # Of losses that work against each other any may rise.
        if bad == len(curve.losses) and rises(known, curve.losses, is_alone=len(after.curves) == 1):
            first, last = curve.losses[0], curve.losses[-1]
            return f"the loss{lines.where(curve.line)} rises from {first:.3g} to {last:.3g}"
    gone = sorted(set(before.learning) - set(after.learning))
    # A name alone may change with the line that calls the model.
    if gone and len(after.learning) < len(before.learning) and not after.is_cut:
        return f"{gone[0]} does not learn any more"
    return _mixed(before, after, lines)


def _first_nonfinite(losses: Sequence[float]) -> int:
    found = (i for i, loss in enumerate(losses) if not math.isfinite(loss))
    return next(found, len(losses))


def rises(before: Sequence[float], after: Sequence[float], *, is_alone: bool = True) -> bool:
    """Return whether the finite losses ``after`` rise in a way that ``before`` did not.

    A right fix may change the scale of a loss, or the speed of training, so that each is compared
    with its own start. A few losses of varying batches prove nothing: they have to rise tenfold,
    or with every single step. Where several losses work against each other (``is_alone`` is
    False) only the tenfold rise counts.
    """
    if not after or _is_tenfold(before) or not _is_tenfold(after):
        return is_alone and (
            (len(after) >= STEADY and _climbs(after) and not _climbs(before))
            or (len(after) >= MANY and _rise(after) > max(RISE, _rise(before) + MORE_RISE))
        )
    return True


def _is_tenfold(losses: Sequence[float]) -> bool:
    """Return whether losses end, or become infinite, at ten times their start or more."""
    if len(losses) < 3:
        return False
    if not all(map(math.isfinite, losses)):
        return True
    start, end = losses[0], losses[-1]
    return end > start and end > 10 * max(abs(start), 1e-6) and end >= 0.5 * max(losses)


def _climbs(losses: Sequence[float]) -> bool:
    """Return whether each loss is above the one before, and the last clearly above the first."""
    return _rise(losses) > RISE and all(a < b for a, b in pairwise(losses))


def _rise(losses: Sequence[float]) -> float:
    """Return the rise from the first quarter's mean to the last's, by the size of the start."""
    if len(losses) < 3:
        return 0.0
    if not all(map(math.isfinite, losses)):
        return math.inf
    count = max(1, len(losses) // 4)
    start, end = sum(losses[:count]) / count, sum(losses[-count:]) / count
    return (end - start) / max(abs(start), max(losses) - min(losses), 1e-12)


def _mixed(before: Outcome, after: Outcome, lines: LineMap) -> str:
    """Return which step uses gradients that another step is there for, and did not before."""
    feeds = {lines[f.step]: {lines[p] for p in f.passes} for f in before.feeds}
    for feed in after.feeds:
        known = feeds.get(feed.step, set())
        for line in feed.passes if known else ():
            owner = next((f.step for f in after.feeds if f != feed and line in f.passes), None)
            if line not in known and owner is not None:
                return (
                    f"the step{lines.where(feed.step)} also uses gradients of the "
                    f"backward{lines.where(line)}, which are for the step{lines.where(owner)}"
                )
    return ""


def tried(finding: Finding, trial: FixTrial) -> Finding:
    """Return a finding with the fix that works, else with the reason why there is none."""
    if trial.fix:
        message = ". ".join(filter(None, (finding.message, trial.measured)))
        return replace(finding, fix=trial.fix, tried=trial.extent, message=message)
    reason = f"With the change that usually helps, {trial.reason}"
    return replace(finding, fix="", why_no_fix=reason, tried="whole")
