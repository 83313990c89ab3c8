"""A model trained while in evaluation mode."""

from collections.abc import Iterator

from engine.doctor import modes
from engine.doctor.entry import Entry, Found
from engine.doctor.evidence import Evidence
from engine.tape import Call


def detect(evidence: Evidence) -> Iterator[Found]:
    """Yield calls of a whole model in evaluation mode whose parameters were then updated."""
    within, made = modes.inside(evidence), modes.results(evidence)
    graph = evidence.used_for_training
    for call in modes.outer_calls(evidence):
        moody = [c for c in within.get(call.id, ()) if modes.is_moody(c)]
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
    used = {i for v in values if (op := evidence.op_of(v)) is not None for i in op.inputs}
    return any(evidence.values[i].tensor in evidence.updated for i in used)


def _case(evidence: Evidence, call: Call, moody: list[Call]) -> Found:
    line = modes.call_line(evidence, call)
    program, name = evidence.program, modes.owner_of(evidence, call)
    kinds = ", ".join(dict.fromkeys(f"{c.name} ({c.kind})" for c in moody[:3]))
    message = f"{call.name} is in evaluation mode while it trains; this switches off {kinds}"
    ends = modes.mode_lines(evidence, "eval")
    related = tuple(program.line(at) for at in ends)
    fix = program.inserted(line, f"{name}.train()") if name else ""
    return Found(program.line(line), message, related, fix)


ENTRY = Entry(
    "eval-in-training",
    "Training in evaluation mode",
    "In evaluation mode Dropout does nothing and BatchNorm keeps using old statistics, so the "
    "model trains without them. eval() stays until train() is called.",
    detect,
)
