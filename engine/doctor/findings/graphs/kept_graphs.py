"""Losses stored with their graphs, so that memory grows with every step."""

import ast
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from itertools import pairwise
from math import inf

from gradscribe.engine.doctor.evidence import Evidence
from gradscribe.engine.doctor.finding_kind import CUTS, FindingKind, FoundCase, SetupFix
from gradscribe.engine.doctor.program_tree import called_name
from gradscribe.engine.doctor.scopes import arguments_for
from gradscribe.engine.protocol.tape import Value

_Node = ast.Call | ast.AugAssign | ast.Assign | ast.ListComp


def detect(evidence: Evidence) -> Iterator[FoundCase]:
    """Yield tensors with a graph that a loop collects or adds up but does not differentiate."""
    program = evidence.program
    for node in program.nodes:
        if isinstance(node, ast.ListComp):
            yield from _returned(evidence, node, node.elt)
        if not isinstance(node, ast.Call | ast.AugAssign | ast.Assign):
            continue
        stored = _collected(node) or _summed(node)
        if isinstance(stored, ast.Call):
            yield from _returned(evidence, node, stored)
            continue
        if stored is None or program.loop(node.lineno) is None:
            yield from _passed(evidence, node, stored)
            continue
        values = _values(evidence, stored, node.lineno)
        yield from _case(evidence, node, stored, values)


def _passed(evidence: Evidence, node: _Node, stored: ast.expr | None) -> Iterator[FoundCase]:
    """Yield the same for a parameter that a function stores: its callers are in the loop."""
    program = evidence.program
    for argument in arguments_for(program, stored) if stored is not None else ():
        if (
            isinstance(argument, ast.Name | ast.Attribute)
            and program.loop(argument.lineno) is not None
        ):
            assert stored is not None
            yield from _case(evidence, node, stored, _values(evidence, argument, argument.lineno))
            return
    if isinstance(stored, ast.Name) and _outlives(node):
        values = _values(evidence, stored, node.lineno)
        if _is_scalar(values) and _had_own_passes(evidence, values):
            yield from _case(evidence, node, stored, values)


def _outlives(node: _Node) -> bool:
    """Return whether the list appended to is an attribute: ``self.log``."""
    function = node.func if isinstance(node, ast.Call) else None
    return isinstance(function, ast.Attribute) and isinstance(function.value, ast.Attribute)


def _returned(evidence: Evidence, node: _Node, stored: ast.expr) -> Iterator[FoundCase]:
    """Yield the same for the result of a function of the program, such as a step's loss."""
    if not isinstance(stored, ast.Call):
        return
    program, name = evidence.program, called_name(stored)
    for function in program.find(ast.FunctionDef):
        last = function.body[-1] if function.name == name else None
        if isinstance(last, ast.Return) and isinstance(last.value, ast.Name):
            values = _values(evidence, last.value, last.lineno)
            if _is_scalar(values) and _had_own_passes(evidence, values):
                yield from _case(evidence, node, stored, values)


def _case(
    evidence: Evidence, node: _Node, stored: ast.expr, values: list[Value]
) -> Iterator[FoundCase]:
    program = evidence.program
    if len(values) < 2 or _differentiated(evidence, values, node):
        return
    if len(evidence.tape.passes) < 2 and any(evidence.users.get(v.id) for v in values):
        return
    name = program.source(stored)
    count, size = _weight(evidence, values)
    memory = f", {size:,} bytes of saved tensors" if size else ""
    message = f"{len(values)} times {name} is kept with its graph: {count} backward nodes{memory}"
    made = evidence.place_of(values[0].id)
    number = _is_scalar(values) and not _is_stacked(evidence, node)
    fix = program.replaced((stored, f"{name}.item()" if number else f"{name}.detach()"))
    yield FoundCase(program.line(node.lineno), message, (made,), fix)


def _collected(node: ast.AST) -> ast.expr | None:
    """Return the expression that ``losses.append(loss)`` stores."""
    if isinstance(node, ast.Call) and called_name(node) == "append" and len(node.args) == 1:
        stored = node.args[0]
        return stored if isinstance(stored, ast.Name | ast.Attribute | ast.Call) else None
    if isinstance(node, ast.AugAssign) and isinstance(node.value, ast.List):
        only = node.value.elts
        return only[0] if len(only) == 1 and isinstance(only[0], ast.Name) else None
    return None


def _summed(node: ast.AST) -> ast.expr | None:
    """Return the expression that ``total += loss`` adds."""
    if isinstance(node, ast.AugAssign) and isinstance(node.op, ast.Add):
        return node.value if isinstance(node.value, ast.Name | ast.Call) else None
    if isinstance(node, ast.Assign) and isinstance(node.value, ast.BinOp):
        total, sides = ast.unparse(node.targets[0]), [node.value.left, node.value.right]
        others = [side for side in sides if ast.unparse(side) != total]
        is_sum = isinstance(node.value.op, ast.Add) and len(others) == 1
        return others[0] if is_sum and isinstance(others[0], ast.Name) else None
    return None


