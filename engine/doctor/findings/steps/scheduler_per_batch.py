"""A learning rate schedule made for epochs that advances after every batch."""

import ast
from collections.abc import Iterator
from typing import NamedTuple

from gradscribe.engine.doctor.evidence import Evidence
from gradscribe.engine.doctor.finding_kind import FindingKind, FoundCase
from gradscribe.engine.doctor.fixes import argument_of
from gradscribe.engine.doctor.program_tree import ProgramTree, called_name, receiver
from gradscribe.engine.doctor.scopes import arguments_for, callers, literal_number
from gradscribe.engine.doctor.snapshot_stats import format_number

_FALLING = frozenset("ExponentialLR StepLR MultiStepLR LambdaLR MultiplicativeLR".split())
_ENDING = {"CosineAnnealingLR": (1, "T_max"), "PolynomialLR": (1, "total_iters")}
_FALL, _GONE = 0.1, 1e-6


class ScheduleUse(NamedTuple):
    """A schedule's variable, the call that created it, and the calls that advance it."""

    name: str
    made: ast.Call
    steps: list[ast.Call]


def schedules(program: ProgramTree) -> list[ScheduleUse]:
    """Return the learning rate schedules that have a variable."""
    found = []
    for name, rows in program.bindings.items():
        for _, value in rows:
            if isinstance(value, ast.Call) and is_schedule(value):
                found.append(ScheduleUse(name, value, _advances(program, name)))
    return found


def is_schedule(call: ast.Call) -> bool:
    """Return whether a call makes one of torch's schedules."""
    name = called_name(call)
    return name.endswith("LR") or name in ("CosineAnnealingWarmRestarts", "ReduceLROnPlateau")


def _advances(program: ProgramTree, name: str) -> list[ast.Call]:
    """Return the calls of a schedule's ``step``, also where it is a function's parameter."""
    found = []
    for call in program.calls("step"):
        owner = receiver(call)
        given = [owner, *arguments_for(program, owner)] if owner is not None else []
        if any(ast.unparse(node) == name for node in given):
            found.append(call)
    return found


def detect(evidence: Evidence) -> Iterator[FoundCase]:
    """Yield calls in the loop over batches under which the rate falls to nothing or turns back."""
    for schedule in schedules(evidence.program):
        if len(schedule.steps) == 1:
            case = _case(evidence, schedule)
            if case is not None:
                yield case


