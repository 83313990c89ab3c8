"""A tensor that backward needs was changed in place."""

import ast
import re
from collections.abc import Iterator

from gradscribe.engine.doctor.carried_state import detach_between_iterations
from gradscribe.engine.doctor.errors import failed_node, matching_error
from gradscribe.engine.doctor.evidence import Evidence
from gradscribe.engine.doctor.finding_kind import FindingKind, FoundCase
from gradscribe.engine.doctor.program_tree import ProgramTree, called_name, receiver
from gradscribe.engine.doctor.rewrites import stale_values
from gradscribe.engine.protocol.tape import Op, Place, Saved

_PLAIN = {"add_": "+", "sub_": "-", "mul_": "*", "div_": "/", "pow_": "**"}


def detect(evidence: Evidence) -> Iterator[FoundCase]:
    """Yield the line that changed the tensor, with the op that had saved it."""
    error = matching_error(evidence, "modified by an inplace operation")
    if error is None:
        return
    node = failed_node(evidence)
    if node is None or node.op is None:
        return
    needed = evidence.tape.ops[node.op]
    versions = re.search(r"is at version (\d+); expected version (\d+)", error.message)
    counted = f" (version {versions[2]}, now {versions[1]})" if versions else ""
    yield from _stepped(evidence, needed, node.kept, error.place.line)
    for saved in node.kept:
        for op in _writers(evidence, node.op, saved):
            name = evidence.name(op.outputs[-1], "a tensor")
            message = (
                f"{op.op} changes {name} in place, but {needed.op} on line {needed.place.line} "
                f"saved {_what(evidence, saved, name)} for backward{counted}"
            )
            related = (needed.place, evidence.program.line(error.place.line))
            fix = _fix(evidence.program, op.place, op) or _of_layer(evidence.program, op)
            yield FoundCase(op.place, message, related, fix)
            return


def _stepped(
    evidence: Evidence, needed: Op, kept: tuple[Saved, ...], failed: int
) -> Iterator[FoundCase]:
    """Yield an optimizer step that changed a tensor that an op had saved."""
    since = evidence.op_at.get(evidence.tape.ops.index(needed), 0)
    memories = {saved.storage for saved in kept if saved.storage >= 0}
    for number, at in evidence.step_at.items():
        step = evidence.tape.steps[number]
        changed = [
            evidence.values[c.after]
            for c in step.changes
            if at > since and evidence.values[c.after].storage in memories
        ]
        if changed:
            message = (
                f"The step on line {step.line} changes {changed[0].name or 'a parameter'} in "
                f"place, but {needed.op} on line {needed.place.line} saved it for backward"
            )
            if stale_values.other_step_follows(evidence.program, step.line, failed):
                fix = stale_values.without_stale_values(evidence, step, at, failed)
            else:
                fix = _stepped_last(evidence, step.line, failed, at)
            yield FoundCase(evidence.step_place(step), message, (needed.place,), fix)
            return


def _stepped_last(evidence: Evidence, step: int, failed: int, at: int) -> str:
    """Move the step after the last backward; if that is in the next iteration, detach state."""
    program = evidence.program
    first, last = program.statement(step), program.statement(failed)
    if first is None or last is None or program.indent(first) != program.indent(last):
        return ""
    if step < failed and program.loop(step) is program.loop(failed):
        moved = program.inserted(failed, program.source(first), after=True)
        return ProgramTree(moved).without(step) if moved else ""
    passes = [start for start in evidence.pass_at.values() if start < at]
    return detach_between_iterations(evidence, failed, max(passes)) if passes else ""


def _writers(evidence: Evidence, since: int, saved: Saved) -> list[Op]:
    """Return the ops that wrote to a saved tensor's memory after it had been saved."""
    return [
        op
        for op in evidence.tape.ops[since + 1 :]
        if op.inplace
        and op.outputs
        and saved.storage >= 0
        and evidence.values[op.outputs[-1]].storage == saved.storage
    ]


def _what(evidence: Evidence, saved: Saved, changed: str) -> str:
    name = evidence.name(saved.value, "") if saved.value is not None else ""
    return "it" if not name or name == changed else name


def _fix(program: ProgramTree, place: Place, op: Op) -> str:
    """Rewrite the change so that it creates a new tensor."""
    statement = program.statement(place.line)
    if isinstance(statement, ast.AugAssign):
        target = program.source(statement.target)
        if isinstance(statement.target, ast.Subscript):
            owner = program.source(statement.target.value)
            return program.inserted(statement.lineno, f"{owner} = {owner}.clone()")
        sign = _PLAIN.get(op.op)
        if sign is None:
            return ""
        value = program.source(statement.value)
        closed = value if isinstance(statement.value, ast.Name | ast.Constant) else f"({value})"
        return program.replaced((statement, f"{target} = {target} {sign} {closed}"))
    if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Subscript):
        owner = program.source(statement.targets[0].value)
        return program.inserted(statement.lineno, f"{owner} = {owner}.clone()")
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
        return _out_of_place(program, statement, statement.value)
    return ""


def _of_layer(program: ProgramTree, op: Op) -> str:
    """Set ``inplace=False`` in layers such as ``nn.ReLU(inplace=True)``."""
    flags = [
        keyword.value
        for node in program.find(ast.Call)
        if op.call is not None
        for keyword in node.keywords
        if keyword.arg == "inplace" and ast.unparse(keyword.value) == "True"
    ]
    return program.replaced(*((flag, "False") for flag in flags)) if flags else ""


def _out_of_place(program: ProgramTree, statement: ast.Expr, call: ast.Call) -> str:
    owner, name = receiver(call), called_name(call)
    if not isinstance(owner, ast.Name) or not name.endswith("_"):
        return ""
    text = program.source(call)
    fresh = text.replace(f".{name}(", f".{name[:-1]}(", 1)
    if name in ("zero_", "fill_"):
        fresh = f"torch.{'zeros' if name == 'zero_' else 'full'}_like({owner.id}"
        fresh += ")" if name == "zero_" else f", {program.source(call.args[0])})"
    return program.replaced((statement, f"{owner.id} = {fresh}"))


ENTRY = FindingKind(
    "inplace-on-saved",
    "A tensor that backward needs was changed",
    "Some ops keep a tensor to compute their gradient from. Changing it in place would make that "
    "gradient wrong, so autograd counts versions and refuses. Make a new tensor instead.",
    detect,
    sick=(
        """x = param([1.0, 2.0])
y = torch.exp(x)
y += 1  # !
y.sum().backward()
""",
    ),
    healthy=(
        """# harmless in-place changes
x = param([1.0, 2.0])
y = x * 3
y += 1
z = torch.relu_(y)
z.sum().backward()
buffer = torch.zeros(3)
buffer += 1
buffer[0] = 5
""",
        """# running mean under no_grad
x = param([1.0, 2.0])
mean = torch.zeros(2)
for step in range(3):
    y = torch.exp(x)
    with torch.no_grad():
        mean.mul_(0.9).add_(y, alpha=0.1)
    x.grad = None
    y.sum().backward()
""",
    ),
)
