"""Any step of a loop that was recorded in part is brought back as a whole recording has it."""

import random

import pytest

from gradscribe.engine.protocol.messages import Run
from gradscribe.engine.protocol.tape import Tape
from gradscribe.engine.run.run import execute
from gradscribe.playback.tape.loops.brought_steps import with_brought_steps
from gradscribe.playback.tape.loops.partial_loops import main_loop
from gradscribe.playback.tape.loops.steps import steps_of

STEPS = 300
OF_EACH = 5
HEAD = "import math, random\nimport numpy as np\nimport torch\nfrom torch import nn\n"
PROGRAMS = {
    "adam": """
net = nn.Sequential(nn.Linear(3, 8), nn.Tanh(), nn.Linear(8, 1))
opt = torch.optim.Adam(net.parameters(), lr=0.01)
plan = torch.optim.lr_scheduler.CosineAnnealingLR(opt, 300)
x = torch.randn(20, 3)
for step in range(300):
    opt.zero_grad()
    loss = (net(x) - x.sum(1, keepdim=True)).pow(2).mean()
    loss.backward()
    opt.step()
    plan.step()
""",
    "by hand": """
w = torch.zeros(2, requires_grad=True)
x = torch.randn(30, 2)
for step in range(300):
    loss = ((x @ w - 2) ** 2).mean()
    loss.backward()
    with torch.no_grad():
        w -= 0.05 * w.grad
        w.grad.zero_()
""",
    "batches": """
data, net = torch.randn(90, 4), nn.Linear(4, 2)
opt = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
for epoch in range(10):
    order = torch.randperm(90)
    for at in range(0, 90, 3):
        batch = data[order[at : at + 3]]
        loss = nn.functional.cross_entropy(net(batch), (batch[:, 0] > 0).long())
        opt.zero_grad()
        loss.backward()
        opt.step()
        if at == 0:
            print(epoch, loss.item())
""",
    "polynomial": """
x = torch.linspace(-math.pi, math.pi, 200)
y = torch.sin(x)
xx = x.unsqueeze(-1).pow(torch.tensor([1, 2, 3]))
model = nn.Sequential(nn.Linear(3, 1), nn.Flatten(0, 1))
opt = torch.optim.RMSprop(model.parameters(), lr=1e-3)
for t in range(300):
    loss = nn.functional.mse_loss(model(xx), y, reduction="sum")
    if t % 100 == 99:
        print(t, loss.item())
    opt.zero_grad()
    loss.backward()
    opt.step()
""",
    "dynamic": """
a, b, c = (nn.Parameter(torch.randn(())) for _ in range(3))
x = torch.linspace(-1, 1, 50)
opt = torch.optim.SGD([a, b, c], lr=1e-3, momentum=0.9)
for t in range(300):
    y = a + b * x
    for power in range(2, random.randint(3, 5)):
        y = y + c * x**power
    loss = (y - x.exp()).pow(2).sum()
    opt.zero_grad()
    loss.backward()
    opt.step()
""",
    "dropout": """
drop, norm = nn.Dropout(0.5), nn.BatchNorm1d(16)
net = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), drop, norm, nn.Linear(16, 1))
opt = torch.optim.AdamW(net.parameters(), lr=0.01)
x = torch.randn(24, 4)
for step in range(300):
    opt.zero_grad(set_to_none=False)
    loss = net(x).square().mean() + net(x).mean()
    loss.backward()
    torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)
    opt.step()
""",
    "recurrent": """
cell, out = nn.LSTMCell(2, 6), nn.Linear(6, 1)
opt = torch.optim.Adam([*cell.parameters(), *out.parameters()], lr=0.01)
x = torch.randn(4, 5, 2)
for step in range(300):
    h = s = torch.zeros(5, 6)
    for at in range(4):
        h, s = cell(x[at], (h, s))
    loss = (out(h).squeeze(1) - x[0, :, 0]).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
""",
    "two players": """
make, judge = nn.Linear(2, 2), nn.Linear(2, 1)
opt_m = torch.optim.Adam(make.parameters(), lr=0.01)
opt_j = torch.optim.Adam(judge.parameters(), lr=0.01)
for step in range(300):
    real, fake = torch.randn(8, 2) + 2, make(torch.randn(8, 2))
    loss_j = nn.functional.softplus(-judge(real)).mean()
    loss_j = loss_j + nn.functional.softplus(judge(fake.detach())).mean()
    opt_j.zero_grad()
    loss_j.backward()
    opt_j.step()
    loss_m = nn.functional.softplus(-judge(fake)).mean()
    opt_m.zero_grad()
    loss_m.backward()
    opt_m.step()
""",
    "numpy noise": """
w = torch.ones(3, requires_grad=True)
opt = torch.optim.Adagrad([w], lr=0.1)
for step in range(300):
    x = torch.from_numpy(np.random.randn(10, 3)).float()
    loss = (x @ w).sub(x.sum(1) * 2).abs().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
""",
    "function of gradients": """
from torch.func import functional_call, grad
net = nn.Linear(2, 1)
params = {name: p.detach() for name, p in net.named_parameters()}
x = torch.randn(12, 2)
def cost(p):
    return functional_call(net, p, (x,)).sub(x[:, :1]).pow(2).mean()
for step in range(300):
    g = grad(cost)(params)
    params = {name: params[name] - 0.05 * g[name] for name in params}
""",
}


def contents(tape: Tape, start: int, stop: int) -> list[object]:
    """Return all that the events of a span show: kinds, lines, and every number bit for bit."""
    found: list[object] = []
    values = {value.id: value for value in tape.values}

    def data(snapshot: int | None) -> object:
        return (
            None
            if snapshot is None
            else (tape.snapshots[snapshot].shape, tape.snapshots[snapshot].data)
        )

    for event in tape.events[start:stop]:
        if event.kind == "leaf":
            # A tensor made in a step that was left out is first met here.
            continue
        found.append((event.kind, event.line))
        if event.kind == "op":
            op = tape.ops[event.ref]
            found.append((op.op, [data(values[o].snapshot) for o in (*op.inputs, *op.outputs)]))
        elif event.kind == "node":
            run = tape.executions[event.ref]
            found.append([data(one) for one in run.received])
            found.append([data(tape.edges[edge].gradient) for edge in run.edges])
        elif event.kind == "accumulate":
            added = tape.accumulations[event.ref]
            found.append([data(one) for one in (added.before, added.sent, added.after)])
        elif event.kind == "step":
            changes = tape.steps[event.ref].changes
            found.append([data(values[change.after].snapshot) for change in changes])
    return found


@pytest.mark.slow
@pytest.mark.parametrize("name", PROGRAMS)
def test_random_steps_are_those_of_a_whole_recording(name):
    source = HEAD + PROGRAMS[name]
    full = execute(Run(0, source, timeout=120, event_limit=1_000_000, full_events=0))
    part = execute(Run(0, source, timeout=120, full_events=600))
    assert (full.status, part.status) == ("ok", "ok"), (full.error, part.error)
    every, loop = steps_of(full), main_loop(part)
    assert loop is not None
    assert loop.steps == len(every) == STEPS
    left_out = [k for k in range(1, STEPS + 1) if not steps_of(part).is_full(k)]
    assert len(left_out) > STEPS // 3
    for number in random.Random(name).sample(left_out, OF_EACH):
        wanted = (loop.line, number, number)
        again = execute(Run(0, source, timeout=120, wanted_steps=wanted))
        brought = with_brought_steps(part, again, loop.line, number)
        assert contents(brought, *steps_of(brought).span(number)) == contents(
            full, *every.span(number)
        ), f"step {number}"
