"""A checkpoint of the DDP module in place of the model inside of it."""

import ast
from collections.abc import Iterator

from gradscribe.engine.doctor.finding_kind import FoundCase
from gradscribe.engine.doctor.ranks.evidence import RankEvidence, RankFindingKind


def _detect(evidence: RankEvidence) -> Iterator[FoundCase]:
    for save in evidence.program.calls("save"):
        for call in (node for node in ast.walk(save) if isinstance(node, ast.Call)):
            function = call.func
            if not (isinstance(function, ast.Attribute) and function.attr == "state_dict"):
                continue
            owner = function.value
            if isinstance(owner, ast.Name) and owner.id in evidence.wrapped:
                name = owner.id
                yield FoundCase(
                    evidence.place(call),
                    f"Each name in the file begins with module., as {name} is the DDP around "
                    f"the model: save {name}.module.state_dict().",
                )


ENTRY = RankFindingKind(
    "ddp-module-in-checkpoint",
    "A checkpoint has the names of DDP",
    "A model without DDP cannot load it: every key has `module.` before its name, and the model's "
    "own are missing.",
    _detect,
    "hint",
)
