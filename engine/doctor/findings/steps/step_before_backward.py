"""A step without gradients: backward comes later, or never."""

import ast
from collections.abc import Iterator

from gradscribe.engine.doctor.evidence import Evidence
from gradscribe.engine.doctor.finding_kind import FindingKind, FoundCase
from gradscribe.engine.doctor.program_tree import ProgramTree


def detect(evidence: Evidence) -> Iterator[FoundCase]:
    """Yield lines with a step that had no gradient at all."""
    tape, seen = evidence.tape, set[int]()
    for number, at in evidence.step_at.items():
        step = tape.steps[number]
        if step.line in seen or step.held < 0 or step.changes:
            continue
        optimized = set(tape.held[step.held])
        if not optimized & set(evidence.leaves) or not has_no_gradients(evidence, optimized, at):
            continue
        if any(start < at for start in evidence.pass_at.values()) or cleared_line(evidence, at):
            continue
        later = [tape.passes[n] for n, start in evidence.pass_at.items() if start > at]
        if not later and tape.error is not None:
            continue
        seen.add(step.line)
        line = later[0].line if later else 0
        message = "This step finds no gradient: backward is never called"
        if later:
            message = f"This step finds no gradient: backward runs after it, on line {line}"
        related = (evidence.program.line(line),) if later else ()
        fix = _swapped(evidence.program, step.line, line) if line else _asked(evidence, step.line)
        yield FoundCase(evidence.step_place(step), message, related, fix)


def has_no_gradients(evidence: Evidence, optimized: set[int], at: int) -> bool:
    """Return whether no parameter of an optimizer has a gradient at an event position."""
    for tensor in optimized:
        state = None
        for moment in evidence.leaf_events.get(tensor, []):
            if moment.position >= at:
                break
            state = moment.kind if moment.kind != "update" else state
        if state == "add":
            return False
    return True


def cleared_line(evidence: Evidence, at: int) -> int:
    """Return the line that cleared gradients between the last pass and a step; 0 if none did."""
    for position in range(at - 1, -1, -1):
        event = evidence.tape.events[position]
        if event.kind == "zero_grad" and evidence.tape.resets[event.ref].leaves:
            return event.line if _passed_since_step(evidence, position) else 0
        if event.kind in ("step", "backward", "op"):
            return 0
    return 0


def _passed_since_step(evidence: Evidence, position: int) -> bool:
    for earlier in range(position - 1, -1, -1):
        kind = evidence.tape.events[earlier].kind
        if kind in ("end", "backward"):
            return True
        if kind == "step":
            return False
    return False


def _asked(evidence: Evidence, step: int) -> str:
    """Return the program with backward called on the last scalar result before the step."""
    program = evidence.program
    loop = program.loop(step)
    first = loop.lineno if loop is not None else 1
    names = [
        v.name
        for v in evidence.tape.values
        if v.shape == () and v.requires_grad and not v.is_leaf and v.name.isidentifier()
        if first <= evidence.place_of(v.id).line < step
    ]
    return program.inserted(step, f"{names[-1]}.backward()") if names else ""


def _swapped(program: ProgramTree, step: int, backward: int) -> str:
    """Return the program with the step moved after backward."""
    first, second = program.statement(step), program.statement(backward) if backward else None
    if not isinstance(first, ast.Expr):
        return ""
    text = program.source(first)
    if second is None or program.indent(first) != program.indent(second) or backward < step:
        return ""
    moved = program.inserted(backward, text, after=True)
    return ProgramTree(moved).without(step) if moved else ""


ENTRY = FindingKind(
    "step-before-backward",
    "A step without a gradient",
    "step() uses what backward() left in .grad. Before it there is nothing, or the gradient of an "
    "older batch. The order is zero_grad, forward, loss, backward, step.",
    detect,
    sick=(
        """torch.manual_seed(0)
x = torch.randn(32, 3)
model = nn.Linear(3, 1)
opt = optim.SGD(model.parameters(), lr=0.1)
for step in range(5):
    opt.zero_grad()
    loss = F.mse_loss(model(x), x.sum(dim=1, keepdim=True))
    opt.step()  # !
""",
    ),
    healthy=(
        """# LBFGS calls the closure itself
torch.manual_seed(0)
x, y = torch.randn(16, 3), torch.randn(16, 1)
model = nn.Linear(3, 1)
opt = optim.LBFGS(model.parameters(), lr=0.5, max_iter=4)

def closure():
    opt.zero_grad()
    loss = F.mse_loss(model(x), y)
    loss.backward()
    return loss

for step in range(2):
    opt.step(closure)
""",
        """# mixed precision with a scaler that is off
torch.manual_seed(0)
x, y = torch.randn(16, 3), torch.randn(16, 1)
model = nn.Linear(3, 1)
opt = optim.SGD(model.parameters(), lr=0.05)
scaler = torch.amp.GradScaler("cpu", enabled=False)
for step in range(3):
    opt.zero_grad()
    with torch.autocast("cpu", dtype=torch.bfloat16):
        loss = F.mse_loss(model(x).float(), y)
    scaler.scale(loss).backward()
    scaler.step(opt)
    scaler.update()
""",
    ),
)
