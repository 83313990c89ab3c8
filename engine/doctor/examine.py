"""Running of all detectors on a tape."""

import ast
import contextlib
import importlib
import pkgutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache

from gradscribe.engine import plugins
from gradscribe.engine.doctor import findings
from gradscribe.engine.doctor.evidence import Evidence
from gradscribe.engine.doctor.finding_kind import SPOILED, FindingKind
from gradscribe.engine.protocol.structs import replace
from gradscribe.engine.protocol.tape import Finding, Tape

NO_FIX = "No edit of these lines alone fixes it: only you know what they should do instead"
MOST_CASES = 3
"""Maximum number of cases of a finding that are reported."""


def _modules() -> dict[str, str]:
    """Return the full name of each finding's module by its file's, sorted, without importing it."""
    found = pkgutil.walk_packages(findings.__path__, f"{findings.__name__}.")
    names = {m.name.rpartition(".")[2]: m.name for m in found if not m.ispkg}
    return dict(sorted(names.items()))


def _entry(module: str) -> FindingKind:
    kind: FindingKind = importlib.import_module(module).ENTRY
    return kind


@cache
def finding_kinds() -> tuple[FindingKind, ...]:
    """Return all kinds of findings, by file name, then those of plug-ins."""
    return (*map(_entry, _modules().values()), *_plugin_kinds().values())


@cache
def _plugin_kinds() -> dict[str, FindingKind]:
    """Return the kinds that other packages declare, by id with underscores."""
    found = plugins.entries("findings", "ENTRY", FindingKind)
    own = _modules()
    for name, kind in list(found.items()):
        if name in own:
            plugins.leave_out_name("findings", name, "Gradscribe has an entry of this name")
            del found[name]
        elif kind.id != name.replace("_", "-"):
            plugins.leave_out_name("findings", name, f"its id is {kind.id!r}, not its name")
            del found[name]
    return found


def find_kind(finding: str) -> FindingKind | None:
    """Return the kind of a finding by its id, without importing the others; else None."""
    name = finding.replace("-", "_")
    module = _modules().get(name)
    return _plugin_kinds().get(name) if module is None else _entry(module)


def examine(tape: Tape, source: str) -> tuple[Finding, ...]:
    """Return the findings on a tape: sure ones before hints, then by line."""
    evidence = Evidence(tape, source)
    return sort_findings(f for entry in finding_kinds() for f in run_detector(entry, evidence))


def examine_safely(tape: Tape, source: str) -> tuple[Finding, ...]:
    """Do the same as `examine`, but skip detectors that raise."""
    return sort_findings(f for _, found in examine_each(tape, source) for f in found)


def examine_each(tape: Tape, source: str) -> Iterator[tuple[FindingKind, list[Finding]]]:
    """Yield each kind with its findings on a tape, none of a detector that raises."""
    evidence = Evidence(tape, source)
    for entry in finding_kinds():
        found = list[Finding]()
        # A program of any kind may break a detector.
        with contextlib.suppress(Exception):
            found = run_detector(entry, evidence)
        yield entry, found


def sort_findings(found: Iterable[Finding]) -> tuple[Finding, ...]:
    """Return findings with sure ones before hints, then by line, consequences after causes."""
    return grouped(sorted(found, key=lambda f: (f.severity == "hint", f.place.line, f.id)))


def grouped(found: Sequence[Finding]) -> tuple[Finding, ...]:
    """Return findings with the consequences of each right after it, without fixes of their own."""
    kinds = {kind.id: kind for kind in finding_kinds()}
    causes = dict[str, Finding]()
    for finding in found:
        cause = _cause(finding, found, kinds)
        if cause is not None and _root(causes, cause).id != finding.id:
            causes[finding.id] = cause
    # A consequence of a consequence is grouped under the first cause.
    firsts = [f for f in found if f.id not in causes]
    rows = list[Finding]()
    for first in firsts:
        is_named = first.id not in {row.id for row in rows}
        rows.append(first)
        if is_named:
            rows += [
                replace(f, follows=first.id, fix="", why_no_fix=_fix_first(first))
                for f in found
                if f.id in causes and _root(causes, f).id == first.id
            ]
    return tuple(rows)


def _cause(
    finding: Finding, found: Sequence[Finding], kinds: Mapping[str, FindingKind]
) -> Finding | None:
    kind = kinds.get(finding.id)
    for other in found if kind is not None else ():
        cause = kinds.get(other.id)
        if other.id == finding.id or other.severity == "hint" or kind is None or cause is None:
            continue
        spoils = kind.follows == SPOILED and cause.spoils_training
        if (spoils or other.id in kind.follows) and cause.follows != SPOILED:
            return other
    return None


def _root(causes: Mapping[str, Finding], finding: Finding) -> Finding:
    """Return the first cause of a finding, itself if it has none."""
    while finding.id in causes:
        finding = causes[finding.id]
    return finding


def _fix_first(cause: Finding) -> str:
    where = (
        f"line {cause.place.line}" if cause.place.line else cause.title[0].lower() + cause.title[1:]
    )
    return f"Fix {where} first: this follows from it"


def _parses(source: str) -> bool:
    try:
        ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True


def run_detector(entry: FindingKind, evidence: Evidence) -> list[Finding]:
    """Return the findings of a detector, at most one per place."""
    found: dict[object, Finding] = {}
    for case in entry.detect(evidence):
        fix = case.fix if case.fix != evidence.program.text and _parses(case.fix) else ""
        finding = Finding(
            id=entry.id,
            title=entry.title,
            place=case.place,
            message=case.message,
            why=entry.why,
            related=tuple(p for p in dict.fromkeys(case.related) if p.line and p != case.place),
            fix=fix,
            severity="hint" if case.is_hint else entry.severity,
            why_no_fix="" if fix else case.why_no_fix or NO_FIX,
        )
        found.setdefault(case.place, finding)
        if len(found) == MOST_CASES:
            break
    return list(found.values())
