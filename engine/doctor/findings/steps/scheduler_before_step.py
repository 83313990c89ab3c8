"""A learning rate schedule that advances before the optimizer has made its first step."""

import ast
from collections.abc import Iterator

from gradscribe.engine.doctor.evidence import Evidence
from gradscribe.engine.doctor.finding_kind import FindingKind, FoundCase
from gradscribe.engine.doctor.fixes import optimizer_names
from gradscribe.engine.doctor.program_tree import ProgramTree, receiver

_WARNING = "call of `lr_scheduler.step()` before `optimizer.step()`"


def detect(evidence: Evidence) -> Iterator[FoundCase]:
    """Yield the first step of a schedule if torch warns that it came too early."""
    if _WARNING not in evidence.tape.stderr or not evidence.tape.steps:
        return
    program = evidence.program
    optimizers = set(optimizer_names(program))
    steps = [
        (call, ast.unparse(owner)) for call in program.calls("step") if (owner := receiver(call))
    ]
    schedules = [call for call, owner in steps if owner not in optimizers and not call.args]
    taken = [call for call, owner in steps if owner in optimizers]
    if not schedules or not taken:
        return
    early = schedules[0]
    name = ast.unparse(early.func).removesuffix(".step")
    message = (
        f"{name}.step() on line {early.lineno} runs before the optimizer's first step on line "
        f"{taken[0].lineno}: the first learning rate of the schedule is never used"
    )
    fix = _fix(program, early, taken[0])
    yield FoundCase(program.place(early), message, (program.place(taken[0]),), fix)


def _fix(program: ProgramTree, early: ast.Call, step: ast.Call) -> str:
    """Move the schedule's step behind the optimizer's, if both stand in the same block."""
    first, then = program.statement_of(early), program.statement_of(step)
    if first is None or then is None or then not in program.siblings(first):
        return ""
    if first.lineno > then.lineno or not isinstance(first, ast.Expr):
        return ""
    text, left = program.source(first), ProgramTree(program.without(first.lineno))
    return left.inserted(then.lineno - 1, text, after=True)


ENTRY = FindingKind(
    "scheduler-before-step",
    "The schedule advances before the optimizer",
    "A schedule sets the rate of the next step. Advanced first, it skips its first value, and each "
    "rate comes one step too early. Call its step() after the optimizer's.",
    detect,
    sick=(
        """torch.manual_seed(0)
model = nn.Linear(3, 1)
opt = optim.SGD(model.parameters(), lr=0.1)
sched = optim.lr_scheduler.StepLR(opt, step_size=3, gamma=0.5)
x = torch.randn(20, 3)
y = x.sum(1, keepdim=True)
for epoch in range(6):
    sched.step()  # !
    opt.zero_grad()
    loss = F.mse_loss(model(x), y)
    loss.backward()
    opt.step()
""",
        """# a schedule with a name of its own, cosine
torch.manual_seed(0)
model = nn.Linear(2, 1)
optimizer = optim.AdamW(model.parameters(), lr=0.05)
cosine = optim.lr_scheduler.CosineAnnealingLR(optimizer, 8)
x, y = torch.randn(16, 2), torch.randn(16, 1)
for step in range(5):
    loss = F.mse_loss(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    cosine.step()  # !
    optimizer.step()
""",
    ),
    healthy=(
        """# after each epoch
torch.manual_seed(0)
model = nn.Linear(3, 1)
opt = optim.SGD(model.parameters(), lr=0.1)
sched = optim.lr_scheduler.ExponentialLR(opt, 0.9)
x, y = torch.randn(20, 3), torch.randn(20, 1)
for epoch in range(4):
    for batch in range(0, 20, 5):
        opt.zero_grad()
        F.mse_loss(model(x[batch : batch + 5]), y[batch : batch + 5]).backward()
        opt.step()
    sched.step()
""",
        """# at the begin of every epoch but the first
torch.manual_seed(0)
model = nn.Linear(3, 1)
opt = optim.SGD(model.parameters(), lr=0.1)
sched = optim.lr_scheduler.StepLR(opt, 2)
x, y = torch.randn(20, 3), torch.randn(20, 1)
for epoch in range(4):
    if epoch > 0:
        sched.step()
    opt.zero_grad()
    F.mse_loss(model(x), y).backward()
    opt.step()
""",
    ),
)
