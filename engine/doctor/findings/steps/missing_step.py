"""An optimizer that was created and never steps."""

import ast
from collections.abc import Iterator

from gradscribe.engine.doctor.evidence import Evidence
from gradscribe.engine.doctor.finding_kind import FindingKind, FoundCase
from gradscribe.engine.doctor.fixes import optimizer_calls, optimizer_names


def detect(evidence: Evidence) -> Iterator[FoundCase]:
    """Yield optimizers without a step although several passes ran."""
    tape, program = evidence.tape, evidence.program
    if tape.steps or tape.error is not None or len(tape.passes) < 2 or evidence.updated:
        return
    if optimizer_names(program):
        return
    line_of = {owner: line for owner, (line, _) in optimizer_calls(program).items()}
    for name, line in line_of.items():
        last = tape.passes[-1].line
        message = (
            f"{name} never steps: {len(tape.passes)} passes computed gradients, "
            f"and no parameter changed"
        )
        statement = program.statement(last)
        fix = program.inserted(last, f"{name}.step()", after=True) if statement else ""
        if isinstance(statement, ast.Expr):
            yield FoundCase(program.line(last), message, (program.line(line),), fix)


ENTRY = FindingKind(
    "missing-step",
    "No step is taken",
    "backward only computes gradients. Without step() nothing is learned: the loss stays the same.",
    detect,
    sick=(
        """torch.manual_seed(0)
x = torch.randn(32, 3)
y = x.sum(dim=1, keepdim=True)
model = nn.Linear(3, 1)
opt = optim.SGD(model.parameters(), lr=0.1)
for step in range(5):
    opt.zero_grad()
    loss = F.mse_loss(model(x), y)
    loss.backward()  # !
""",
    ),
    healthy=(
        """# gradients looked at, nothing trained
torch.manual_seed(0)
x, y = torch.randn(16, 3), torch.randn(16, 1)
model = nn.Linear(3, 1)
for step in range(2):
    model.zero_grad()
    loss = F.mse_loss(model(x), y)
    loss.backward()
    print(model.weight.grad.norm())
""",
        """# a learning rate looked for without steps by hand
torch.manual_seed(0)
w = param(1.0)
for lr in (0.1, 0.2):
    loss = (w - 3) ** 2
    w.grad = None
    loss.backward()
    print(lr, (w - lr * w.grad).item())
""",
    ),
)
