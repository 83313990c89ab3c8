"""Batch normalization with frozen parameters whose running statistics still move."""

import ast
from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from gradscribe.engine.doctor import modes
from gradscribe.engine.doctor.evidence import Evidence
from gradscribe.engine.doctor.finding_kind import FindingKind, FoundCase
from gradscribe.engine.doctor.findings.modules.frozen_parameter import freezing_lines
from gradscribe.engine.doctor.program_tree import ProgramTree, called_name, receiver
from gradscribe.engine.doctor.scopes import enclosing_function
from gradscribe.engine.doctor.snapshot_stats import format_number, norm, real
from gradscribe.engine.protocol.tape import Op


class _Moved(NamedTuple):
    """A frozen layer: its calls, and the distance that its running mean went."""

    name: str
    ops: list[Op]
    distance: float
    size: float


def detect(evidence: Evidence) -> Iterator[FoundCase]:
    """Yield a single case for all frozen layers whose statistics move while others train."""
    lines = freezing_lines(evidence.program)
    if not lines or not evidence.tape.steps:
        return
    moved = list(_moved(evidence))
    if moved:
        yield _case(evidence, moved, lines)


def _moved(evidence: Evidence) -> Iterator[_Moved]:
    found: dict[str, list[Op]] = {}
    for op in evidence.tape.ops:
        if op.op == "batch_norm" and op.phase == "forward" and len(op.inputs) >= 5:
            weights = [evidence.values[i] for i in op.inputs[3:5]]
            if any(w.requires_grad for w in weights):
                # It is trained in turns, or was trained before it was frozen.
                found[op.scope] = []
                continue
            on_way = op.grad_mode and op.outputs[0] in evidence.root_dependencies
            if on_way and len(op.outputs) >= 3:
                found.setdefault(op.scope, []).append(op)
    for scope, ops in found.items():
        if len(ops) > 1:
            means = [_mean(evidence, op.inputs[1]) for op in ops[:1]]
            means += [_mean(evidence, op.outputs[1]) for op in ops]
            arrays = [m for m in means if m is not None]
            distance = sum(float(np.linalg.norm(b - a)) for a, b in pairwise(arrays))
            if len(arrays) == len(means) and distance > 0:
                last = evidence.snapshot(ops[-1].outputs[1])
                yield _Moved(scope, ops, distance, norm(last) if last is not None else 0.0)


def _mean(evidence: Evidence, value: int) -> np.ndarray | None:
    snapshot = evidence.snapshot(value)
    return real(snapshot) if snapshot is not None else None


def _case(evidence: Evidence, moved: list[_Moved], lines: list[int]) -> FoundCase:
    program, first = evidence.program, moved[0]
    listed = ", ".join(m.name for m in moved[:3])
    if len(moved) > 3:
        listed += f" and {len(moved) - 3} more"
    verb = "is frozen" if len(moved) == 1 else "are frozen"
    message = (
        f"{listed} {verb} on line {lines[0]} but in training mode: the running mean of "
        f"{first.name} moved by {format_number(first.distance)} in {len(first.ops)} passes, and "
        "each batch is normalized by its own statistics"
    )
    used = first.ops[0].place.line
    trains = [at for at in modes.mode_lines(evidence, "train") if at > lines[0]]
    line = trains[0] if trains else lines[0]
    places = tuple(program.line(at) for at in dict.fromkeys([*lines[:1], *trains[:1], used]))
    fix = _fix(program, line, lines[0]) or _fix_all(evidence, moved, line)
    return FoundCase(program.line(line), message, places, fix, _ADVICE)


_ADVICE = "Call eval() on the frozen part, after each train() of the whole model"


def _fix(program: ProgramTree, line: int, frozen: int) -> str:
    """Put the frozen part into evaluation mode, after the line that sets the training mode."""
    owner, statement = _frozen_part(program, frozen)
    target = program.statement(line)
    if not owner or statement is None or target is None:
        return ""
    if enclosing_function(program, target) is not enclosing_function(program, statement):
        return ""
    at = statement.lineno if line == frozen else line
    return program.inserted(at, f"{owner}.eval()", after=True)


def _fix_all(evidence: Evidence, moved: list[_Moved], line: int) -> str:
    """Put every normalization of the model into evaluation mode, if all of them are frozen."""
    program, frozen = evidence.program, {m.name for m in moved}
    scopes = {op.scope for op in evidence.tape.ops if op.op == "batch_norm"}
    model = moved[0].name.partition(".")[0]
    trains = [c for c in program.calls("train") if c.lineno == line]
    owner = receiver(trains[0]) if trains else None
    if scopes != frozen or owner is None or ast.unparse(owner) != model or "." not in moved[0].name:
        return ""
    text = (
        f"for module in {model}.modules():\n"
        "    if isinstance(module, torch.nn.modules.batchnorm._BatchNorm):\n"
        "        module.eval()"
    )
    return program.inserted(line, text, after=True)


