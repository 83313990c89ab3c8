"""Work of the doctor and the recorder grows as the program does, not faster."""

import sys
from pathlib import Path

import pytest

from gradscribe.engine import doctor
from gradscribe.engine.doctor.examine import examine
from gradscribe.engine.protocol.tape import Tape
from gradscribe.engine.record.values.tensors import Tensors
from gradscribe.engine.run import run

DOCTOR = str(Path(doctor.__file__).parent)
PROGRAMS = {
    "a tutorial's loop": """
x = torch.linspace(-2, 2, 8).unsqueeze(-1)
model = nn.Linear(1, 1)
opt = optim.SGD(model.parameters(), lr=0.1)
for step in range({n}):
    opt.zero_grad()
    loss = F.mse_loss(model(x), 2 * x)
    loss.backward()
    opt.step()
""",
    "losses kept in a list": """
w = torch.ones(3, requires_grad=True)
losses = []
for i in range({n}):
    loss = (w * 2).sum()
    losses.append(loss)
    loss.backward()
    w.grad = None
""",
    "calls of grad": """
x = torch.tensor(2.0, requires_grad=True)
for i in range({n}):
    (g,) = torch.autograd.grad(x * x, x)
""",
    "validation after each step": """
net = nn.Linear(3, 1)
opt = optim.SGD(net.parameters(), lr=0.01)
x = torch.randn(20, 3)
for i in range({n}):
    net.train()
    opt.zero_grad()
    net(x).pow(2).mean().backward()
    opt.step()
    net.eval()
    with torch.no_grad():
        net(x).pow(2).mean()
""",
    "validation that records a graph": """
net = nn.Linear(3, 1)
opt = optim.SGD(net.parameters(), lr=0.01)
x = torch.randn(20, 3)
for i in range({n}):
    opt.zero_grad()
    net(x).pow(2).mean().backward()
    opt.step()
    seen = net(x[:9]).pow(2).mean().item()
""",
    "data that requires a gradient": """
w = torch.ones(3, requires_grad=True)
opt = optim.SGD([w], lr=0.01)
for i in range({n}):
    x = torch.ones(3, requires_grad=True)
    opt.zero_grad()
    (w * x).sum().backward()
    opt.step()
""",
}


def _lines(tape: Tape, source: str) -> int:
    """Return the number of the doctor's lines that run while it examines a tape."""
    count = 0

    def local(_frame: object, event: str, _arg: object) -> object:
        nonlocal count
        count += event == "line"
        return local

    def trace(frame, _event: str, _arg: object) -> object:
        return local if frame.f_code.co_filename.startswith(DOCTOR) else None

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        examine(tape, source)
    finally:
        sys.settrace(before)
    return count


@pytest.mark.parametrize("name", PROGRAMS)
def test_twice_the_steps_are_twice_the_work(name):
    counts = []
    for steps in (60, 120):
        source = PROGRAMS[name].format(n=steps)
        tape = run.record(source)
        assert tape.error is None
        counts.append(_lines(tape, source))
    assert counts[1] < 2.3 * counts[0]


@pytest.mark.parametrize("steps", [200, 400])
def test_writes_to_entries_look_at_living_views_alone(monkeypatch, steps):
    looked, sizes = Tensors.aliases, []

    def counted(tensors, t, most):
        sizes.extend(1 + len(known.others) for known in tensors._memories.values())
        return looked(tensors, t, most)

    monkeypatch.setattr(Tensors, "aliases", counted)
    tape = run.record(
        f"t = torch.zeros(9, 9)\nfor k in range({steps}):\n    t[k % 9, k % 8] += 1\n"
    )
    assert tape.error is None
    assert len(sizes) >= steps
    assert max(sizes) < 64


def test_living_views_are_still_found_among_many_that_are_gone():
    tape = run.record(
        "t = torch.zeros(4)\nrow = t[1:2]\nfor k in range(100):\n    t[k % 4] += 1\n"
        "print(row.tolist())\n"
    )
    rows = [v for v in tape.values if v.name == "row"]
    last = tape.snapshots[rows[-1].snapshot].array()
    assert tape.stdout == f"{last.tolist()}\n" == "[25.0]\n"
