"""Parameters that were frozen during training and that an optimizer moves all the same."""

import ast
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from gradscribe.engine.doctor.evidence import Evidence
from gradscribe.engine.doctor.finding_kind import FindingKind, FoundCase
from gradscribe.engine.doctor.findings.modules.frozen_parameter import freezing_lines
from gradscribe.engine.doctor.fixes import arguments_without, optimizer_calls
from gradscribe.engine.doctor.program_tree import called_name, receiver
from gradscribe.engine.doctor.snapshot_stats import format_number, real
from gradscribe.engine.protocol.tape import Change


class _Moves(NamedTuple):
    """The steps that moved a frozen tensor, and the distance over all of them."""

    name: str
    steps: list[int]
    distance: float


def detect(evidence: Evidence) -> Iterator[FoundCase]:
    """Yield tensors moved while frozen, and entries moved whose gradient was set to 0."""
    lines = freezing_lines(evidence.program)
    moves = list(_frozen_moves(evidence)) if lines and evidence.tape.steps else []
    if moves:
        yield _frozen_case(evidence, moves, lines)
    yield from _zeroed(evidence)


def _frozen_moves(evidence: Evidence) -> Iterator[_Moves]:
    for tensor, moments in evidence.leaf_events.items():
        rows = evidence.versions[tensor]
        if not any(v.requires_grad for v in rows):
            continue
        steps, distance, fresh = list[int](), 0.0, False
        for moment in moments:
            if moment.kind == "add":
                fresh = True
            elif moment.kind == "update" and moment.ref >= 0:
                change = _change(evidence, moment.ref, tensor)
                length = _distance(evidence, change) if change is not None else 0.0
                frozen = change is not None and not evidence.values[change.before].requires_grad
                if frozen and not fresh and length > 0:
                    steps.append(moment.ref)
                    distance += length
                fresh = False
        if steps:
            yield _Moves(rows[0].name or "a parameter", steps, distance)


def _change(evidence: Evidence, step: int, tensor: int) -> Change | None:
    changes = evidence.tape.steps[step].changes
    return next((c for c in changes if evidence.values[c.before].tensor == tensor), None)


def _arrays(evidence: Evidence, change: Change) -> tuple[np.ndarray, np.ndarray] | None:
    before, after = evidence.snapshot(change.before), evidence.snapshot(change.after)
    a = real(before) if before is not None else None
    b = real(after) if after is not None else None
    return (a, b) if a is not None and b is not None and a.shape == b.shape else None


def _distance(evidence: Evidence, change: Change) -> float:
    both = _arrays(evidence, change)
    if both is None:
        before, after = evidence.snapshot(change.before), evidence.snapshot(change.after)
        if before is None or after is None or before.norm is None or after.norm is None:
            return 0.0
        return abs(after.norm - before.norm)
    return float(np.linalg.norm(both[1] - both[0]))


def _frozen_case(evidence: Evidence, moves: list[_Moves], lines: list[int]) -> FoundCase:
    program = evidence.program
    listed = ", ".join(m.name for m in moves[:3])
    if len(moves) > 3:
        listed += f" and {len(moves) - 3} more"
    step = evidence.tape.steps[moves[0].steps[0]]
    line = lines[0]
    count = len(moves[0].steps)
    message = (
        f"{listed} moved on after line {line} froze {'it' if len(moves) == 1 else 'them'}: "
        f"{moves[0].name} by {format_number(moves[0].distance)} in {count} "
        f"step{'s' * (count != 1)}. Its .grad is there still, so {step.optimizer} goes on with "
        f"{_drive(evidence)}"
    )
    related = (program.line(step.line), *(program.line(at) for at in lines[1:2]))
    return FoundCase(program.line(line), message, related, _fix(evidence, line))


def _drive(evidence: Evidence) -> str:
    """Return the part of an optimizer that moves a parameter without a new gradient."""
    given = {
        k.arg
        for _, call in optimizer_calls(evidence.program).values()
        for k in call.keywords
        if not (isinstance(k.value, ast.Constant) and not k.value.value)
    }
    kinds = {step.optimizer for step in evidence.tape.steps}
    found = []
    if "momentum" in given or any(kind.lower().endswith(("adam", "adamw")) for kind in kinds):
        found.append("its momentum")
    if "weight_decay" in given or "AdamW" in kinds:
        found.append("its weight decay")
    return " and ".join(found) or "the old gradient"


