"""A recorder that fails itself: the program runs on as ever, and the tape says that it ends."""

import pytest

from gradscribe.engine.record.backward.hooks import NodeHooks
from gradscribe.engine.record.backward.nodes import Nodes
from gradscribe.engine.record.forward.modules import Modules
from gradscribe.engine.record.forward.optimizers import Optimizers
from gradscribe.engine.record.recorder import Recorder
from gradscribe.engine.record.values.copies import SnapshotStore
from gradscribe.engine.record.values.tensors import Tensors
from gradscribe.engine.run import run
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
    (SnapshotStore, "keep"),
    (Nodes, "row"),
    (Nodes, "claim"),
    (Nodes, "leaf"),
    (Nodes, "hook_reachable"),
    (Nodes, "target"),
    (NodeHooks, "on_node_ran"),
    (NodeHooks, "before_accumulation"),
    (NodeHooks, "after_accumulation"),
    (Modules, "_enter"),
    (Modules, "_describe"),
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
