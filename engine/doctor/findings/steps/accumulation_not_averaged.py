"""Mean losses of several batches whose gradients add up to one long step."""

import ast
import math
from collections.abc import Iterator
from typing import NamedTuple

from gradscribe.engine.doctor.evidence import Evidence
from gradscribe.engine.doctor.finding_kind import FindingKind, FoundCase
from gradscribe.engine.doctor.fixes import OPTIMIZERS
from gradscribe.engine.doctor.program_tree import ProgramTree, called_name, names, receiver
from gradscribe.engine.doctor.scopes import literal_number
from gradscribe.engine.doctor.snapshot_stats import format_number, is_zero, norm
from gradscribe.engine.protocol.tape import Op

_SCALED = frozenset("SGD ASGD".split())
"""Optimizers whose steps are as long as the gradient; the others divide by its size."""


class Round(NamedTuple):
    """The passes before an optimizer's step, and those of them that were cleared."""

    step: int
    added: list[int]
    cleared: list[int]
    resets: list[int]
    """Lines that cleared gradients between passes."""
    rewritten: list[int]
    """Lines that changed gradients."""


def rounds(evidence: Evidence) -> list[Round]:
    """Return the rounds of a program with a single optimizer; else nothing."""
    tape, found = evidence.tape, list[Round]()
    if len({step.held for step in tape.steps}) != 1 or len(tape.steps) < 2:
        return []
    added, cleared = list[int](), list[int]()
    resets, rewritten = list[int](), list[int]()
    for event in tape.events:
        if event.kind == "backward" and tape.passes[event.ref].kind == "backward":
            added.append(event.ref)
        elif event.kind == "zero_grad" and added:
            resets.append(event.line)
            cleared += added
            added = []
        elif event.kind == "grad":
            rewritten.append(event.line)
        elif event.kind == "step":
            if added:
                found.append(Round(event.ref, added, cleared, resets, rewritten))
            added, cleared, resets, rewritten = [], [], [], []
    return found


def detect(evidence: Evidence) -> Iterator[FoundCase]:
    """Yield the backward line of mean losses that is run several times before each step."""
    tape, program = evidence.tape, evidence.program
    all_rounds = rounds(evidence)
    count = len(all_rounds[0].added) if all_rounds else 0
    if count < 2 or any(len(r.added) != count or r.cleared for r in all_rounds[:-1]):
        return
    first = all_rounds[0]
    step = tape.steps[first.step]
    lines = {tape.passes[run].line for run in first.added}
    clips = [n for n in first.rewritten if _clips(program, n)]
    if len(lines) > 1 or len(clips) < len(first.rewritten):
        return
    if step.optimizer not in _SCALED and not clips:
        return
    mean = mean_loss(evidence, first.added)
    if mean is None or not _separate(evidence, first.added) or _is_rate_scaled(program):
        return
    size = _size(evidence, first.added[-1])
    line = lines.pop()
    rows = evidence.values[mean.inputs[0]].shape[0]
    message = (
        f"The gradients of {count} losses add up before the step on line {step.line}, each the "
        f"mean over a batch of {rows}: size {format_number(size)}, where the mean over all "
        f"{count * rows} has {format_number(size / count)}"
    )
    edit = division(program, line, count)
    fix = program.replaced(edit) if edit is not None else ""
    related = (mean.place, evidence.step_place(step), *map(program.line, clips[:1]))
    yield FoundCase(program.line(line), message, related, fix)


def _clips(program: ProgramTree, line: int) -> bool:
    return any(
        called_name(call).startswith("clip_grad")
        for call in program.find(ast.Call)
        if call.lineno <= line <= (call.end_lineno or line)
    )


