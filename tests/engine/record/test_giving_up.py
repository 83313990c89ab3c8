"""A recorder that fails itself: the program runs on as ever, and the tape says that it ends."""

import pytest

from engine import run
from engine.record.copies import Copies
from engine.record.hooks import Hooks
from engine.record.modules import Modules
from engine.record.nodes import Nodes
from engine.record.optimizers import Optimizers
from engine.record.recorder import Recorder
from engine.record.tensors import Tensors
from tests.engine.mirror import mirror, plain

PROGRAM = """
class Half(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x / 2
    @staticmethod
    def backward(ctx, g):
        return g / 2
net = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1))
opt = optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
for _ in range(3):
    loss = Half.apply(net(torch.randn(5, 3))).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    print(loss.item(), net[0].weight.grad.norm().item())
"""
PARTS = [
    (Tensors, "value"),
    (Tensors, "add"),
    (Tensors, "differs"),
    (Copies, "keep"),
    (Nodes, "row"),
    (Nodes, "claim"),
    (Nodes, "leaf"),
    (Nodes, "reach"),
    (Nodes, "target"),
    (Hooks, "ran"),
    (Hooks, "adding"),
    (Hooks, "added"),
    (Modules, "_enter"),
    (Modules, "_meet"),
    (Optimizers, "_memory"),
]


@pytest.mark.parametrize("at", [0, 9])
@pytest.mark.parametrize(("owner", "name"), PARTS, ids=lambda p: getattr(p, "__name__", p))
def test_a_fault_of_the_recorder_is_not_the_programs(monkeypatch, owner, name, at):
    plainly, leave = getattr(owner, name), Recorder.__exit__
    calls, running = list[str](), [True]

    def faulty(*args, **kwargs):
        if running:
            calls.append(name)
            if len(calls) > at:
                raise ValueError("a fault")
        return plainly(*args, **kwargs)

    def left(recorder, *error):
        running.clear()
        return leave(recorder, *error)

    monkeypatch.setattr(owner, name, faulty)
    monkeypatch.setattr(Recorder, "__exit__", left)
    _, output, error = plain(PROGRAM)
    tape = run.record(PROGRAM)
    assert error is tape.error is None
    assert tape.stdout == output
    if len(calls) > at:
        assert "ValueError" in tape.truncated


def test_running_out_of_frames_is_the_programs_own_end():
    tape = mirror("def deep(x):\n    return deep(x * 2)\ndeep(torch.ones(1))")
    assert tape.error is not None
    assert tape.error.type == "RecursionError"
