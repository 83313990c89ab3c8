"""Running of all detectors on a tape."""

import ast
import contextlib
import importlib
import pkgutil
from collections.abc import Iterable
from functools import cache

from gradscribe.engine.doctor import findings
from gradscribe.engine.doctor.evidence import Evidence
from gradscribe.engine.doctor.finding_kind import FindingKind
from gradscribe.engine.protocol.tape import Finding, Tape

NO_FIX = "No edit of these lines alone fixes it: only you know what they should do instead"
MOST_CASES = 3
"""Maximum number of cases of a finding that are reported."""


def _module_names() -> list[str]:
    return sorted(module.name for module in pkgutil.iter_modules(findings.__path__))


def _entry(module: str) -> FindingKind:
    kind: FindingKind = importlib.import_module(f"{findings.__name__}.{module}").ENTRY
    return kind


@cache
def finding_kinds() -> tuple[FindingKind, ...]:
    """Return all kinds of findings, by file name."""
    return tuple(map(_entry, _module_names()))


def find_kind(finding: str) -> FindingKind | None:
    """Return the kind of a finding by its id, without importing the others; else None."""
    name = finding.replace("-", "_")
    return _entry(name) if name in _module_names() else None


def examine(tape: Tape, source: str) -> tuple[Finding, ...]:
    """Return the findings on a tape: sure ones before hints, then by line."""
    evidence = Evidence(tape, source)
    return _sorted(f for entry in finding_kinds() for f in run_detector(entry, evidence))


def examine_safely(tape: Tape, source: str) -> tuple[Finding, ...]:
    """Do the same as `examine`, but skip detectors that raise."""
    evidence, found = Evidence(tape, source), list[Finding]()
    for entry in finding_kinds():
        # A program of any kind may break a detector.
        with contextlib.suppress(Exception):
            found += run_detector(entry, evidence)
    return _sorted(found)


def _sorted(found: Iterable[Finding]) -> tuple[Finding, ...]:
    return tuple(sorted(found, key=lambda f: (f.severity == "hint", f.place.line, f.id)))


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
