"""Gradients that are divided by the number of ranks twice."""

from collections.abc import Iterator

from gradscribe.engine.doctor.evidence import Evidence
from gradscribe.engine.doctor.finding_kind import FoundCase
from gradscribe.engine.doctor.ranks.evidence import RankEvidence, RankFindingKind
from gradscribe.engine.protocol.tape import Op

_DIVISIONS = ("div", "div_", "mul", "mul_")
_WORLD = ("world", "rank", "size", "n_gpu", "num_gpus", "gpus")
"""Parts of names for the number of ranks."""


def _detect(evidence: RankEvidence) -> Iterator[FoundCase]:
    rank, world = evidence.ranks[0], len(evidence.tapes)
    means = evidence.uses_ddp or any(
        call.reduce == "avg" and any(rank.values[v].maker == ".grad" for v in call.inputs)
        for call in rank.tape.collectives
    )
    losses = [op for op in rank.tape.ops if _divides(op, world) and _is_loss(rank, op)]
    grads = [op for op in rank.tape.ops if _divides(op, world) and _is_gradient(rank, op)]
    accumulates = len(rank.tape.passes) > len(rank.tape.steps) > 0
    if means and (found := grads or losses):
        first = found[0]
        is_named = _is_named(evidence, first)
        if not is_named and (accumulates or not grads):
            return
        by = "DDP" if evidence.uses_ddp else "all_reduce with AVG"
        yield FoundCase(
            first.place,
            f"{by} has the mean over {world} ranks already; this divides by {world} once more, "
            f"so gradients are {world} times too small.",
            is_hint=not is_named,
        )
    elif not means and losses and grads and evidence.shares_gradients and not accumulates:
        yield FoundCase(
            grads[0].place,
            f"Loss and gradients are both divided by {world}: gradients are {world} times smaller.",
            (losses[0].place,),
        )


def _divides(op: Op, world: int) -> bool:
    if op.op not in _DIVISIONS or op.phase != "forward":
        return False
    wanted = world if op.op.startswith("div") else 1 / world
    return any(arg.number == wanted for arg in op.args)


def _is_loss(rank: Evidence, op: Op) -> bool:
    """Return whether an op divides the scalar that a pass begins at, or leads to it."""
    return any(
        out in rank.root_dependencies and rank.values[out].shape == () for out in op.outputs
    ) and all(rank.values[given].shape == () for given in op.inputs)


def _is_gradient(rank: Evidence, op: Op) -> bool:
    return any(rank.values[given].maker == ".grad" for given in op.inputs)


def _is_named(evidence: RankEvidence, op: Op) -> bool:
    """Return whether the program's text says that it divides by the number of ranks."""
    if any(part in arg.name.lower() for arg in op.args for part in _WORLD):
        return True
    line = evidence.program.lines[op.place.line - 1] if op.place.line else ""
    return "world_size" in line


ENTRY = RankFindingKind(
    "gradients-scaled-twice",
    "Gradients are divided by the number of ranks twice",
    "DDP and an all_reduce with AVG give the mean. Dividing loss or gradients by the number of "
    "ranks as well makes every step that much shorter, which looks like a small learning rate.",
    _detect,
)
