"""A leaf without a variable: arithmetic or ``.to`` made another tensor of it at once."""

import ast
from collections.abc import Iterator

from gradscribe.engine.doctor.evidence import Evidence
from gradscribe.engine.doctor.finding_kind import FindingKind, FoundCase
from gradscribe.engine.doctor.fixes import arguments_without
from gradscribe.engine.doctor.program_tree import ProgramTree, called_name, receiver
from gradscribe.engine.protocol.tape import Op, Place, Value

_MOVES = frozenset("to float double half bfloat16 cuda cpu".split())


def detect(evidence: Evidence) -> Iterator[FoundCase]:
    """Yield ops that take a fresh leaf and leave it without a name."""
    for op, leaf in _losses(evidence):
        name = evidence.values[op.outputs[0]].name
        message = (
            f"{name} is no leaf: {op.op} made it from a leaf that "
            f"{'lost its name to it' if leaf.name else 'has no name'}, and {name}.grad stays None"
        )
        related = tuple(filter(None, [_read(evidence, name), leaf.place]))
        yield FoundCase(op.place, message, related, _fix(evidence.program, op.place, name))


def lost_leaf_names(evidence: Evidence) -> set[str]:
    """Return the variables whose leaf has no variable any more."""
    return {evidence.values[op.outputs[0]].name for op, _ in _losses(evidence)}


def _losses(evidence: Evidence) -> Iterator[tuple[Op, Value]]:
    """Yield the ops whose result took a leaf's variable or left it none, each with the leaf."""
    for op in evidence.tape.ops:
        if op.phase != "forward" or not op.outputs or op.call is not None or op.inplace:
            continue
        result = evidence.values[op.outputs[0]]
        if result.is_leaf or not result.name or not result.requires_grad:
            continue
        leaf = next((v for i in op.inputs if _is_lost(evidence, v := evidence.values[i], op)), None)
        if leaf is not None:
            yield op, leaf


def _is_lost(evidence: Evidence, leaf: Value, op: Op) -> bool:
    if not leaf.is_leaf or not leaf.requires_grad:
        return False
    name = evidence.values[op.outputs[0]].name
    inside = op.place.line <= leaf.place.line <= op.place.end_line and leaf.place.line > 0
    if not leaf.name:
        is_root = op.outputs[0] in evidence.root_set
        return inside and leaf.maker != "" and name.count(".") < 2 and not is_root
    return leaf.name == name and _is_wanted(evidence, name)


def _is_wanted(evidence: Evidence, name: str) -> bool:
    """Return whether the program reads a variable's gradient, or gives it to an optimizer."""
    error = evidence.tape.error
    if error is not None and "can't optimize a non-leaf" in error.message:
        return True
    return evidence.program.reads_grad(name)


def _read(evidence: Evidence, name: str) -> Place | None:
    line = evidence.program.grad_read_at(name)
    return evidence.program.line(line) if line else None


def _fix(program: ProgramTree, place: Place, name: str) -> str:
    """Require the gradient last: ``w = (torch.randn(3) * 0.1).requires_grad_()``."""
    statement = program.statement(place.line)
    returns = isinstance(statement, ast.Return) and statement.value is not None
    if not returns and not (
        isinstance(statement, ast.Assign) and ast.unparse(statement.targets[0]) == name
    ):
        return ""
    assert isinstance(statement, ast.Assign | ast.Return)
    value = statement.value
    if value is None:
        return ""
    text = program.source(value)
    maker = next((n for n in ast.walk(value) if _asks(n)), None)
    if isinstance(maker, ast.Call):
        bare = _without_flag(program, maker)
        text = text.replace(program.source(maker), bare, 1)
        simple = isinstance(value, ast.Call)
        fresh = text if simple else f"({text})"
        return program.replaced((value, f"{fresh}.requires_grad_()"))
    if isinstance(value, ast.Call) and called_name(value) in _MOVES and receiver(value) is not None:
        return program.replaced((value, f"{text}.detach().requires_grad_()"))
    simple = isinstance(value, ast.Call | ast.Name)
    fresh = text if simple else f"({text})"
    return program.replaced((value, f"{fresh}.detach().requires_grad_()"))


def _asks(node: ast.AST) -> bool:
    if not isinstance(node, ast.Call):
        return False
    return called_name(node) in ("param", "requires_grad_") or any(
        k.arg == "requires_grad" for k in node.keywords
    )


def _without_flag(program: ProgramTree, call: ast.Call) -> str:
    if called_name(call) == "requires_grad_":
        owner = receiver(call)
        return program.source(owner) if owner is not None else program.source(call)
    if called_name(call) == "param":
        return f"tensor({', '.join(program.source(a) for a in call.args)})"
    return f"{program.source(call.func)}({arguments_without(program, call, 'requires_grad')})"


ENTRY = FindingKind(
    "lost-leaf",
    "The leaf is out of reach",
    "requires_grad=True marks the tensor it is written at. Arithmetic, .to() and .float() give a "
    "new tensor that depends on it: the gradient goes to the first one, and an optimizer refuses "
    "the second. Prepare the numbers first, then require the gradient.",
    detect,
    sick=(
        """w = torch.randn(3, 2, requires_grad=True).to(torch.float64)  # !
opt = optim.SGD([w], lr=0.1)
""",
    ),
    healthy=(
        """# the numbers are prepared before the gradient is asked for
torch.manual_seed(0)
w = (torch.randn(3) * 0.1).requires_grad_()
v = torch.randn(3).to(torch.float32).requires_grad_(True)
loss = ((w * v).sum() - 1) ** 2
loss.backward()
print(w.grad, v.grad)
""",
        """# a recurrence reuses its name
x = param(0.5)
h = x
for step in range(4):
    h = torch.tanh(h * 1.5)
h.backward()
print(x.grad)
""",
    ),
)
