"""Modules of a user's own, as sources."""

CAREFUL = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.line = nn.Linear(1, 1)

    def forward(self, x):
        if not self.training and self.line.weight.abs().max() > 100:
            raise ValueError("too big")
        return self.line(x)
"""
"""It cannot be shown once a weight is far too big, and trains on."""
