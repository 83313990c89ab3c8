"""Tapes of real runs for the panes, recorded once, and pages of them."""

from functools import cache

from gradscribe.engine.run import run
from gradscribe.widgets.inspector.panes.page import InspectorPage, Selection, TensorVersions

NEURON = """
x = tensor(2.0)
w = param(-3.0)
b = param(6.8814)
s = x * w
n = s + b
o = torch.tanh(n)
L = (o - 0.5) ** 2
L.backward()
"""
FAN = """
x = param(2.0)
y = param(3.0)
z = x * y
w = z + x
loss = w ** 2
loss.backward()
"""
ODD = """
bad = tensor([float('nan'), float('inf'), -float('inf'), 1.0])
empty = torch.empty(0, 3)
flag = tensor(True)
whole = torch.arange(12).reshape(3, 4)
wave = tensor([1 + 2j, 3 - 4j])
six = torch.arange(288.0).reshape(2, 3, 2, 4, 3, 2)
a_very_long_name_of_a_variable_that_goes_on_and_on_and_on_for_ever = tensor([1e-30, -1e-30])
tiny = param(1e-30)
big = torch.arange(4000.0).reshape(50, 80)
huge = tensor([3e38, -3e38])
"""
TRAIN = """
net = nn.Sequential(nn.Linear(2, 4), nn.Tanh(), nn.Linear(4, 1))
opt = optim.SGD(net.parameters(), lr=0.1)
x = torch.ones(3, 2)
for step in range(3):
    loss = net(x).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
"""
VIEWS = """
a = torch.arange(6.0)
v = a.view(2, 3)
a.add_(1)
c = a + 0
"""


@cache
def taped(source):
    """Record ``source``; it must run."""
    tape = run.record(source)
    assert tape.status == "ok", tape.error
    return tape


def page(program, name=None, position=None, kind="value", **more):
    """Return the page of a named value of a program at a position (the end)."""
    tape = taped(program)
    at = len(tape.events) if position is None else position
    chosen = None
    if name is not None:
        value = named(tape, name)
        chosen = Selection(kind, value.id, value.op if kind == "op" else None)
    return InspectorPage(tape, at, chosen, versions=TensorVersions.of(tape), **more)


def named(tape, name):
    """Return the last value of that name, of a parameter the first version."""
    found = [value for value in tape.values if value.name == name]
    assert found, name
    return found[0] if found[0].role == "parameter" else found[-1]


def happened(tape, kind, number=0):
    """Return the position just after the ``number``-th event of that kind."""
    at = [place for place, event in enumerate(tape.events) if event.kind == kind]
    return at[number] + 1
