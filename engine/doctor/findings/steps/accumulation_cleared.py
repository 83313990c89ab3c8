"""Gradients that are cleared within an accumulation, so that only the last batch counts."""

import ast
from collections.abc import Iterator

from gradscribe.engine.doctor.evidence import Evidence
from gradscribe.engine.doctor.finding_kind import FindingKind, FoundCase
from gradscribe.engine.doctor.findings.steps.accumulation_not_averaged import (
    Round,
    division,
    mean_loss,
    rounds,
)
from gradscribe.engine.doctor.program_tree import ProgramTree


def detect(evidence: Evidence) -> Iterator[FoundCase]:
    """Yield the line that clears gradients which no step has used, in each round alike."""
    tape, program = evidence.tape, evidence.program
    known = rounds(evidence)
    if len(known) < 2 or not known[0].resets or _looks_at_gradients(program):
        return
    first = known[0]
    step, count = tape.steps[first.step], len(first.cleared) + 1
    if any(not _is_alike(r, first) for r in known[:-1]) or step.optimizer == "LBFGS":
        return
    lines = {tape.passes[run].line for r in known[:2] for run in (*r.cleared, *r.added)}
    if len(lines) != 1 or len(set(first.resets)) != 1:
        return
    line, reset = lines.pop(), first.resets[0]
    message = (
        f"Line {reset} clears the gradients before each backward, and only each {_ordinal(count)} "
        f"is followed by a step: the work of {count - 1} of {count} passes is lost"
    )
    related = (program.line(line), evidence.step_place(step))
    yield FoundCase(
        program.line(reset), message, related, _fix(evidence, reset, line, step.line, count)
    )


def _is_alike(one: Round, other: Round) -> bool:
    return len(one.added) == 1 and len(one.cleared) == len(other.cleared)


def _ordinal(count: int) -> str:
    names = {2: "second", 3: "third", 4: "fourth", 5: "fifth", 8: "eighth", 10: "tenth"}
    return names.get(count, f"{count}th")


def _looks_at_gradients(program: ProgramTree) -> bool:
    """Return whether the program reads gradients, for which a pass alone may be enough."""
    return any(n.attr in ("grad", "register_hook") for n in program.find(ast.Attribute))


def _fix(evidence: Evidence, reset: int, line: int, step: int, count: int) -> str:
    """Clear after the step instead, and average what then adds up."""
    program, statement = evidence.program, evidence.program.statement(reset)
    if not isinstance(statement, ast.Expr) or statement.lineno != statement.end_lineno:
        return ""
    text, edit = program.source(statement), division(program, line, count)
    if edit is not None and mean_loss(evidence, _runs(evidence, line, count)) is not None:
        program = ProgramTree(program.replaced(edit))
    left = ProgramTree(program.without(reset))
    moved = step - 1 if reset < step else step
    return left.inserted(moved, text, after=True) if left.text else ""


def _runs(evidence: Evidence, line: int, count: int) -> list[int]:
    """Return the first ``count`` passes that began on a line."""
    return [n for n, p in enumerate(evidence.tape.passes) if p.line == line][:count]


_DATA = """torch.manual_seed(0)
x, y = torch.randn(32, 3), torch.randn(32, 1)
net = nn.Linear(3, 1)
"""

ENTRY = FindingKind(
    "accumulation-cleared",
    "Gradients are cleared before they are used",
    "Accumulating over several batches needs the gradients of all of them. Cleared before each "
    "backward, only the last batch before the step counts, and the work on the others is lost. "
    "Clear them right after the step.",
    detect,
    sick=(
        "# a step after every fourth batch\n"
        + _DATA
        + """opt = optim.SGD(net.parameters(), lr=0.05)
accum = 4
for epoch in range(2):
    for i in range(8):
        rows = slice(4 * i, 4 * i + 4)
        opt.zero_grad()  # !
        loss = F.mse_loss(net(x[rows]), y[rows]) / accum
        loss.backward()
        if (i + 1) % accum == 0:
            opt.step()
""",
        "# a loop within a loop\n"
        + _DATA
        + """optimizer = optim.Adam(net.parameters(), lr=0.05)
for start in range(0, 32, 8):
    for half in (0, 4):
        rows = slice(start + half, start + half + 4)
        optimizer.zero_grad()  # !
        F.l1_loss(net(x[rows]), y[rows]).backward()
    optimizer.step()
""",
        """# a loader, a model that clears itself, and a mean loss
torch.manual_seed(0)
data = torch.utils.data.TensorDataset(torch.randn(36, 4), torch.randint(2, (36,)))
loader = torch.utils.data.DataLoader(data, batch_size=6)
model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))
sgd = optim.SGD(model.parameters(), lr=0.1)
for epoch in range(2):
    for number, (inputs, labels) in enumerate(loader, 1):
        loss = F.cross_entropy(model(inputs), labels)
        model.zero_grad()  # !
        loss.backward()
        if number % 3 == 0:
            sgd.step()
""",
    ),
    healthy=(
        "# cleared after the step\n"
        + _DATA
        + """opt = optim.SGD(net.parameters(), lr=0.05)
for epoch in range(2):
    for i in range(8):
        rows = slice(4 * i, 4 * i + 4)
        loss = F.mse_loss(net(x[rows]), y[rows]) / 4
        loss.backward()
        if (i + 1) % 4 == 0:
            opt.step()
            opt.zero_grad()
""",
        "# gradients that are only looked at\n"
        + _DATA
        + """opt = optim.SGD(net.parameters(), lr=0.05)
for step in range(4):
    noise = []
    for i in range(4):
        opt.zero_grad()
        F.mse_loss(net(x[8 * i : 8 * i + 8]), y[8 * i : 8 * i + 8]).backward()
        noise.append(net.weight.grad.norm().item())
    opt.zero_grad()
    F.mse_loss(net(x), y).backward()
    opt.step()
print(noise)
""",
        "# batches that are skipped as their loss is too large\n"
        + _DATA
        + """opt = optim.SGD(net.parameters(), lr=0.05)
for i in range(8):
    rows = slice(4 * i, 4 * i + 4)
    loss = F.mse_loss(net(x[rows]), y[rows])
    opt.zero_grad()
    loss.backward()
    if loss.item() < 2.2:
        opt.step()
""",
    ),
)
