"""Programs that tests of several rooms run."""

TOWER = """\
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
    def forward(self, x):
        for block in self.h:
            x = block(x)
        return x
net = Tower()
x = torch.ones(2, 4)
out = net(x)
loss = out.sum()
loss.backward()
"""
"""Twelve blocks in a row, each with a skip connection."""

SHARED = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(2, 2)
        self.same = self.first
        self.other = nn.Linear(2, 2, bias=False)
        self.other.weight = self.first.weight
        self.last = nn.Linear(2, 1)

    def forward(self, x):
        return self.last(torch.tanh(self.other(torch.tanh(self.same(self.first(x))))))
"""
"""A module in which one layer has two names, and another shares its weights."""


def uneven(rounds: int) -> str:
    """Return a loop of so many rounds in which every third has a second backward pass."""
    return f"""\
w = torch.tensor([2.0, 3.0], requires_grad=True)
for i in range({rounds}):
    if i % 3 == 0:
        penalty = w.abs().sum()
        penalty.backward()
    loss = (w ** 2).sum() * (i + 1)
    loss.backward()
    with torch.no_grad():
        w -= 0.01 * w.grad
    w.grad = None
"""


def net_with_error(rounds: int) -> str:
    """Return so many steps of training a net, after which the program fails."""
    return f"""
x = torch.randn(4, 3, requires_grad=True)
model = nn.Sequential(nn.Linear(3, 5), nn.ReLU(), nn.Linear(5, 1))
opt = optim.Adam(model.parameters())
for _ in range({rounds}):
    opt.zero_grad()
    loss = model(x).pow(2).mean()
    loss.backward()
    opt.step()
    print(loss)
1 / 0
"""
