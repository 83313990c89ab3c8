"""Parameters of an optimizer that require no gradient."""

import ast
from collections.abc import Iterator
from typing import TypeGuard

from gradscribe.engine.doctor.cuts import NO_GRADIENT
from gradscribe.engine.doctor.errors import matching_error
from gradscribe.engine.doctor.evidence import Evidence
from gradscribe.engine.doctor.finding_kind import FindingKind, FoundCase
from gradscribe.engine.doctor.fixes import optimizer_calls, with_argument
from gradscribe.engine.doctor.program_tree import ProgramTree, called_name, names
from gradscribe.engine.protocol.tape import Place, Value


def detect(evidence: Evidence) -> Iterator[FoundCase]:
    """Yield leaves that never required a gradient, and leaves frozen by accident."""
    frozen = _frozen(evidence)
    program = evidence.program
    lines = freezing_lines(program)
    if matching_error(evidence, NO_GRADIENT) and lines and not evidence.leaves:
        frozen_names = [leaf.name for leaf in evidence.tape.leaves if "." in leaf.name]
        text = f"Line {lines[-1]} froze every parameter, so backward has nowhere to go"
        if frozen_names:
            text += f": {', '.join(frozen_names[:3])}"
        fix = _unfreeze_last(program, lines[-1])
        yield FoundCase(program.line(lines[-1]), text, (_error_place(evidence),), fix)
        return
    if matching_error(evidence, NO_GRADIENT) and not evidence.leaves and not lines:
        yield from _likely_parameters(evidence)
        return
    plain = [v for v in frozen if v.name.isidentifier() and not lines]
    for value in plain:
        message = (
            f"{value.name} is given to the optimizer but requires no gradient: "
            f"it gets none and keeps its first value"
        )
        yield FoundCase(
            value.place, message, _optimizer_places(evidence), _fix(evidence.program, value)
        )
    yield from _half_frozen(evidence, frozen, lines)
    if not lines:
        yield from _fields(evidence, frozen)


def _likely_parameters(evidence: Evidence) -> Iterator[FoundCase]:
    """Yield likely parameters of a run in which nothing requires a gradient."""
    inside = evidence.root_dependencies
    real = [
        v
        for v in evidence.tape.values
        if v.id in inside and v.is_leaf and v.op is None and v.name.isidentifier()
        if v.dtype.startswith(("float", "bfloat", "complex"))
    ]
    given = {n for _, call in optimizer_calls(evidence.program).values() for n in names(call)}
    likely = [v for v in real if v.name in given] or [v for v in real if v.name.lower() in _USUAL]
    for value in likely[:3]:
        message = f"Nothing here requires a gradient; {value.name} looks like a parameter"
        fix = _fix_all(evidence, likely)
        yield FoundCase(value.place, message, (_error_place(evidence),), fix)


_USUAL = frozenset("w w1 w2 b b1 b2 bias weight weights theta m k a slope intercept coef".split())


def _fix_all(evidence: Evidence, values: list[Value]) -> str:
    fix = evidence.program
    for value in values:
        text = _fix(fix, value)
        fix = ProgramTree(text) if text else fix
    return fix.text if fix is not evidence.program else ""


def _error_place(evidence: Evidence) -> Place:
    error = evidence.tape.error
    return error.place if error is not None else Place()


def _frozen(evidence: Evidence) -> list[Value]:
    """Return the first value of each optimizer parameter that never required a gradient."""
    return [
        values[0]
        for tensor in sorted(evidence.optimized)
        if (values := evidence.versions[tensor])
        and values[0].dtype.startswith(("float", "bfloat", "complex"))
        and not any(v.requires_grad for v in values)
    ]


def freezing_lines(program: ProgramTree) -> list[int]:
    """Return the lines that set requires_grad to False."""
    found = [
        call.lineno
        for call in program.calls("requires_grad_")
        if call.args and isinstance(call.args[0], ast.Constant) and call.args[0].value is False
    ]
    for node in program.find(ast.Assign):
        targets = [t for t in node.targets if isinstance(t, ast.Attribute)]
        is_off = isinstance(node.value, ast.Constant) and node.value.value is False
        if is_off and any(t.attr == "requires_grad" for t in targets):
            found.append(node.lineno)
    return sorted(found)


def _half_frozen(evidence: Evidence, frozen: list[Value], lines: list[int]) -> Iterator[FoundCase]:
    """Yield layers with both a trained and a frozen parameter."""
    learning = {
        leaf.name.rpartition(".")[0]
        for tensor, leaf in evidence.leaves.items()
        if tensor in evidence.updated and "." in leaf.name
    }
    half = [v for v in frozen if "." in v.name and v.name.rpartition(".")[0] in learning]
    if half and lines:
        listed = ", ".join(v.name for v in half[:3])
        verb = "stays" if len(half) == 1 else "stay"
        message = (
            f"{listed} {verb} frozen since line {lines[0]}, while the rest of its layer learns"
        )
        fix = _unfreeze_rest(evidence.program, half)
        yield FoundCase(evidence.program.line(lines[0]), message, _optimizer_places(evidence), fix)


