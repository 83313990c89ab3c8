"""Running of all detectors on a tape."""

import ast
import importlib
import pkgutil
from functools import cache

from engine.doctor import findings
from engine.doctor.entry import Entry
from engine.doctor.evidence import Evidence
from engine.tape import Finding, Tape

UNMENDED = "No edit of these lines alone fixes it: only you know what they should do instead"
MOST = 3
"""Maximum number of cases of a finding that are reported."""


@cache
def entries() -> tuple[Entry, ...]:
    """Return all kinds of findings, by file name."""
    names = sorted(module.name for module in pkgutil.iter_modules(findings.__path__))
    modules = [importlib.import_module(f"{findings.__name__}.{name}") for name in names]
    return tuple(module.ENTRY for module in modules)


def examine(tape: Tape, source: str) -> tuple[Finding, ...]:
    """Return the findings on a tape: sure ones before hints, then by line."""
    evidence = Evidence(tape, source)
    found = [finding for entry in entries() for finding in cases(entry, evidence)]
    found.sort(key=lambda f: (f.severity == "hint", f.place.line, f.id))
    return tuple(found)


def examine_safely(tape: Tape, source: str) -> tuple[Finding, ...]:
    """Do the same as `examine`, but skip detectors that raise."""
    try:
        return examine(tape, source)
    except Exception:  # noqa: BLE001 - a program of any kind may break a detector
        evidence = Evidence(tape, source)
        found: list[Finding] = []
        for entry in entries():
            try:
                found += cases(entry, evidence)
            except Exception:  # noqa: BLE001
                continue
        return tuple(found)


def _parses(source: str) -> bool:
    try:
        ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True


def cases(entry: Entry, evidence: Evidence) -> list[Finding]:
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
            severity=entry.severity,
            unmended="" if fix else case.unmended or UNMENDED,
        )
        found.setdefault(case.place, finding)
        if len(found) == MOST:
            break
    return list(found.values())
