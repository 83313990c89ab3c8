"""Gradients cleared between backward and step."""

from collections.abc import Iterator

from gradscribe.engine.doctor.evidence import Evidence
from gradscribe.engine.doctor.finding_kind import FindingKind, FoundCase
from gradscribe.engine.doctor.findings.steps.step_before_backward import (
    cleared_line,
    has_no_gradients,
)
from gradscribe.engine.doctor.program_tree import ProgramTree


def detect(evidence: Evidence) -> Iterator[FoundCase]:
    """Yield the lines that clear gradients which the step after them needs."""
    tape, seen = evidence.tape, set[int]()
    for number, at in evidence.step_at.items():
        step = tape.steps[number]
        optimized = set(tape.held[step.held]) if step.held >= 0 else set()
        if step.changes or not has_no_gradients(evidence, optimized, at):
            continue
        line = cleared_line(evidence, at)
        if not line or line in seen:
            continue
        seen.add(line)
        backward = max((n for n, start in evidence.pass_at.items() if start < at), default=None)
        if backward is None or tape.passes[backward].line > step.line:
            continue
        message = (
            f"Line {line} clears the gradients that backward on line "
            f"{tape.passes[backward].line} computed, and the step on line {step.line} has none"
        )
        program = evidence.program
        related = (evidence.pass_place(backward), evidence.step_place(step))
        statement = program.statement(line)
        fix = ""
        if statement is not None:
            text = program.source(statement)
            moved = ProgramTree(program.without(line))
            fix = moved.inserted(
                tape.passes[backward].line - (line < tape.passes[backward].line), text
            )
        yield FoundCase(program.line(line), message, related, fix)


ENTRY = FindingKind(
    "zero-grad-before-step",
    "Gradients are cleared too early",
    "step() needs what backward() computed. Clear gradients before backward or after step, never "
    "between the two.",
    detect,
    sick=(
        """torch.manual_seed(0)
x = torch.randn(32, 3)
y = x.sum(dim=1, keepdim=True)
model = nn.Linear(3, 1)
opt = optim.SGD(model.parameters(), lr=0.1)
for step in range(5):
    loss = F.mse_loss(model(x), y)
    loss.backward()
    opt.zero_grad()  # !
    opt.step()
""",
    ),
    healthy=(
        """# cleared at the end, by the model
torch.manual_seed(0)
x, y = torch.randn(16, 3), torch.randn(16, 1)
model = nn.Linear(3, 1)
opt = optim.SGD(model.parameters(), lr=0.05)
for step in range(3):
    loss = F.mse_loss(model(x), y)
    loss.backward()
    opt.step()
    model.zero_grad()
""",
        """# cleared by the dataset's loop
torch.manual_seed(0)
from torch.utils.data import DataLoader, TensorDataset
data = TensorDataset(torch.randn(16, 3), torch.randn(16, 1))
model = nn.Linear(3, 1)
opt = optim.SGD(model.parameters(), lr=0.05)
for epoch in range(2):
    running = 0.0
    for xb, yb in DataLoader(data, batch_size=4, shuffle=True):
        opt.zero_grad()
        loss = F.mse_loss(model(xb), yb)
        loss.backward()
        opt.step()
        running += loss.item()
    print(f"epoch {epoch} loss {running / 4:.3f}")
""",
    ),
)
