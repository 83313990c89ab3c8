"""A learning rate schedule that is made and never advanced."""

import ast
from collections.abc import Iterator

from gradscribe.engine.doctor.evidence import Evidence
from gradscribe.engine.doctor.finding_kind import FindingKind, FoundCase
from gradscribe.engine.doctor.findings.steps.scheduler_per_batch import (
    ScheduleUse,
    is_schedule,
    schedules,
)
from gradscribe.engine.doctor.fixes import argument_of
from gradscribe.engine.doctor.program_tree import ProgramTree, called_name, receiver
from gradscribe.engine.doctor.scopes import callers, enclosing_function
from gradscribe.engine.doctor.snapshot_stats import format_number

_STEPS = 3
_PER_BATCH = ("OneCycleLR", "CyclicLR")


def detect(evidence: Evidence) -> Iterator[FoundCase]:
    """Yield schedules without a call of ``step`` that nothing else can reach."""
    tape, program = evidence.tape, evidence.program
    rates = {step.lr for step in tape.steps}
    if tape.status != "ok" or len(tape.steps) < _STEPS or len(rates) > len(_owners(evidence)):
        return
    unnamed = [
        ScheduleUse("", node.value, [])
        for node in program.find(ast.Expr)
        if isinstance(node.value, ast.Call) and is_schedule(node.value)
    ]
    for schedule in [*schedules(program), *unnamed]:
        if schedule.steps or _is_reachable(program, schedule):
            continue
        if enclosing_function(program, schedule.made) and _is_made_for_others(program, schedule):
            continue
        name = schedule.name or called_name(schedule.made)
        rate = next(iter(rates))
        taken = evidence.step_place(tape.steps[0])
        message = (
            f"{name} is made and its step() never called: all {len(tape.steps)} steps were taken "
            f"with the first learning rate"
        )
        if len(rates) == 1 and rate is not None:
            message += f", {format_number(rate)}"
        fix = _fix(program, schedule, taken.line)
        yield FoundCase(program.place(schedule.made), message, (taken,), fix)


def _owners(evidence: Evidence) -> set[int]:
    return {step.held for step in evidence.tape.steps}


def _is_reachable(program: ProgramTree, schedule: ScheduleUse) -> bool:
    """Return whether a schedule is passed on: as an argument, in a container, or returned."""
    if not schedule.name:
        return False
    last = schedule.name.rpartition(".")[2]
    for node in program.nodes:
        if not isinstance(node, ast.Name | ast.Attribute) or not isinstance(node.ctx, ast.Load):
            continue
        if (node.id if isinstance(node, ast.Name) else node.attr) != last:
            continue
        around = next(program.above(node))
        if not isinstance(around, ast.Attribute) or around.attr == "step":
            return True
    rows = program.bindings.get(schedule.name, [])
    return len(rows) > 1 or any(_is_part(program, value) for _, value in rows)


def _is_part(program: ProgramTree, value: ast.expr) -> bool:
    """Return whether an expression is assigned together with others."""
    statement = program.statement_of(value)
    return not isinstance(statement, ast.Assign) or statement.value is not value


def _is_made_for_others(program: ProgramTree, schedule: ScheduleUse) -> bool:
    """Return whether an object that a method stores a schedule in may be used by a library."""
    around = [n for n in program.above(schedule.made) if isinstance(n, ast.ClassDef)]
    return bool(around) and any(
        ast.unparse(base).rpartition(".")[2] not in ("object", "Module") for base in around[0].bases
    )


def _fix(program: ProgramTree, schedule: ScheduleUse, line: int) -> str:
    """Advance the schedule after each epoch, or after each step where there is a single loop."""
    target = argument_of(schedule.made, 0, "optimizer")
    if target is None or called_name(schedule.made) == "ReduceLROnPlateau":
        return ""
    steps = [c for c in program.calls("step") if c.lineno == line]
    owner = receiver(steps[0]) if len(steps) == 1 else None
    if owner is None or ast.unparse(owner) != ast.unparse(target):
        return ""
    if not _is_visible(program, schedule, owner):
        return ""
    name, edited = schedule.name, program
    if not name:
        name = "scheduler"
        if name in program.bindings:
            return ""
        edited = ProgramTree(
            program.replaced((schedule.made, f"{name} = {program.source(schedule.made)}"))
        )
    inner, at = program.loop(line), line
    if inner is not None and called_name(schedule.made) not in _PER_BATCH:
        outer = [n for n in program.above(inner) if isinstance(n, ast.For | ast.While)]
        again = [c for c in callers(program, inner) if program.loop(c.lineno)]
        at = inner.lineno if outer or again else line
    return edited.inserted(at, f"{name}.step()", after=True)


