"""A bootstrapped target that the loss sends a gradient to."""

import ast
from collections.abc import Iterator

from gradscribe.engine.doctor.evidence import PASSES_ON, Evidence
from gradscribe.engine.doctor.finding_kind import FindingKind, FoundCase
from gradscribe.engine.doctor.fixes import argument_of, call_at, parenthesized
from gradscribe.engine.protocol.tape import Op

_LOSSES = ("mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss")
_ADD = ("add", "__add__", "__radd__", "sub", "__sub__")
_MUL = ("mul", "__mul__", "__rmul__")
_DISCOUNT = 0.5
"""Smallest factor of a later value that counts as a discount."""


def detect(evidence: Evidence) -> Iterator[FoundCase]:
    """Yield losses whose target comes from the trained parameters, without a detach."""
    # A residual of a differential equation sends gradients to both sides on purpose.
    if any(p.create_graph for p in evidence.tape.passes):
        return
    trained = evidence.optimized | evidence.updated
    for op in evidence.tape.ops:
        target = _target(evidence, op)
        if target is None:
            continue
        other = next(v for v in op.inputs[:2] if v != target)
        shared = _sources(evidence, target) & _sources(evidence, other) & trained
        if not shared:
            continue
        place = evidence.place_of(target)
        leaf = evidence.leaves.get(min(shared))
        message = (
            f"On line {op.place.line} {evidence.name(other, 'the prediction')} is compared with "
            f"{evidence.name(target, 'its target')}, and both depend on "
            f"{leaf.name if leaf is not None and leaf.name else 'one parameter'}: each step also "
            f"pulls the target towards the prediction"
        )
        yield FoundCase(place, message, (op.place,), _fix(evidence, op, target))


def _target(evidence: Evidence, op: Op) -> int | None:
    """Return the input of a loss that is a target computed with a gradient; else None."""
    if op.phase != "forward" or len(op.inputs) < 2 or op.inputs[0] == op.inputs[1]:
        return None
    is_loss = op.op in _LOSSES
    if not is_loss and not (op.op in ("sub", "__sub__") and _is_squared(evidence, op)):
        return None
    given = [v for v in op.inputs[:2] if evidence.values[v].requires_grad]
    if len(given) < 2 or op.outputs[0] not in evidence.root_dependencies:
        return None
    if any(evidence.values[v].is_leaf for v in given):
        return None
    returns = [v for v in given if _is_discounted(evidence, v)]
    if len(returns) == 1:
        return returns[0]
    named = [v for v in given if "target" in evidence.values[v].name.lower()]
    return named[0] if len(named) == 1 else None


def _is_squared(evidence: Evidence, op: Op) -> bool:
    users = [evidence.tape.ops[index].op for index in evidence.users.get(op.outputs[0], ())]
    return any(name in ("pow", "__pow__", "square", "abs", "mul", "__mul__") for name in users)


def _is_discounted(evidence: Evidence, value: int) -> bool:
    """Return whether a value is data plus a discounted result: ``r + 0.9 * q(s)``."""
    op = evidence.creator(evidence.before_pass_through(value))
    if op is None or op.op not in _ADD or len(op.inputs) != 2:
        return False
    data = [v for v in op.inputs if not evidence.values[v].requires_grad]
    later = [v for v in op.inputs if evidence.values[v].requires_grad]
    if len(data) != 1:
        return False
    current, factors = later[0], list[float]()
    for _ in range(20):
        made = evidence.creator(current)
        if made is None or (made.op not in _MUL and made.op not in PASSES_ON):
            break
        factors += [a.number for a in made.args if made.op in _MUL and a.number is not None]
        current = next((v for v in made.inputs if evidence.values[v].requires_grad), current)
    return any(_DISCOUNT <= factor <= 1 for factor in factors)


def _sources(evidence: Evidence, value: int) -> set[int]:
    """Return the leaves that get a gradient through a value, as tensors."""
    seen, stack, found = set[int](), [value], set[int]()
    while stack:
        current = stack.pop()
        if current in seen or not evidence.values[current].requires_grad:
            continue
        seen.add(current)
        op = evidence.creator(current)
        if op is None:
            found.add(evidence.values[current].tensor)
        else:
            stack.extend(v for v in op.inputs if v in evidence.values)
    return found


