"""Gradients clipped while a gradient scaler's factor is still in them."""

import ast
from collections.abc import Iterator

from gradscribe.engine.doctor.evidence import Evidence
from gradscribe.engine.doctor.finding_kind import FindingKind, FoundCase
from gradscribe.engine.doctor.program_tree import ProgramTree, called_name, receiver
from gradscribe.engine.doctor.scopes import enclosing_function

_CLIPS = ("clip_grad_norm_", "clip_grad_value_", "clip_grad_norm")


def detect(evidence: Evidence) -> Iterator[FoundCase]:
    """Yield clippings between a scaled backward and the scaler's step, without unscale_."""
    program = evidence.program
    for backward in program.calls("backward"):
        scaler = _scaler(program, backward)
        if not scaler or backward.lineno not in {p.line for p in evidence.tape.passes}:
            continue
        step = _next(program, backward, f"{scaler}.step")
        clip = next((c for c in _after(program, backward) if called_name(c) in _CLIPS), None)
        if clip is None or step is None or not clip.lineno < step.lineno:
            continue
        unscale = _next(program, backward, f"{scaler}.unscale_")
        if unscale is not None and unscale.lineno < clip.lineno:
            continue
        factor = _factor(evidence, backward.lineno)
        yield _case(program, scaler, (backward, clip, step, unscale), factor)


def _scaler(program: ProgramTree, backward: ast.Call) -> str:
    """Return ``scaler`` of ``scaler.scale(loss).backward()``, also by way of a variable."""
    scaled = receiver(backward)
    if isinstance(scaled, ast.Name):
        scaled = program.last_binding(scaled.id, backward.lineno)
    if not isinstance(scaled, ast.Call) or called_name(scaled) != "scale":
        return ""
    owner = receiver(scaled)
    name = ast.unparse(owner) if owner is not None else ""
    made = [v for _, v in program.bindings.get(name, ()) if isinstance(v, ast.Call)]
    off = any(
        k.arg == "enabled" and isinstance(k.value, ast.Constant) and k.value.value is False
        for call in made
        for k in call.keywords
    )
    known = any(called_name(call) == "GradScaler" for call in made) or "scaler" in name.lower()
    return name if known and not off else ""


def _after(program: ProgramTree, backward: ast.Call) -> list[ast.Call]:
    """Return the calls after a backward in its function, up to the next backward."""
    function = enclosing_function(program, backward)
    calls = [c for c in program.find(ast.Call) if enclosing_function(program, c) is function]
    ends = [c.lineno for c in calls if called_name(c) == "backward" and c.lineno > backward.lineno]
    end = min(ends, default=len(program.lines) + 1)
    found = [c for c in calls if backward.lineno < c.lineno < end]
    return sorted(found, key=lambda c: (c.lineno, c.col_offset))


def _next(program: ProgramTree, backward: ast.Call, path: str) -> ast.Call | None:
    return next((c for c in _after(program, backward) if ast.unparse(c.func) == path), None)


def _factor(evidence: Evidence, line: int) -> float | None:
    """Return the scale of the first pass on a line; None if the scaler was switched off."""
    for current in evidence.tape.passes:
        root = current.roots[0] if current.line == line and current.roots else None
        op = evidence.creator(root) if root is not None else None
        if op is not None and op.op == "mul" and len(op.inputs) == 2:
            snapshot = evidence.snapshot(op.inputs[1])
            item = snapshot.item() if snapshot is not None else None
            return float(item) if isinstance(item, int | float) else None
    return None


def _case(
    program: ProgramTree,
    scaler: str,
    calls: tuple[ast.Call, ast.Call, ast.Call, ast.Call | None],
    factor: float | None,
) -> FoundCase:
    backward, clip, step, unscale = calls
    size = f"{factor:,.0f} times too large" if factor else "too large by the scaler's factor"
    late = (
        f"{scaler}.unscale_ comes only on line {unscale.lineno}"
        if unscale is not None and unscale.lineno < step.lineno
        else f"{scaler}.unscale_ is missing before it"
    )
    message = f"{called_name(clip)} sees gradients that are {size}: {late}"
    if not factor:
        message += "; the scaler is switched off on this device"
    related = tuple(program.line(c.lineno) for c in (backward, unscale, step) if c is not None)
    fix = _fix(program, scaler, clip, step, unscale)
    return FoundCase(program.line(clip.lineno), message, related, fix, is_hint=not factor)


