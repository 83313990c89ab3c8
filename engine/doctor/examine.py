"""Ask every detector about a tape."""

import ast
import importlib
import pkgutil
from functools import cache

from engine.doctor import findings
from engine.doctor.entry import Entry
from engine.doctor.evidence import Evidence
from engine.tape import Finding, Tape

UNMENDED = "No edit of these lines alone mends it: what they should do instead is yours to say"
MOST = 3
"""So many cases of one mistake are told."""


@cache
def entries() -> tuple[Entry, ...]:
    """Return every finding the doctor knows, by id."""
    names = sorted(module.name for module in pkgutil.iter_modules(findings.__path__))
    modules = [importlib.import_module(f"{findings.__name__}.{name}") for name in names]
    return tuple(module.ENTRY for module in modules)


def examine(tape: Tape, source: str) -> tuple[Finding, ...]:
    """Return what the doctor finds on a tape, what is sure before what is a hint, then by line."""
    evidence = Evidence(tape, source)
    found = [finding for entry in entries() for finding in cases(entry, evidence)]
    found.sort(key=lambda f: (f.severity == "hint", f.place.line, f.id))
    return tuple(found)


def examine_safely(tape: Tape, source: str) -> tuple[Finding, ...]:
    """As `examine`, but a detector's own fault costs its finding and not the run."""
    try:
        return examine(tape, source)
    except Exception:  # noqa: BLE001 - the edge of the doctor: programs of any kind pass here
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
    """Return what one detector finds, at most one case a place."""
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
