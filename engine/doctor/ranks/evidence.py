"""Queries of the tapes of all ranks for the detectors."""

import ast
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from typing import Literal, NamedTuple

from gradscribe.engine.doctor.evidence import Evidence
from gradscribe.engine.doctor.finding_kind import FoundCase
from gradscribe.engine.doctor.program_tree import ProgramTree
from gradscribe.engine.protocol.ranks.join import JoinedCollective, join
from gradscribe.engine.protocol.tape import Place, Snapshot, Tape, Value

Fed = frozenset[tuple[tuple[int, ...], bytes]]
"""Tensors that went into a pass: shape and numbers of each."""
_DDP = ("DistributedDataParallel", "DDP")


class RankFindingKind(NamedTuple):
    """A kind of finding of several ranks; see `finding_kind.FindingKind`."""

    id: str
    title: str
    why: str
    detect: "Callable[[RankEvidence], Iterable[FoundCase]]"
    severity: Literal["sure", "hint"] = "sure"


class RankEvidence:
    """The tapes of all ranks, in the order of ranks, and their program."""

    def __init__(self, tapes: Sequence[Tape], source: str) -> None:
        self.tapes = tapes
        self.program = ProgramTree(source)
        self.ranks = [Evidence(tape, source) for tape in tapes]

    @cached_property
    def joined(self) -> tuple[JoinedCollective, ...]:
        """The collectives of all ranks."""
        return join(self.tapes)

    @cached_property
    def uses_ddp(self) -> bool:
        """True if DDP reduced gradients."""
        return any(call.owner == "ddp" for tape in self.tapes for call in tape.collectives)

    @cached_property
    def is_sharded(self) -> bool:
        """True if each rank has another part of the parameters."""
        return any(call.owner == "fsdp" for tape in self.tapes for call in tape.collectives)

    @cached_property
    def shares_gradients(self) -> bool:
        """True if gradients went through a collective."""
        if self.uses_ddp or self.is_sharded:
            return True
        values, tape = self.ranks[0].values, self.tapes[0]
        return any(
            values[value].maker == ".grad"
            for call in tape.collectives
            if call.kind in ("all_reduce", "reduce_scatter")
            for value in call.inputs
        )

    @cached_property
    def fed(self) -> list[list[Fed]]:
        """For each rank and each pass the data that met parameters on the way to its root."""
        return [[_fed(rank, p.roots) for p in rank.tape.passes] for rank in self.ranks]

    @cached_property
    def parameters(self) -> list[dict[str, list[Value]]]:
        """For each rank the values of each named parameter that steps have changed, in order."""
        return [_parameters(rank) for rank in self.ranks]

    def place(self, node: ast.AST) -> Place:
        """Return the place of a part of the program."""
        return self.program.place(node)  # type: ignore[arg-type]

    @cached_property
    def wrapped(self) -> set[str]:
        """Variables that the program assigns a DDP module to."""
        aliases = {
            name.asname or name.name
            for node in self.program.nodes
            if isinstance(node, ast.ImportFrom)
            for name in node.names
            if name.name in _DDP
        }
        calls = self.program.calls(*{*_DDP, *aliases})
        return {
            target.id
            for call in calls
            if isinstance(statement := self.program.statement_of(call), ast.Assign)
            if statement.value is call
            for target in statement.targets
            if isinstance(target, ast.Name)
        }


def _fed(rank: Evidence, roots: Iterable[int | None]) -> Fed:
    found = set[tuple[tuple[int, ...], bytes]]()
    for value in rank.dependencies(roots):
        op = rank.creator(value)
        if op is None or not rank.values[value].requires_grad:
            continue
        for given in op.inputs:
            snapshot = rank.snapshot(given)
            if snapshot is None or rank.values[given].requires_grad or snapshot.numel < 2:
                continue
            found.add((snapshot.shape, numbers(snapshot)))
    return frozenset(found)


def numbers(snapshot: Snapshot) -> bytes:
    """Return the numbers of a snapshot; of a big one those that are there."""
    if snapshot.data is not None:
        return snapshot.data
    return repr((snapshot.mean, snapshot.std, snapshot.norm)).encode() + (snapshot.thumb or b"")


def _parameters(rank: Evidence) -> dict[str, list[Value]]:
    stepped = {rank.values[c.after].tensor for step in rank.tape.steps for c in step.changes}
    return {
        leaf.name: rank.versions[rank.values[leaf.value].tensor]
        for leaf in rank.tape.leaves
        if leaf.value in rank.values and rank.values[leaf.value].tensor in stepped
    }


def listed(names: Iterable[object], most: int = 3) -> str:
    """Return names as a list in words, the first of many."""
    shown = [str(name) for name in names]
    more = len(shown) - most
    return ", ".join(shown[:most]) + (f" and {more} more" if more > 0 else "")