def _fix(
    program: ProgramTree, scaler: str, clip: ast.Call, step: ast.Call, unscale: ast.Call | None
) -> str:
    if not step.args:
        return ""
    text = f"{scaler}.unscale_({program.source(step.args[0])})"
    added = ProgramTree(program.inserted(clip.lineno, text))
    if unscale is None or unscale.lineno > step.lineno:
        return added.text
    return added.without(unscale.lineno + 1)


ENTRY = FindingKind(
    "clip-before-unscale",
    "Clipping scaled gradients",
    "A gradient scaler multiplies the loss, so gradients are thousands of times too large until "
    "unscale_ or step. Clipped before that they are all cut down to almost nothing. Call "
    "scaler.unscale_(optimizer) between backward and clipping.",
    detect,
    sick=(
        """torch.manual_seed(0)
model = nn.Sequential(nn.Linear(3, 8), nn.Tanh(), nn.Linear(8, 1))
opt = optim.SGD(model.parameters(), lr=0.1)
scaler = torch.amp.GradScaler("cpu")
x, y = torch.randn(16, 3), torch.randn(16, 1)
for step in range(3):
    opt.zero_grad()
    loss = F.mse_loss(model(x), y)
    scaler.scale(loss).backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)  # !
    scaler.step(opt)
    scaler.update()
""",
        """# in a function, with an option, a scaler that needs a GPU
import torch
from torch import nn
from torch.nn.utils import clip_grad_norm_

def train(net, optimizer, scaler, x, y, limit=1.0):
    for _ in range(2):
        optimizer.zero_grad(set_to_none=True)
        loss = nn.functional.cross_entropy(net(x), y)
        scaled = scaler.scale(loss)
        scaled.backward()
        if limit is not None:
            clip_grad_norm_(net.parameters(), limit)  # !
        scaler.step(optimizer)
        scaler.update()

torch.manual_seed(0)
net = nn.Linear(4, 3)
optimizer = torch.optim.AdamW(net.parameters(), lr=1e-3)
scaler = torch.amp.GradScaler("cuda", enabled=torch.cuda.is_available())
train(net, optimizer, scaler, torch.randn(12, 4), torch.randint(0, 3, (12,)))
""",
        """# unscaled too late
torch.manual_seed(0)
model = nn.Linear(3, 1)
opt = optim.Adam(model.parameters(), lr=0.01)
scaler = torch.amp.GradScaler(device="cpu", init_scale=1024.0)
x, y = torch.randn(16, 3), torch.randn(16, 1)
for step in range(3):
    opt.zero_grad()
    with torch.autocast("cpu", dtype=torch.bfloat16):
        loss = ((model(x).float() - y) ** 2).mean()
    scaler.scale(loss).backward()
    torch.nn.utils.clip_grad_value_(model.parameters(), 0.5)  # !
    scaler.unscale_(opt)
    scaler.step(opt)
    scaler.update()
""",
    ),
    healthy=(
        """# unscaled, then clipped
torch.manual_seed(0)
model = nn.Linear(3, 1)
opt = optim.SGD(model.parameters(), lr=0.1)
scaler = torch.amp.GradScaler("cpu")
x, y = torch.randn(16, 3), torch.randn(16, 1)
for step in range(3):
    opt.zero_grad()
    loss = F.mse_loss(model(x), y)
    scaler.scale(loss).backward()
    scaler.unscale_(opt)
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    scaler.step(opt)
    scaler.update()
""",
        """# clipped in a second phase without a scaler
torch.manual_seed(0)
model = nn.Linear(3, 1)
opt = optim.SGD(model.parameters(), lr=0.1)
scaler = torch.amp.GradScaler("cpu")
x, y = torch.randn(16, 3), torch.randn(16, 1)
opt.zero_grad()
loss = F.mse_loss(model(x), y)
scaler.scale(loss).backward()
scaler.step(opt)
scaler.update()
for step in range(3):
    opt.zero_grad()
    loss = F.mse_loss(model(x), y)
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    opt.step()
""",
        """# a scaler that is off
torch.manual_seed(0)
model = nn.Linear(3, 1)
opt = optim.SGD(model.parameters(), lr=0.1)
scaler = torch.amp.GradScaler("cpu", enabled=False)
x, y = torch.randn(16, 3), torch.randn(16, 1)
for step in range(3):
    opt.zero_grad()
    loss = F.mse_loss(model(x), y)
    scaler.scale(loss).backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    scaler.step(opt)
    scaler.update()
""",
    ),
)