def mean_loss(evidence: Evidence, runs: list[int]) -> Op | None:
    """Return the op of the first root if all roots are mean losses of the same line."""
    found = []
    for run in runs:
        current = evidence.tape.passes[run]
        seed = current.seeds[0] if current.seeds else None
        scale = evidence.tape.snapshots[seed].item() if seed is not None else 1.0
        if current.retain_graph or len(current.roots) != 1 or scale != 1.0:
            return None
        op = _mean_of(evidence, current.roots[0])
        if op is None:
            return None
        found.append(op)
    return found[0] if len({op.place for op in found}) == 1 else None


def _mean_of(evidence: Evidence, value: int | None, depth: int = 4) -> Op | None:
    """Return the op that took the mean over a batch, also if penalties were added to it."""
    op = evidence.creator(evidence.before_pass_through(value)) if value is not None else None
    if op is None or not op.inputs:
        return None
    shape = evidence.values[op.inputs[0]].shape
    if op.op in ("add", "sub") and depth:
        terms = (_mean_of(evidence, term, depth - 1) for term in op.inputs)
        return next((term for term in terms if term is not None), None)
    if not shape or shape[0] < 2:
        return None
    by_mean = op.op == "mean" and not evidence.values[op.outputs[0]].shape
    is_loss = any(a.keyword == "reduction" and a.text == "'mean'" for a in op.args)
    return op if by_mean or is_loss else None


def _separate(evidence: Evidence, runs: list[int]) -> bool:
    """Return whether passes train the same leaves from batches that share no results."""
    tape = evidence.tape
    reached = [frozenset(a.leaf for a in tape.accumulations if a.run == run) for run in runs]
    before = [a.before for a in tape.accumulations if a.run == runs[0]]
    left = [b for b in before if b is not None and not is_zero(tape.snapshots[b])]
    if len(set(reached)) != 1 or left:
        return False
    one, other = (evidence.dependencies(tape.passes[run].roots) for run in runs[:2])
    shared = (evidence.values[v] for v in one & other)
    return not any(v.requires_grad and not v.is_leaf for v in shared)


def _is_rate_scaled(program: ProgramTree) -> bool:
    """Return whether an optimizer's rate is computed, as by the number of batches."""
    optimizers = [c for c in program.find(ast.Call) if called_name(c) in OPTIMIZERS]
    rates = [k.value for call in optimizers for k in call.keywords if k.arg == "lr"]
    rates += [call.args[1] for call in optimizers if len(call.args) > 1]
    return any(isinstance(rate, ast.BinOp) for rate in rates)


def _size(evidence: Evidence, run: int) -> float:
    """Return the norm of all gradients after a pass."""
    rows = [a.after for a in evidence.tape.accumulations if a.run == run and a.after is not None]
    return math.sqrt(sum(norm(evidence.tape.snapshots[row]) ** 2 for row in rows))


def division(program: ProgramTree, line: int, count: int) -> tuple[ast.expr, str] | None:
    """Return the edit that divides the loss on a line by ``count``, or by its name."""
    calls = [c for c in program.calls("backward") if c.lineno == line]
    owner = receiver(calls[0]) if len(calls) == 1 else None
    if owner is None or (isinstance(owner, ast.Name) and owner.id == "torch"):
        return None
    divisor = _name_of(program, line, count) or str(count)
    text = program.source(owner)
    inner = f"({text})" if isinstance(owner, ast.BinOp | ast.IfExp) else text
    return owner, f"({inner} / {divisor})"


def _name_of(program: ProgramTree, line: int, count: int) -> str:
    """Return the variable with the number of passes: of the loop's range, or of a remainder."""
    loop = program.loop(line)
    if loop is None:
        return ""
    found: list[ast.expr] = []
    if isinstance(loop, ast.For) and isinstance(loop.iter, ast.Call):
        found += loop.iter.args if called_name(loop.iter) == "range" else []
    for node in ast.walk(loop):
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod):
            found.append(node.right)
    for node in found:
        if isinstance(node, ast.Name | ast.Attribute) and names(node):
            number = literal_number(program, node)
            if number is not None and number.value == count:
                return ast.unparse(node)
    return ""


