# The old way
# Reentrant checkpoints need an input that
# asks for a gradient.

from torch.utils import checkpoint as ckpt

torch.manual_seed(0)
block = nn.Sequential(
    nn.Linear(3, 8),
    nn.Tanh(),
    nn.Linear(8, 3),
)
x = torch.randn(4, 3)

y = ckpt.checkpoint(
    block, x, use_reentrant=True
)
loss = y.square().mean()
loss.backward()

print(block[0].weight.grad)