def _fix(evidence: Evidence, line: int) -> str:
    """Set gradients to None: in zero_grad, or where the parameters are frozen."""
    program = evidence.program
    zeroing = [
        call
        for call in program.calls("zero_grad")
        for k in call.keywords
        if k.arg == "set_to_none" and isinstance(k.value, ast.Constant) and not k.value.value
    ]
    if len(zeroing) == 1 == len(program.calls("zero_grad")):
        call = zeroing[0]
        bare = arguments_without(program, call, "set_to_none")
        return program.replaced((call, f"{program.source(call.func)}({bare})"))
    statement = program.statement(line)
    if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Attribute):
        owner = program.source(statement.targets[0].value)
        return program.inserted(line, f"{owner}.grad = None", after=True)
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
        owner_node = receiver(statement.value)
        if called_name(statement.value) == "requires_grad_" and owner_node is not None:
            owner = program.source(owner_node)
            loop = program.loop(line)
            is_parameter = isinstance(loop, ast.For) and owner in ast.unparse(loop.target)
            text = f"{owner}.grad = None" if is_parameter else f"{owner}.zero_grad()"
            return program.inserted(line, text, after=True)
    return ""


def _zeroed(evidence: Evidence) -> Iterator[FoundCase]:
    """Yield lines that set entries of a gradient to 0 which the next step moved all the same."""
    changed = {event.line for event in evidence.tape.events if event.kind == "grad"}
    if not any(_sets_zero(evidence, line) for line in changed):
        return
    last: dict[int, tuple[np.ndarray, np.ndarray, int]] = {}
    found: dict[int, list[tuple[str, int, float, int]]] = {}
    sent: dict[int, np.ndarray | None] = {}
    for event in evidence.tape.events:
        if event.kind == "accumulate":
            row = evidence.tape.accumulations[event.ref]
            after = evidence.tape.snapshots[row.after] if row.after is not None else None
            sent[evidence.values[row.leaf].tensor] = real(after) if after is not None else None
        elif event.kind == "grad" and _sets_zero(evidence, event.line):
            for leaf, number in evidence.tape.rewrites[event.ref]:
                tensor = evidence.values[leaf].tensor
                old, new = sent.get(tensor), real(evidence.tape.snapshots[number])
                if old is not None and new is not None and old.shape == new.shape:
                    last[tensor] = old, new, event.line
        elif event.kind == "step":
            step = evidence.tape.steps[event.ref]
            for change in step.changes:
                value = evidence.values[change.before]
                both = _arrays(evidence, change)
                if value.tensor in last and both is not None:
                    old, new, line = last[value.tensor]
                    chosen = (new == 0) & (old != 0)
                    distance = float(np.abs(both[1] - both[0])[chosen].max(initial=0))
                    if distance > 0:
                        name = value.name or "a parameter"
                        row_ = (name, int(chosen.sum()), distance, step.line)
                        found.setdefault(line, []).append(row_)
            last, sent = {}, {}
    for line, rows in found.items():
        name, count, _, step_line = rows[0]
        largest = max(row[2] for row in rows)
        program = evidence.program
        message = (
            f"The gradient of {count} entries of {name} is set to 0 here, and they move all the "
            f"same, by up to {format_number(largest)} in a step: momentum and weight decay need "
            "no gradient"
        )
        place = program.line(line)
        yield FoundCase(place, message, (program.line(step_line),), "", _RESTORE, is_hint=True)


_RESTORE = "Write the old numbers of these entries back after step(), or train them apart"


