"""A custom Function whose backward disagrees with its forward."""

import ast
import re
from collections.abc import Iterator

from gradscribe.engine.doctor.evidence import Evidence
from gradscribe.engine.doctor.finding_kind import FindingKind, FoundCase
from gradscribe.engine.doctor.fixes import parenthesized
from gradscribe.engine.doctor.program_tree import ProgramTree, called_name
from gradscribe.engine.doctor.snapshot_stats import format_number
from gradscribe.engine.protocol.tape import FunctionCheck

_ON_PURPOSE = re.compile(
    r"surrogate|straight|\bste\b|revers|guided|relevance|lrp|alignment|synthetic|pseudo|estimat"
    r"|damp|clip|quanti|spik",
    re.IGNORECASE,
)
"""Words for gradients that are meant to be different from the derivative."""


def detect(evidence: Evidence) -> Iterator[FoundCase]:
    """Yield backward methods that differences contradicted, by `Tape.function_checks`."""
    for check in evidence.tape.function_checks:
        op = evidence.tape.ops[check.op]
        classes = [n for n in evidence.program.nodes if isinstance(n, ast.ClassDef)]
        own = next((c for c in classes if c.name == op.op), None)
        methods = {m.name: m for m in own.body if isinstance(m, ast.FunctionDef)} if own else {}
        if own is None or not {"forward", "backward"} <= methods.keys():
            continue
        if _is_on_purpose(evidence.program, own, methods):
            continue
        yield _case(evidence, check, own, methods)


def _is_on_purpose(
    program: ProgramTree, own: ast.ClassDef, methods: dict[str, ast.FunctionDef]
) -> bool:
    """Return whether words say so, or forward has an input that is saved for backward alone."""
    text = "\n".join(program.lines[max(own.lineno - 3, 0) : own.end_lineno])
    if _ON_PURPOSE.search(text):
        return True
    forward = methods["forward"]
    saving = [n for n in ast.walk(forward) if _saves(n)]
    saved = {n for call in saving for n in ast.walk(call)}
    used = {
        n.id
        for n in ast.walk(forward)
        if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load) and n not in saved
    }
    only = {n.id for n in saved if isinstance(n, ast.Name)} - used
    return bool(only & {a.arg for a in forward.args.args[1:]})


def _saves(node: ast.AST) -> bool:
    if isinstance(node, ast.Assign):
        return all(isinstance(t, ast.Attribute) for t in node.targets)
    return isinstance(node, ast.Call) and called_name(node) == "save_for_backward"


def _case(
    evidence: Evidence,
    check: FunctionCheck,
    own: ast.ClassDef,
    methods: dict[str, ast.FunctionDef],
) -> FoundCase:
    program, op = evidence.program, evidence.tape.ops[check.op]
    forward, backward = methods["forward"], methods["backward"]
    skipped = 0 if "setup_context" in methods else 1
    argument = [a.arg for a in forward.args.args][skipped + check.argument]
    returned = _returned(backward, check.argument)
    blamed = _assigned(backward, returned) if returned is not None else None
    place = program.place(blamed or returned or backward.body[-1])
    sent, expected = format_number(check.sent), format_number(check.expected)
    measured = (
        f"in the call on line {op.place.line} it sends {argument} {sent} where central differences "
        f"of forward give {expected}{_as_factor(check.factor)}"
    )
    arrives = backward.args.args[1].arg if len(backward.args.args) > 1 else ""
    if check.needs_product:
        name = f" {arrives}" if arrives else ""
        message = f"backward of {own.name} does not use the gradient{name} that arrives: {measured}"
    else:
        message = f"backward of {own.name} is not the derivative of its forward: {measured}"
    related = [program.place(n) for n in (returned, *_results(forward)) if n is not None]
    fix = ""
    if check.needs_product and returned is not None and arrives:
        fix = program.replaced((returned, f"{_factor_text(program, returned)} * {arrives}"))
    return FoundCase(
        place, message, (*related, op.place), fix, _ADVICE, is_hint=not check.needs_product
    )


_ADVICE = (
    "backward returns for each input the gradient that arrives times the derivative by this input; "
    "torch.autograd.gradcheck compares it with differences"
)


def _as_factor(factor: float | None) -> str:
    if factor is None:
        return ""
    if abs(factor + 1) < 0.01:
        return ", with the opposite sign"
    return f": {format_number(factor)} times as much for every element" if factor else ""


def _factor_text(program: ProgramTree, node: ast.expr) -> str:
    is_product = isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult | ast.Div)
    return program.source(node) if is_product else parenthesized(program, node)


def _results(function: ast.FunctionDef) -> list[ast.expr]:
    return [
        n.value for n in ast.walk(function) if isinstance(n, ast.Return) and n.value is not None
    ]


def _returned(backward: ast.FunctionDef, index: int) -> ast.expr | None:
    """Return the expression of an input's gradient in the only return statement; else None."""
    found = _results(backward)
    if len(found) != 1:
        return None
    result = found[0]
    if not isinstance(result, ast.Tuple):
        return result if index == 0 else None
    return result.elts[index] if index < len(result.elts) else None


