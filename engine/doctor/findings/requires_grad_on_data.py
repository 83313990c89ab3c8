"""A gradient with respect to the data, which nobody reads."""

import ast
from collections.abc import Iterator

from engine.doctor import parameters
from engine.doctor.entry import Entry, Found
from engine.doctor.evidence import Evidence
from engine.tape import Value


def detect(evidence: Evidence) -> Iterator[Found]:
    """Yield data that got gradients in a run that trains something else."""
    if not evidence.updated:
        return
    for tensor, leaf in evidence.leaves.items():
        if tensor in evidence.held or tensor in evidence.updated:
            continue
        if tensor not in evidence.received or not parameters.is_data(evidence, tensor):
            continue
        if evidence.program.reads_grad(leaf.name) or _asks(evidence):
            continue
        count = sum(
            1 for a in evidence.tape.accumulations if evidence.values[a.leaf].tensor == tensor
        )
        message = (
            f"{leaf.name or 'The data'} requires a gradient and got one in {count} passes; "
            f"nothing reads it and no optimizer holds it"
        )
        yield Found(leaf.place, message, (), _mended(evidence, leaf))


def _asks(evidence: Evidence) -> bool:
    """Whether a pass asked for gradients by autograd.grad, which may be about data."""
    return any(p.kind == "grad" for p in evidence.tape.passes)


def _mended(evidence: Evidence, leaf: Value) -> str:
    program = evidence.program
    for node in program.nodes:
        if not isinstance(node, ast.Call) or node.lineno != leaf.place.line:
            continue
        for word in node.keywords:
            if word.arg == "requires_grad":
                flag = ast.Constant(False)
                return program.replaced((word.value, ast.unparse(flag)))
        if isinstance(node.func, ast.Attribute) and node.func.attr == "requires_grad_":
            return program.replaced((node, program.source(node.func.value)))
    return ""


ENTRY = Entry(
    "requires-grad-on-data",
    "The data requires a gradient",
    "Only what is to be learned needs a gradient. For data it costs a share of every backward pass "
    "and memory, and it adds up over the steps. It is right where you look for a better input.",
    detect,
    "hint",
)