def _is_visible(program: ProgramTree, schedule: ScheduleUse, node: ast.expr) -> bool:
    """Return whether a schedule's variable can be read at a node."""
    made_in = enclosing_function(program, schedule.made)
    if made_in in (None, enclosing_function(program, node)):
        return True
    classes = [
        next((n for n in program.above(where) if isinstance(n, ast.ClassDef)), None)
        for where in (schedule.made, node)
    ]
    return schedule.name.startswith("self.") and classes[0] is classes[1]


_DATA = """torch.manual_seed(0)
x, y = torch.randn(32, 3), torch.randn(32, 1)
net = nn.Linear(3, 1)
"""

ENTRY = FindingKind(
    "scheduler-never-stepped",
    "The schedule never advances",
    "A schedule changes the learning rate in its own step(), not in the optimizer's. Without that "
    "call the rate stays at its first value.",
    detect,
    sick=(
        _DATA
        + """opt = optim.SGD(net.parameters(), lr=0.1)
sched = optim.lr_scheduler.StepLR(opt, step_size=2, gamma=0.5)  # !
for epoch in range(6):
    opt.zero_grad()
    F.mse_loss(net(x), y).backward()
    opt.step()
""",
        "# batches, and a rate that is printed\n"
        + _DATA
        + """from torch.optim.lr_scheduler import CosineAnnealingLR
optimizer = optim.Adam(net.parameters(), lr=0.05)
scheduler = CosineAnnealingLR(optimizer, T_max=3)  # !
for epoch in range(3):
    for start in range(0, 32, 8):
        optimizer.zero_grad()
        loss = F.mse_loss(net(x[start : start + 8]), y[start : start + 8])
        loss.backward()
        optimizer.step()
    print(epoch, loss.item(), scheduler.get_last_lr())
""",
        """# in a trainer
class Trainer:
    def __init__(self, model):
        self.model = model
        self.optimizer = optim.AdamW(model.parameters(), lr=0.01)
        self.scheduler = optim.lr_scheduler.ExponentialLR(self.optimizer, gamma=0.9)  # !

    def fit(self, x, y, epochs):
        for _ in range(epochs):
            self.optimizer.zero_grad()
            F.mse_loss(self.model(x), y).backward()
            self.optimizer.step()

torch.manual_seed(0)
Trainer(nn.Linear(3, 1)).fit(torch.randn(20, 3), torch.randn(20, 1), 4)
""",
        "# without a variable\n"
        + _DATA
        + """opt = optim.SGD(net.parameters(), lr=0.1)
optim.lr_scheduler.MultiStepLR(opt, [2, 4])  # !
for epoch in range(6):
    opt.zero_grad()
    F.mse_loss(net(x), y).backward()
    opt.step()
""",
    ),
    healthy=(
        _DATA
        + """opt = optim.SGD(net.parameters(), lr=0.1)
sched = optim.lr_scheduler.StepLR(opt, step_size=2, gamma=0.5)
for epoch in range(6):
    opt.zero_grad()
    F.mse_loss(net(x), y).backward()
    opt.step()
    sched.step()
""",
        "# a warm-up and a decay, advanced together, and one in a list\n"
        + _DATA
        + """opt = optim.SGD(net.parameters(), lr=0.1)
warm = optim.lr_scheduler.LinearLR(opt, 0.1, total_iters=3)
decay = optim.lr_scheduler.ExponentialLR(opt, 0.9)
both = optim.lr_scheduler.SequentialLR(opt, [warm, decay], milestones=[3])
for epoch in range(6):
    opt.zero_grad()
    F.mse_loss(net(x), y).backward()
    opt.step()
    for schedule in [both]:
        schedule.step()
""",
        "# begun after a few epochs, in a function\n"
        + _DATA
        + """def fit(model, epochs, make=lambda opt: optim.lr_scheduler.ExponentialLR(opt, 0.9)):
    opt = optim.SGD(model.parameters(), lr=0.1)
    schedule = make(opt)
    for epoch in range(epochs):
        opt.zero_grad()
        F.mse_loss(model(x), y).backward()
        opt.step()
        if epoch >= 10:
            schedule.step()

fit(net, 5)
""",
    ),
)
