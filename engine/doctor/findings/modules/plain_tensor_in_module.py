"""A plain tensor in a module that should be an nn.Parameter."""

import ast
import re
from collections.abc import Iterator
from typing import NamedTuple

from gradscribe.engine.doctor.errors import matching_error
from gradscribe.engine.doctor.evidence import Evidence
from gradscribe.engine.doctor.finding_kind import FindingKind, FoundCase
from gradscribe.engine.doctor.fixes import arguments_without, functional
from gradscribe.engine.doctor.program_tree import ProgramTree, called_name, names, receiver
from gradscribe.engine.protocol.tape import Op, Value

_USUAL = re.compile(r"^_?(\w*weights?|\w*bias(es)?|kernel|[wW]_?[a-z0-9]{0,3}|b_?\d?|theta)$")
_FACTORIES = ("randn", "rand", "zeros", "ones", "empty")
_FIXED = re.compile(r"random (fourier |projection|feature|kitchen)|reservoir|fixed|frozen", re.I)
"""Words of programs whose weights stay as they are on purpose."""
_PRODUCTS = ("matmul", "mm", "linear", "addmm", "bmm", "mul", "add", "sub", "conv1d", "conv2d")


class _Field(NamedTuple):
    """A tensor assigned to ``self.name`` in a module's constructor."""

    owner: ast.ClassDef
    name: str
    made: ast.Call
    asks: bool
    """True if it asks for a gradient."""


def detect(evidence: Evidence) -> Iterator[FoundCase]:
    """Yield modules whose weights are plain tensors, so that no optimizer gets them."""
    fields = list(_fields(evidence.program))
    error = matching_error(evidence, "optimizer got an empty parameter list")
    if error is not None:
        yield from _empty(evidence, fields)
    elif not _FIXED.search(evidence.program.text):
        yield from _constant(evidence, fields)


def _fields(program: ProgramTree) -> Iterator[_Field]:
    for node in program.find(ast.Assign):
        target = node.targets[0]
        if not isinstance(target, ast.Attribute) or ast.unparse(target.value) != "self":
            continue
        around = list(program.above(node))
        owner = next((n for n in around if isinstance(n, ast.ClassDef)), None)
        is_module = owner is not None and any("Module" in ast.unparse(b) for b in owner.bases)
        made, asks = _factory(node.value)
        if owner is not None and is_module and made is not None:
            yield _Field(owner, target.attr, made, asks)


def _factory(node: ast.expr) -> tuple[ast.Call | None, bool]:
    """Return the call that makes a tensor, possibly scaled, and whether it asks for a gradient."""
    while isinstance(node, ast.BinOp):
        node = node.left if isinstance(node.left, ast.Call | ast.BinOp) else node.right
    if isinstance(node, ast.Call) and called_name(node) == "requires_grad_" and not node.args:
        inner = receiver(node)
        return (_factory(inner)[0] if inner is not None else None), True
    if not isinstance(node, ast.Call) or called_name(node) not in (*_FACTORIES, "tensor", "full"):
        return None, False
    flags = [k.value for k in node.keywords if k.arg == "requires_grad"]
    return node, any(isinstance(f, ast.Constant) and f.value is True for f in flags)


def _empty(evidence: Evidence, fields: list[_Field]) -> Iterator[FoundCase]:
    """Yield the class of a model without parameters."""
    program, error = evidence.program, evidence.tape.error
    made = {name for rows in program.bindings.values() for _, v in rows for name in names(v)}
    for owner in {id(f.owner): f.owner for f in fields}.values():
        own = [f for f in fields if f.owner is owner]
        if owner.name not in made or _registers(owner):
            continue
        asking = [f for f in own if f.asks]
        blamed = asking or [f for f in own if called_name(f.made) in _FACTORIES]
        if blamed and error is not None:
            listed = ", ".join(f"self.{f.name}" for f in blamed)
            verb = "is a plain tensor" if len(blamed) == 1 else "are plain tensors"
            message = (
                f"{listed} of {owner.name} {verb}: parameters() gives none to the optimizer on "
                f"line {error.place.line}"
            )
            related = (error.place, *(program.place(f.made) for f in blamed[1:]))
            place = program.line(blamed[0].made.lineno)
            yield FoundCase(place, message, related, _fix(program, blamed), is_hint=not asking)


