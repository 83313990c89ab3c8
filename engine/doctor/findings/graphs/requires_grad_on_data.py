"""An unused gradient with respect to the data."""

import ast
from collections import Counter
from collections.abc import Iterator

from gradscribe.engine.doctor import parameters
from gradscribe.engine.doctor.evidence import Evidence
from gradscribe.engine.doctor.finding_kind import FindingKind, FoundCase
from gradscribe.engine.doctor.program_tree import ProgramTree, called_name, receiver
from gradscribe.engine.protocol.tape import Place, Value


def detect(evidence: Evidence) -> Iterator[FoundCase]:
    """Yield data that got gradients in a run that trains something else."""
    if not evidence.updated:
        return
    asks = _asks(evidence)
    counts = Counter(evidence.values[a.leaf].tensor for a in evidence.tape.accumulations)
    for tensor, leaf in evidence.leaves.items():
        if tensor in evidence.optimized or tensor in evidence.updated:
            continue
        if tensor not in evidence.received or not parameters.is_data(evidence, tensor):
            continue
        if evidence.program.reads_grad(leaf.name) or asks:
            continue
        made = evidence.creator(leaf.id)
        if made is not None and made.phase == "backward":
            # A checkpoint made it to compute its part once more.
            continue
        count = counts[tensor]
        times = "1 pass" if count == 1 else f"{count} passes"
        message = (
            f"{leaf.name or 'The data'} requires a gradient and got one in {times}; "
            f"nothing reads it and no optimizer holds it"
        )
        place, fix = _asked(evidence, leaf)
        yield FoundCase(place, message, (), fix)


def _asks(evidence: Evidence) -> bool:
    """Return whether a pass is from autograd.grad, which may be for the data's gradient."""
    return any(p.kind == "grad" for p in evidence.tape.passes)


def _asked(evidence: Evidence, leaf: Value) -> tuple[Place, str]:
    """Return the place where requires_grad is set, and the program without that."""
    program = evidence.program
    for node in program.find(ast.Call):
        made_here = node.lineno == leaf.place.line
        for keyword in node.keywords:
            if made_here and keyword.arg == "requires_grad":
                return leaf.place, program.replaced((keyword.value, "False"))
        owner = receiver(node)
        if called_name(node) != "requires_grad_" or owner is None:
            continue
        if not made_here and program.source(owner) != leaf.name:
            continue
        statement = program.statement_of(node)
        if isinstance(statement, ast.Expr) and statement.value is node:
            return program.line(node.lineno), program.without(node.lineno)
        return program.line(node.lineno), program.replaced((node, program.source(owner)))
    return _by_attribute(program, leaf)


def _by_attribute(program: ProgramTree, leaf: Value) -> tuple[Place, str]:
    """Return the place of ``x.requires_grad = True``, and the program without it."""
    for line, value in program.bindings.get(f"{leaf.name}.requires_grad", ()):
        if isinstance(value, ast.Constant) and value.value:
            return program.line(line), program.without(line)
    return leaf.place, ""


ENTRY = FindingKind(
    "requires-grad-on-data",
    "The data requires a gradient",
    "Only what is to be learned needs a gradient. For data it costs a share of every backward pass "
    "and memory, and it adds up over the steps. It is right where you look for a better input.",
    detect,
    "hint",
    sick=(
        """torch.manual_seed(0)
x = torch.randn(16, 4, requires_grad=True)  # !
y = torch.randn(16, 1)
model = nn.Linear(4, 1)
opt = optim.SGD(model.parameters(), lr=0.01)
for step in range(3):
    loss = F.mse_loss(model(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
""",
    ),
    healthy=(
        """# adversarial training
torch.manual_seed(0)
x, y = torch.randn(16, 4), torch.randint(0, 2, (16,))
model = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 2))
opt = optim.SGD(model.parameters(), lr=0.1)
for step in range(3):
    probe = x.clone().requires_grad_()
    F.cross_entropy(model(probe), y).backward()
    attacked = (probe + 0.05 * probe.grad.sign()).detach()
    opt.zero_grad()
    loss = F.cross_entropy(model(attacked), y)
    loss.backward()
    opt.step()
""",
        """# a derivative inside the loss
torch.manual_seed(0)
net = nn.Sequential(nn.Linear(1, 8), nn.Tanh(), nn.Linear(8, 1))
opt = optim.Adam(net.parameters(), lr=0.01)
t = torch.linspace(0, 1, 10)[:, None].requires_grad_()
for step in range(3):
    u = net(t)
    (du,) = torch.autograd.grad(u.sum(), t, create_graph=True)
    loss = ((du + u) ** 2).mean() + (u[0] - 1).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
""",
    ),
)
