"""An iterator that is gone through a second time and has no items left."""

import ast
from collections.abc import Iterator
from typing import NamedTuple

from gradscribe.engine.doctor.evidence import Evidence
from gradscribe.engine.doctor.finding_kind import FindingKind, FoundCase
from gradscribe.engine.doctor.fixes import OPTIMIZERS
from gradscribe.engine.doctor.program_tree import ProgramTree, called_name, receiver
from gradscribe.engine.doctor.scopes import Function, enclosing_function, scope_of

_MAKERS = frozenset(("zip", "map", "filter", "enumerate", "reversed", "iter"))
_OF_MODULES = frozenset("parameters named_parameters children modules named_modules".split())
_CONSUMERS = (
    frozenset("list tuple sum max min sorted dict set clip_grad_norm_ clip_grad_value_".split())
    | OPTIMIZERS
)


class _Use(NamedTuple):
    """A place that goes through an iterator to its end."""

    node: ast.expr
    line: int
    loop: ast.For | ast.While | None
    """The innermost loop around it that does not make the iterator anew."""


def detect(evidence: Evidence) -> Iterator[FoundCase]:
    """Yield variables with an iterator that is gone through twice."""
    program = evidence.program
    for name, rows in program.bindings.items():
        if len(rows) == 1 and name.isidentifier() and _gives_once(program, rows[0][1]):
            found = _second_use(program, name, rows[0][1])
            if found is not None:
                yield _case(evidence, name, rows[0][1], *found)


def _gives_once(program: ProgramTree, made: ast.expr) -> bool:
    """Return whether an expression is an iterator that ends."""
    if isinstance(made, ast.GeneratorExp):
        return True
    if not isinstance(made, ast.Call):
        return False
    name, owner = called_name(made), receiver(made)
    if owner is None and name in _MAKERS:
        return not any(
            isinstance(n, ast.Call) and called_name(n) in _ENDLESS for n in ast.walk(made)
        )
    if owner is not None:
        return name in _OF_MODULES
    functions = [f for f in program.find(ast.FunctionDef) if f.name == name]
    return len(functions) == 1 and _is_generator(program, functions[0])


_ENDLESS = frozenset(("count", "cycle", "repeat"))


def _is_generator(program: ProgramTree, function: ast.FunctionDef) -> bool:
    """Return whether a function yields, and not forever."""
    inside = list(ast.walk(function))
    own = [
        n for n in inside if isinstance(n, ast.Yield) and enclosing_function(program, n) is function
    ]
    endless = any(isinstance(n, ast.While | ast.YieldFrom) for n in inside)
    return bool(own) and not endless


def _second_use(program: ProgramTree, name: str, made: ast.expr) -> tuple[_Use, _Use] | None:
    """Return the use that takes all items and the one that finds none left."""
    scope = enclosing_function(program, made)
    statement = program.statement_of(made)
    uses: list[_Use] = []
    stores = [n for n in program.find(ast.Name) if n.id == name and isinstance(n.ctx, ast.Store)]
    if len(stores) != 1:
        return None
    for node in program.find(ast.Name):
        if node.id != name or not isinstance(node.ctx, ast.Load):
            continue
        if enclosing_function(program, node) is not scope and (
            scope is not None or scope_of(program, name, node) is not None
        ):
            return None
        use = _use(program, node, statement)
        if use is None:
            # It may take some of the items, or pass the iterator on.
            return None
        uses.append(use)
    uses.sort(key=lambda use: use.line)
    if len(uses) > 1 and not _exclude_each_other(program, uses[0].node, uses[1].node):
        return uses[0], uses[1]
    if len(uses) == 1 and uses[0].loop is not None:
        return uses[0], uses[0]
    return None


def _use(program: ProgramTree, node: ast.Name, made: ast.stmt | None) -> _Use | None:
    above = list(program.above(node))
    parent = above[0]
    loop_itself = parent if isinstance(parent, ast.For) and parent.iter is node else None
    if loop_itself is not None:
        if any(isinstance(n, ast.Break | ast.Return | ast.Raise) for n in ast.walk(loop_itself)):
            return None
        above = above[1:]
    elif isinstance(parent, ast.comprehension) and parent.iter is node:
        outer_call = above[2] if len(above) > 2 else None
        if isinstance(above[1], ast.GeneratorExp) and not (
            isinstance(outer_call, ast.Call) and _consumes(outer_call)
        ):
            return None
    elif not (isinstance(parent, ast.Call) and node in parent.args and _consumes(parent)):
        return None
    around = []
    for outer in above:
        if isinstance(outer, Function) or (made is not None and made in ast.walk(outer)):
            break
        if isinstance(outer, ast.For | ast.While) and not _leaves_at_once(outer):
            around.append(outer)
    return _Use(node, node.lineno, around[0] if around else None)


def _consumes(call: ast.Call) -> bool:
    name = called_name(call)
    return name in _CONSUMERS and (receiver(call) is None or name[:1].isupper() or "clip" in name)


def _leaves_at_once(loop: ast.For | ast.While) -> bool:
    """Return whether a loop has a single round: ``range(1)``, or a break at its end."""
    if isinstance(loop.body[-1], ast.Break | ast.Return):
        return True
    return isinstance(loop, ast.For) and ast.unparse(loop.iter) in ("range(1)", "range(0, 1)")


def _exclude_each_other(program: ProgramTree, one: ast.expr, other: ast.expr) -> bool:
    """Return whether two nodes are in different branches of an if statement."""
    inner: ast.AST = one
    for outer in program.above(one):
        if isinstance(outer, ast.If):
            branch = outer.orelse if inner in outer.orelse else outer.body
            if isinstance(branch[-1], ast.Return | ast.Raise | ast.Continue | ast.Break):
                return True
        inner = outer
        if isinstance(outer, ast.If | ast.IfExp | ast.Try) and any(
            n is other for n in ast.walk(outer)
        ):
            return True
    return False