def _registers(owner: ast.ClassDef) -> bool:
    """Return whether a class has parameters or modules of its own, so that others are at fault."""
    return any(
        isinstance(n, ast.Call)
        and (called_name(n) == "Parameter" or ast.unparse(n.func).startswith(("nn.", "torch.nn.")))
        for n in ast.walk(owner)
    )


def _constant(evidence: Evidence, fields: list[_Field]) -> Iterator[FoundCase]:
    """Yield weights that ask for no gradient, in a model that is trained."""
    program = evidence.program
    if not evidence.tape.steps:
        return
    for owner in {id(f.owner): f.owner for f in fields}.values():
        blamed: list[_Field] = []
        for field in fields:
            usual = not field.asks and called_name(field.made) in _FACTORIES
            if field.owner is owner and usual and _USUAL.match(field.name):
                bindings = program.bindings.get(f"self.{field.name}", [])
                if len(bindings) == 1 and _is_weight(evidence, field):
                    blamed.append(field)
        if blamed:
            listed = ", ".join(f"self.{f.name}" for f in blamed)
            verb = "is a plain tensor" if len(blamed) == 1 else "are plain tensors"
            steps = len(evidence.tape.steps)
            message = (
                f"{listed} of {owner.name} {verb} and no parameter: unchanged after {steps} steps, "
                "while the loss is computed with it"
            )
            related = tuple(program.place(f.made) for f in blamed[1:])
            place = program.line(blamed[0].made.lineno)
            yield FoundCase(place, message, related, _fix(program, blamed), is_hint=True)


def _is_weight(evidence: Evidence, field: _Field) -> bool:
    """Return whether the loss depends on a field's tensor by products or sums in a module."""
    lines = range(field.made.lineno, (field.made.end_lineno or field.made.lineno) + 1)
    for value in evidence.tape.values:
        if value.place.line in lines and _is_plain(value):
            used = [evidence.tape.ops[i] for i in evidence.users.get(value.id, ())]
            trained = [op for op in used if _trains(evidence, op)]
            if trained and all(op.op in (*_PRODUCTS, "T", "t") for op in used):
                return True
    return False


def _is_plain(value: Value) -> bool:
    return value.role in ("data", "result") and not value.requires_grad and value.version == 0


def _trains(evidence: Evidence, op: Op) -> bool:
    outputs = [o for o in op.outputs if o in evidence.root_dependencies]
    return op.call is not None and bool(outputs)


def _fix(program: ProgramTree, blamed: list[_Field]) -> str:
    start = "torch.nn" if functional(program).startswith("torch.nn") else "nn"
    edits: list[tuple[ast.expr, str]] = []
    for field in blamed:
        bare = arguments_without(program, field.made, "requires_grad")
        fresh = f"{program.source(field.made.func)}({bare})"
        statement = program.statement_of(field.made)
        assert isinstance(statement, ast.Assign)
        whole = program.source(statement.value).replace(program.source(field.made), fresh)
        whole = whole.removesuffix(".requires_grad_()")
        edits.append((statement.value, f"{start}.Parameter({whole})"))
    return program.replaced(*edits)