_SETUP = """torch.manual_seed(0)
model = nn.Linear(4, 1)
opt = optim.SGD(model.parameters(), lr=0.02)
x = torch.randn(64, 4)
y = x.sum(1, keepdim=True)
"""

ENTRY = FindingKind(
    "accumulation-not-averaged",
    "Accumulated gradients are not averaged",
    "backward adds gradients up. Over several small batches that is the gradient of the sum of "
    "their means: the step is longer by the number of batches than for a large batch. Divide each "
    "loss by that number.",
    detect,
    severity="hint",
    sick=(
        "# four slices a step\n"
        + _SETUP
        + """accum = 4
for step in range(4):
    opt.zero_grad()
    for m in range(accum):
        part = slice((step * accum + m) * 4, (step * accum + m + 1) * 4)
        loss = F.mse_loss(model(x[part]), y[part])
        loss.backward()  # !
    opt.step()
""",
        """# every second batch of a loader, in a function
torch.manual_seed(0)
data = torch.utils.data.TensorDataset(torch.randn(48, 3), torch.randint(3, (48,)))
loader = torch.utils.data.DataLoader(data, batch_size=8)
net = nn.Sequential(nn.Linear(3, 8), nn.Tanh(), nn.Linear(8, 3))
sgd = optim.SGD(net.parameters(), lr=0.05, momentum=0.9)
criterion = nn.CrossEntropyLoss()
accumulation_steps = 2

def train_epoch():
    sgd.zero_grad()
    for i, (inputs, labels) in enumerate(loader):
        criterion(net(inputs), labels).backward()  # !
        if (i + 1) % accumulation_steps == 0:
            sgd.step()
            sgd.zero_grad()

for epoch in range(2):
    train_epoch()
""",
        """# a penalty, Adam, and gradients that are clipped
torch.manual_seed(0)
net = nn.Linear(6, 2)
adam = optim.Adam(net.parameters(), lr=0.01)
x, y = torch.randn(5, 3, 8, 6), torch.randn(5, 3, 8, 2)
for batches, goals in zip(x, y):
    adam.zero_grad()
    for batch, goal in zip(batches, goals):
        loss = (net(batch) - goal).abs().mean() + 1e-3 * net.weight.pow(2).sum()
        loss.backward()  # !
    nn.utils.clip_grad_norm_(net.parameters(), 1.0)
    adam.step()
""",
    ),
    healthy=(
        "# divided\n"
        + _SETUP
        + """for step in range(4):
    opt.zero_grad()
    for m in range(4):
        part = slice((step * 4 + m) * 4, (step * 4 + m + 1) * 4)
        loss = F.mse_loss(model(x[part]), y[part]) / 4
        loss.backward()
    opt.step()
""",
        "# sums of squares, divided by the number of all rows\n"
        + _SETUP
        + """for step in range(4):
    opt.zero_grad()
    for m in range(4):
        part = slice((step * 4 + m) * 4, (step * 4 + m + 1) * 4)
        loss = F.mse_loss(model(x[part]), y[part], reduction="sum") / 16
        loss.backward()
    opt.step()
""",
        "# gradients divided before the step\n"
        + _SETUP
        + """for step in range(4):
    opt.zero_grad()
    for m in range(4):
        part = slice((step * 4 + m) * 4, (step * 4 + m + 1) * 4)
        F.mse_loss(model(x[part]), y[part]).backward()
    for p in model.parameters():
        p.grad /= 4
    opt.step()
""",
        """# two losses of one batch
torch.manual_seed(0)
model = nn.Linear(4, 2)
opt = optim.SGD(model.parameters(), lr=0.02)
x, y = torch.randn(16, 4), torch.randn(16, 2)
for step in range(4):
    opt.zero_grad()
    out = model(x)
    for loss in (F.mse_loss(out, y), F.l1_loss(out, y)):
        loss.backward(retain_graph=True)
    opt.step()
""",
    ),
)
