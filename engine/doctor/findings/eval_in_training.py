"""A model trained while in evaluation mode."""

from collections.abc import Iterator

from gradscribe.engine.doctor import modes
from gradscribe.engine.doctor.evidence import Evidence
from gradscribe.engine.doctor.finding_kind import FindingKind, FoundCase
from gradscribe.engine.protocol.tape import Call


def detect(evidence: Evidence) -> Iterator[FoundCase]:
    """Yield calls of a whole model in evaluation mode whose parameters were then updated."""
    within, made = modes.inside(evidence), modes.results(evidence)
    graph = evidence.root_dependencies
    for call in modes.outer_calls(evidence):
        moody = [c for c in within.get(call.id, ()) if modes.is_mode_dependent(c)]
        if not moody or any(c.training for c in (call, *moody)):
            continue
        values = made.get(call.id, [])
        if not values or values[-1] not in graph or not evidence.values[values[-1]].requires_grad:
            continue
        if not _learns(evidence, values):
            continue
        yield _case(evidence, call, moody)


def _learns(evidence: Evidence, values: list[int]) -> bool:
    """Return whether parameters used for these values were updated after a gradient."""
    used = {i for v in values if (op := evidence.creator(v)) is not None for i in op.inputs}
    return any(evidence.values[i].tensor in evidence.updated for i in used)


def _case(evidence: Evidence, call: Call, moody: list[Call]) -> FoundCase:
    line = modes.call_line(evidence, call)
    program, name = evidence.program, modes.module_expression(evidence, call)
    kinds = ", ".join(dict.fromkeys(f"{c.name} ({c.kind})" for c in moody[:3]))
    message = f"{call.name} is in evaluation mode while it trains; this switches off {kinds}"
    ends = modes.mode_lines(evidence, "eval")
    related = tuple(program.line(at) for at in ends)
    fix = program.inserted(line, f"{name}.train()") if name else ""
    return FoundCase(program.line(line), message, related, fix)


ENTRY = FindingKind(
    "eval-in-training",
    "Training in evaluation mode",
    "In evaluation mode Dropout does nothing and BatchNorm keeps using old statistics, so the "
    "model trains without them. eval() stays until train() is called.",
    detect,
)