def _frozen_part(program: ProgramTree, line: int) -> tuple[str, ast.stmt | None]:
    """Return the expression of what a line freezes, if all of it is frozen, and the statement."""
    statement = program.statement(line)
    loop = program.loop(line)
    if isinstance(loop, ast.For) and len(loop.body) == 1 and loop.body[0] is statement:
        every = loop.iter
        if isinstance(every, ast.Call) and called_name(every) == "parameters":
            owner = receiver(every)
            return (ast.unparse(owner) if owner is not None else ""), loop
    elif loop is None and isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
        call = statement.value
        owner = receiver(call)
        if called_name(call) == "requires_grad_" and owner is not None:
            return ast.unparse(owner), statement
    return "", None


ENTRY = FindingKind(
    "frozen-norm-moves",
    "Frozen normalization that still moves",
    "requires_grad=False freezes the parameters of a BatchNorm and not its running statistics: in "
    "training mode these follow each batch, and the frozen part computes something else in the "
    "end. eval() on it freezes them, and has to follow each train() of the whole model.",
    detect,
    "hint",
    sick=(
        """# fine-tuning a head
torch.manual_seed(0)
backbone = nn.Sequential(nn.Conv2d(1, 4, 3), nn.BatchNorm2d(4), nn.ReLU(), nn.Flatten())
head = nn.Linear(144, 2)
for p in backbone.parameters():
    p.requires_grad = False
model = nn.Sequential(backbone, head)
opt = optim.SGD(head.parameters(), lr=0.1)
x, y = torch.randn(16, 1, 8, 8), torch.randint(0, 2, (16,))
model.train()  # !
for step in range(3):
    loss = F.cross_entropy(model(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
""",
        """# requires_grad_ on a part of a model
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(nn.Linear(6, 12), nn.BatchNorm1d(12), nn.Tanh())
        self.out = nn.Linear(12, 1)

    def forward(self, x):
        return self.out(self.features(x))

torch.manual_seed(0)
net = Net()
net.features.requires_grad_(False)  # !
optimizer = torch.optim.Adam((p for p in net.parameters() if p.requires_grad), lr=0.01)
x, y = torch.randn(24, 6), torch.randn(24, 1)
for step in range(4):
    optimizer.zero_grad()
    loss = nn.functional.mse_loss(net(x), y)
    loss.backward()
    optimizer.step()
""",
        """# by name, in epochs with an evaluation
torch.manual_seed(0)
model = nn.Sequential()
model.add_module("conv", nn.Conv1d(2, 4, 3, padding=1))
model.add_module("norm", nn.BatchNorm1d(4))
model.add_module("flat", nn.Flatten())
model.add_module("head", nn.Linear(20, 3))
for name, p in model.named_parameters():
    if not name.startswith("head"):
        p.requires_grad_(False)
opt = optim.SGD([p for p in model.parameters() if p.requires_grad], lr=0.1)
x, y = torch.randn(12, 2, 5), torch.randint(0, 3, (12,))
for epoch in range(3):
    model.train()  # !
    loss = F.cross_entropy(model(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
    model.eval()
    with torch.no_grad():
        print((model(x).argmax(1) == y).float().mean().item())
""",
    ),
    healthy=(
        """# the frozen part in evaluation mode
torch.manual_seed(0)
backbone = nn.Sequential(nn.Linear(6, 12), nn.BatchNorm1d(12), nn.Tanh())
backbone.requires_grad_(False)
head = nn.Linear(12, 1)
opt = optim.Adam(head.parameters(), lr=0.01)
x, y = torch.randn(24, 6), torch.randn(24, 1)
model = nn.Sequential(backbone, head)
for step in range(4):
    model.train()
    backbone.eval()
    loss = F.mse_loss(model(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
""",
        """# a discriminator that is frozen for a while
torch.manual_seed(0)
g = nn.Sequential(nn.Linear(2, 8), nn.ReLU(), nn.Linear(8, 4))
d = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.LeakyReLU(), nn.Linear(8, 1))
opt_g = optim.Adam(g.parameters(), lr=0.01)
opt_d = optim.Adam(d.parameters(), lr=0.01)
real = torch.randn(16, 4) + 2
ones, zeros = torch.ones(16, 1), torch.zeros(16, 1)
for step in range(3):
    d.requires_grad_(True)
    fake = g(torch.randn(16, 2))
    d_loss = F.binary_cross_entropy_with_logits(d(real), ones)
    d_loss = d_loss + F.binary_cross_entropy_with_logits(d(fake.detach()), zeros)
    opt_d.zero_grad()
    d_loss.backward()
    opt_d.step()
    d.requires_grad_(False)
    g_loss = F.binary_cross_entropy_with_logits(d(fake), ones)
    opt_g.zero_grad()
    g_loss.backward()
    opt_g.step()
""",
        """# a copy that follows the online network, without gradients
import copy
torch.manual_seed(0)
online = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Linear(8, 4))
target = copy.deepcopy(online)
for p in target.parameters():
    p.requires_grad = False
opt = optim.SGD(online.parameters(), lr=0.05)
x = torch.randn(16, 4)
for step in range(3):
    with torch.no_grad():
        goal = target(x + 0.1 * torch.randn(16, 4))
    loss = F.mse_loss(online(x), goal)
    opt.zero_grad()
    loss.backward()
    opt.step()
    with torch.no_grad():
        for a, b in zip(target.parameters(), online.parameters()):
            a.mul_(0.99).add_(b, alpha=0.01)
""",
    ),
)
