"""A parameter's only path to the loss leads through .data."""

import ast
from collections.abc import Iterator

from gradscribe.engine.doctor import cuts
from gradscribe.engine.doctor.evidence import Evidence
from gradscribe.engine.doctor.finding_kind import FindingKind, FoundCase


def detect(evidence: Evidence) -> Iterator[FoundCase]:
    """Yield each ``.data`` that cuts wanted leaves off."""
    program = evidence.program
    for cut, message in cuts.cuts_of_kind(evidence, "data"):
        fields = [
            n
            for n in program.nodes
            if isinstance(n, ast.Attribute)
            and n.attr == "data"
            and program.place(n) == cut.op.place
        ]
        fix = program.replaced((fields[0], program.source(fields[0].value))) if fields else ""
        last = evidence.pass_place(len(evidence.tape.passes) - 1)
        text = f"{message}: .data on line {cut.op.place.line} is on its only way there"
        yield FoundCase(cut.op.place, text, (cut.leaves[0].place, last), fix)


ENTRY = FindingKind(
    "cut-by-data",
    "The graph is cut by .data",
    "x.data is x without its history, as detach() gives it, and without the check that finds "
    "in-place changes. Nothing before it learns.",
    detect,
)
