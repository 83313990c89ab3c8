"""A model trained while in evaluation mode."""

from collections.abc import Iterator

from gradscribe.engine.doctor import modes
from gradscribe.engine.doctor.evidence import Evidence
from gradscribe.engine.doctor.finding_kind import FindingKind, FoundCase
from gradscribe.engine.protocol.tape import Call


def detect(evidence: Evidence) -> Iterator[FoundCase]:
    """Yield calls of a whole model in evaluation mode whose parameters were then updated."""
    within, made = modes.inside(evidence), modes.results(evidence)
    graph = evidence.root_dependencies
    for call in modes.outer_calls(evidence):
        moody = [c for c in within.get(call.id, ()) if modes.is_mode_dependent(c)]
        if not moody or any(c.training for c in (call, *moody)):
            continue
        values = made.get(call.id, [])
        if not values or values[-1] not in graph or not evidence.values[values[-1]].requires_grad:
            continue
        if not _learns(evidence, values):
            continue
        yield _case(evidence, call, moody)


def _learns(evidence: Evidence, values: list[int]) -> bool:
    """Return whether parameters used for these values were updated after a gradient."""
    used = {i for v in values if (op := evidence.creator(v)) is not None for i in op.inputs}
    return any(evidence.values[i].tensor in evidence.updated for i in used)


def _case(evidence: Evidence, call: Call, moody: list[Call]) -> FoundCase:
    line = modes.call_line(evidence, call)
    program, name = evidence.program, modes.module_expression(evidence, call)
    kinds = ", ".join(dict.fromkeys(f"{c.name} ({c.kind})" for c in moody[:3]))
    message = f"{call.name} is in evaluation mode while it trains; this switches off {kinds}"
    ends = modes.mode_lines(evidence, "eval")
    related = tuple(program.line(at) for at in ends)
    fix = program.inserted(line, f"{name}.train()") if name else ""
    return FoundCase(program.line(line), message, related, fix)


ENTRY = FindingKind(
    "eval-in-training",
    "Training in evaluation mode",
    "In evaluation mode Dropout does nothing and BatchNorm keeps using old statistics, so the "
    "model trains without them. eval() stays until train() is called.",
    detect,
    sick=(
        """torch.manual_seed(0)
x = torch.randn(16, 4)
y = torch.randn(16, 1)
model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Dropout(0.5), nn.Linear(8, 1))
opt = optim.SGD(model.parameters(), lr=0.01)
for epoch in range(2):
    pred = model(x)  # !
    loss = F.mse_loss(pred, y)
    opt.zero_grad()
    loss.backward()
    opt.step()
    model.eval()
    with torch.no_grad():
        print(F.mse_loss(model(x), y).item())
""",
    ),
    healthy=(
        """# train and eval take turns
torch.manual_seed(0)
x, y = torch.randn(16, 4), torch.randn(16, 1)
xv, yv = torch.randn(8, 4), torch.randn(8, 1)
model = nn.Sequential(
    nn.Linear(4, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Dropout(0.2), nn.Linear(8, 1)
)
opt = optim.Adam(model.parameters(), lr=0.01)
loss_fn = nn.MSELoss()
for epoch in range(3):
    model.train()
    loss = loss_fn(model(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
    model.eval()
    with torch.no_grad():
        val = loss_fn(model(xv), yv)
    print(f"{loss.item():.3f} {val.item():.3f}")
""",
        """# an adversarial example against a trained model
torch.manual_seed(0)
model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Dropout(0.5), nn.Linear(8, 3))
model.eval()
x = torch.randn(2, 4, requires_grad=True)
loss = F.cross_entropy(model(x), torch.tensor([0, 2]))
loss.backward()
adversarial = (x + 0.1 * x.grad.sign()).detach()
""",
    ),
)
