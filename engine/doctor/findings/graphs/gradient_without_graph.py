"""A gradient differentiated once more, although no graph of it was recorded."""

from collections.abc import Iterator

from gradscribe.engine.doctor.cuts import NO_GRADIENT
from gradscribe.engine.doctor.errors import matching_error
from gradscribe.engine.doctor.evidence import Evidence
from gradscribe.engine.doctor.finding_kind import FindingKind, FoundCase
from gradscribe.engine.doctor.fixes import with_argument
from gradscribe.engine.protocol.tape import Op, Value

_MAKERS = frozenset(("grad", ".grad"))


def detect(evidence: Evidence) -> Iterator[FoundCase]:
    """Yield a failed pass from a gradient, and constant gradients added to a loss."""
    if not evidence.tape.passes:
        return
    if matching_error(evidence, NO_GRADIENT) is not None:
        roots = evidence.tape.passes[-1].roots
        value = _gradient_behind(evidence, [r for r in roots if r is not None])
        if value is not None:
            last = len(evidence.tape.passes) - 1
            yield _case(evidence, value, evidence.tape.passes[last].line, "")
    for op in evidence.tape.ops:
        value = _added(evidence, op)
        if value is not None:
            yield _case(evidence, value, op.place.line, ": the term counts as a constant")
            return


def _gradient_behind(evidence: Evidence, values: list[int]) -> Value | None:
    """Return the gradient without a graph that ``values`` were computed from, if no graph was."""
    behind = [evidence.values[v] for v in evidence.dependencies(values)]
    if any(v.requires_grad for v in behind if not v.is_leaf):
        return None
    found = (v for v in behind if v.maker in _MAKERS and not v.requires_grad)
    return min(found, key=lambda v: v.id, default=None)


def _added(evidence: Evidence, op: Op) -> Value | None:
    """Return the gradient that a constant term of a loss was computed from."""
    if op.op not in ("add", "radd") or len(op.inputs) != 2 or not op.grad_mode:
        return None
    if not op.outputs or op.outputs[0] not in evidence.root_dependencies:
        return None
    given = [evidence.values[i] for i in op.inputs]
    constants = [v.id for v in given if not v.requires_grad and v.shape == ()]
    if len(constants) != 1 or evidence.values[op.outputs[0]].shape != ():
        return None
    return _gradient_behind(evidence, constants)


def _case(evidence: Evidence, value: Value, line: int, why: str) -> FoundCase:
    program = evidence.program
    number = max(
        (n for n, at in evidence.pass_at.items() if at < evidence.position(value.id)), default=0
    )
    first = evidence.tape.passes[number].line
    name = value.name or "the gradient"
    message = (
        f"{name} was computed on line {first} without create_graph=True, so it has no graph of "
        f"its own, and line {line} cannot differentiate it{why}"
    )
    return FoundCase(program.line(line), message, (program.line(first),), _fix(evidence, first))


def _fix(evidence: Evidence, line: int) -> str:
    """Add create_graph=True to the call that computed the gradient."""
    program = evidence.program
    for call in program.calls("grad", "backward"):
        if not call.lineno <= line <= (call.end_lineno or line):
            continue
        flag = next((w.value for w in call.keywords if w.arg == "create_graph"), None)
        if flag is not None:
            return program.replaced((flag, "True"))
        return with_argument(program, call, "create_graph=True")
    return ""


ENTRY = FindingKind(
    "gradient-without-graph",
    "A gradient has no graph of its own",
    "Gradients are plain numbers unless create_graph=True records how they were computed. To "
    "differentiate one again, for a second derivative or a penalty on it, ask for that graph.",
    detect,
    sick=(
        """x = param([1.0, 2.0])
cubes = (x**3).sum()
slope = torch.autograd.grad(cubes, x)[0]
curvature = torch.autograd.grad(slope.sum(), x)[0]  # !
print(curvature)
""",
    ),
    healthy=(
        """# first and second derivative
x = param(2.0)
(slope,) = torch.autograd.grad(x**3, x, create_graph=True)
(curvature,) = torch.autograd.grad(slope, x)
print(slope, curvature)
""",
        """# gradients as plain numbers for an inner step and for a weight
w = param([1.0, 1.0])
optimizer = optim.SGD([w], lr=0.01)
for step in range(3):
    x = torch.randn(6, 2)
    (slope,) = torch.autograd.grad((x @ w).pow(2).mean(), w)
    loss = (x @ (w - 0.1 * slope)).pow(2).mean() * (1 + slope.norm())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
""",
    ),
)