def _unfreeze_last(program: ProgramTree, line: int) -> str:
    """Unfreeze the last layer: weight and bias are the last two parameters."""
    loop = program.loop(line)
    if not isinstance(loop, ast.For):
        return ""
    every = program.source(loop.iter).replace(".named_parameters()", ".parameters()")
    if not every.endswith(".parameters()"):
        return ""
    text = f"for p in list({every})[-2:]:\n    p.requires_grad = True"
    return program.inserted(loop.lineno, text, after=True)


def _unfreeze_rest(program: ProgramTree, half: list[Value]) -> str:
    """Unfreeze the rest of a layer, after the line that unfreezes its other part."""
    freed = [
        node
        for node in program.find(ast.Assign)
        if isinstance(node.value, ast.Constant)
        and node.value.value is True
        and ast.unparse(node.targets[0]).endswith(".requires_grad")
    ]
    if len(freed) != 1 or len(half) != 1:
        return ""
    other = half[0].name.rpartition(".")[2]
    target = program.source(freed[0].targets[0])
    owner = target.removesuffix(".requires_grad").rpartition(".")[0]
    text = f"{owner}.{other}.requires_grad = True"
    return program.inserted(freed[0].lineno, text, after=True)


def _fields(evidence: Evidence, frozen: list[Value]) -> Iterator[FoundCase]:
    """Yield optimizer parameters that are buffers or were created with requires_grad=False."""
    program = evidence.program
    for value in frozen:
        field = value.name.rpartition(".")[2]
        buffers = [
            call
            for call in program.calls("register_buffer")
            if call.args and isinstance(call.args[0], ast.Constant) and call.args[0].value == field
        ]
        made = [x for _, x in program.bindings.get(f"self.{field}", []) if _is_parameter(x)]
        if "." not in value.name or len(buffers) + len(made) != 1:
            continue
        if buffers:
            message = (
                f"{value.name} is a buffer: the optimizer holds it, and it gets no gradient and "
                "never learns"
            )
            text = f"self.{field} = nn.Parameter({program.source(buffers[0].args[1])})"
            place, fix = program.place(buffers[0]), program.replaced((buffers[0], text))
        else:
            message = (
                f"{value.name} was made with requires_grad=False: the optimizer holds it, and it "
                "keeps its first value"
            )
            flag = next(k for k in made[0].keywords if k.arg == "requires_grad")
            fix = program.replaced((flag.value, "True"))
            place = program.place(made[0])
        yield FoundCase(place, message, _optimizer_places(evidence), fix)


def _is_parameter(made: ast.expr) -> TypeGuard[ast.Call]:
    """Return whether an expression creates a parameter with requires_grad=False."""
    if not isinstance(made, ast.Call) or called_name(made) != "Parameter":
        return False
    flags = [k.value for k in made.keywords if k.arg == "requires_grad"]
    return any(isinstance(flag, ast.Constant) and flag.value is False for flag in flags)


def _optimizer_places(evidence: Evidence) -> tuple[Place, ...]:
    calls = optimizer_calls(evidence.program).values()
    return tuple(evidence.program.line(line) for line, _ in calls)


def _fix(program: ProgramTree, value: Value) -> str:
    for line, expression in program.bindings.get(value.name, ()):
        if line != value.place.line or not isinstance(expression, ast.Call):
            continue
        text = program.source(expression)
        if any(k.arg == "requires_grad" for k in expression.keywords):
            return program.replaced((expression, text.replace("=False", "=True")))
        if called_name(expression) in ("randn", "zeros", "ones", "rand", "tensor", "full", "empty"):
            return with_argument(program, expression, "requires_grad=True")
        return program.replaced((expression, f"{text}.requires_grad_()"))
    return ""


ENTRY = FindingKind(
    "frozen-parameter",
    "A parameter cannot learn",
    "A tensor that requires no gradient gets none, and an optimizer passes over it without a word. "
    "Freeze whole parts on purpose and give the optimizer only the rest.",
    detect,
    sick=(
        """x, y = torch.randn(16, 4), torch.randn(16, 1)
model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1))
for p in model.parameters():
    p.requires_grad = False  # !
loss = F.mse_loss(model(x), y)
loss.backward()
""",
    ),
    healthy=(
        """# a backbone frozen before the optimizer is made
torch.manual_seed(0)
x, y = torch.randn(16, 4), torch.randn(16, 1)
model = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1))
model[0].requires_grad_(False)
opt = optim.SGD([p for p in model.parameters() if p.requires_grad], lr=0.1)
for step in range(3):
    loss = F.mse_loss(model(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
""",
        """# frozen and all given to the optimizer
torch.manual_seed(0)
x, y = torch.randn(16, 4), torch.randn(16, 1)
backbone, head = nn.Linear(4, 8), nn.Linear(8, 1)
for p in backbone.parameters():
    p.requires_grad = False
model = nn.Sequential(backbone, nn.Tanh(), head)
opt = optim.Adam(model.parameters(), lr=0.01)
for step in range(3):
    loss = F.mse_loss(model(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
""",
    ),
)
