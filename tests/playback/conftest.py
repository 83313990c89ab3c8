"""Real tapes for the playback's tests: programs recorded by the engine, each once."""

from functools import cache

import pytest

from gradscribe.engine.run.run import record

NEURON = """\
x1, x2 = 2.0, 0.0
w1 = param(-3.0)
w2 = param(1.0)
b = param(6.8814)
n = x1*w1 + x2*w2 + b
o = torch.tanh(n)
d = o - 0.5
L = d**2
L.backward()
"""
FAN = """\
x = torch.tensor(2.0, requires_grad=True)
y = torch.tensor(3.0, requires_grad=True)
z = x*y
w = z + x
loss = w**2
loss.backward()
"""
MLP = """\
torch.manual_seed(0)
net = nn.Sequential(nn.Linear(2, 8), nn.Tanh(), nn.Linear(8, 8), nn.Tanh(), nn.Linear(8, 1))
x = torch.randn(16, 2)
y = torch.randn(16, 1)
loss = F.mse_loss(net(x), y)
loss.backward()
"""
BY_HAND = """\
torch.manual_seed(0)
x = torch.randn(16, 1)
y = 3 * x + 2
w = torch.zeros(1, requires_grad=True)
b = torch.zeros(1, requires_grad=True)
for i in range(3):
    loss = ((w * x + b - y) ** 2).mean()
    loss.backward()
    with torch.no_grad():
        w -= 0.1 * w.grad
        b -= 0.1 * b.grad
    w.grad.zero_()
    b.grad.zero_()
"""
OPTIMIZER = """\
torch.manual_seed(0)
net = nn.Linear(1, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
x, y = tensor([[1.0]]), tensor([[2.0]])
for step in range(3):
    opt.zero_grad()
    loss = F.mse_loss(net(x), y)
    loss.backward()
    opt.step()
"""
BLOCKS = """\
torch.manual_seed(0)
class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 8)
        self.proj = nn.Linear(8, 4)
    def forward(self, x):
        return x + self.proj(F.gelu(self.fc(x)))
class Tower(nn.Module):
    def __init__(self):
        super().__init__()
        self.h = nn.ModuleList([Block() for _ in range(12)])
        self.head = nn.Linear(4, 3)
    def forward(self, x):
        for block in self.h:
            x = block(x)
        return self.head(x)
net = Tower()
loss = F.cross_entropy(net(torch.randn(5, 4)), torch.tensor([0, 1, 2, 0, 1]))
loss.backward()
"""

_record = cache(record)


@pytest.fixture(scope="session")
def recorded():
    """Record a program; the same source gives the same tape."""
    return _record


@pytest.fixture(scope="session")
def neuron():
    return _record(NEURON)


@pytest.fixture(scope="session")
def fan():
    """x * y + x, squared: x.grad is 48 through z and 16 directly."""
    return _record(FAN)


@pytest.fixture(scope="session")
def mlp():
    return _record(MLP)


@pytest.fixture(scope="session")
def by_hand():
    """A loop with updates written out under no_grad."""
    return _record(BY_HAND)


@pytest.fixture(scope="session")
def optimizer():
    return _record(OPTIMIZER)


@pytest.fixture(scope="session")
def blocks():
    """Twelve alike blocks: more cards than are shown."""
    return _record(BLOCKS)