def _fix(evidence: Evidence, op: Op, target: int) -> str:
    """Detach the target where it is computed, or else where the loss takes it."""
    program, name = evidence.program, evidence.values[target].name
    statement = program.statement(evidence.place_of(target).line)
    if isinstance(statement, ast.Assign) and ast.unparse(statement.targets[0]) == name:
        value = statement.value
        return program.replaced((value, f"{parenthesized(program, value)}.detach()"))
    call = call_at(program, op.place, *_LOSSES)
    if call is None:
        call = next(program.find(ast.Call, op.place), None)
    index = op.inputs.index(target)
    node = argument_of(call, index, ("input", "target")[index]) if call is not None else None
    for subtraction in program.find(ast.BinOp, op.place):
        if isinstance(subtraction.op, ast.Sub):
            node = (subtraction.left, subtraction.right)[index]
    if node is None:
        return ""
    return program.replaced((node, f"{parenthesized(program, node)}.detach()"))


ENTRY = FindingKind(
    "target-requires-grad",
    "The target gets a gradient",
    "A target that the model itself computes, such as reward plus discounted later value, must be "
    "a constant. Otherwise the loss also falls by moving the target to the prediction. Detach it.",
    detect,
    "hint",
    sick=(
        """# the target of a value function
torch.manual_seed(0)
q = nn.Sequential(nn.Linear(3, 16), nn.Tanh(), nn.Linear(16, 2))
opt = optim.Adam(q.parameters(), lr=0.01)
s, later = torch.randn(32, 3), torch.randn(32, 3)
a, r = torch.randint(0, 2, (32, 1)), torch.randn(32, 1)
for step in range(5):
    now = q(s).gather(1, a)
    goal = r + 0.9 * q(later).max(1, keepdim=True).values  # !
    loss = F.mse_loss(now, goal)
    opt.zero_grad()
    loss.backward()
    opt.step()
""",
        """# a squared difference, ends of episodes masked
torch.manual_seed(0)
critic = nn.Sequential(nn.Linear(3, 16), nn.Tanh(), nn.Linear(16, 1))
opt = optim.Adam(critic.parameters(), lr=0.01)
s, later = torch.randn(32, 3), torch.randn(32, 3)
r, done = torch.randn(32, 1), torch.randint(0, 2, (32, 1)).float()
gamma = 0.95
for step in range(5):
    error = r + gamma * critic(later) * (1 - done) - critic(s)  # !
    loss = error.pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
""",
        """# a target by name, given as a keyword to a layer
torch.manual_seed(0)
net = nn.Sequential(nn.Linear(3, 16), nn.Tanh(), nn.Linear(16, 2))
opt = optim.Adam(net.parameters(), lr=0.01)
x = torch.randn(32, 3)
criterion = nn.SmoothL1Loss()
for step in range(5):
    target = net(x + 0.1 * torch.randn_like(x))  # !
    loss = criterion(net(x), target=target)
    opt.zero_grad()
    loss.backward()
    opt.step()
""",
    ),
    healthy=(
        """# a target without a graph
torch.manual_seed(0)
q = nn.Sequential(nn.Linear(3, 16), nn.Tanh(), nn.Linear(16, 2))
opt = optim.Adam(q.parameters(), lr=0.01)
s, later = torch.randn(32, 3), torch.randn(32, 3)
a, r = torch.randint(0, 2, (32, 1)), torch.randn(32, 1)
for step in range(5):
    now = q(s).gather(1, a)
    with torch.no_grad():
        goal = r + 0.9 * q(later).max(1, keepdim=True).values
    loss = F.mse_loss(now, goal)
    opt.zero_grad()
    loss.backward()
    opt.step()
""",
        """# twins whose codes are to agree
torch.manual_seed(0)
net = nn.Sequential(nn.Linear(3, 16), nn.Tanh(), nn.Linear(16, 2))
opt = optim.Adam(net.parameters(), lr=0.01)
a, b = torch.randn(32, 3), torch.randn(32, 3)
for step in range(5):
    loss = F.mse_loss(net(a), net(b)) + (net(a).std(0) - 1).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
""",
    ),
)