def _case(evidence: Evidence, name: str, made: ast.expr, first: _Use, second: _Use) -> FoundCase:
    program = evidence.program
    if first is second:
        assert first.loop is not None
        message = (
            f"{name} gives its items once: the first round of the loop on line {first.loop.lineno} "
            f"takes them all on line {first.line}, and every further round finds none"
        )
        related = (program.line(first.loop.lineno), program.line(first.line))
    else:
        message = (
            f"{name} gives its items once: line {first.line} takes them all, and line "
            f"{second.line} finds none left"
        )
        related = (program.line(second.line), program.line(first.line))
    fix = program.replaced((made, _lasting(program, made)))
    place = program.place(made)
    # A loop that is left early may have a single round.
    ends = ast.Break | ast.Return
    may_end = first.loop is not None and any(isinstance(n, ends) for n in ast.walk(first.loop))
    return FoundCase(place, message, related, fix, is_hint=first is second and may_end)


def _lasting(program: ProgramTree, made: ast.expr) -> str:
    """Return the text of a list of the items, or of what gives them each time it is asked."""
    if isinstance(made, ast.Call) and called_name(made) == "iter" and len(made.args) == 1:
        given = made.args[0]
        if not (isinstance(given, ast.Call) and called_name(given) in _MAKERS):
            return program.source(given)
    return f"list({_bare(program, made)})"


def _bare(program: ProgramTree, made: ast.expr) -> str:
    text = program.source(made)
    return text[1:-1] if isinstance(made, ast.GeneratorExp) and text.startswith("(") else text


ENTRY = FindingKind(
    "iterator-used-up",
    "An iterator is used up",
    "zip, map, generators and model.parameters() give their items a single time. A second loop "
    "over them has no rounds, and a second function sees nothing: without an error. Make a list, "
    "or make the iterator anew each time.",
    detect,
    sick=(
        """# epochs after the first train nothing
torch.manual_seed(0)
x, y = torch.randn(8, 3), torch.randn(8, 1)
net = nn.Linear(3, 1)
opt = optim.SGD(net.parameters(), lr=0.1)
batches = zip(x.split(4), y.split(4))  # !
for epoch in range(3):
    for xb, yb in batches:
        loss = F.mse_loss(net(xb), yb)
        opt.zero_grad()
        loss.backward()
        opt.step()
    print(epoch)
""",
        """# parameters that the optimizer has taken
torch.manual_seed(0)
x, y = torch.randn(8, 3), torch.randn(8, 1)
net = nn.Linear(3, 1)
params = net.parameters()  # !
opt = optim.SGD(params, lr=0.1)
for step in range(3):
    loss = F.mse_loss(net(x), y)
    opt.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(params, 1.0)
    opt.step()
""",
        """# counted, and gone for the optimizer
import torch
from torch import nn

model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1))
weights = model.parameters()  # !
print(sum(p.numel() for p in weights), "parameters")
optimizer = torch.optim.Adam(weights, lr=0.01)
""",
        """# a generator function
import torch

def pairs(n):
    for i in range(n):
        yield torch.tensor([float(i)]), torch.tensor([2.0 * i])

w = torch.zeros(1, requires_grad=True)
data = pairs(4)  # !
for x, y in data:
    loss = ((w * x - y) ** 2).sum()
    loss.backward()
with torch.no_grad():
    w -= 0.01 * w.grad
error = sum((w * x - y).abs().item() for x, y in list(data))
print(error)
""",
    ),
    healthy=(
        """# made anew in each epoch
torch.manual_seed(0)
x, y = torch.randn(8, 3), torch.randn(8, 1)
net = nn.Linear(3, 1)
opt = optim.SGD(net.parameters(), lr=0.1)
for epoch in range(3):
    batches = zip(x.split(4), y.split(4))
    for xb, yb in batches:
        loss = F.mse_loss(net(xb), yb)
        opt.zero_grad()
        loss.backward()
        opt.step()
""",
        """# taken one by one
torch.manual_seed(0)
stream = iter(torch.randn(12, 3).split(2))
net = nn.Linear(3, 1)
opt = optim.SGD(net.parameters(), lr=0.1)
for step in range(3):
    loss = net(next(stream)).pow(2).mean() + net(next(stream)).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
""",
        """# endless
import itertools
torch.manual_seed(0)

def forever():
    while True:
        yield torch.randn(4, 3)

net = nn.Linear(3, 1)
opt = optim.SGD(net.parameters(), lr=0.1)
source = forever()
numbers = itertools.count()
for epoch in range(2):
    for step, x in zip(range(2), source):
        loss = net(x).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        next(numbers)
""",
        """# an optimizer by name
torch.manual_seed(0)

def optimizer(model, name):
    params = model.parameters()
    if name == "sgd":
        return optim.SGD(params, lr=0.1)
    if name == "adam":
        return optim.Adam(params, lr=0.1)
    return optim.AdamW(params, lr=0.1)

net = nn.Linear(3, 1)
opt = optimizer(net, "adam")
for step in range(3):
    loss = net(torch.randn(4, 3)).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
""",
        """# parameters as a list
torch.manual_seed(0)
net = nn.Linear(3, 1)
params = [p for p in net.parameters()]
opt = optim.SGD(params, lr=0.1)
for step in range(3):
    loss = net(torch.randn(4, 3)).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(params, 1.0)
    opt.step()
""",
    ),
)
