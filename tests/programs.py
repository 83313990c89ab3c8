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