def _case(evidence: Evidence, schedule: ScheduleUse) -> FoundCase | None:
    program, call = evidence.program, schedule.steps[0]
    loop, statement = program.loop(call.lineno), program.statement_of(call)
    epochs = _epochs(program, loop) if loop is not None and statement in loop.body else None
    if loop is None or epochs is None or epochs < 2:
        return None
    end = loop.end_lineno or loop.lineno
    rates = [s.lr for s in evidence.tape.steps if loop.lineno < s.line <= end and s.lr is not None]
    batches = len(rates) // epochs
    if batches < 2 or rates[0] <= 0:
        return None
    kind = called_name(schedule.made)
    is_hint = not (rates[-1] <= _GONE * rates[0] and rates[len(rates) // 2] <= 1e-3 * rates[0])
    if kind in _FALLING and _falls(program, schedule, rates, batches, epochs):
        message = (
            f"{ast.unparse(call)} runs after each of {batches} batches: within the first of "
            f"{epochs} epochs the rate falls from {format_number(rates[0])} to "
            f"{format_number(rates[batches - 1])}, and to {format_number(rates[-1])} at the end"
        )
    elif kind in _ENDING and _number(program, schedule.made, *_ENDING[kind]) == epochs:
        is_hint = True
        message = (
            f"{_ENDING[kind][1]} is {epochs}, the number of epochs, and {ast.unparse(call)} "
            f"runs {batches} times an epoch: the rate comes to the schedule's end after {epochs} "
            f"of {len(rates)} batches"
        )
    else:
        return None
    related = (program.place(schedule.made),)
    fix = _fix(program, loop, call)
    return FoundCase(program.place(call), message, related, fix, is_hint=is_hint)


def _falls(
    program: ProgramTree, schedule: ScheduleUse, rates: list[float], batches: int, epochs: int
) -> bool:
    """Return whether the rate falls tenfold in an epoch, or as often as the epochs were to be."""
    if rates[batches - 1] <= _FALL * rates[0]:
        return True
    every = _number(program, schedule.made, 1, "step_size")
    if called_name(schedule.made) == "StepLR" and every is not None:
        return every <= epochs and batches >= 2 * every
    stones = argument_of(schedule.made, 1, "milestones")
    if called_name(schedule.made) != "MultiStepLR" or not isinstance(stones, ast.List | ast.Tuple):
        return False
    numbers = [literal_number(program, node) for node in stones.elts]
    known = [n.value for n in numbers if n is not None and isinstance(n.value, int | float)]
    return bool(known) and max(known) <= min(epochs, batches)


def _number(program: ProgramTree, call: ast.Call, index: int, keyword: str) -> float | None:
    node = argument_of(call, index, keyword)
    number = literal_number(program, node) if node is not None else None
    value = number.value if number is not None else None
    return value if isinstance(value, int | float) else None


def _epochs(program: ProgramTree, loop: ast.For | ast.While) -> int | None:
    """Return how often the loop around a loop runs, in the same function or where it is called."""
    function: ast.AST | None = None
    for node in program.above(loop):
        if isinstance(node, ast.For | ast.While):
            return _rounds(program, node)
        if isinstance(node, ast.FunctionDef):
            function = node
            break
    if function is None:
        return None
    calls = callers(program, loop)
    outer = program.loop(calls[0].lineno) if len(calls) == 1 else None
    return _rounds(program, outer) if outer is not None else None


def _rounds(program: ProgramTree, loop: ast.For | ast.While) -> int | None:
    if not isinstance(loop, ast.For) or not isinstance(loop.iter, ast.Call):
        return None
    if called_name(loop.iter) in ("tqdm", "trange") and loop.iter.args:
        inner = loop.iter.args[0]
        given = inner.args if isinstance(inner, ast.Call) else [inner]
    else:
        given = loop.iter.args if called_name(loop.iter) == "range" else []
    numbers = [literal_number(program, node) for node in given]
    values = [n.value for n in numbers if n is not None and isinstance(n.value, int)]
    if not values or len(values) != len(given) or len(values) > 2:
        return None
    return values[-1] - values[0] if len(values) == 2 else values[0]


def _fix(program: ProgramTree, loop: ast.For | ast.While, call: ast.Call) -> str:
    """Move the call behind the loop over batches."""
    statement = program.statement_of(call)
    if not isinstance(statement, ast.Expr) or loop.orelse or len(loop.body) == 1:
        return ""
    left = ProgramTree(program.without(call.lineno))
    text = program.source(statement)
    return left.inserted(loop.lineno, text, after=True) if left.text else ""


_DATA = """torch.manual_seed(0)
x = torch.randn(96, 3)
y = x.sum(1, keepdim=True)
model = nn.Sequential(nn.Linear(3, 8), nn.Tanh(), nn.Linear(8, 1))
opt = optim.SGD(model.parameters(), lr=0.1)
"""
_BATCH = """        opt.zero_grad()
        loss = F.mse_loss(model(x[i : i + 8]), y[i : i + 8])
        loss.backward()
        opt.step()
"""

ENTRY = FindingKind(
    "scheduler-per-batch",
    "The schedule advances with every batch",
    "Schedules count the calls of step(). Counted in batches and not in epochs, a decay made for "
    "epochs is over within the first, and the rest of the training stands still.",
    detect,
    sick=(
        "# a decay\n"
        + _DATA
        + """sched = optim.lr_scheduler.ExponentialLR(opt, gamma=0.5)
for epoch in range(2):
    for i in range(0, 96, 8):
"""
        + _BATCH
        + """        sched.step()  # !
""",
        """# steps of three epochs, in a function, with a loader
torch.manual_seed(0)
data = torch.utils.data.TensorDataset(torch.randn(80, 4), torch.randint(2, (80,)))
loader = torch.utils.data.DataLoader(data, batch_size=8, shuffle=True)
net = nn.Linear(4, 2)
optimizer = optim.Adam(net.parameters(), lr=0.01)
scheduler = optim.lr_scheduler.StepLR(optimizer, step_size=3, gamma=0.2)

def train(net, loader, schedule):
    for inputs, labels in loader:
        optimizer.zero_grad()
        F.cross_entropy(net(inputs), labels).backward()
        optimizer.step()
        schedule.step()  # !

epochs = 4
for epoch in range(epochs):
    train(net, loader, scheduler)
""",
        "# half a wave over the epochs\n"
        + _DATA
        + """epochs = 4
cosine = optim.lr_scheduler.CosineAnnealingLR(opt, T_max=epochs)
for epoch in range(epochs):
    for i in range(0, 96, 8):
"""
        + _BATCH
        + """        cosine.step()  # !
""",
    ),
    healthy=(
        "# after each epoch\n"
        + _DATA
        + """sched = optim.lr_scheduler.ExponentialLR(opt, gamma=0.5)
for epoch in range(2):
    for i in range(0, 96, 8):
"""
        + _BATCH
        + """    sched.step()
""",
        "# half a wave over all batches\n"
        + _DATA
        + """epochs = 3
cosine = optim.lr_scheduler.CosineAnnealingLR(opt, T_max=12 * epochs)
for epoch in range(epochs):
    for i in range(0, 96, 8):
"""
        + _BATCH
        + """        cosine.step()
""",
        "# a single cycle, and a slow decay\n"
        + _DATA
        + """cycle = optim.lr_scheduler.OneCycleLR(opt, max_lr=0.1, epochs=3, steps_per_epoch=12)
for epoch in range(3):
    for i in range(0, 96, 8):
"""
        + _BATCH
        + """        cycle.step()
for group in opt.param_groups:
    group["lr"] = 0.05
slow = optim.lr_scheduler.ExponentialLR(opt, gamma=0.99)
for epoch in range(2):
    for i in range(0, 96, 8):
"""
        + _BATCH
        + """        slow.step()
""",
    ),
)
