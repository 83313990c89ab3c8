"""Running of all detectors of several ranks on their tapes."""

import contextlib
import importlib
import pkgutil
from collections.abc import Sequence
from functools import cache

from gradscribe.engine.doctor.examine import MOST_CASES
from gradscribe.engine.doctor.ranks import findings
from gradscribe.engine.doctor.ranks.evidence import RankEvidence, RankFindingKind
from gradscribe.engine.protocol.tape import Finding, Tape

NO_FIX = "The edit depends on what the ranks should do: the text above says where to begin"


@cache
def rank_finding_kinds() -> tuple[RankFindingKind, ...]:
    """Return all kinds of findings of several ranks, by file name."""
    found = sorted(module.name for module in pkgutil.iter_modules(findings.__path__))
    return tuple(importlib.import_module(f"{findings.__name__}.{name}").ENTRY for name in found)


def examine_ranks(tapes: Sequence[Tape], source: str) -> tuple[Finding, ...]:
    """Return what the tapes of all ranks show together: sure findings before hints, then by line.

    ``tapes`` are in the order of ranks. A detector that raises finds nothing.
    """
    if len(tapes) < 2:
        return ()
    evidence = RankEvidence(tapes, source)
    found = list[Finding]()
    for kind in rank_finding_kinds():
        with contextlib.suppress(Exception):
            found += _cases(kind, evidence)
    return tuple(sorted(found, key=lambda f: (f.severity == "hint", f.place.line, f.id)))


def _cases(kind: RankFindingKind, evidence: RankEvidence) -> list[Finding]:
    found: dict[object, Finding] = {}
    for case in kind.detect(evidence):
        finding = Finding(
            id=kind.id,
            title=kind.title,
            place=case.place,
            message=case.message,
            why=kind.why,
            related=tuple(p for p in dict.fromkeys(case.related) if p.line and p != case.place),
            severity="hint" if case.is_hint else kind.severity,
            why_no_fix=case.why_no_fix or NO_FIX,
        )
        found.setdefault(case.place, finding)
        if len(found) == MOST_CASES:
            break
    return list(found.values())
