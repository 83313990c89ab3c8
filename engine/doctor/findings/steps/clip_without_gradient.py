"""Gradients clipped where there are none yet, or none left to clip."""

import ast
from collections.abc import Iterator

from gradscribe.engine.doctor.evidence import Evidence
from gradscribe.engine.doctor.finding_kind import FindingKind, FoundCase
from gradscribe.engine.doctor.fixes import optimizer_names
from gradscribe.engine.doctor.program_tree import ProgramTree, called_name

_CLIPS = ("clip_grad_norm_", "clip_grad_value_", "clip_grad_norm")


def detect(evidence: Evidence) -> Iterator[FoundCase]:
    """Yield clippings before the backward or after the step of their block."""
    program = evidence.program
    if not evidence.tape.steps:
        return
    for clip in program.calls(*_CLIPS):
        statement = program.statement_of(clip)
        if not isinstance(statement, ast.Expr | ast.Assign):
            continue
        block = program.siblings(statement)
        at = block.index(statement) if statement in block else -1
        backwards = _places(block, "backward")
        steps = [i for i in _places(block, "step") if optimizer_names(program, block[i].lineno)]
        if at < 0 or len(backwards) != 1 or not steps or steps[0] < backwards[0]:
            continue
        backward, step = backwards[0], steps[-1]
        if backward < at < step:
            continue
        why = "before backward has computed them" if at < backward else "after step has used them"
        other = block[backward if at < backward else step]
        message = f"{called_name(clip)} runs {why} (line {other.lineno}): nothing is clipped"
        fix = _moved(program, statement, block[backward])
        yield FoundCase(program.place(clip), message, (program.line(other.lineno),), fix)


def _places(block: list[ast.stmt], name: str) -> list[int]:
    """Return the indices of a block's statements that call a method of that name."""
    return [
        at
        for at, statement in enumerate(block)
        if isinstance(statement, ast.Expr)
        and isinstance(statement.value, ast.Call)
        and called_name(statement.value) == name
    ]


def _moved(program: ProgramTree, clip: ast.stmt, backward: ast.stmt) -> str:
    if clip.lineno != clip.end_lineno or isinstance(clip, ast.Assign):
        return ""
    text = program.source(clip)
    if clip.lineno > backward.lineno:
        left = ProgramTree(program.without(clip.lineno))
        return left.inserted(backward.lineno, text, after=True)
    added = ProgramTree(program.inserted(backward.lineno, text, after=True))
    return added.without(clip.lineno)


ENTRY = FindingKind(
    "clip-without-gradient",
    "Clipping at the wrong moment",
    "Clipping changes what backward left in .grad, before step uses it. The order is zero_grad, "
    "forward, loss, backward, clip, step.",
    detect,
    sick=(
        """torch.manual_seed(0)
net = nn.Linear(3, 1)
opt = optim.SGD(net.parameters(), lr=0.1)
x, y = torch.randn(8, 3), torch.randn(8, 1)
for step in range(3):
    opt.zero_grad()
    loss = F.mse_loss(net(x), y)
    nn.utils.clip_grad_norm_(net.parameters(), 1.0)  # !
    loss.backward()
    opt.step()
""",
    ),
    healthy=(
        """torch.manual_seed(0)
net = nn.Linear(3, 1)
opt = optim.SGD(net.parameters(), lr=0.1)
schedule = optim.lr_scheduler.LinearLR(opt)
x, y = torch.randn(8, 3), torch.randn(8, 1)
for step in range(3):
    opt.zero_grad()
    F.mse_loss(net(x), y).backward()
    size = nn.utils.clip_grad_norm_(net.parameters(), 1.0)
    opt.step()
    schedule.step()
""",
        """# every other round steps
torch.manual_seed(0)
net = nn.Linear(3, 1)
opt = optim.SGD(net.parameters(), lr=0.1)
x, y = torch.randn(8, 3), torch.randn(8, 1)
for step in range(4):
    (F.mse_loss(net(x), y) / 2).backward()
    if step % 2:
        nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        opt.step()
        opt.zero_grad()
""",
    ),
)