ENTRY = FindingKind(
    "plain-tensor-in-module",
    "A weight that is no parameter",
    "A module finds its parameters by their type. A plain tensor in self is not among "
    "parameters(), does not move with .to() and is not saved. Wrap it in nn.Parameter, or in "
    "register_buffer if it should stay as it is.",
    detect,
    sick=(
        """# the only weights, so that the optimizer gets nothing
class Line(nn.Module):
    def __init__(self):
        super().__init__()
        self.w = torch.randn(1, requires_grad=True)  # !
        self.b = torch.zeros(1, requires_grad=True)

    def forward(self, x):
        return self.w * x + self.b

x = torch.linspace(-1, 1, 10)
model = Line()
opt = optim.SGD(model.parameters(), lr=0.1)
for step in range(5):
    loss = F.mse_loss(model(x), 2 * x)
    opt.zero_grad()
    loss.backward()
    opt.step()
""",
        """# scaled, without asking for a gradient
import torch
import torch.nn as nn

class Mixer(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.enter = nn.Linear(3, width)
        self.weight = torch.randn(width, 1) * 0.1  # !

    def forward(self, x):
        return torch.tanh(self.enter(x)) @ self.weight

torch.manual_seed(0)
x = torch.randn(20, 3)
y = x.sum(1, keepdim=True)
net = Mixer(8)
opt = torch.optim.Adam(net.parameters(), lr=0.01)
for step in range(5):
    loss = nn.functional.mse_loss(net(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
""",
        """# random weights in a list of statements
class Own(nn.Module):
    def __init__(self, n_in, n_out):
        super().__init__()
        self.weight = torch.randn(n_in, n_out)  # !
        self.bias = torch.zeros(n_out)

    def forward(self, x):
        return x @ self.weight + self.bias

model = Own(4, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
""",
    ),
    healthy=(
        """# numbers that scale the input, and a mask
class Scaled(nn.Module):
    def __init__(self):
        super().__init__()
        self.mean = torch.zeros(3)
        self.mask = torch.ones(8)
        self.register_buffer("weight", torch.ones(3))
        self.layers = nn.Sequential(nn.Linear(3, 8), nn.Tanh())
        self.out = nn.Linear(8, 1)

    def forward(self, x):
        return self.out(self.layers((x - self.mean) * self.weight) * self.mask)

torch.manual_seed(0)
x = torch.randn(20, 3)
net = Scaled()
opt = optim.Adam(net.parameters(), lr=0.01)
for step in range(3):
    loss = F.mse_loss(net(x), x.sum(1, keepdim=True))
    opt.zero_grad()
    loss.backward()
    opt.step()
""",
        """# weights of the classes in a loss
class Weighted(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(3, 2)
        self.weight = torch.ones(2)

    def forward(self, x, y):
        return F.cross_entropy(self.linear(x), y, weight=self.weight)

torch.manual_seed(0)
x, y = torch.randn(20, 3), torch.randint(0, 2, (20,))
net = Weighted()
opt = optim.Adam(net.parameters(), lr=0.01)
for step in range(3):
    loss = net(x, y)
    opt.zero_grad()
    loss.backward()
    opt.step()
""",
        """# parameters, one of them scaled
class Own(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(4, 2) * 0.1)
        self.bias = nn.Parameter(torch.zeros(2))

    def forward(self, x):
        return x @ self.weight + self.bias

torch.manual_seed(0)
net = Own()
opt = optim.SGD(net.parameters(), lr=0.1)
x, y = torch.randn(12, 4), torch.randint(0, 2, (12,))
for step in range(3):
    loss = F.cross_entropy(net(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
""",
        """# a fixed random projection
class Features(nn.Module):
    def __init__(self):
        super().__init__()
        self.w = torch.randn(2, 16)  # random features stay as they are
        self.out = nn.Linear(16, 1)

    def forward(self, x):
        return self.out(torch.cos(x @ self.w))

torch.manual_seed(0)
x = torch.randn(30, 2)
net = Features()
opt = optim.Adam(net.parameters(), lr=0.01)
for step in range(3):
    loss = F.mse_loss(net(x), x.prod(1, keepdim=True))
    opt.zero_grad()
    loss.backward()
    opt.step()
""",
    ),
)