def _sum_of(node: ast.AST) -> str:
    """Return the variable of a running sum; a blank if there is none."""
    if isinstance(node, ast.AugAssign):
        return ast.unparse(node.target)
    is_sum = isinstance(node, ast.Assign) and _summed(node) is not None
    return ast.unparse(node.targets[0]) if is_sum and isinstance(node, ast.Assign) else " "


def _values(evidence: Evidence, stored: ast.expr, line: int) -> list[Value]:
    """Return the values with a graph that a variable had before ``line``."""
    name = ast.unparse(stored)
    return [
        v
        for v in evidence.tape.values
        if v.name == name
        and v.requires_grad
        and not v.is_leaf
        and v.op is not None
        and evidence.place_of(v.id).line <= line
    ]


def _differentiated(evidence: Evidence, values: list[Value], node: ast.stmt | ast.expr) -> bool:
    """Return whether the values become part of a later root, or were no iteration's own loss."""
    roots = set(evidence.roots)
    if _sum_of(node) in {evidence.name(root, "") for root in roots}:
        return True
    if _is_scalar(values) and _had_own_passes(evidence, values):
        return False
    for value in values:
        for index in evidence.users.get(value.id, ()):
            op = evidence.tape.ops[index]
            if any(o in evidence.root_dependencies for o in op.outputs):
                return True
    used = evidence.root_dependencies
    return not any(v.id in roots or v.id in used for v in values) and _is_stacked(evidence, node)


def _had_own_passes(evidence: Evidence, values: list[Value]) -> bool:
    """Return whether each value was differentiated before the next, and not used since."""
    starts = sorted((at, number) for number, at in evidence.pass_at.items())
    for value, following in pairwise(values):
        begin, end = evidence.position(value.id), evidence.position(following.id)
        between = starts[bisect_right(starts, (begin, inf)) : bisect_left(starts, (end, -1))]
        roots = [root for _, number in between for root in evidence.tape.passes[number].roots]
        if value.id not in evidence.dependencies(roots):
            return False
        later = [i for i in evidence.users.get(value.id, ()) if evidence.op_at.get(i, 0) > end]
        if later:
            return False
    return True


def _is_stacked(evidence: Evidence, node: ast.stmt | ast.expr) -> bool:
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        return False
    owner = ast.unparse(node.func.value)
    return any(
        called_name(n) in ("stack", "cat", "sum") and n.args and ast.unparse(n.args[0]) == owner
        for n in evidence.program.find(ast.Call)
    )


def _weight(evidence: Evidence, values: list[Value]) -> tuple[int, int]:
    """Return the number of backward nodes the values keep alive, and their saved bytes."""
    nodes = {n.id: n for n in evidence.tape.nodes}
    seen, stack = set[int](), [v.node for v in values if v.node is not None]
    while stack:
        number = stack.pop()
        if number in seen or number not in nodes:
            continue
        seen.add(number)
        stack.extend(target[0] for target in nodes[number].next if target is not None)
    held = {s.storage: s.size for n in seen if nodes[n].freed is None for s in nodes[n].kept}
    return len(seen), sum(held.values())


def _is_scalar(values: list[Value]) -> bool:
    return all(v.shape == () for v in values)


ENTRY = FindingKind(
    "kept-graphs",
    "Losses are kept with their graphs",
    "A loss holds on to everything it was computed from. Collecting losses makes memory grow with "
    "every step; keep the number, with .item(), or .detach() for tensors.",
    detect,
    setup_fix=SetupFix(mistake="keep_graphs"),
    sick=(
        """torch.manual_seed(0)
net = nn.Linear(4, 1)
outs = []
for i in range(5):
    out = net(torch.randn(8, 4))
    outs.append(out)  # !
print(len(outs))
""",
    ),
    healthy=(
        """# collected for one backward
torch.manual_seed(0)
x, y = torch.randn(4, 5, 3), torch.randn(4, 5, 1)
model = nn.Linear(3, 1)
opt = optim.SGD(model.parameters(), lr=0.05)
for epoch in range(3):
    losses, total = [], 0
    for i in range(4):
        loss = F.mse_loss(model(x[i]), y[i])
        losses.append(loss)
        total += loss
    opt.zero_grad()
    (torch.stack(losses).mean() + 0.1 * total).backward()
    opt.step()
""",
        """# detached before they are kept
torch.manual_seed(0)
x, y = torch.randn(16, 3), torch.randn(16, 1)
model = nn.Linear(3, 1)
opt = optim.SGD(model.parameters(), lr=0.05)
losses, running = [], torch.zeros(())
for step in range(4):
    loss = F.mse_loss(model(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
    losses.append(loss.detach())
    running += loss.detach()
print(torch.stack(losses).mean(), running)
""",
    ),
    follows=CUTS,
    spoils_training=False,
)
