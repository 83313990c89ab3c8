"""Compiled code is computed as plain code, and looks to the program as torch's own does."""

import subprocess
import sys

import pytest
import torch
from torch import nn

from gradscribe.engine.run.run import record
from tests.engine.mirror import ops

PROGRAM = """\
import copy
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(2, 2)
        self.drop = nn.Dropout(0.5)
        self.scale = 1.0
    def forward(self, x, by=1):
        return self.drop(torch.relu(self.fc(x))) * self.scale * by
    def twice(self, x):
        return self(self(x))
    def __len__(self):
        return 7

torch.manual_seed(0)
net = Net()
made = torch.compile(net, backend="eager")
print(type(made).__name__, made is net, isinstance(made, Net), made._orig_mod is net)
print(list(made.state_dict()), [n for n, _ in made.named_modules()], len(made), bool(made))
made.eval()
print(net.training, net.drop.training, made.training)
made.scale = 3.0
print(net.scale, made.fc is net.fc, hasattr(made, "nothing"))
made.register_forward_hook(lambda module, given, out: print("hook", type(module).__name__))
x = torch.ones(1, 2)
loss = (made(x, by=2) + made.twice(x)).sum()
loss.backward()
print(loss.item().hex(), net.fc.weight.grad.tolist(), made.fc.bias.grad is net.fc.bias.grad)
made.train()
print(net.training, net.drop.training)
other = copy.deepcopy(net)
other.load_state_dict({k.removeprefix("_orig_mod."): v for k, v in made.state_dict().items()})
print(made.load_state_dict(made.state_dict()), torch.equal(other.fc.weight, net.fc.weight))
optimizer = torch.optim.SGD(made.parameters(), lr=0.5)
optimizer.step()
made.zero_grad()
print(net.fc.bias.tolist(), net.fc.bias.grad)
print(type(copy.deepcopy(made)).__name__, made.double() is made, net.fc.weight.dtype)
try:
    made.nothing
except AttributeError as error:
    print(error)
@torch.compile(backend="eager")
def f(x):
    return x * 2
print(f.__name__, f(x))
net.compile(backend="eager")
print(net.eval()(x.double()).shape)
"""


@pytest.mark.slow
def test_a_compiled_module_looks_as_torchs_own_does():
    ran = subprocess.run(
        [sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=False
    )
    tape = record(PROGRAM)
    # Of compiled modules, torch before 2.7 has no length.
    words = f"{tape.error.type}: {tape.error.message}" if tape.error else ""
    assert bool(tape.error) == bool(ran.returncode)
    assert not words or words == ran.stderr.splitlines()[-1]
    assert tape.stdout == ran.stdout


@pytest.mark.parametrize(
    "compiled",
    [
        "torch.compile(f)",
        "torch.compile(mode='default')(f)",
        "torch.compile(nn.Sequential(Net()))",
        "torch.compile(torch.compile(Net()), dynamic=True)",
    ],
)
def test_what_is_compiled_is_watched_as_plain_code(compiled):
    tape = record(
        "def f(x):\n    return (x * 2).sin()\n"
        "class Net(nn.Module):\n    def forward(self, x):\n        return f(x)\n"
        f"g = {compiled}\nx = param(1.0)\ng(x).backward()"
    )
    assert tape.status == "ok"
    assert ops(tape) == ["mul", "sin"]
    assert {call.kind for call in tape.calls} <= {"Net", "Sequential"}


def test_parameters_go_by_the_names_that_the_program_sees():
    tape = record(
        "net = torch.compile(nn.Linear(1, 1))\n"
        "net(torch.ones(1, 1)).sum().backward()\n"
        "print([name for name, _ in net.named_parameters()])"
    )
    assert tape.stdout == "['_orig_mod.weight', '_orig_mod.bias']\n"
    assert {leaf.name for leaf in tape.leaves} == {"net._orig_mod.weight", "net._orig_mod.bias"}
    assert [call.name for call in tape.calls] == ["net._orig_mod"]


def test_after_the_run_torchs_own_is_there_again():
    before = torch.compile, nn.Module.compile
    record("torch.compile(nn.ReLU())(torch.ones(1))\nraise ValueError")
    assert (torch.compile, nn.Module.compile) == before
