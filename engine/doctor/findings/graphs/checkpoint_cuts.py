"""A reentrant checkpoint whose inputs require no gradient, so that its parameters get none."""

import ast
from collections.abc import Iterator

from gradscribe.engine.doctor.evidence import Evidence
from gradscribe.engine.doctor.finding_kind import FindingKind, FoundCase
from gradscribe.engine.doctor.fixes import call_at, with_argument
from gradscribe.engine.doctor.program_tree import ProgramTree, called_name
from gradscribe.engine.protocol.tape import Op, Place

_CALLS = ("checkpoint", "checkpoint_sequential")


def detect(evidence: Evidence) -> Iterator[FoundCase]:
    """Yield lines whose checkpoint gave a loss a result without a graph."""
    seen = set[int]()
    for op in evidence.tape.ops:
        if op.op != "CheckpointFunction" or op.node is not None or not op.grad_mode:
            continue
        line = op.place.line
        if line in seen or not line or not _is_used(evidence, op):
            continue
        seen.add(line)
        if not _is_frozen(evidence, op):
            yield _case(evidence, op)


def _is_used(evidence: Evidence, op: Op) -> bool:
    """Return whether a loss depends on a checkpoint's result, or backward failed for its sake."""
    if any(output in evidence.root_dependencies for output in op.outputs):
        return True
    error = evidence.tape.error
    return error is not None and "does not require grad" in error.message


def _is_frozen(evidence: Evidence, op: Op) -> bool:
    """Return whether the checkpointed module has no parameters, or frozen ones alone."""
    call = call_at(evidence.program, op.place, *_CALLS)
    if call is None or not call.args:
        return False
    owner, _, name = ast.unparse(call.args[0]).rpartition(".")
    if owner in ("torch", "F", "nn.functional", "torch.nn.functional"):
        return True
    inside = [leaf for leaf in evidence.tape.leaves if f"{name}." in leaf.name]
    values = [evidence.values[leaf.value] for leaf in inside]
    return bool(values) and not any(v.requires_grad for v in values)


def _case(evidence: Evidence, op: Op) -> FoundCase:
    program = evidence.program
    given = [evidence.name(value, "") for value in op.inputs]
    listed = ", ".join(name for name in given if name) or "Its input"
    verb = "require" if len(given) > 1 else "requires"
    message = (
        f"{listed} {verb} no gradient, and a reentrant checkpoint asks only its inputs: its result "
        "has no graph, and the parameters inside get no gradient"
    )
    call = call_at(program, op.place, *_CALLS)
    error = evidence.tape.error
    related: tuple[Place, ...] = (error.place,) if error is not None else ()
    roots = [p.line for p in evidence.tape.passes][:1]
    related += tuple(program.line(line) for line in roots)
    place = program.place(call) if call is not None else op.place
    fix = _fix(program, call) if call is not None else ""
    return FoundCase(place, message, related, fix, is_hint=not _cuts_parameters(evidence))


def _cuts_parameters(evidence: Evidence) -> bool:
    """Return whether a parameter took part in nothing that the tape has, or backward failed."""
    error = evidence.tape.error
    if error is not None and "does not require grad" in error.message:
        return True
    values = [evidence.values[leaf.value] for leaf in evidence.tape.leaves if "." in leaf.name]
    return any(
        value.requires_grad
        and value.tensor not in evidence.received
        and not any(evidence.users.get(v.id) for v in evidence.versions[value.tensor])
        for value in values
    )


def _fix(program: ProgramTree, call: ast.Call) -> str:
    flags = [k.value for k in call.keywords if k.arg == "use_reentrant"]
    if flags:
        return program.replaced((flags[0], "False"))
    if called_name(call) not in _CALLS:
        return ""
    return with_argument(program, call, "use_reentrant=False")