def _sets_zero(evidence: Evidence, line: int) -> bool:
    """Return whether a line sets entries of a gradient to 0: ``w.grad[rows] = 0``."""
    statement = evidence.program.statement(line)
    if isinstance(statement, ast.Assign):
        target, value = statement.targets[0], statement.value
        is_entry = isinstance(target, ast.Subscript) and ".grad" in ast.unparse(target.value)
        return is_entry and isinstance(value, ast.Constant) and value.value == 0
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
        call = statement.value
        zeroes = called_name(call) == "zero_" or (
            called_name(call) in ("fill_", "masked_fill_") and ast.unparse(call.args[-1]) in _ZEROS
        )
        owner = receiver(call)
        return zeroes and owner is not None and ".grad" in ast.unparse(owner)
    return False


_ZEROS = ("0", "0.0")


ENTRY = FindingKind(
    "frozen-still-moves",
    "A frozen parameter moves on",
    "An optimizer passes over a parameter only if its .grad is None. While there is an old "
    "gradient, or one of zeros, momentum and weight decay move it, whatever requires_grad says.",
    detect,
    sick=(
        """# zeros instead of None
torch.manual_seed(0)
model = nn.Sequential(nn.Linear(3, 8), nn.Tanh(), nn.Linear(8, 1))
opt = optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
x, y = torch.randn(16, 3), torch.randn(16, 1)
for step in range(8):
    if step == 4:
        for p in model[0].parameters():
            p.requires_grad = False  # !
    loss = F.mse_loss(model(x), y)
    opt.zero_grad(set_to_none=False)
    loss.backward()
    opt.step()
""",
        """# two stages, the old gradients left in place
import torch
from torch import nn

torch.manual_seed(0)
body, head = nn.Linear(4, 8), nn.Linear(8, 2)
params = [*body.parameters(), *head.parameters()]
optimizer = torch.optim.AdamW(params, lr=0.01)
x, y = torch.randn(20, 4), torch.randint(0, 2, (20,))

def train(steps):
    for _ in range(steps):
        head.zero_grad()
        if body.weight.requires_grad:
            body.zero_grad()
        loss = nn.functional.cross_entropy(head(body(x).relu()), y)
        loss.backward()
        optimizer.step()

train(3)
body.requires_grad_(False)  # !
train(3)
""",
        """# a row of an embedding, with weight decay
torch.manual_seed(0)
emb = nn.Embedding(5, 3)
opt = optim.Adam(emb.parameters(), lr=0.1, weight_decay=0.01)
for step in range(4):
    loss = (emb(torch.tensor([0, 1, 2])) - 1).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    emb.weight.grad[0] = 0  # !
    opt.step()
""",
    ),
    healthy=(
        """# frozen in the middle, gradients set to None
torch.manual_seed(0)
model = nn.Sequential(nn.Linear(3, 8), nn.Tanh(), nn.Linear(8, 1))
opt = optim.SGD(model.parameters(), lr=0.05, momentum=0.9, weight_decay=0.01)
x, y = torch.randn(16, 3), torch.randn(16, 1)
for step in range(8):
    if step == 4:
        for p in model[0].parameters():
            p.requires_grad = False
    loss = F.mse_loss(model(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
""",
        """# frozen after the last step
torch.manual_seed(0)
model = nn.Linear(3, 1)
opt = optim.Adam(model.parameters(), lr=0.05)
x, y = torch.randn(16, 3), torch.randn(16, 1)
for step in range(3):
    loss = F.mse_loss(model(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
model.requires_grad_(False)
print(model(x).std())
""",
        """# a row whose gradient is 0, without momentum or decay
torch.manual_seed(0)
emb = nn.Embedding(5, 3)
opt = optim.SGD(emb.parameters(), lr=0.1)
for step in range(4):
    loss = (emb(torch.tensor([0, 1, 2])) - 1).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    emb.weight.grad[0] = 0
    opt.step()
""",
        """# a linear layer first, then all of it
torch.manual_seed(0)
model = nn.Sequential(nn.Linear(3, 8), nn.Tanh(), nn.Linear(8, 1))
model[0].requires_grad_(False)
opt = optim.Adam(model.parameters(), lr=0.01)
x, y = torch.randn(16, 3), torch.randn(16, 1)
for step in range(6):
    if step == 3:
        model[0].requires_grad_(True)
    loss = F.mse_loss(model(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
""",
    ),
)
