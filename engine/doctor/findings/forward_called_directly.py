"""``model.forward(x)`` instead of ``model(x)``."""

import ast
from collections.abc import Iterator

from engine.doctor.entry import Entry, Found
from engine.doctor.evidence import Evidence
from engine.doctor.program import receiver


def detect(evidence: Evidence) -> Iterator[Found]:
    """Yield calls of a module's forward, except a class's call of its parent's."""
    program = evidence.program
    for call in program.calls("forward"):
        owner = receiver(call)
        if owner is None or (isinstance(owner, ast.Call) and ast.unparse(owner.func) == "super"):
            continue
        name = program.source(owner)
        if not _is_module(evidence, owner):
            continue
        message = f"{name}.forward(...) skips {name}'s hooks and everything else that a call does"
        assert isinstance(call.func, ast.Attribute)
        yield Found(program.place(call), message, (), program.replaced((call.func, name)))


def _is_module(evidence: Evidence, owner: ast.expr) -> bool:
    """Whether an expression stands for a module rather than a class or something else."""
    text = ast.unparse(owner)
    if text.startswith("self."):
        return True
    known = any(leaf.name.startswith(f"{text}.") for leaf in evidence.tape.leaves)
    called_so = any(call.name == text for call in evidence.tape.calls)
    if known or called_so:
        return True
    bound = evidence.program.bound(text, owner.lineno)
    return isinstance(bound, ast.Call) and ast.unparse(bound.func).startswith(("nn.", "torch.nn."))


ENTRY = Entry(
    "forward-called-directly",
    "The model is not called, only its forward",
    "Calling the module runs its hooks around forward; forward() alone skips them, and with them "
    "whatever a library or this window attached. Call the model like a function.",
    detect,
)