ENTRY = FindingKind(
    "checkpoint-cuts",
    "A checkpoint without a way back",
    "With use_reentrant=True a checkpoint runs without a graph and is joined to the loss by its "
    "inputs alone. If none of them requires a gradient, as data does not, backward never comes "
    "back to it. use_reentrant=False sees the parameters inside.",
    detect,
    sick=(
        """# the first block of a model
import torch
from torch import nn
from torch.utils.checkpoint import checkpoint

torch.manual_seed(0)
body = nn.Sequential(nn.Linear(3, 8), nn.Tanh())
head = nn.Linear(8, 1)
opt = torch.optim.SGD([*body.parameters(), *head.parameters()], lr=0.1)
x, y = torch.randn(16, 3), torch.randn(16, 1)
for step in range(3):
    h = checkpoint(body, x, use_reentrant=True)  # !
    loss = (head(h) - y).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
""",
        """# the whole model, so that backward fails
import torch.utils.checkpoint as cp

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.block = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))

    def forward(self, batch):
        return cp.checkpoint(self.block, batch, use_reentrant=True)  # !

torch.manual_seed(0)
net = Net()
loss = F.cross_entropy(net(torch.randn(6, 4)), torch.randint(0, 2, (6,)))
loss.backward()
""",
        """# in segments, the first of which is cut off
import torch
from torch import nn
from torch.utils.checkpoint import checkpoint_sequential

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(3, 8), nn.Tanh(), nn.Linear(8, 8), nn.Tanh(), nn.Linear(8, 1))
inputs, goal = torch.randn(16, 3), torch.randn(16, 1)
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
for step in range(3):
    optimizer.zero_grad()
    out = checkpoint_sequential(model, 2, inputs, use_reentrant=True)  # !
    loss = nn.functional.mse_loss(out, goal)
    loss.backward()
    optimizer.step()
""",
    ),
    healthy=(
        """# not reentrant
from torch.utils.checkpoint import checkpoint
torch.manual_seed(0)
body, head = nn.Linear(3, 8), nn.Linear(8, 1)
opt = optim.SGD([*body.parameters(), *head.parameters()], lr=0.1)
x, y = torch.randn(16, 3), torch.randn(16, 1)
for step in range(3):
    loss = F.mse_loss(head(checkpoint(body, x, use_reentrant=False).tanh()), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
""",
        """# reentrant behind a layer that is trained
from torch.utils.checkpoint import checkpoint
torch.manual_seed(0)
first, body, head = nn.Linear(3, 8), nn.Linear(8, 8), nn.Linear(8, 1)
opt = optim.SGD([*first.parameters(), *body.parameters(), *head.parameters()], lr=0.1)
x, y = torch.randn(16, 3), torch.randn(16, 1)
for step in range(3):
    h = checkpoint(body, first(x), use_reentrant=True)
    loss = F.mse_loss(head(h.tanh()), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
""",
        """# reentrant around a part that is frozen
from torch.utils.checkpoint import checkpoint
torch.manual_seed(0)
body, head = nn.Sequential(nn.Linear(3, 8), nn.Tanh()).requires_grad_(False), nn.Linear(8, 1)
opt = optim.SGD(head.parameters(), lr=0.1)
x, y = torch.randn(16, 3), torch.randn(16, 1)
for step in range(3):
    loss = F.mse_loss(head(checkpoint(body, x, use_reentrant=True)), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
""",
        """# reentrant around a function without parameters, whose input is data
from torch.utils.checkpoint import checkpoint
torch.manual_seed(0)
head = nn.Linear(3, 1)
opt = optim.SGD(head.parameters(), lr=0.1)
x, y = torch.randn(16, 3), torch.randn(16, 1)
for step in range(3):
    waves = checkpoint(torch.sin, x, use_reentrant=True)
    loss = F.mse_loss(head(waves), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
""",
        """# reentrant in an evaluation
from torch.utils.checkpoint import checkpoint
torch.manual_seed(0)
body = nn.Sequential(nn.Linear(3, 8), nn.Tanh(), nn.Linear(8, 1))
x = torch.randn(16, 3)
with torch.no_grad():
    print(checkpoint(body, x, use_reentrant=True).mean())
""",
    ),
)
