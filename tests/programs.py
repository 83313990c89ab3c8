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