def _assigned(backward: ast.FunctionDef, node: ast.expr) -> ast.expr | ast.stmt | None:
    """Return what a returned variable was last assigned from, or the last change of a part."""
    if not isinstance(node, ast.Name):
        return None
    found: list[ast.expr | ast.stmt] = []
    for statement in ast.walk(backward):
        if isinstance(statement, ast.AugAssign) and _root(statement.target) == node.id:
            found.append(statement)
        elif isinstance(statement, ast.Assign):
            for target in statement.targets:
                if ast.unparse(target) == node.id:
                    found.append(statement.value)
                elif isinstance(target, ast.Subscript) and _root(target) == node.id:
                    found.append(statement)
    return max(found, key=lambda n: n.lineno, default=None)


def _root(node: ast.expr) -> str:
    while isinstance(node, ast.Subscript):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""


ENTRY = FindingKind(
    "custom-backward-wrong",
    "A backward that is not the derivative",
    "Autograd takes a custom Function at its word: what backward returns is used as it is. It must "
    "be the gradient that arrives, times the derivative of forward; otherwise everything before "
    "the call gets a wrong gradient, without an error.",
    detect,
    sick=(
        """# the chain rule forgotten
class Cube(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x ** 3

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        return 3 * x ** 2  # !

w = torch.tensor([1.0, -2.0, 0.5], requires_grad=True)
loss = (0.5 * Cube.apply(w)).mean()
loss.backward()
""",
        """# a missing factor, with two inputs
from torch.autograd import Function

class Scaled(Function):
    @staticmethod
    def forward(ctx, a, b):
        ctx.save_for_backward(a, b)
        return (a * a * b).sum(dim=1)

    @staticmethod
    def backward(ctx, g):
        a, b = ctx.saved_tensors
        ga = a * b * g[:, None]  # !
        gb = a * a * g[:, None]
        return ga, gb

torch.manual_seed(0)
a = torch.randn(4, 3, requires_grad=True)
b = torch.randn(4, 3, requires_grad=True)
out = Scaled.apply(a, b)
out.pow(2).sum().backward()
""",
        """# a sign, in training
import torch
from torch import nn, optim

class Tanh(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        y = x.tanh()
        ctx.y = y
        return y

    @staticmethod
    def backward(ctx, dy):
        return dy * (ctx.y ** 2 - 1)  # !

torch.manual_seed(0)
x, y = torch.randn(16, 2), torch.randn(16, 1)
first, last = nn.Linear(2, 8), nn.Linear(8, 1)
opt = optim.SGD([*first.parameters(), *last.parameters()], lr=0.01)
for step in range(3):
    loss = ((last(Tanh.apply(first(x))) - y) ** 2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
""",
        """# a mask the wrong way round
class MyReLU(torch.autograd.Function):
    @staticmethod
    def forward(ctx, values):
        ctx.save_for_backward(values)
        return values.clamp(min=0)

    @staticmethod
    def backward(ctx, grad_output):
        (values,) = ctx.saved_tensors
        grad = grad_output.clone()
        grad[values > 0] = 0  # !
        return grad

torch.manual_seed(0)
x = torch.randn(6, requires_grad=True)
MyReLU.apply(x).sum().backward()
""",
        """# a constant of the program's
RATE = 2.5

class Decay(torch.autograd.Function):
    @staticmethod
    def forward(ctx, t):
        out = torch.exp(-RATE * t)
        ctx.save_for_backward(out)
        return out

    @staticmethod
    def backward(ctx, g):
        (out,) = ctx.saved_tensors
        return -out * g  # !

t = torch.tensor([0.1, 0.4, 0.9], requires_grad=True)
Decay.apply(t).sum().backward()
""",
    ),
    healthy=(
        """# a straight-through estimator
class Round(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.round()

    @staticmethod
    def backward(ctx, g):
        return g

x = torch.tensor([0.3, 1.7], requires_grad=True)
(2 * Round.apply(x)).sum().backward()
""",
        """# a reversed gradient
class Back(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, weight):
        ctx.weight = weight
        return x.view_as(x)

    @staticmethod
    def backward(ctx, g):
        return -ctx.weight * g, None

x = torch.randn(4, requires_grad=True)
Back.apply(x, 0.5).pow(2).sum().backward()
""",
        """# a ReLU by hand, with inputs at its kink
class MyReLU(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.clamp(min=0)

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        grad = g.clone()
        grad[x < 0] = 0
        return grad

x = torch.tensor([-1.0, 0.0, 2.0], requires_grad=True)
(3 * MyReLU.apply(x)).sum().backward()
""",
        """# only gradients that point upwards pass
class UpOnly(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.clamp(min=0)

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * (x > 0) * (g > 0)

x = torch.tensor([-1.0, 1.0, 2.0], requires_grad=True)
(torch.tensor([1.0, -2.0, 3.0]) * UpOnly.apply(x)).sum().backward()
""",
        """# a loss of its own, at the end
class Distance(torch.autograd.Function):
    @staticmethod
    def forward(ctx, a, b):
        ctx.save_for_backward(a, b)
        return ((a - b) ** 2).mean()

    @staticmethod
    def backward(ctx, g):
        a, b = ctx.saved_tensors
        ga = 2 * (a - b) / a.numel()
        return ga, None

w = torch.randn(3, requires_grad=True)
Distance.apply(w * 2, torch.zeros(3)).backward()
""",
    ),
)
